"""The geometry of a scenario's time line, an inline SVG with sends, due times, sightings, looks, watches and faults.

This module computes positions; `templates/timeline.html` draws them and escapes every text.  Positions along the time
are percentages of the drawing's width, so the drawing fits every screen and every sheet of paper.  A label's tier says
whether it is always shown, or only if the drawing is wide enough.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from assay_evidence.events import AnyEvent, Inspected, Log, Past
from assay_evidence.figures import counted, duration
from assay_reports.clock import ScenarioClock
from assay_reports.moments import Due, Interval, Moment, MomentKind, Moments

LEFT = 3.0
RIGHT = 97.0
"""The begin and the end of the time axis, in per cent of the drawing's width."""
TOP = 22
LANE = 46
LINE_IN_LANE = 36
AXIS = 34
"""Heights in pixels: the space above the lanes, a lane, the line within its lane, and the time axis."""
LANES = 12
MARKS = 400
"""The largest numbers of lanes and of marks in a drawing."""
TOLD = 3
"""The largest number of rule-breaking events that the text below the drawing describes."""
NARROW_PX = 244
WIDE_PX = 620
"""The two widths of the drawing, in pixels, for which labels get their positions: a phone, and a window or a page."""
_LABEL_CHARACTER = 6.4
_NAME_CHARACTERS = 18
_TICKS_AT_MOST = 7
_STEPS_NS = tuple(step * 10**power for power in range(15) for step in (1, 2, 5))
_KEYS: dict[MomentKind, tuple[str, str]] = {
    "send": ("▶", "sent"),
    "refused": ("▷", "refused"),
    "acknowledge": ("◀", "acknowledged"),
    "seen": ("●", "seen"),
    "look": ("◉", "look that found a message"),
    "empty": ("○", "look that found nothing"),
    "commit": ("◆", "commit"),
    "rollback": ("◇", "rollback"),
    "event": ("■", "other event"),
}
_MANY: dict[MomentKind, str] = {"look": "looks that found a message", "empty": "looks that found nothing"}
Tier = Literal["", "all", "wide"]


class Label(Struct, frozen=True):
    """A few words beside a mark.

    Args:
        text: The words; empty if they would cover other labels.
        end: Whether the label ends at the mark instead of beginning there.
        tier: The widths of the drawing at which the label is shown: ``all``, ``wide`` for wide drawings only, or empty.
    """

    text: str = ""
    end: bool = False
    tier: Tier = ""


class Mark(Struct, frozen=True):
    """The mark of an event in a lane.

    Args:
        kind: The kind of event.
        x: The position along the time, in per cent of the width.
        y: The vertical position of the lane's line, in pixels from the top.
        label: The label, which names the message.
        text: A sentence that describes the event; browsers show it as a tooltip.
        breaks: Whether the event breaks the rule.
    """

    kind: MomentKind
    x: float
    y: float
    label: Label
    text: str
    breaks: bool


class Span(Struct, frozen=True):
    """The drawing of a watch in its lane, or of a fault across all lanes."""

    x: float
    width: float
    y: float
    text: str


class Tick(Struct, frozen=True):
    """A tick on the time axis with its label: a time, or the due time of a message."""

    x: float
    label: str
    tier: Tier
    anchor: Literal["start", "middle", "end"] = "middle"


class Lane(Struct, frozen=True):
    """The drawing of one actor's lane: the actor's name, and the vertical position of the lane's line in pixels."""

    y: float
    name: str


class Key(Struct, frozen=True):
    """An entry of the legend: a symbol, its meaning, and the number of marks with it."""

    name: str
    symbol: str
    text: str


class Timeline(Struct, frozen=True, kw_only=True):
    """The drawing of a scenario's events.

    Args:
        summary: The drawing in words, for readers who cannot see it.
        breaches: The first events that break the rule, one sentence each.
        breaches_left_out: The number of further events that break the rule.
        absent: Whether the rule is broken without an event to mark, for example because a message did not come.
        left_out: The number of marks and lanes that are left out for lack of room.
    """

    height: int
    summary: str
    lanes: tuple[Lane, ...]
    marks: tuple[Mark, ...]
    watches: tuple[Span, ...]
    faults: tuple[Span, ...]
    dues: tuple[Tick, ...]
    ticks: tuple[Tick, ...]
    keys: tuple[Key, ...]
    breaches: tuple[str, ...]
    breaches_left_out: int
    absent: bool
    left_out: int


def timeline(events: Sequence[AnyEvent], offenders: Collection[str] = (), *, broken: bool = False) -> Timeline | None:
    """Compute the drawing of a scenario's events.

    Args:
        events: The scenario's events.
        offenders: References of the events that break the rule; if not all events have room, the drawing prefers these.
        broken: Whether the scenario's verdict is fail.

    Returns:
        The drawing; None if the events show no delay, sighting, look, watch or fault.
    """
    clock = ScenarioClock(events)
    ordered = sorted(events, key=clock.at_ns)
    found = Moments(ordered, clock, frozenset(offenders))
    moments = found.all
    if not (
        found.dues or found.watches or found.faults or any(one.kind in ("seen", "look", "empty") for one in moments)
    ):
        return None
    ends = [clock.at_ns(event) for event in ordered if not isinstance(event, Inspected | Log | Past)] + [
        due.at_ns for due in found.dues
    ]
    scale = _Scale(min(ends), max(ends))
    names = _lanes(moments, found.watches)
    rows = {name: float(TOP + LANE * row + LINE_IN_LANE) for row, name in enumerate(names[:LANES])}
    placed = _chosen([moment for moment in moments if moment.actor in rows])
    breaches = [moment.text for moment in moments if moment.breaks]
    return Timeline(
        height=TOP + LANE * len(rows) + AXIS,
        summary=_summary(moments, found.dues, found.faults),
        lanes=tuple(Lane(y, _short(name)) for name, y in rows.items()),
        marks=tuple(_place(placed, rows, scale)),
        watches=tuple(scale.span(watch, rows[watch.name]) for watch in found.watches if watch.name in rows),
        faults=tuple(scale.span(fault, TOP) for fault in found.faults),
        dues=tuple(_spread([(scale.x(due.at_ns), f"due {due.key}") for due in found.dues])),
        ticks=tuple(_spread(list(scale.ticks()))),
        keys=tuple(_keys(found, broken=bool(breaches))),
        breaches=tuple(breaches[:TOLD]),
        breaches_left_out=max(0, len(breaches) - TOLD),
        absent=broken and not breaches,
        left_out=len(moments) - len(placed) + max(0, len(names) - LANES),
    )


class _Scale:
    def __init__(self, first_ns: int, last_ns: int) -> None:
        self._first_ns = first_ns
        self._length_ns = max(1, last_ns - first_ns)

    def x(self, at_ns: int) -> float:
        return round(LEFT + (RIGHT - LEFT) * (at_ns - self._first_ns) / self._length_ns, 2)

    def span(self, interval: Interval, y: float) -> Span:
        x = self.x(interval.begin_ns)
        return Span(x, max(0.3, round(self.x(interval.end_ns) - x, 2)), y, interval.text)

    def ticks(self) -> Iterator[tuple[float, str]]:
        step = next((step for step in _STEPS_NS if self._length_ns // step <= _TICKS_AT_MOST), _STEPS_NS[-1])
        first = -(-self._first_ns // step) * step
        for at_ns in range(first, self._first_ns + self._length_ns + 1, step):
            yield self.x(at_ns), duration(at_ns)


def _lanes(moments: Sequence[Moment], watches: Sequence[Interval]) -> list[str]:
    """Return the actors in the order of their first event.

    If the scenario has more than `LANES` actors, the actors of events that break the rule come first.
    """
    names = list(dict.fromkeys([moment.actor for moment in moments] + [watch.name for watch in watches]))
    if len(names) <= LANES:
        return names
    offending = {moment.actor for moment in moments if moment.breaks}
    return sorted(names, key=lambda name: name not in offending)


def _chosen(moments: Sequence[Moment]) -> list[Moment]:
    """Choose at most `MARKS` moments to draw, in the order of time; moments that break the rule are preferred."""
    if len(moments) <= MARKS:
        return list(moments)
    breaking = [index for index, moment in enumerate(moments) if moment.breaks][:MARKS]
    others = [index for index, moment in enumerate(moments) if not moment.breaks]
    return [moments[index] for index in sorted(breaking + others[: MARKS - len(breaking)])]


class _Room:
    """Reserves the room for labels along one horizontal line, at both widths of the drawing."""

    def __init__(self) -> None:
        self._taken: dict[int, list[tuple[float, float]]] = {NARROW_PX: [], WIDE_PX: []}

    def tier(self, x: float, before_px: float, after_px: float, *, at_least: Tier = "wide") -> Tier:
        """Reserve free space around a position, in the wide drawing and if possible also in the narrow one.

        Args:
            x: The position along the time, in per cent of the drawing's width.
            before_px: The space before the position, in pixels.
            after_px: The space after the position, in pixels.
            at_least: ``all`` to reserve nothing unless both drawings have the space.

        Returns:
            The tier: the drawings with reserved space; empty if nothing was reserved.
        """
        wide = self._is_free(WIDE_PX, x, before_px, after_px)
        narrow = wide and self._is_free(NARROW_PX, x, before_px, after_px)
        tier: Tier = "all" if narrow else "wide" if wide else ""
        if not tier or (at_least == "all" and not narrow):
            return ""
        for width in (NARROW_PX, WIDE_PX) if narrow else (WIDE_PX,):
            at = x * width / 100
            self._taken[width].append((at - before_px, at + after_px))
        return tier

    def _is_free(self, width: int, x: float, before_px: float, after_px: float) -> bool:
        start, end = x * width / 100 - before_px, x * width / 100 + after_px
        return start >= 0 and end <= width and all(end <= begin or start >= stop for begin, stop in self._taken[width])


def _place(moments: Sequence[Moment], rows: dict[str, float], scale: _Scale) -> Iterator[Mark]:
    rooms = {name: _Room() for name in rows}
    labels: dict[int, Label] = {}
    for index in sorted(range(len(moments)), key=lambda index: not moments[index].breaks):
        moment = moments[index]
        text = f"✕ {_short(moment.label)}".rstrip() if moment.breaks else _short(moment.label)
        labels[index] = _label(rooms[moment.actor], scale.x(moment.at_ns), text)
    for index, moment in enumerate(moments):
        y = rows[moment.actor]
        yield Mark(moment.kind, scale.x(moment.at_ns), y, labels[index], moment.text, moment.breaks)


def _label(room: _Room, x: float, text: str) -> Label:
    if not text:
        return Label()
    length = 14 + len(text) * _LABEL_CHARACTER
    sides = ((False, 2.0, length), (True, length, 2.0))
    wanted: tuple[Tier, ...] = ("all", "wide")
    for at_least in wanted:
        for end, before_px, after_px in sides:
            tier = room.tier(x, before_px, after_px, at_least=at_least)
            if tier:
                return Label(text, end, tier)
    return Label()


def _spread(marks: Sequence[tuple[float, str]]) -> Iterator[Tick]:
    room = _Room()
    for x, text in sorted(marks):
        label = _short(text)
        length = len(label) * _LABEL_CHARACTER
        # Centred above the line of the due time, or beside it near an edge of the drawing.
        for anchor, before in (("middle", length / 2), ("start", 0.0), ("end", length)):
            tier = room.tier(x, before + 3, length - before + 3, at_least="wide" if anchor == "end" else "all")
            if tier:
                yield Tick(x, label, tier, anchor)  # type: ignore[arg-type]  # the tuple has only names that are permitted here
                break
        else:
            yield Tick(x, "", "")


def _short(name: str) -> str:
    return name if len(name) <= _NAME_CHARACTERS else f"{name[: _NAME_CHARACTERS - 1]}…"


def _keys(found: Moments, *, broken: bool) -> Iterator[Key]:
    counts = Counter(moment.kind for moment in found.all)
    if broken:
        yield Key("breaks", "✕", "breaks the rule")
    for kind, (symbol, word) in _KEYS.items():
        if counts[kind]:
            yield Key(kind, symbol, f"{counts[kind]} {word if counts[kind] == 1 else _MANY.get(kind, word)}")
    if found.watches:
        yield Key("watch", "▬", "watching")
    if found.dues:
        yield Key("due", "┆", "due")
    if found.faults:
        yield Key("fault", "▒", "fault")


def _summary(moments: Sequence[Moment], dues: Sequence[Due], faults: Sequence[Interval]) -> str:
    sends = sum(moment.kind in ("send", "refused") for moment in moments)
    sightings = [moment for moment in moments if moment.kind == "seen"]
    looks = [moment for moment in moments if moment.kind in ("look", "empty")]
    parts = [f"{sends} sent", f"{len(sightings)} seen"]
    if looks:
        empty = sum(moment.kind == "empty" for moment in looks)
        parts.append(f"{counted(len(looks), 'look')}, {empty} of which found nothing")
    if dues:
        parts.append(f"first due at {duration(min(due.at_ns for due in dues))}")
    if sightings:
        parts.append(f"first seen at {duration(sightings[0].at_ns)}")
    parts += [fault.text for fault in faults[:3]]
    return "; ".join(parts)
