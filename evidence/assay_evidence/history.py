"""An index of the evidence of one scenario: calls with their answers, sightings, looks, watches, faults, disk.

The distance of two events is that of their monotonic readings if both have the same boot, or else that of their wall
clocks.  Its uncertainty is the sum of both events' uncertainties.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from typing import TypeVar

from msgspec import Struct

from assay_evidence.errors import ClaimError
from assay_evidence.events import (
    AnyEvent,
    Call,
    Callback,
    Claim,
    Disk,
    Event,
    Fault,
    Frame,
    Late,
    Return,
    ScenarioBegin,
    ScenarioEnd,
    Seen,
    Settle,
    Step,
    Unit,
    Watch,
)

_ABOUT_THE_SUITE = frozenset({Claim, Step, ScenarioBegin, ScenarioEnd})
_GIVING_BACK = frozenset({"abort", "close-connection", "close-consumer", "close-session", "recover", "unsubscribe"})
"""Calls by which a client gives back what it has not acknowledged."""
_ACCEPTED = "accepted"
E = TypeVar("E", bound=Event)


class Distance(Struct, frozen=True):
    """The time from one event to another.

    Args:
        ns: Nanoseconds; negative if the other is earlier.
        unc_ns: The uncertainty of `ns`, plus or minus.
    """

    ns: int
    unc_ns: int


def distance(later: Event, earlier: Event) -> Distance:
    """Measure the time from `earlier` to `later`."""
    unc_ns = later.unc_ns + earlier.unc_ns
    if later.boot == earlier.boot:
        return Distance(later.mono_ns - earlier.mono_ns, unc_ns)
    return Distance(later.wall_ns - earlier.wall_ns, unc_ns)


def follows(event: Event, other: Event) -> bool:
    """Whether an event comes after another: by time, and at one instant by the writer's own order."""
    apart = distance(event, other).ns
    return apart > 0 or (apart == 0 and (event.writer != other.writer or event.seq > other.seq))


class Watched(Struct, frozen=True):
    """One watch; without an end it was open when the claim was made."""

    begin: Watch
    end: Watch | None


class Faulted(Struct, frozen=True):
    """One fault; without an end it was not over when the claim was made."""

    begin: Fault
    end: Fault | None


class Look(Struct, frozen=True):
    """A browse that was answered; it counts at the moment of its answer."""

    call: Call
    answer: Return


def visible_to(claim: Claim, events: Iterable[AnyEvent]) -> list[AnyEvent]:
    """Keep the evidence of a claim: its writer's earlier events, and other writers' events that are not later.

    A claim is therefore decided from the whole journal as it was when it was made.  Delays of the harness are always
    kept: the thread that notes them may be slower than the step that claims.
    """
    kept: list[AnyEvent] = []
    writer, seq = claim.writer, claim.seq
    for event in events:
        if type(event) in _ABOUT_THE_SUITE:
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
    """Index over the evidence of one scenario, up to a claim.

    Args:
        events: The evidence of the claim (`visible_to`).
        delays_placed: Whether `delays` holds all delays that matter; otherwise it is only known that there were some.

    Attributes:
        consumers: Every call that creates a consumer.
        watches: Every watch, except those of refused receives.
        faults: Every fault.
        disk: The operations of storage, in the order of each writer.
        callbacks: Every end of a listener's callback.
        units: Every change of a unit of work.
        transfers: Every frame that sent a message, by message, in the order of each writer.
        frames: Every frame about a message, in either direction, by message, in the order of each writer.
        delays: Every delay of the harness.
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
        self.disk: list[Disk] = []
        self.callbacks: list[Callback] = []
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
                case Disk() | Callback() | Unit() | Frame() | Late():
                    self._keep(event)
                case _:
                    pass  # the other kinds are found by reference only
        self._seen = in_order(self._seen)
        self._seen_of = _parted(self._seen, lambda seen: seen.msg.key)
        self._seen_by = _parted(self._seen, lambda seen: seen.actor)
        refused = [call for call in self._receives if (answer := self.answer(call)) and answer.refused is not None]
        pairs = (Watched(begin, end) for begin, end in _pairs(watches))
        self.watches = [watch for watch in pairs if not any(_is_around(watch, call) for call in refused)]
        self.faults = [Faulted(begin, end) for begin, end in _pairs(faults)]

    def _keep(self, event: Disk | Callback | Unit | Frame | Late) -> None:
        match event:
            case Late():
                self.delays.append(event)
            case Disk():
                self.disk.append(event)
            case Callback():
                self.callbacks.append(event)
            case Unit():
                self.units.append(event)
            case Frame(key=str() as key):
                self.frames[key].append(event)
                if event.direction == "out" and event.disposition is None:
                    self.transfers[key].append(event)
            case Frame():
                pass  # only reports show it

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

    def _add_answer(self, answer: Return) -> None:
        if self._answers.setdefault((answer.writer, answer.call), answer) is not answer:
            raise ClaimError(f"The call {answer.call} has two answers, so the journal contradicts itself.")

    def event(self, ref: str) -> AnyEvent | None:
        """The event of this reference, ``writer:seq``, or None."""
        return self._by_ref.get(ref)

    @cached_property
    def returns(self) -> list[AnyEvent]:
        """Everything that gives messages back to the broker, so that they may come again."""
        return [event for event in self._events if _gives_back(event)]

    @cached_property
    def _by_ref(self) -> dict[str, AnyEvent]:
        return {event.ref: event for event in self._events}

    def call(self, ref: str) -> Call:
        """The call of this reference.

        Raises:
            ClaimError: The evidence before the claim holds no such call.
        """
        event = self._by_ref.get(ref)
        if not isinstance(event, Call):
            raise ClaimError(f"The claim refers to the call {ref}, and the evidence before it holds no such call.")
        return event

    def answer(self, call: Call) -> Return | None:
        """The answer to a call; None if it did not return."""
        return self._answers.get((call.writer, call.id))

    def sends(self, keys: Collection[str]) -> list[Call]:
        """Every send of these messages."""
        return [send for key in keys for send in self._sends.get(key, ())]

    def sightings(self, keys: Collection[str] | None, actors: Collection[str] | None) -> list[Seen]:
        """The sightings of these messages (None: any) by these actors (None: any), in order of time."""
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
        """The calls by which these actors (None: any) acknowledged a message, in the order of each writer."""
        calls = self._acknowledgements
        return [call for call in calls if call.msg and call.msg.key == key and (actors is None or call.actor in actors)]

    def looks(self, destination: str | None = None, actors: Collection[str] | None = None) -> list[Look]:
        """The browses of a destination (None: any) by these actors (None: any) that were accepted."""
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
    """Sort events by time, and at one instant by writer and the writer's own order."""
    listed = list(events)
    if not listed:
        return listed
    origin = listed[0]
    if all(event.boot == origin.boot for event in listed):
        return sorted(listed, key=lambda event: (event.mono_ns, event.writer, event.seq))
    return sorted(listed, key=lambda event: (distance(event, origin).ns, event.writer, event.seq))


def _parted(sightings: Iterable[Seen], name: Callable[[Seen], str]) -> dict[str, list[Seen]]:
    """Group sightings by a name, in their order."""
    parted: defaultdict[str, list[Seen]] = defaultdict(list)
    for seen in sightings:
        parted[name(seen)].append(seen)
    return dict(parted)


_Phased = TypeVar("_Phased", Watch, Fault)


def _is_around(watch: Watched, call: Call) -> bool:
    """Whether a watch belongs to a receive; if the receive was refused, the watch proves nothing."""
    begin, end = watch.begin, watch.end
    mine = call.writer == begin.writer and call.actor == begin.actor
    return mine and end is not None and begin.seq < call.seq < end.seq


def _pairs(events: list[_Phased]) -> list[tuple[_Phased, _Phased | None]]:
    """Join each begin with the end of the same writer and id."""
    pairs: list[tuple[_Phased, _Phased | None]] = []
    still_open: dict[tuple[str, str], int] = {}
    for event in events:
        key = (event.writer, event.id)
        if event.phase == "begin":
            still_open[key] = len(pairs)
            pairs.append((event, None))
        elif key in still_open:
            index = still_open.pop(key)
            pairs[index] = (pairs[index][0], event)
        else:
            raise ClaimError(f"{event.id} ends at {event.ref} without having begun, so the journal contradicts itself.")
    return pairs
