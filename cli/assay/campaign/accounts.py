"""Computes, from the clients' journals, how often each message of a round may be received.

Each queue and each subscription holds its own copy of a message.  The *fate* of a send is

- *confirmed*: the broker confirmed the send or, in a unit of work, the commit;
- *void*: the broker refused the send, or its unit of work was rolled back or was lost without a commit;
- *in doubt*: the broker was killed before the answer.

Each delivery of a copy has the fate of its acknowledgement.  The expected number *n* of deliveries of a copy counts the
first delivery whose acknowledgement is confirmed, and all deliveries before that one.  If no acknowledgement is
confirmed, *n* is one more than the number of deliveries so far.

- If the send is void, the copy must never be seen.
- If the copy may be lost, it must be seen at most *n* times.
- In all other cases, the copy must be seen exactly *n* times.

A copy may be lost in three cases:

- the message is non-persistent;
- no acknowledgement is confirmed, and the last one is in doubt;
- no acknowledgement is confirmed, the send is in doubt, and the receiver did not give the last delivery back.

A further delivery after the one with the confirmed acknowledgement does not raise *n*; it is one delivery too many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from assay.campaign.families import SUBSCRIPTIONS
from assay_evidence.events import CONNECTION_LOST, AnyEvent, Call, Predicate, Return, Seen
from assay_evidence.history import History
from assay_evidence.spans import NS_PER_MS, clip, total
from assay_evidence.watching import Axis, watchers_of


class Fate(Enum):
    """Whether a send, an acknowledgement or a commit took effect: confirmed, void or in doubt."""

    CONFIRMED = "confirmed"
    VOID = "void"
    DOUBT = "in doubt"


class Sending(Struct, frozen=True):
    """A send of one message, with its fate.

    Args:
        call: The recorded call of the send.
        key: The message's key.
        fate: The fate of the send.
    """

    call: Call
    key: str
    fate: Fate

    @property
    def delay_ms(self) -> int:
        """The delivery delay of the message, in milliseconds."""
        delay = self.call.args.get("delay_ms")
        return delay if isinstance(delay, int) else 0


class Sighting(Struct):
    """A delivery of a copy, with the fate of its acknowledgement.

    Args:
        seen: The event of the delivery.
        unit: The unit of work or branch that received the message; None outside of one.
        fate: The fate of the acknowledgement; in a unit of work, the fate of its commit.
    """

    seen: Seen
    unit: str | None
    fate: Fate = Fate.VOID


class Unit(Struct):
    """A local unit of work, or a branch of a global unit of work.

    Args:
        end: The call that committed or rolled back the local unit of work; None without such a call, and for a branch.
        prepared: The call that prepared the branch, if the prepare was confirmed; otherwise None.
        decisions: The calls with which the transaction manager committed or rolled back the branch.
        fate: The fate of the commit. The commit of a branch counts as confirmed from the call on, even without an
            answer, because the transaction manager repeats the call until the branch is no longer in doubt.
        sent: The keys of the messages sent in the unit of work.
        taken: The keys of the messages received in the unit of work.
    """

    end: Call | None = None
    prepared: Call | None = None
    decisions: list[Call] = []
    fate: Fate = Fate.VOID
    sent: list[str] = []
    taken: list[str] = []


class Accounts:
    """The sends, deliveries and units of work of one scenario, with their fates.

    Args:
        events: The scenario's events, from all journals.
    """

    def __init__(self, events: Iterable[AnyEvent]) -> None:
        self.sendings: list[Sending] = []
        self.sightings: defaultdict[tuple[str, str], list[Sighting]] = defaultdict(list)
        """The deliveries in order of time, by the message's key and the subscription's name (empty for a queue)."""
        self.units: defaultdict[str, Unit] = defaultdict(Unit)
        self.recoveries: list[tuple[Call, str]] = []
        """The pairs of a recover call and a branch that was in doubt at the time of the call."""
        ordered = sorted(events, key=lambda event: (event.writer, event.seq))
        self._history = History(ordered)
        self._last = max(ordered, key=lambda event: event.mono_ns, default=None)
        self._answers = {(event.writer, event.call): event for event in ordered if isinstance(event, Return)}
        sends: list[Call] = []
        taking: dict[tuple[str, str], str | None] = {}
        latest: dict[tuple[str, str], Sighting] = {}
        for event in ordered:
            if isinstance(event, Seen):
                sighting = Sighting(event, taking.get((event.writer, event.actor)))
                latest[event.writer, event.msg.key] = sighting
                holder = event.actor if event.actor in SUBSCRIPTIONS else ""
                self.sightings[event.msg.key, holder].append(sighting)
                if sighting.unit is not None:
                    self.units[sighting.unit].taken.append(event.msg.key)
            elif isinstance(event, Call):
                self._call(event, sends, taking, latest)
        self._close(sends)

    def undecided(self) -> list[Unit]:
        """Return the branches that were prepared, and that no call has committed or rolled back."""
        return [unit for unit in self.units.values() if unit.prepared is not None and not unit.decisions]

    def answered(self, call: Call) -> Return | None:
        """Return the answer to a call; None if the call has no answer, or if the connection was lost."""
        answer = self._answers.get((call.writer, call.id))
        lost = answer is None or (answer.refused is not None and answer.refused.kind == CONNECTION_LOST)
        return None if lost else answer

    def watched(self, sending: Sending) -> float:
        """Return for how much of a message's delay a receiver waited, as a share from 0 to 1.

        Only the part of the delay after the send's answer counts. The share is 0 if the send has no answer, or if the
        delay was over before the answer.
        """
        answer = self._answers.get((sending.call.writer, sending.call.id))
        if self._last is None or answer is None:
            return 0.0
        axis = Axis(self._history, sending.call, self._last)
        start, due = axis.at(answer), sending.delay_ms * NS_PER_MS
        spans = axis.watched(watchers_of(self._history, None, {sending.key}))
        return total(clip(spans, start, due)) / (due - start) if due > start else 0.0

    def _call(
        self,
        call: Call,
        sends: list[Call],
        taking: dict[tuple[str, str], str | None],
        latest: dict[tuple[str, str], Sighting],
    ) -> None:
        if call.op == "send" and call.msg is not None:
            sends.append(call)
            if call.unit is not None:
                self.units[call.unit].sent.append(call.msg.key)
        elif call.op == "receive":
            taking[call.writer, call.actor] = call.unit
        elif call.op == "acknowledge" and call.msg is not None:
            latest[call.writer, call.msg.key].fate = self._fate(call)
        elif call.op in {"commit", "rollback"} and call.unit is not None:
            unit = self.units[call.unit]
            unit.end = call
            unit.fate = self._fate(call) if call.op == "commit" else Fate.VOID
        elif call.op.startswith("xa-"):
            self._branch(call)

    def _branch(self, call: Call) -> None:
        """Record a transaction manager's call in the `Unit` of its branch."""
        if call.op == "xa-recover":
            answer = self._answers.get((call.writer, call.id))
            for name in answer.value if answer is not None else ():
                unit = self.units[name]
                if unit.prepared is not None and not unit.decisions:
                    self.recoveries.append((call, name))
        elif call.unit is not None:
            unit = self.units[call.unit]
            if call.op == "xa-prepare" and self._fate(call) is Fate.CONFIRMED:
                unit.prepared = call
            elif call.op in {"xa-commit", "xa-rollback"}:
                unit.decisions.append(call)
                unit.fate = Fate.CONFIRMED if call.op == "xa-commit" else Fate.VOID

    def _close(self, sends: list[Call]) -> None:
        for sightings in self.sightings.values():
            sightings.sort(key=lambda sighting: sighting.seen.mono_ns)
            for sighting in sightings:
                if sighting.unit is not None:
                    sighting.fate = self.units[sighting.unit].fate
        for call in sends:
            if call.msg is not None:
                fate = self._fate(call) if call.unit is None else self.units[call.unit].fate
                self.sendings.append(Sending(call, call.msg.key, fate))

    def _fate(self, call: Call) -> Fate:
        answer = self._answers.get((call.writer, call.id))
        if answer is None:
            return Fate.DOUBT
        if answer.refused is None:
            return Fate.CONFIRMED
        return Fate.DOUBT if answer.refused.leaves_open else Fate.VOID


class Bound(Struct, frozen=True):
    """The number of deliveries of a copy that the rules demand, or the largest number that they permit.

    Args:
        predicate: The claim's predicate: exactly, at most or never.
        times: The number of deliveries.
        unanswered: Whether the send is in doubt.
    """

    predicate: Predicate
    times: int
    unanswered: bool


def bound(sending: Sending, sightings: Sequence[Sighting], *, passing: bool) -> Bound:
    """Compute how often a copy may be seen according to the rules.

    Args:
        sending: The send of the copy's message.
        sightings: The deliveries of the copy, in order.
        passing: Whether the message is non-persistent, so that a kill of the broker may lose it.
    """
    if sending.fate is Fate.VOID:
        return Bound("never-seen", 0, unanswered=False)
    fates = [sighting.fate for sighting in sightings]
    acknowledged = Fate.CONFIRMED in fates
    before = fates[: fates.index(Fate.CONFIRMED)] if acknowledged else fates
    given_back = bool(before) and before[-1] is Fate.VOID
    maybe_taken = not acknowledged and bool(before) and before[-1] is Fate.DOUBT
    maybe_sent = sending.fate is Fate.DOUBT and not given_back and not acknowledged
    loose = passing or maybe_taken or maybe_sent
    unanswered = sending.fate is Fate.DOUBT
    return Bound("delivered-at-most" if loose else "delivered-exactly", len(before) + 1, unanswered=unanswered)
