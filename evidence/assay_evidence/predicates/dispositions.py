"""Predicate about what frames say of deliveries: disposed.

A delivery begins with a transfer that is not settled. Its receiver names an outcome, and either end settles it (OASIS
AMQP 1.0, 2.6.12). AMQP knows more than one right way, so a claim names none of them:

==========  =====================================  =====================================  ==============================
state       a frame                                what it means                          a claim of acceptance
==========  =====================================  =====================================  ==============================
sent        transfer, settled                      at most once: the delivery is over     is not about it
open        transfer, not settled                  the sender keeps its copy              fails if it stays so
settled     receiver: settled, without outcome     its source's default outcome holds     fails if too early
told        receiver: accepted, not settled        the receiver waits for the sender      passes if it is settled later
over        receiver: accepted, settled            the sender drops its copy, unanswered  passes
over        told, then sender: settled             both know that the other knows         passes
over        told, then receiver: settled           the receiver waits no longer           passes
lost        receiver: another outcome              the sender still has the message       fails
forgotten   open, then sender: settled             the sender dropped its copy untold     decides nothing of a receiver
==========  =====================================  =====================================  ==============================

The next transfer of the same message, to the same consumer or by the same connection, begins a delivery of its own.
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
        key: The kit's id of the message.
        transfer: The frame that completed it.
        said: What later frames said of it, in order.
        deed: What allows its receiver to accept it: the application's call; for a message of the client, the broker
            needs none. None if nothing did.
        answer: For a message of the client: the answer to its send, before which the broker must have accepted it.
    """

    key: str
    transfer: Frame
    said: tuple[Frame, ...]
    deed: Event | None = None
    answer: Event | None = None

    @property
    def told(self) -> list[Frame]:
        """The outcomes that the receiver named, and its settlement without one."""
        return [frame for frame in self.said if frame.role == "receiver"]

    @property
    def outcome(self) -> Frame | None:
        """The first outcome that the receiver named."""
        return next((frame for frame in self.told if frame.disposition != _NONE), None)

    @property
    def end(self) -> Frame | None:
        """The frame that settled it."""
        return next((frame for frame in self.said if frame.settled), None)


class _Flaw(Struct, frozen=True):
    """Return the breach in a delivery.

    Args:
        reason: The sentence of the finding.
        by: The frame that shows it; None if a frame is missing.
        since: From when on it was missing.
        proves: Whether it breaks the rule; otherwise the delivery shows nothing.
    """

    reason: str
    by: Frame | None
    since: Event
    proves: bool = True


def disposed(claim: Claim, history: History) -> Finding:
    """Decide what became of the deliveries of each message.

    They are those to the actors, or without an actor those of the client.  Each is accepted by its receiver, and with
    ``settled`` 1 settled by either end.  To an actor, the outcome follows the application's acknowledgement, unless
    ``acknowledged`` is 0.  Of a message of the client, it comes before the answer to the send.  With ``accepted`` 0 the
    claim is only about the end of what was accepted.  With ``times`` 0 none is accepted, nor settled by its receiver.
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
    return say.passed("Each message was accepted in its turn.", observed, ", ".join(ways), certain=True)


def _untried(say: Saying, claim: Claim, history: History) -> Finding | None:
    if not history.frames:
        return say.not_demonstrated("No observer watched the wire.", "no frame of a message")
    return None if actors_of(claim) else say.unless_accepted(history, sends_of(claim, history))


def _deliveries(key: str, claim: Claim, history: History) -> Iterable[Delivery]:
    """The deliveries of a message that the claim is about and that began unsettled."""
    actors = actors_of(claim)
    direction = "out" if actors is None else "in"
    frames = [frame for frame in history.frames[key] if actors is None or frame.actor in actors]
    begins = [at for at, frame in enumerate(frames) if frame.disposition is None and frame.direction == direction]
    for begin, end in pairwise([*begins, len(frames)]):
        transfer = frames[begin]
        if transfer.settled:
            continue
        # The client receives the incoming messages, so its dispositions go out.
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
    """The first call by which an actor acknowledged the message between its transfer and the next."""
    for call in history.acknowledgements(key, actors_of(claim)):
        answer = history.answer(call)
        refused = answer is not None and answer.refused is not None
        if not refused and follows(call, transfer) and (later is None or follows(later, call)):
            return call
    return None


def _answered(key: str, history: History) -> Event | None:
    """The first answer to a send of the message that says that it was taken."""
    answers = [history.answer(send) for send in history.sends({key})]
    return next((one for one in answers if one is not None and one.refused is None), None)


def _judged(deliveries: list[Delivery], claim: Claim) -> list[Delivery]:
    """The deliveries that must have been accepted.

    A message that was sent again must have been accepted once; of what came to the application, what it acknowledged.
    """
    if actors_of(claim) is None:
        accepted = [one for one in deliveries if one.outcome is not None and one.outcome.disposition == _ACCEPTED]
        return accepted[:1] or deliveries[-1:]
    if not claim.bounds.get("accepted", 1):
        return [one for one in deliveries if one.outcome is not None and one.outcome.disposition == _ACCEPTED]
    if claim.bounds.get("acknowledged", 1):
        return [one for one in deliveries if one.deed is not None]
    return deliveries


def _flaws(deliveries: list[Delivery], claim: Claim) -> Iterable[_Flaw]:
    """Return the breach in the deliveries of one message."""
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
        reason = "The application acknowledged nothing, or the client accepted nothing, so nothing was due."
        yield _Flaw(reason, None, deliveries[-1].transfer, proves=False)
    for one in judged:
        flaw = _flaw(one, one.deed if by_hand else None, settled=bool(claim.bounds.get("settled", 1)))
        if flaw is not None:
            yield flaw


def _flaw(one: Delivery, deed: Event | None, *, settled: bool) -> _Flaw | None:
    """Return the breach in a delivery that must have been accepted, and settled if the claim says so."""
    outcome = one.outcome
    if outcome is None and one.end is not None:
        mine, other = "so the default outcome of its source holds", "so its receiver had nothing left to say"
        reason = f"A delivery was settled without an outcome, {mine if one.end.role == 'receiver' else other}."
        return _Flaw(reason, None, one.transfer, proves=False)
    if outcome is None:
        return _Flaw("No outcome of a delivery went over the wire.", None, deed or one.transfer)
    if outcome.disposition != _ACCEPTED:
        return _Flaw(f"A message was {outcome.disposition} instead of accepted.", outcome, outcome)
    if one.answer is not None and follows(outcome, one.answer):
        return _Flaw("The client answered the send before the broker had accepted the message.", outcome, outcome)
    if settled and one.end is None:
        return _Flaw("Neither end settled a delivery.", None, outcome)
    return None


def _early(one: Delivery, *, never: bool) -> Iterable[_Flaw]:
    """Return the client's outcome of a delivery before the application acknowledged it; it may give it back."""
    for frame in one.told:
        if frame.disposition != _ACCEPTED and not (frame.disposition == _NONE and frame.settled):
            continue  # it gives the message back
        what = "settled without an outcome" if frame.disposition == _NONE else "accepted"
        if never:
            yield _Flaw(f"A message was {what}, and nothing allowed it.", frame, frame)
        elif one.deed is None or follows(one.deed, frame):
            yield _Flaw(f"A message was {what} before the application acknowledged it.", frame, frame)


def _missing(say: Saying, claim: Claim, history: History, flaw: _Flaw, observed: str) -> Finding:
    """The finding about a frame that did not come."""
    if not flaw.proves:
        return say.not_demonstrated(flaw.reason, observed)
    if any(isinstance(cause, Fault | Call) and follows(cause, flaw.since) for cause in history.returns):
        return say.not_demonstrated("The connection or consumer ended before the delivery was over.", observed)
    if distance(claim, flaw.since).ns < quiet_ns(claim):
        return say.not_demonstrated("The wait for a missing disposition was too short.", observed)
    return say.failed(flaw.reason, observed)


def _silent(say: Saying, claim: Claim, found: list[list[Delivery]], observed: str) -> Finding:
    """The finding about messages that must not be accepted, and were not."""
    last = [deliveries[-1].transfer for deliveries in found]
    if any(distance(claim, transfer).ns < quiet_ns(claim) for transfer in last):
        return say.not_demonstrated("The wait for a disposition that must not come was too short.", observed)
    return say.passed("No message was accepted.", observed)


def _way(one: Delivery) -> str:
    """The end of a delivery."""
    end, outcome = one.end, one.outcome
    if end is None or outcome is None:
        return "not settled"
    if end is outcome:
        return "settled with the outcome"
    return f"settled by the {end.role} after the outcome"


def _shown(deliveries: list[Delivery]) -> str:
    told = [
        ", ".join(
            f"{frame.disposition} by the {frame.role}{', settled' if frame.settled else ''}" for frame in one.said
        )
        for one in deliveries
    ]
    return " / ".join(one or "nothing said" for one in told) or "no unsettled transfer"


def _expected(claim: Claim) -> str:
    keys, actors = ", ".join(keys_of(claim)), actors_of(claim)
    if claim.bounds.get("times") == 0:
        return f"none of {keys} is accepted over the wire"
    if not claim.bounds.get("accepted", 1):
        return f"what is accepted of {keys} is settled by either end"
    settled = " and settled" if claim.bounds.get("settled", 1) else ""
    if actors is None:
        return f"each of {keys} is accepted{settled} over the wire, before its send is answered"
    after = ", after the application acknowledged it" if claim.bounds.get("acknowledged", 1) else ""
    return f"each of {keys} is accepted{settled} over the wire by {' or '.join(actors)}{after}"
