"""The time between two events of a journal."""

from __future__ import annotations

from assay_evidence.events import Event


def elapsed(start: Event, end: Event) -> int:
    """Return the nanoseconds from one event to another.

    The times come from the monotonic clock if both events have the same boot, and otherwise from the wall clocks.
    """
    if start.boot == end.boot:
        return end.mono_ns - start.mono_ns
    return end.wall_ns - start.wall_ns


def unsure(start: Event, end: Event) -> int:
    """Return the uncertainty of `elapsed` for two events, plus or minus, in nanoseconds."""
    return start.unc_ns + end.unc_ns


def precedes(first: Event, second: Event) -> bool:
    """Return whether the event `first` is certainly before the event `second`.

    For events of one writer, the sequence numbers decide. For others, the clocks must differ by more than the
    uncertainty.
    """
    if first.writer == second.writer:
        return first.seq < second.seq
    return elapsed(first, second) > unsure(first, second)
