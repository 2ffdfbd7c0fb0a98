"""How long a backend is given."""

from __future__ import annotations

from msgspec import Struct


class Patience(Struct, frozen=True):
    """How long a backend is given, in milliseconds of its own clock.

    Args:
        expected_ms: For something that must happen; past it, it counts as not happening.
        quiet_ms: How long nothing must happen before silence counts.
        late_ms: How late a due message may come before the run calls it too late.
    """

    expected_ms: int
    quiet_ms: int
    late_ms: int
