"""Measures delays of the harness itself, because on a busy machine they look like a broker that delivers late.

While a scenario runs in real time, a thread wakes up at a fixed interval; each delay is the machine's.  The scenario's
own runner cannot measure that, because it may be waiting for the broker.  The journal holds the sum of the delays, and
`assay_evidence.judge` takes it into account.
"""

from __future__ import annotations

import threading
import time
from typing import Self

BEAT_S = 0.05
"""The interval between beats; short compared with the shortest time of any claim."""
USUAL_NS = 20_000_000
"""The delay of a beat that is normal on a machine with other work."""


class Heartbeat:
    """Measures, for the length of a block, how late a thread wakes up.

    Args:
        beats: Whether to measure; in virtual time nothing is late.
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
        """The sum of its delays, in nanoseconds, after the block; None in virtual time."""
        return None if self._thread is None else self._late_ns

    def _live(self) -> None:
        over = False
        while not over:
            due_ns = time.monotonic_ns() + round(BEAT_S * 1e9)
            over = self._over.wait(BEAT_S)
            late_ns = time.monotonic_ns() - due_ns
            if late_ns > USUAL_NS:
                self._late_ns += late_ns
