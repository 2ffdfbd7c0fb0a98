"""An index of the evidence of one scenario: calls and answers, sightings, browses, watches, faults, storage operations.

The distance of two events is the difference of their monotonic times if both have the same boot, or else of their
wall-clock times.  Its uncertainty is the sum of both events' uncertainties.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import TypeVar

from msgspec import Struct

from assay_evidence.errors import ClaimError
from assay_evidence.events import (
    LEAVING,
    Admin,
    AnyEvent,
    Call,
    Callback,
    Claim,
    Disk,
    Event,
    Fault,
    Frame,
    Inspected,
    Late,
    Log,
    Past,
    Return,
    ScenarioBegin,
    ScenarioEnd,
    Seen,
    Settle,
    Step,
    Unit,
    Watch,
    Wire,
)
from assay_evidence.events.pairs import PhasedT, paired

_NO_EVIDENCE = frozenset({Claim, Step, ScenarioBegin, ScenarioEnd, Wire, Inspected, Log, Past})
"""The kinds of events from which no claim is decided."""
_GIVING_BACK = LEAVING | {"recover", "unsubscribe"}
"""The calls by which a client gives unacknowledged messages back to the broker."""
_ACCEPTED = "accepted"
E = TypeVar("E", bound=Event)


class Distance(Struct, frozen=True):
    """The time from one event to another.

    Args:
        ns: The time in nanoseconds; negative if the second event is the earlier one.
        unc_ns: The uncertainty of `ns`, plus or minus, in nanoseconds.
    """

    ns: int
    unc_ns: int


def distance(later: Event, earlier: Event) -> Distance:
    """Return the time from `earlier` to `later`, with the uncertainty; negative if `later` in fact comes first."""
    unc_ns = later.unc_ns + earlier.unc_ns
    if later.boot == earlier.boot:
        return Distance(later.mono_ns - earlier.mono_ns, unc_ns)
    return Distance(later.wall_ns - earlier.wall_ns, unc_ns)


def follows(event: Event, other: Event) -> bool:
    """Return whether `event` comes after `other`.

    If two events of one writer have the same time, their sequence numbers decide. If two events of different writers
    have the same time, the function returns True in both orders.
    """
    apart = distance(event, other).ns
    return apart > 0 or (apart == 0 and (event.writer != other.writer or event.seq > other.seq))


class Watched(Struct, frozen=True):
    """A watch; `end` is None if the watch had not ended before the claim."""

    begin: Watch
    end: Watch | None


class Faulted(Struct, frozen=True):
    """A fault; `end` is None if the fault had not ended before the claim."""

    begin: Fault
    end: Fault | None


class Look(Struct, frozen=True):
    """A client's browse (`call`) that the broker accepted, and its answer, which lists the messages at that moment."""

    call: Call
    answer: Return


def visible_to(claim: Claim, events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """Return the events that may decide a claim: those before the claim, without the kinds that decide no claim.

    An event of the claim's own writer counts if its sequence number is lower than the claim's.  An event of another
    writer counts unless it is later than the claim by more than the clocks' uncertainty.  Delays of the harness
    (`Late`) always count, because the thread that records them may be slower than the claim's step.
    """
    kept: list[AnyEvent] = []
    writer, seq = claim.writer, claim.seq
    for event in events:
        if type(event) in _NO_EVIDENCE:
            continue
        if type(event) is Late:
            kept.append(event)
        elif event.writer == writer:
            if event.seq < seq:
                kept.append(event)
        else:
            apart = distance(event, claim)
            if apart.ns <= apart.unc_ns:
                kept.append(event)
    return kept


class History:
    """An index of the evidence of one scenario, up to a claim.

    Args:
        events: The evidence for the claim (`visible_to`).
        delays_placed: Whether `delays` is complete: the journal has an event for each long delay of the harness.

    Attributes:
        consumers: All calls that create a consumer.
        watches: All watches, except those of refused receives.
        faults: All faults.
        disk: All operations of the storage, in the order of each writer.
        callbacks: All ends of listeners' callbacks.
        admins: All commands of administrators.
        units: All changes of units of work.
        transfers: The frames in which the client sent a message, by the message's key, in the order of each writer.
        frames: The frames about a message in both directions, by the message's key, in the order of each writer.
        delays: All delays of the harness (`Late`).

    Raises:
        ClaimError: A call has two answers, or a watch or fault ends without a begin.
    """

    def __init__(self, events: Iterable[AnyEvent], *, delays_placed: bool = True) -> None:
        self.delays_placed = delays_placed
        self._events = tuple(events)
        self._answers: dict[tuple[str, str], Return] = {}
        self._sends: defaultdict[str, list[Call]] = defaultdict(list)
        self._seen: list[Seen] = []
        self._browses: list[Call] = []
        self.consumers: list[Call] = []
        self._receives: list[Call] = []
        self._acknowledgements: list[Call] = []
        self._commits: defaultdict[tuple[str, str], list[Call]] = defaultdict(list)
        self.disk: list[Disk] = []
        self.callbacks: list[Callback] = []
        self.admins: list[Admin] = []
        self.units: list[Unit] = []
        self.transfers: defaultdict[str, list[Frame]] = defaultdict(list)
        self.frames: defaultdict[str, list[Frame]] = defaultdict(list)
        self.delays: list[Late] = []
        watches: list[Watch] = []
        faults: list[Fault] = []
        for event in self._events:
            match event:
                case Call():
                    self._add_call(event)
                case Return():
                    self._add_answer(event)
                case Seen():
                    self._seen.append(event)
                case Watch():
                    watches.append(event)
                case Fault():
                    faults.append(event)
                case Disk() | Callback() | Unit() | Admin() | Frame() | Late():
                    self._keep(event)
                case _:
                    pass  # events of other kinds are found by their reference only
        self._seen = in_order(self._seen)
        self._seen_of = _parted(self._seen, lambda seen: seen.msg.key)
        self._seen_by = _parted(self._seen, lambda seen: seen.actor)
        # The watch of a refused receive proves nothing, because the consumer could not receive a message.
        refused = [call for call in self._receives if (answer := self.answer(call)) and answer.refused is not None]
        pairs = (Watched(begin, end) for begin, end in _whole_pairs(watches))
        self.watches = [watch for watch in pairs if not any(_is_around(watch, call) for call in refused)]
        self.faults = [Faulted(begin, end) for begin, end in _whole_pairs(faults)]

    def _keep(self, event: Disk | Callback | Unit | Admin | Frame | Late) -> None:
        match event:
            case Late():
                self.delays.append(event)
            case Disk():
                self.disk.append(event)
            case Callback():
                self.callbacks.append(event)
            case Unit():
                self.units.append(event)
            case Admin():
                self.admins.append(event)
            case Frame(key=str() as key):
                self.frames[key].append(event)
                if event.direction == "out" and event.disposition is None:
                    self.transfers[key].append(event)
            case Frame():
                pass  # a frame about no message, which only reports show

    def _add_call(self, call: Call) -> None:
        if call.op == "send" and call.msg is not None:
            self._sends[call.msg.key].append(call)
        if call.op == "consumer":
            self.consumers.append(call)
        if call.op == "browse":
            self._browses.append(call)
        if call.op == "receive":
            self._receives.append(call)
        if call.op == "acknowledge":
            self._acknowledgements.append(call)
        if call.op == "commit" and call.unit is not None:
            self._commits[call.writer, call.unit].append(call)

    def _add_answer(self, answer: Return) -> None:
        if self._answers.setdefault((answer.writer, answer.call), answer) is not answer:
            raise ClaimError(f"The call {answer.call} has two answers, so the journal contradicts itself.")

    def event(self, ref: str) -> AnyEvent | None:
        """Return the event with a reference, ``writer:seq``; None if the evidence has no such event."""
        return self._by_ref.get(ref)

    @cached_property
    def returns(self) -> list[AnyEvent]:
        """The events after which the broker may deliver messages again, such as a rollback or a fault."""
        return [event for event in self._events if _gives_back(event)]

    @cached_property
    def _by_ref(self) -> dict[str, AnyEvent]:
        return {event.ref: event for event in self._events}

    def call(self, ref: str) -> Call:
        """Return the call with a reference, ``writer:seq``.

        Raises:
            ClaimError: The evidence before the claim has no such call.
        """
        event = self._by_ref.get(ref)
        if not isinstance(event, Call):
            raise ClaimError(f"The claim refers to the call {ref}, but the evidence before it has no such call.")
        return event

    def answer(self, call: Call) -> Return | None:
        """Return the answer to a call; None if the call did not return."""
        return self._answers.get((call.writer, call.id))

    def refused_commit(self, send: Call) -> Return | None:
        """Return the answer that refused to commit a send's unit of work; None if no commit of the unit was refused."""
        commits = self._commits.get((send.writer, send.unit), ()) if send.unit is not None else ()
        answers = (self.answer(commit) for commit in commits)
        return next((answer for answer in answers if answer is not None and answer.refused is not None), None)

    def confirmed(self, send: Call) -> Return | None:
        """Return the answer with which the broker became responsible for a message; None without such an answer.

        It is the answer to the send or, if the send was part of a unit of work, the answer to the unit's commit.
        """
        answer = self.answer(send)
        if send.unit is not None and answer is not None and answer.refused is None:
            later = (commit for commit in self._commits.get((send.writer, send.unit), ()) if commit.seq > send.seq)
            answer = next((self.answer(commit) for commit in later), None)
        return answer if answer is not None and answer.refused is None else None

    def sent_to(self, destination: str) -> list[Call]:
        """Return all sends to a destination."""
        return [send for sends in self._sends.values() for send in sends if send.destination == destination]

    def sends(self, keys: Collection[str]) -> list[Call]:
        """Return all sends of the messages with these keys."""
        return [send for key in keys for send in self._sends.get(key, ())]

    def sightings(self, keys: Collection[str] | None, actors: Collection[str] | None) -> list[Seen]:
        """Return the sightings of messages with these keys by these actors, in order of time.

        Args:
            keys: The messages' keys; None for all messages.
            actors: The actors' names; None for all actors.
        """
        among = self._seen
        if keys is not None and len(keys) == 1:
            among = self._seen_of.get(next(iter(keys)), [])
        elif actors is not None and len(actors) == 1:
            among = self._seen_by.get(next(iter(actors)), [])
        return [
            seen
            for seen in among
            if (keys is None or seen.msg.key in keys) and (actors is None or seen.actor in actors)
        ]

    def acknowledgements(self, key: str, actors: Collection[str] | None) -> list[Call]:
        """Return the calls by which actors acknowledged a message, in the order of each writer.

        Args:
            key: The message's key.
            actors: The actors' names; None for all actors.
        """
        calls = self._acknowledgements
        return [call for call in calls if call.msg and call.msg.key == key and (actors is None or call.actor in actors)]

    def looks(self, destination: str | None = None, actors: Collection[str] | None = None) -> list[Look]:
        """Return the accepted browses.

        Args:
            destination: The browsed destination; None for all.
            actors: The names of the browsing actors; None for all.
        """
        looks: list[Look] = []
        for call in self._browses:
            answer = self.answer(call)
            if answer is None or answer.refused is not None:
                continue
            if destination in {None, call.destination} and (actors is None or call.actor in actors):
                looks.append(Look(call, answer))
        return looks


def _gives_back(event: AnyEvent) -> bool:
    match event:
        case Fault() | Callback(ended="raised") | Unit(op="rollback" | "recover"):
            return True
        case Call(op=op):
            return op in _GIVING_BACK
        case Settle(outcome=outcome):
            return outcome != _ACCEPTED
        case _:
            return False


def in_order(events: Iterable[E]) -> list[E]:
    """Sort events by time, and events of equal time by writer and each writer's order."""
    listed = list(events)
    if not listed:
        return listed
    origin = listed[0]
    if all(event.boot == origin.boot for event in listed):
        return sorted(listed, key=lambda event: (event.mono_ns, event.writer, event.seq))
    return sorted(listed, key=lambda event: (distance(event, origin).ns, event.writer, event.seq))


def _parted(sightings: Iterable[Seen], name: Callable[[Seen], str]) -> dict[str, list[Seen]]:
    """Group sightings by the result of the function `name`; each group has the order of the sightings."""
    parted: defaultdict[str, list[Seen]] = defaultdict(list)
    for seen in sightings:
        parted[name(seen)].append(seen)
    return dict(parted)


def _is_around(watch: Watched, call: Call) -> bool:
    """Return whether a consumer's watch was open during a receive call of the same consumer."""
    begin, end = watch.begin, watch.end
    mine = call.writer == begin.writer and call.actor == begin.actor
    return mine and end is not None and begin.seq < call.seq < end.seq


def _whole_pairs(events: list[PhasedT]) -> list[tuple[PhasedT, PhasedT | None]]:
    """Pair the begins of watches or faults with their ends (`paired`).

    Raises:
        ClaimError: An end has no begin.
    """
    pairs = paired(events)
    ended = {end.ref for _, end in pairs if end is not None}
    for event in events:
        if event.phase == "end" and event.ref not in ended:
            raise ClaimError(f"{event.id} ends at {event.ref} without a begin, so the journal contradicts itself.")
    return pairs
