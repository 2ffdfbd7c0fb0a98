"""The machine's clock, and an id of the machine since it was last started."""

from __future__ import annotations

import hashlib
import time
import uuid
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

_UNCERTAINTY_NS = 1_000
"""Linux has one monotonic clock for all processors of a machine.  The remaining error is the difference between the
counters of two processors and the time of the reading, both well below a microsecond."""


def _boot_id() -> str:
    """Return an id that all processes share until this machine restarts.

    The kernel's id is hashed, so that a published journal does not contain it.  On a system without one, each process
    has its own id, so its readings are not compared with those of other processes.
    """
    try:
        text = _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return f"process:{uuid.uuid4().hex[:16]}"
    return f"machine:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


class MachineClock:
    """The machine's CLOCK_MONOTONIC, comparable between its processes, and its time of day."""

    def __init__(self) -> None:
        self._boot = _boot_id()

    @property
    def boot(self) -> str:
        """Id of this machine since it was last started."""
        return self._boot

    @property
    def uncertainty_ns(self) -> int:
        """Greatest difference between readings on two processors, in nanoseconds."""
        return _UNCERTAINTY_NS

    def monotonic_ns(self) -> int:
        """Return CLOCK_MONOTONIC in nanoseconds."""
        return time.monotonic_ns()

    def wall_ns(self) -> int:
        """Return the machine's time of day, in nanoseconds since the epoch."""
        return time.time_ns()
