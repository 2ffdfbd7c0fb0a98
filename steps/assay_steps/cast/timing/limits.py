"""The limits on how long the steps wait for events on a backend."""

from __future__ import annotations

from msgspec import Struct, structs


class TimeLimits(Struct, frozen=True):
    """The time limits of the steps on one backend, in milliseconds of the backend's clock.

    Args:
        expected_ms: The longest wait for an event that must happen; an event that has not happened by then counts as
            missing.
        quiet_ms: The time without an event after which silence counts.
        late_ms: How long after the end of its delay a message may arrive.
        at_once_ms: The tolerance for a message that the broker must deliver at once: how much more time it may take
            than an ordinary message.
        beat_ms: The harness notes each of its delays within this time, so a wait for silence lasts this much longer. 0
            for a virtual clock, on which the harness has no delays.
    """

    expected_ms: int
    quiet_ms: int
    late_ms: int
    at_once_ms: int = 1_000
    beat_ms: int = 0

    def with_lateness(self, late_ms: int) -> TimeLimits:
        """Return the limits for a broker that may deliver delayed messages late.

        The longest wait for an event becomes at least three times the allowed lateness.

        Args:
            late_ms: How long after the end of its delay a message may arrive, in milliseconds.
        """
        return structs.replace(self, late_ms=late_ms, expected_ms=max(self.expected_ms, 3 * late_ms))

    def at_pace(self, factor: int) -> TimeLimits:
        """Return the limits multiplied by the run's pace; `late_ms` and `beat_ms` stay as they are.

        Args:
            factor: The run's pace (`assay_steps.cast.timing.pace`).
        """
        return structs.replace(
            self,
            expected_ms=self.expected_ms * factor,
            quiet_ms=self.quiet_ms * factor,
            at_once_ms=self.at_once_ms * factor,
        )
