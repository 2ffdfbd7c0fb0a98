"""The moments and intervals of a scenario, for the time line and the text below it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from assay_evidence.events import AnyEvent, Call, Fault, Return, Seen, Unit, Watch
from assay_evidence.events.pairs import paired
from assay_evidence.figures import counted, duration
from assay_evidence.names import plain
from assay_evidence.spans import NS_PER_MS
from assay_reports.calls import Calls
from assay_reports.clock import ScenarioClock
from assay_reports.excerpts import describe

MomentKind = Literal["send", "refused", "acknowledge", "seen", "look", "empty", "commit", "rollback", "event"]
BESIDE = "the rest"
"""The name of the time line's lane for events that have no actor."""


class Moment(Struct, frozen=True):
    """An event of a time line.

    Args:
        kind: The kind of mark; the kind `event` is drawn only for events that break the rule.
        actor: The actor in whose lane the mark is.
        at_ns: The nanoseconds since the scenario's first event.
        label: A few words beside the mark.
        text: A sentence that describes the event.
        breaks: Whether the event breaks the rule.
    """

    kind: MomentKind
    actor: str
    at_ns: int
    label: str
    text: str
    breaks: bool = False


class Interval(Struct, frozen=True):
    """An interval of a time line: a watch of one actor, or a fault; times count from the scenario's first event."""

    name: str
    begin_ns: int
    end_ns: int
    text: str


class Due(Struct, frozen=True):
    """A due time of a time line: the end of a message's delivery delay, counted from the scenario's first event."""

    at_ns: int
    key: str


def due_times(events: Sequence[AnyEvent], clock: ScenarioClock) -> tuple[Due, ...]:
    """Return the due times of a scenario's delayed messages, except those whose send was refused."""
    calls = Calls(events)
    dues: list[Due] = []
    for call in events:
        if not isinstance(call, Call) or call.msg is None:
            continue
        answer = calls.answer(call)
        delay_ms = call.args.get("delay_ms")
        if isinstance(delay_ms, int) and delay_ms > 0 and (answer is None or answer.refused is None):
            key = plain(call.msg.key, call.scenario or "")
            dues.append(Due(clock.at_ns(call) + delay_ms * NS_PER_MS, key))
    return tuple(dues)


def ahead_of(due_of: Mapping[str, int], keys: Sequence[str], at_ns: int) -> str:
    """Return a text such as ``, 2 s before m1 is due`` for the first message that came early; empty if none did.

    Args:
        due_of: The due times of messages, by key.
        keys: The keys of the messages that came.
        at_ns: The time at which they came, in nanoseconds since the scenario's first event.
    """
    ahead = [(key, due_of[key] - at_ns) for key in keys if due_of.get(key, at_ns) > at_ns]
    return "".join(f", {duration(ns)} before {key} is due" for key, ns in ahead[:1])


class Moments:
    """Collects the moments and intervals from a scenario's events.

    Args:
        events: The events, in the order of time.
        clock: The scenario's clock.
        offenders: References of the events that break the rule.
    """

    def __init__(self, events: Sequence[AnyEvent], clock: ScenarioClock, offenders: Collection[str]) -> None:
        self._events = events
        self._clock = clock
        self._offenders = offenders
        self._scenario = next((event.scenario for event in events if event.scenario), "")
        self._calls = Calls(events)
        self.dues = due_times(events, clock)
        self._due_of: Mapping[str, int] = {due.key: due.at_ns for due in reversed(self.dues)}
        self.all = tuple(self._moments())
        self.watches = tuple(self._watches())
        self.faults = tuple(self._faults())

    def _plain(self, text: str) -> str:
        return plain(text, self._scenario)

    def _moments(self) -> Iterator[Moment]:
        for event in self._events:
            moment = self._moment(event)
            if moment is not None:
                yield moment

    def _moment(self, event: AnyEvent) -> Moment | None:
        breaks = event.ref in self._offenders
        match event:
            case Call(msg=None, op="browse"):
                return self._look(event, self._calls.answer(event))
            case Call(msg=None):
                pass
            case Call():
                draw = self._acknowledge if event.op == "acknowledge" else self._send
                return draw(event, self._calls.answer(event), breaks=breaks)
            case Return() if self._is_drawn_as_call(event):
                return None
            case Seen():
                return self._seen(event, breaks=breaks)
            case Unit(op="commit" | "rollback" as op):
                text = f"{event.actor} {'commits' if op == 'commit' else 'rolls back'} at {self._at(event)}"
                return Moment(op, event.actor, self._clock.at_ns(event), op, text, breaks)
            case _:
                pass
        return self._other(event) if breaks else None

    def _at(self, event: AnyEvent) -> str:
        return duration(self._clock.at_ns(event))

    def _is_drawn_as_call(self, answer: Return) -> bool:
        call = self._calls.call(answer)
        return call is not None and (call.msg is not None or call.op == "browse")

    def _send(self, call: Call, answer: Return | None, *, breaks: bool) -> Moment:
        key = self._plain(call.msg.key) if call.msg else ""
        refused = answer is not None and answer.refused is not None
        breaks = breaks or (answer is not None and answer.ref in self._offenders)
        text = f"{call.actor} sends {key} at {self._at(call)}{': refused' if refused else ''}"
        return Moment("refused" if refused else "send", call.actor, self._clock.at_ns(call), key, text, breaks)

    def _acknowledge(self, call: Call, answer: Return | None, *, breaks: bool) -> Moment:
        key = self._plain(call.msg.key) if call.msg else ""
        refused = answer is not None and answer.refused is not None
        breaks = breaks or (answer is not None and answer.ref in self._offenders)
        text = f"{call.actor} acknowledges {key} at {self._at(call)}{': refused' if refused else ''}"
        return Moment("acknowledge", call.actor, self._clock.at_ns(call), key if breaks else "", text, breaks)

    def _look(self, call: Call, answer: Return | None) -> Moment:
        """Make the mark for a browse, at the time of the browse's answer."""
        at_ns = self._clock.at_ns(answer or call)
        keys = [self._plain(key) for key in answer.keys] if answer is not None else []
        refused = answer is not None and answer.refused is not None
        found = "it is refused" if refused else f"it finds {', '.join(keys)}" if keys else "it finds nothing"
        breaks = call.ref in self._offenders or (answer is not None and answer.ref in self._offenders)
        label = counted(len(keys), "message") if len(keys) > 1 else "".join(keys)
        early = self._early(keys, at_ns) if breaks else ""
        text = f"{call.actor} browses at {duration(at_ns)}: {found}{early}"
        return Moment(
            "look" if keys else "empty", call.actor, at_ns, label or ("nothing" if breaks else ""), text, breaks
        )

    def _seen(self, event: Seen, *, breaks: bool) -> Moment:
        at_ns, key = self._clock.at_ns(event), self._plain(event.msg.key)
        again = ", redelivered" if event.redelivered else ""
        early = self._early([key], at_ns) if breaks else ""
        text = f"{event.actor} sees {key} at {duration(at_ns)}{again}{early}"
        return Moment("seen", event.actor, at_ns, key, text, breaks)

    def _early(self, keys: Sequence[str], at_ns: int) -> str:
        return ahead_of(self._due_of, keys, at_ns)

    def _other(self, event: AnyEvent) -> Moment:
        call = self._calls.call(event) if isinstance(event, Return) else event
        actor = getattr(call, "actor", "") or BESIDE
        op = getattr(call, "op", "")
        text = self._plain(f"at {self._at(event)}: {describe(call)}" if call else f"at {self._at(event)}")
        if call is not event:
            text = f"{text}; {self._plain(describe(event))}"
        return Moment("event", actor, self._clock.at_ns(event), str(op), text, breaks=True)

    def _watches(self) -> Iterator[Interval]:
        for begin, end in paired(event for event in self._events if isinstance(event, Watch)):
            yield self._interval(begin.actor, f"{begin.actor} watches {begin.destination}", begin, end)

    def _faults(self) -> Iterator[Interval]:
        for begin, end in paired(event for event in self._events if isinstance(event, Fault)):
            yield self._interval(begin.what, f"{begin.what}: {begin.target}", begin, end)

    def _interval(self, name: str, what: str, begin: Watch | Fault, end: Watch | Fault | None) -> Interval:
        begin_ns, end_ns = self._clock.at_ns(begin), self._clock.at_ns(end or self._events[-1])
        until = "" if end is not None else ", to the end"
        text = f"{self._plain(what)}{until}, {duration(begin_ns)} to {duration(end_ns)}"
        return Interval(name, begin_ns, end_ns, text)
