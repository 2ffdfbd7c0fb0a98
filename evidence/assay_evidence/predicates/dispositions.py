"""The predicate about outcomes and settlements of deliveries on the wire: disposed.

A delivery begins with a transfer that is not settled.  Its receiver names an outcome, and either end settles the
delivery (OASIS AMQP 1.0, 2.6.12).  AMQP permits several sequences of frames.  The last column says what each sequence
means for a claim that a message is accepted:

=========  ======================================  ======================================  =============================
state      frames                                  meaning                                 a claim of acceptance
=========  ======================================  ======================================  =============================
sent       transfer, settled                       at most once: the delivery is over      ignores the delivery
open       transfer, not settled                   the sender keeps its copy               fails if no outcome follows
settled    receiver: settled, without outcome      the source's default outcome applies    fails before acknowledgement
accepted   receiver: accepted, not settled         the receiver waits for the sender       passes if it is settled later
over       receiver: accepted, settled             the sender drops its copy               passes
over       accepted, then sender: settled          both ends know that it is over          passes
over       accepted, then receiver: settled        the receiver waits no longer            passes
lost       receiver: another outcome               the sender still has the message        fails
forgotten  open, then sender: settled              the sender dropped its copy by itself   is not demonstrated
=========  ======================================  ======================================  =============================

The next transfer of the same message, to the same consumer or by the same connection, begins a new delivery.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from msgspec import Struct

from assay_evidence.events import Call, Claim, Event, Fault, Frame
from assay_evidence.history import History, distance, follows
from assay_evidence.predicates.claims import Saying, actors_of, keys_of, quiet_ns, sends_of
from assay_evidence.verdicts import Finding

_ACCEPTED = "accepted"
_NONE = "none"


class Delivery(Struct, frozen=True):
    """One delivery of a message.

    Args:
        key: The message's key.
        transfer: The frame with the delivery's transfer.
        dispositions: The dispositions of the delivery, in order.
        acknowledgement: The application's call that acknowledged the message, after which the client may accept it;
            None if no call acknowledged it.  Without meaning for a message that the client sent.
        answer: For a message that the client sent, the answer to its send; the broker must accept the message before
            this answer. None for other messages.
    """

    key: str
    transfer: Frame
    dispositions: tuple[Frame, ...]
    acknowledgement: Event | None = None
    answer: Event | None = None

    @property
    def by_receiver(self) -> list[Frame]:
        """The dispositions from the receiver: outcomes, and settlements without an outcome."""
        return [frame for frame in self.dispositions if frame.role == "receiver"]

    @property
    def outcome(self) -> Frame | None:
        """The receiver's first disposition with an outcome; None if no disposition has one."""
        return next((frame for frame in self.by_receiver if frame.disposition != _NONE), None)

    @property
    def end(self) -> Frame | None:
        """The disposition that settled the delivery; None if neither client nor broker settled it."""
        return next((frame for frame in self.dispositions if frame.settled), None)


class _Flaw(Struct, frozen=True):
    """A flaw in a delivery: a breach, or a reason why the delivery demonstrates nothing.

    Args:
        reason: The sentence of the finding.
        by: The frame that breaks the rule; None if the flaw is a missing frame.
        since: The event after which the missing frame was due.
        proves: Whether the flaw breaks the rule; otherwise the finding is not-demonstrated.
    """

    reason: str
    by: Frame | None
    since: Event
    proves: bool = True


def disposed(claim: Claim, history: History) -> Finding:
    """Decide whether the deliveries of each message were accepted and settled.

    If the claim names actors, it is about deliveries to them. Otherwise it is about deliveries from the client to the
    broker.

    - The receiver must accept each delivery.  With the bound ``settled`` 1 (the default), either end must then settle
      the delivery.
    - An actor's client must accept a delivery after the application acknowledged it, unless ``acknowledged`` is 0.
    - The broker must accept a delivery before the client's send call returns.
    - With ``accepted`` 0, a delivery need not be accepted.  An accepted delivery must be settled, and a sender must not
      settle a delivery before its outcome.
    - With ``times`` 0, the receiver must neither accept a delivery nor settle it without an outcome.
    """
    say = Saying(claim, _expected(claim))
    if untried := _untried(say, claim, history):
        return untried
    found = [list(_deliveries(key, claim, history)) for key in keys_of(claim)]
    observed = "; ".join(f"{key}: {_shown(tried)}" for key, tried in zip(keys_of(claim), found, strict=True))
    if not all(found):
        return say.not_demonstrated("A message was not transferred unsettled, so no outcome was due.", observed)
    flaws = [flaw for tried in found for flaw in _flaws(tried, claim)]
    if shown := [flaw for flaw in flaws if flaw.by is not None]:
        by = [flaw.by for flaw in shown if flaw.by is not None]
        return say.failed(shown[0].reason, observed, certain=True, by=by)
    if flaws:
        return _missing(say, claim, history, flaws[0], observed)
    if claim.bounds.get("times") == 0:
        return _silent(say, claim, found, observed)
    ways = sorted({_way(one) for tried in found for one in _judged(tried, claim)})
    return say.passed("Each message was accepted when it had to be.", observed, ", ".join(ways), certain=True)


def _untried(say: Saying, claim: Claim, history: History) -> Finding | None:
    if not history.frames:
        return say.not_demonstrated("No observer watched the wire.", "no frame of a message")
    return None if actors_of(claim) else say.unless_accepted(history, sends_of(claim, history))


def _deliveries(key: str, claim: Claim, history: History) -> Iterable[Delivery]:
    """Yield each delivery of a message that began unsettled, if the claim applies to the delivery."""
    actors = actors_of(claim)
    direction = "out" if actors is None else "in"
    frames = [frame for frame in history.frames[key] if actors is None or frame.actor in actors]
    begins = [at for at, frame in enumerate(frames) if frame.disposition is None and frame.direction == direction]
    for begin, end in pairwise([*begins, len(frames)]):
        transfer = frames[begin]
        if transfer.settled:
            continue
        # The client is the receiver of incoming messages, so its dispositions about them are outgoing frames.
        ends = {"receiver": "in" if direction == "out" else "out", "sender": direction}
        said = [frame for frame in frames[begin + 1 : end] if frame.role and frame.direction == ends[frame.role]]
        later = frames[end] if end < len(frames) else None
        yield Delivery(
            key,
            transfer,
            tuple(said),
            _acknowledged(key, transfer, later, claim, history),
            _answered(key, history) if actors is None else None,
        )


def _acknowledged(key: str, transfer: Frame, later: Frame | None, claim: Claim, history: History) -> Call | None:
    """Return the first call that acknowledged a message after one transfer of it and before the next transfer.

    None if no call did.
    """
    for call in history.acknowledgements(key, actors_of(claim)):
        answer = history.answer(call)
        refused = answer is not None and answer.refused is not None
        if not refused and follows(call, transfer) and (later is None or follows(later, call)):
            return call
    return None


def _answered(key: str, history: History) -> Event | None:
    """Return the first answer that accepted a send of the message; None if no send was accepted."""
    answers = [history.answer(send) for send in history.sends({key})]
    return next((one for one in answers if one is not None and one.refused is None), None)


def _judged(deliveries: list[Delivery], claim: Claim) -> list[Delivery]:
    """Return the deliveries whose dispositions the claim examines.

    If the broker is the receiver, the list has one delivery for each message, even if the client sent the message
    again.  If an actor is the receiver, the claim's bounds choose the deliveries: the acknowledged, the accepted or all
    deliveries.
    """
    if actors_of(claim) is None:
        accepted = [one for one in deliveries if one.outcome is not None and one.outcome.disposition == _ACCEPTED]
        return accepted[:1] or deliveries[-1:]
    if not claim.bounds.get("accepted", 1):
        return [one for one in deliveries if one.outcome is not None and one.outcome.disposition == _ACCEPTED]
    if claim.bounds.get("acknowledged", 1):
        return [one for one in deliveries if one.acknowledgement is not None]
    return deliveries


def _flaws(deliveries: list[Delivery], claim: Claim) -> Iterable[_Flaw]:
    """Yield the flaws in the deliveries of one message."""
    any_time = not claim.bounds.get("acknowledged", 1) or not claim.bounds.get("accepted", 1)
    by_hand = actors_of(claim) is not None and not any_time
    never = claim.bounds.get("times") == 0
    if by_hand or never:
        for one in deliveries:
            yield from _early(one, never=never)
    if not claim.bounds.get("accepted", 1):
        yield from (
            _Flaw("A delivery was settled by its sender before its receiver named an outcome.", one.end, one.end)
            for one in deliveries
            if one.end is not None and one.end.role == "sender" and one.outcome is None
        )
    if never:
        return
    judged = _judged(deliveries, claim)
    if not judged:
        reason = "The application acknowledged no message, or the client accepted none, so no disposition was due."
        yield _Flaw(reason, None, deliveries[-1].transfer, proves=False)
    for one in judged:
        flaw = _flaw(one, one.acknowledgement if by_hand else None, settled=bool(claim.bounds.get("settled", 1)))
        if flaw is not None:
            yield flaw


def _flaw(one: Delivery, acknowledgement: Event | None, *, settled: bool) -> _Flaw | None:
    """Return the flaw in a delivery that must be accepted and, if ``settled``, also settled; None without a flaw."""
    outcome = one.outcome
    if outcome is None and one.end is not None:
        mine, other = "so the default outcome of its source applies", "so its receiver owed no outcome"
        reason = f"A delivery was settled without an outcome, {mine if one.end.role == 'receiver' else other}."
        return _Flaw(reason, None, one.transfer, proves=False)
    if outcome is None:
        return _Flaw("A delivery has no outcome on the wire.", None, acknowledgement or one.transfer)
    if outcome.disposition != _ACCEPTED:
        return _Flaw(f"A message was {outcome.disposition} instead of accepted.", outcome, outcome)
    if one.answer is not None and follows(outcome, one.answer):
        return _Flaw("The client answered the send before the broker had accepted the message.", outcome, outcome)
    if settled and one.end is None:
        return _Flaw("Neither end settled a delivery.", None, outcome)
    return None


def _early(one: Delivery, *, never: bool) -> Iterable[_Flaw]:
    """Yield a flaw for each frame with which a receiver accepted or settled a delivery too early.

    A frame that gives the message back is not a flaw.
    """
    for frame in one.by_receiver:
        if frame.disposition != _ACCEPTED and not (frame.disposition == _NONE and frame.settled):
            continue  # the frame gives the message back
        what = "settled without an outcome" if frame.disposition == _NONE else "accepted"
        if never:
            yield _Flaw(f"A message was {what}, which must not happen.", frame, frame)
        elif one.acknowledgement is None or follows(one.acknowledgement, frame):
            yield _Flaw(f"A message was {what} before the application acknowledged it.", frame, frame)


def _missing(say: Saying, claim: Claim, history: History, flaw: _Flaw, observed: str) -> Finding:
    """Return the finding about a missing frame."""
    if not flaw.proves:
        return say.not_demonstrated(flaw.reason, observed)
    if any(isinstance(cause, Fault | Call) and follows(cause, flaw.since) for cause in history.returns):
        return say.not_demonstrated("The connection or consumer ended before the delivery was over.", observed)
    if distance(claim, flaw.since).ns < quiet_ns(claim):
        return say.not_demonstrated("The wait for a missing disposition was too short.", observed)
    return say.failed(flaw.reason, observed)


def _silent(say: Saying, claim: Claim, found: list[list[Delivery]], observed: str) -> Finding:
    """Return the finding about messages that must not be accepted, if no disposition accepts them."""
    last = [deliveries[-1].transfer for deliveries in found]
    if any(distance(claim, transfer).ns < quiet_ns(claim) for transfer in last):
        return say.not_demonstrated("The wait for a disposition that must not come was too short.", observed)
    return say.passed("No message was accepted.", observed)


def _way(one: Delivery) -> str:
    """Return a few words for the way in which a delivery was settled."""
    end, outcome = one.end, one.outcome
    if end is None or outcome is None:
        return "not settled"
    if end is outcome:
        return "settled with the outcome"
    return f"settled by the {end.role} after the outcome"


def _shown(deliveries: list[Delivery]) -> str:
    texts = [
        ", ".join(
            f"{frame.disposition} by the {frame.role}{', settled' if frame.settled else ''}"
            for frame in one.dispositions
        )
        for one in deliveries
    ]
    return " / ".join(one or "no disposition" for one in texts) or "no unsettled transfer"


def _expected(claim: Claim) -> str:
    keys, actors = ", ".join(keys_of(claim)), actors_of(claim)
    if claim.bounds.get("times") == 0:
        return f"none of {keys} is accepted over the wire"
    if not claim.bounds.get("accepted", 1):
        return f"each accepted delivery of {keys} is settled by either end"
    settled = " and settled" if claim.bounds.get("settled", 1) else ""
    if actors is None:
        return f"each of {keys} is accepted{settled} over the wire, before its send is answered"
    after = ", after the application acknowledged it" if claim.bounds.get("acknowledged", 1) else ""
    return f"each of {keys} is accepted{settled} over the wire by {' or '.join(actors)}{after}"
