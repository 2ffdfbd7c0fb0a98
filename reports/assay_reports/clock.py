"""The times of a scenario's events, counted from its first event."""

from __future__ import annotations

from collections.abc import Sequence

from assay_evidence.events import AnyEvent


class ScenarioClock:
    """Measures the times of a scenario's events from its first event.

    If an event has the same `boot` as the first event, its time comes from the monotonic clock. Otherwise its time
    comes from the wall clock, with the uncertainty that the journal states.

    Args:
        events: The scenario's events; the time of the earliest is 0.
    """

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        zero = min(events, key=lambda event: event.wall_ns, default=None)
        self._boot = zero.boot if zero else ""
        self._mono_ns = zero.mono_ns if zero else 0
        self._wall_ns = zero.wall_ns if zero else 0

    def at_ns(self, event: AnyEvent) -> int:
        """Return the nanoseconds from the first event to an event."""
        if event.boot == self._boot:
            return event.mono_ns - self._mono_ns
        return event.wall_ns - self._wall_ns
