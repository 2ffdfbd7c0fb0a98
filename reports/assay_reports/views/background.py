"""The broker of a scenario that did not pass: its objects, its earlier starts and faults, and its log."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from assay_evidence.events import AnyEvent, Inspected, Log, Past
from assay_evidence.figures import duration
from assay_evidence.names import plain
from assay_reports.clock import ScenarioClock

BEFORE, AFTER = 8, 4
"""The numbers of log lines that count as near: before and after an event that breaks the rule."""
_BREACHES = 3
"""The largest number of rule-breaking events around which log lines count as near."""


class PastView(Struct, frozen=True):
    """An earlier fault or start of the broker.

    Args:
        when: The time before or after the scenario's first event, as text.
        what: The start or fault in a few words.
        during: The scenario that ran at that time; empty if it is unknown.
        omitted: The number of earlier starts and faults that are left out.
    """

    when: str
    what: str
    during: str
    omitted: int


class LogView(Struct, frozen=True):
    """A line of the broker's log.

    Args:
        at: The time since the scenario's first event, as text; empty if the log gives no time for the line.
        text: The line.
        omitted: The number of lines before this one that are left out.
        near: Whether the line is near an event that breaks the rule; without such an event, whether it is one of the
            last lines.
    """

    at: str
    text: str
    omitted: int
    near: bool


class InspectedView(Struct, frozen=True):
    """The answer of the broker's administration about one object after the scenario.

    Args:
        object: The queue, topic or subscription.
        text: The attributes as ``NAME(value)``, or the broker's refusal.
    """

    object: str
    text: str


class BackgroundView(Struct, frozen=True):
    """The broker, with its objects, its past and its log.

    Args:
        source: The broker's container or process; empty if the journal does not name it.
        inspected: The answers of the broker's administration about the scenario's queues and topics.
        past: The broker's earlier faults and starts.
        log: The lines of the broker's log from the time of the scenario.
    """

    source: str
    inspected: tuple[InspectedView, ...]
    past: tuple[PastView, ...]
    log: tuple[LogView, ...]


def background(events: Sequence[AnyEvent], offenders: Collection[str] = ()) -> BackgroundView | None:
    """Collect a scenario's events about the broker (`Past`, `Log`, `Inspected`); None if the scenario has none of them.

    Args:
        events: The scenario's events.
        offenders: References of the events that break the rule.
    """
    past = [event for event in events if isinstance(event, Past)]
    log = [event for event in events if isinstance(event, Log)]
    inspected = [event for event in events if isinstance(event, Inspected)]
    if not past and not log and not inspected:
        return None
    clock = ScenarioClock(events)
    begun_ns = min(event.wall_ns for event in events)
    near = _near(log, clock, [clock.at_ns(event) for event in events if event.ref in offenders])
    return BackgroundView(
        past[0].source if past else log[0].source if log else "",
        tuple(_inspected(event) for event in inspected),
        tuple(_past(event, begun_ns) for event in past),
        tuple(
            LogView(
                "" if line.untimed else duration(clock.at_ns(line)),
                plain(line.text, line.scenario or ""),
                line.omitted,
                line.ref in near,
            )
            for line in log
        ),
    )


def _inspected(event: Inspected) -> InspectedView:
    shown = " ".join(f"{name}({value})" for name, value in event.fields.items())
    scenario = event.scenario or ""
    return InspectedView(plain(event.object, scenario), plain(event.refusal or shown, scenario))


def _past(event: Past, begun_ns: int) -> PastView:
    since_ns = event.happened_ns - begun_ns
    when = duration(since_ns) if since_ns >= 0 else f"{duration(-since_ns)} before"
    during = "this scenario" if event.during == event.scenario else event.during or ""
    return PastView(when, event.what, during, event.omitted)


def _near(log: Sequence[Log], clock: ScenarioClock, breaches: Sequence[int]) -> frozenset[str]:
    if not breaches:
        return frozenset(line.ref for line in log[-BEFORE - AFTER :])
    near: set[str] = set()
    for at_ns in sorted(breaches)[:_BREACHES]:
        before = [line.ref for line in log if clock.at_ns(line) <= at_ns]
        after = [line.ref for line in log if clock.at_ns(line) > at_ns]
        near.update((*before[-BEFORE:], *after[:AFTER]))
    return frozenset(near)
