"""How late the harness itself comes: what a busy machine holds up looks like a broker that delivers late, or never.

While a scenario runs in real time, a thread that does nothing else wants to wake up every so often; how much later it
does is the machine's doing.  The scenario's own runner would not tell that: what it waits for may be the broker.  The
journal keeps the sum, and `assay_evidence.judge` weighs it.
"""

from __future__ import annotations

import threading
import time
from typing import Self

BEAT_S = 0.05
"""How far the beats lie apart: little beside the shortest time that a claim rests on."""
USUAL_NS = 20_000_000
"""How late a beat may be on any machine that also does something else."""


class Heartbeat:
    """Beats for the length of a block.

    Args:
        beats: Whether it does: where time is virtual nothing comes late.
    """

    def __init__(self, *, beats: bool = True) -> None:
        self._late_ns = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="assay-heartbeat", daemon=True) if beats else None

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def late_ns(self) -> int | None:
        """How much later than wanted it woke up, in all, in nanoseconds; None where time is virtual.

        Known once the block is over.
        """
        return None if self._thread is None else self._late_ns

    def _live(self) -> None:
        over = False
        while not over:
            due_ns = time.monotonic_ns() + round(BEAT_S * 1e9)
            over = self._over.wait(BEAT_S)
            late_ns = time.monotonic_ns() - due_ns
            if late_ns > USUAL_NS:
                self._late_ns += late_ns
