"""A scenario's sends, due moments, sightings, watches and faults as geometry for an inline SVG.

Only figures are made here; the drawing is `templates/timeline.svg.jinja`, where every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

from assay_evidence.events import AnyEvent, Call, Fault, Return, Seen, Unit, Watch
from assay_evidence.figures import duration
from assay_reports.clock import ScenarioClock

WIDTH = 820
LEFT = 132
RIGHT = 28
TOP = 30
LANE = 28
AXIS = 26
LANES = 12
MARKS = 400
_LABEL_CHARACTER = 6.2
_NAME_CHARACTERS = 18
_TICKS_AT_MOST = 7
_SHOWN = (Call, Seen, Unit)
_STEPS_NS = tuple(step * 10**power for power in range(15) for step in (1, 2, 5))

MarkKind = Literal["send", "refused", "seen", "look", "commit", "rollback"]


class Mark(Struct, frozen=True):
    """Something that happened at one moment in one lane.

    Args:
        kind: What it was.
        x: Where it stands.
        y: The middle of its lane.
        label: The message, or "" where it would cover another label.
        text: A sentence, shown by browsers as a tip.
    """

    kind: MarkKind
    x: float
    y: float
    label: str
    text: str


class Span(Struct, frozen=True):
    """Something that lasted: a watch in its lane, a fault across all of them."""

    x: float
    width: float
    y: float
    text: str


class Tick(Struct, frozen=True):
    """A figure on the axis, or a due moment with its label ("" where it would cover another)."""

    x: float
    label: str


class Lane(Struct, frozen=True):
    """One actor."""

    y: float
    name: str


class Timeline(Struct, frozen=True):
    """The drawing.

    Args:
        summary: What it shows, in words, for those who do not see it.
        left_out: How many marks and lanes found no room.
    """

    width: int
    height: int
    summary: str
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    watches: tuple[Span, ...]
    faults: tuple[Span, ...]
    dues: tuple[Tick, ...]
    ticks: tuple[Tick, ...]
    left_out: int


class _Moment(Struct, frozen=True):
    kind: MarkKind
    actor: str
    at_ns: int
    label: str
    text: str


class _Interval(Struct, frozen=True):
    name: str
    begin_ns: int
    end_ns: int
    text: str


def timeline(events: Sequence[AnyEvent]) -> Timeline | None:
    """Draw a scenario's events.

    Returns:
        The drawing; None where there is nothing that time says something about: no delay, sighting, watch or fault.
    """
    clock = ScenarioClock(events)
    ordered = sorted(events, key=clock.at_ns)
    moments = tuple(_moments(ordered, clock))
    dues = tuple(_dues(ordered, clock))
    watches = tuple(_intervals(ordered, clock, Watch))
    faults = tuple(_intervals(ordered, clock, Fault))
    if not (dues or watches or faults or any(moment.kind in ("seen", "look") for moment in moments)):
        return None
    ends = [clock.at_ns(event) for event in ordered] + [due for due, _ in dues]
    scale = _Scale(min(ends), max(ends))
    names = list(dict.fromkeys([moment.actor for moment in moments] + [watch.name for watch in watches]))
    rows = {name: TOP + LANE * (row + 0.5) for row, name in enumerate(names[:LANES])}
    placed = [moment for moment in moments if moment.actor in rows][:MARKS]
    return Timeline(
        width=WIDTH,
        height=TOP + LANE * len(rows) + AXIS,
        summary=_summary(moments, dues, faults),
        lanes=tuple(Lane(y, _short(name)) for name, y in rows.items()),
        marks=tuple(_place(placed, rows, scale)),
        watches=tuple(scale.span(watch, rows[watch.name]) for watch in watches if watch.name in rows),
        faults=tuple(scale.span(fault, TOP) for fault in faults),
        dues=tuple(_spread([(scale.x(due), label) for due, label in dues])),
        ticks=tuple(scale.ticks()),
        left_out=len(moments) - len(placed) + max(0, len(names) - LANES),
    )


class _Scale:
    def __init__(self, first_ns: int, last_ns: int) -> None:
        self._first_ns = first_ns
        self._length_ns = max(1, last_ns - first_ns)

    def x(self, at_ns: int) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (at_ns - self._first_ns) / self._length_ns, 1)

    def span(self, interval: _Interval, y: float) -> Span:
        x = self.x(interval.begin_ns)
        return Span(x, max(2.0, round(self.x(interval.end_ns) - x, 1)), y, interval.text)

    def ticks(self) -> Iterator[Tick]:
        step = next((step for step in _STEPS_NS if self._length_ns // step <= _TICKS_AT_MOST), _STEPS_NS[-1])
        first = -(-self._first_ns // step) * step
        for at_ns in range(first, self._first_ns + self._length_ns + 1, step):
            yield Tick(self.x(at_ns), duration(at_ns))


def _moments(events: Sequence[AnyEvent], clock: ScenarioClock) -> Iterator[_Moment]:
    returns = {(event.writer, event.call): event for event in events if isinstance(event, Return)}
    for event in events:
        if not isinstance(event, _SHOWN):
            continue
        at_ns = clock.at_ns(event)
        at = duration(at_ns)
        if isinstance(event, Call):
            answer = returns.get((event.writer, event.id))
            if event.msg is not None:
                kid = event.msg.kid
                if answer is not None and answer.refused is not None:
                    yield _Moment("refused", event.actor, at_ns, kid, f"{event.actor} sends {kid} at {at}: refused")
                else:
                    yield _Moment("send", event.actor, at_ns, kid, f"{event.actor} sends {kid} at {at}")
            elif event.op == "browse":
                listed = ", ".join(answer.kids) if answer is not None and answer.kids else "nothing"
                yield _Moment("look", event.actor, at_ns, "", f"{event.actor} browses at {at}: {listed}")
        elif isinstance(event, Seen):
            kid = event.msg.kid
            again = ", redelivered" if event.redelivered else ""
            yield _Moment("seen", event.actor, at_ns, kid, f"{event.actor} sees {kid} at {at}{again}")
        elif event.op == "commit":
            yield _Moment("commit", event.actor, at_ns, "commit", f"{event.actor} commits at {at}")
        elif event.op == "rollback":
            yield _Moment("rollback", event.actor, at_ns, "rollback", f"{event.actor} rolls back at {at}")


def _dues(events: Sequence[AnyEvent], clock: ScenarioClock) -> Iterator[tuple[int, str]]:
    refused = {
        (event.writer, event.call) for event in events if isinstance(event, Return) and event.refused is not None
    }
    for event in events:
        if not isinstance(event, Call) or event.msg is None or (event.writer, event.id) in refused:
            continue
        delay_ms = event.args.get("delay_ms")
        if isinstance(delay_ms, int) and delay_ms > 0:
            yield clock.at_ns(event) + delay_ms * 1_000_000, f"due {event.msg.kid}"


def _intervals(events: Sequence[AnyEvent], clock: ScenarioClock, kind: type[Watch | Fault]) -> Iterator[_Interval]:
    open_since: dict[str, tuple[int, str, str]] = {}
    last_ns = clock.at_ns(events[-1]) if events else 0
    for event in events:
        if not isinstance(event, kind):
            continue
        name = event.actor if isinstance(event, Watch) else event.what
        what = f"{name} watches {event.destination}" if isinstance(event, Watch) else f"{name}: {event.target}"
        if event.phase == "begin":
            open_since[event.id] = (clock.at_ns(event), name, what)
        elif event.id in open_since:
            begin_ns, name, what = open_since.pop(event.id)
            yield _interval(name, what, begin_ns, clock.at_ns(event))
    for begin_ns, name, what in open_since.values():
        yield _interval(name, f"{what}, to the end", begin_ns, last_ns)


def _interval(name: str, what: str, begin_ns: int, end_ns: int) -> _Interval:
    return _Interval(name, begin_ns, end_ns, f"{what}, {duration(begin_ns)} to {duration(end_ns)}")


def _place(moments: Sequence[_Moment], rows: dict[str, float], scale: _Scale) -> Iterator[Mark]:
    free_from = dict.fromkeys(rows, 0.0)
    for moment in moments:
        x = scale.x(moment.at_ns)
        label = _short(moment.label)
        room = free_from[moment.actor] <= x and x + 8 + len(label) * _LABEL_CHARACTER <= WIDTH
        if room:
            free_from[moment.actor] = x + 14 + len(label) * _LABEL_CHARACTER
        yield Mark(moment.kind, x, rows[moment.actor], label if room else "", moment.text)


def _spread(marks: Sequence[tuple[float, str]]) -> Iterator[Tick]:
    free_from = 0.0
    for x, label in sorted(marks):
        half = len(_short(label)) * _LABEL_CHARACTER / 2
        room = free_from <= x - half and x + half <= WIDTH
        if room:
            free_from = x + half + 6
        yield Tick(x, _short(label) if room else "")


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARACTERS else f"{name[: _NAME_CHARACTERS - 1]}…"


def _summary(moments: Sequence[_Moment], dues: Sequence[tuple[int, str]], faults: Sequence[_Interval]) -> str:
    sends = [moment for moment in moments if moment.kind in ("send", "refused")]
    sightings = [moment for moment in moments if moment.kind == "seen"]
    parts = [f"{len(sends)} sent", f"{len(sightings)} seen"]
    if dues:
        parts.append(f"first due at {duration(min(due for due, _ in dues))}")
    if sightings:
        parts.append(f"first seen at {duration(sightings[0].at_ns)}")
    parts += [fault.text for fault in faults[:3]]
    return "; ".join(parts)
