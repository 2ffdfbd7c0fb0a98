"""Measures delays of the harness itself, which on a busy machine look like late deliveries by the broker.

While a scenario runs in real time, a thread wakes up at a fixed interval; a late wake-up shows a delay of the machine.
The scenario's own runner cannot measure these delays, because it may be waiting for the broker.  The journal holds the
sum of the delays, and the begin and end of each long delay.  `assay_evidence.judge` uses both.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Self

BEAT_S = 0.05
"""The interval between beats, in seconds; short compared with the shortest time of any claim."""
USUAL_NS = 20_000_000
"""Delays of a beat up to this duration, in nanoseconds, are normal on a machine with other work."""
LONG_NS = 100_000_000
"""The journal gets an event for each delay of a beat that is longer than this duration, in nanoseconds."""
_NS_PER_S = 1_000_000_000

Tell = Callable[[int, int, int], object]
"""A function that is called right after a long delay.

Its arguments are the monotonic time, the time since the previous beat, and the delay, all in nanoseconds.
"""


class Heartbeat:
    """Measures inside a block how late a thread wakes up.

    Args:
        beats: Whether to measure; False in virtual time, which has no delays.
        tell: Called after each long delay, on the measuring thread; None to call nothing.
    """

    def __init__(self, *, beats: bool = True, tell: Tell | None = None) -> None:
        self._late_ns = 0
        self._longest_ns = 0
        self._tell = tell
        self._over = threading.Event()
        self._began_ns = 0
        self._thread = threading.Thread(target=self._live, name="assay-heartbeat", daemon=True) if beats else None

    def __enter__(self) -> Self:
        if self._thread is not None:
            self._began_ns = time.monotonic_ns()
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def late_ns(self) -> int | None:
        """The sum of the delays, in nanoseconds; final when the block has ended. None in virtual time."""
        return None if self._thread is None else self._late_ns

    @property
    def longest_ns(self) -> int | None:
        """The longest delay, in nanoseconds; final when the block has ended. None in virtual time."""
        return None if self._thread is None else self._longest_ns

    def _live(self) -> None:
        over, beat_ns = False, self._began_ns
        while not over:
            over = self._over.wait(BEAT_S)
            now_ns = time.monotonic_ns()
            since_ns, beat_ns = (
                now_ns - beat_ns,
                now_ns,
            )  # measured from beat to beat, so that every delay counts
            late_ns = since_ns - round(BEAT_S * _NS_PER_S)
            if late_ns > USUAL_NS:
                self._late_ns += late_ns
                self._longest_ns = max(self._longest_ns, late_ns)
            if late_ns > LONG_NS and self._tell is not None:
                self._tell(now_ns, since_ns, late_ns)
