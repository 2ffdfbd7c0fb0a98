"""What became of every message of a round, from what its clients wrote down.

A copy of a message is what one queue, or one subscription, owes.  Of its send it is known that it was *confirmed* (the
answer has come, or its unit of work was committed), is *void* (refused, or its unit was rolled back, or lost before
anybody committed it), or is in *doubt* (the broker was killed before the answer).  Each time a copy was handed over,
the same three are known of its acknowledgement.  So the rules leave a number of times that a copy may be seen:

- once, and once more for each time it was handed over and not acknowledged for certain before it first was;
- exactly so often, where it was owed: confirmed, or seen and given back;
- at most so often, where it may be gone: non-persistent, or in doubt at either end;
- never, where it is void.

Nothing of what was seen after an acknowledgement enters these numbers, so a message that comes again behind one has
come too often.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from assay.campaign.families import SUBSCRIPTIONS
from assay_evidence.events import AnyEvent, Call, Predicate, Return, Seen
from assay_evidence.history import History
from assay_evidence.spans import clip, total
from assay_evidence.watching import NS_PER_MS, Axis, watchers_of

LOST = "connection-lost"


class Fate(Enum):
    """What is known of a send, or of an acknowledgement."""

    CONFIRMED = "confirmed"
    VOID = "void"
    DOUBT = "in doubt"


class Sending(Struct, frozen=True):
    """A message sent.

    Args:
        call: The send.
        kid: The message.
        fate: What is known of it.
    """

    call: Call
    kid: str
    fate: Fate

    @property
    def delay_ms(self) -> int:
        """Its delay."""
        delay = self.call.args.get("delay_ms")
        return delay if isinstance(delay, int) else 0


class Sighting(Struct):
    """A copy handed over; its fate is that of its acknowledgement."""

    seen: Seen
    unit: str | None
    fate: Fate = Fate.VOID


class Unit(Struct):
    """A unit of work, local or a branch: what it sent and took, and what is known of its commit.

    Args:
        end: The call that ended it.
        prepared: The call that is known to have prepared it.
        decisions: The calls by which its transaction manager decided on it.
        fate: What is known of its commit.  A branch that was to be committed was known to be prepared, and its
            transaction manager comes back until it is in doubt no longer: then it is committed, whatever was answered.
        sent: What it sent, by kid.
        taken: What it took, by kid.
    """

    end: Call | None = None
    prepared: Call | None = None
    decisions: list[Call] = []
    fate: Fate = Fate.VOID
    sent: list[str] = []
    taken: list[str] = []


class Accounts:
    """The books of one scenario.

    Args:
        events: Its events, of all writers.
    """

    def __init__(self, events: Iterable[AnyEvent]) -> None:
        self.sendings: list[Sending] = []
        self.sightings: defaultdict[tuple[str, str], list[Sighting]] = defaultdict(list)
        """By kid and holder, in order of time: a subscription's name, or nothing for a queue."""
        self.units: defaultdict[str, Unit] = defaultdict(Unit)
        self.recoveries: list[tuple[Call, str]] = []
        """Each time that somebody asked for branches in doubt, with one that must have been."""
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
                latest[event.writer, event.msg.kid] = sighting
                holder = event.actor if event.actor in SUBSCRIPTIONS else ""
                self.sightings[event.msg.kid, holder].append(sighting)
                if sighting.unit is not None:
                    self.units[sighting.unit].taken.append(event.msg.kid)
            elif isinstance(event, Call):
                self._call(event, sends, taking, latest)
        self._close(sends)

    def undecided(self) -> list[Unit]:
        """Branches that are prepared for certain, and on which nobody has decided."""
        return [unit for unit in self.units.values() if unit.prepared is not None and not unit.decisions]

    def answered(self, call: Call) -> Return | None:
        """What a call gave, unless the connection was lost or nothing came back."""
        answer = self._answers.get((call.writer, call.id))
        lost = answer is None or (answer.refused is not None and answer.refused.kind == LOST)
        return None if lost else answer

    def watched(self, sending: Sending) -> float:
        """For which part of the time from a send's answer to its due moment somebody watched for it, 0 to 1."""
        answer = self._answers.get((sending.call.writer, sending.call.id))
        if self._last is None or answer is None:
            return 0.0
        axis = Axis(self._history, sending.call, self._last)
        start, due = axis.at(answer), sending.delay_ms * NS_PER_MS
        spans = axis.watched(watchers_of(self._history, None, {sending.kid}))
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
                self.units[call.unit].sent.append(call.msg.kid)
        elif call.op == "receive":
            taking[call.writer, call.actor] = call.unit
        elif call.op == "acknowledge" and call.msg is not None:
            latest[call.writer, call.msg.kid].fate = self._fate(call)
        elif call.op in {"commit", "rollback"} and call.unit is not None:
            unit = self.units[call.unit]
            unit.end = call
            unit.fate = self._fate(call) if call.op == "commit" else Fate.VOID
        elif call.op.startswith("xa-"):
            self._branch(call)

    def _branch(self, call: Call) -> None:
        """Somebody asks for something about branches."""
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
                self.sendings.append(Sending(call, call.msg.kid, fate))

    def _fate(self, call: Call) -> Fate:
        answer = self._answers.get((call.writer, call.id))
        if answer is None:
            return Fate.DOUBT
        if answer.refused is None:
            return Fate.CONFIRMED
        return Fate.DOUBT if answer.refused.kind == LOST else Fate.VOID


class Bound(Struct, frozen=True):
    """How often a copy may be seen.

    Args:
        predicate: Exactly or at most; or never.
        times: How often.
        unanswered: Whether its send was cut off before the answer.
    """

    predicate: Predicate
    times: int
    unanswered: bool


def bound(sending: Sending, sightings: Sequence[Sighting], *, passing: bool) -> Bound:
    """How often the rules let a copy be seen.

    Args:
        sending: Its send.
        sightings: Each time it was handed over, in order.
        passing: Whether it is non-persistent, and so may be lost with the broker's process.
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
