"""The time between two events of a journal."""

from __future__ import annotations

from assay_evidence.events import Event

NS_PER_MS = 1_000_000


def elapsed(start: Event, end: Event) -> int:
    """Return the nanoseconds from one event to another.

    The monotonic clock counts if both events have the same boot, and otherwise the wall clocks.
    """
    if start.boot == end.boot:
        return end.mono_ns - start.mono_ns
    return end.wall_ns - start.wall_ns


def unsure(start: Event, end: Event) -> int:
    """Return the uncertainty of `elapsed` for two events, plus or minus, in nanoseconds."""
    return start.unc_ns + end.unc_ns


def precedes(first: Event, second: Event) -> bool:
    """Return whether an event is certainly before another.

    The sequence numbers decide for events of one writer, and otherwise the clocks, if the events are further apart than
    the uncertainty.
    """
    if first.writer == second.writer:
        return first.seq < second.seq
    return elapsed(first, second) > unsure(first, second)
