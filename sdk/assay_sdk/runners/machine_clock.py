"""The machine's clock, and its id; clocks with the same id are comparable."""

from __future__ import annotations

import hashlib
import time
import uuid
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_OF_PROCESS = f"process:{uuid.uuid4().hex[:16]}"
"""The id on a system without a boot id.  A forked process has its parent's id, because both use one machine's clock."""

_UNCERTAINTY_NS = 1_000
"""Greatest error of a reading, in nanoseconds.  Linux has one monotonic clock for all processors of a machine.  The
difference between the counters of two processors, and the time that a reading takes, are well below a microsecond."""


def _boot_id() -> str:
    """Return an id that is the same in all processes of this machine until it restarts.

    The id is a hash of the kernel's boot id, so that a published journal does not contain the boot id.  On a system
    without a boot id, each process has its own id, so that readings of two processes are not compared.
    """
    try:
        text = _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return _OF_PROCESS
    return f"machine:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


class MachineClock:
    """The machine's clock: the time of day, and CLOCK_MONOTONIC, which all processes of the machine share."""

    def __init__(self) -> None:
        self._boot = _boot_id()

    @property
    def boot(self) -> str:
        """Id that changes at each start of the machine; on a system without a boot id, each process has its own id."""
        return self._boot

    @property
    def uncertainty_ns(self) -> int:
        """Greatest error of a reading, in nanoseconds."""
        return _UNCERTAINTY_NS

    def monotonic_ns(self) -> int:
        """Return CLOCK_MONOTONIC in nanoseconds."""
        return time.monotonic_ns()

    def wall_ns(self) -> int:
        """Return the machine's time of day, in nanoseconds since the epoch."""
        return time.time_ns()
