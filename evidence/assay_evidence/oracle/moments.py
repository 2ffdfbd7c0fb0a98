"""Time between two events of a journal."""

from __future__ import annotations

from assay_evidence.events import Event

NS_PER_MS = 1_000_000


def elapsed(start: Event, end: Event) -> int:
    """Nanoseconds from one event to another: by the monotonic clock of a common boot, or else by the wall clocks."""
    if start.boot == end.boot:
        return end.mono_ns - start.mono_ns
    return end.wall_ns - start.wall_ns


def unsure(start: Event, end: Event) -> int:
    """The uncertainty of `elapsed`, plus or minus, in nanoseconds."""
    return start.unc_ns + end.unc_ns


def precedes(first: Event, second: Event) -> bool:
    """Whether one event is certainly before the other: by a writer's own count, or by more than the uncertainty."""
    if first.writer == second.writer:
        return first.seq < second.seq
    return elapsed(first, second) > unsure(first, second)
