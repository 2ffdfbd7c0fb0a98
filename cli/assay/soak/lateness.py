"""The delays of the harness in short windows of time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay_sdk.time import NS_PER_MS

WINDOW_MS = 5_000
"""The length of a window, in milliseconds: about the longest silence that the judge needs for a verdict."""
_WINDOW_NS = WINDOW_MS * NS_PER_MS


class _Sample(Struct, frozen=True):
    """The total delay of each client so far, at a time of the monotonic clock."""

    at_ns: int
    late_ns: tuple[int, ...]


class Lateness:
    """Finds the window with the largest total delay of a client.

    Many delays of a few milliseconds over a whole slice change no verdict.  The same delays within one window can: a
    message may arrive during a silence that the judge takes as proof that no message came.
    """

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque()

    def note(self, now_ns: int, late_ns: Sequence[int]) -> None:
        """Note the total delay of each client so far, in nanoseconds."""
        if self._samples and self._samples[-1].late_ns == tuple(late_ns):
            return
        self._samples.append(_Sample(now_ns, tuple(late_ns)))

    def since(self, begun_ns: int) -> int:
        """Return the largest total delay of one client within one window after a time, in nanoseconds."""
        return max((delay for first, last in self._windows(begun_ns) for delay in _delays(first, last)), default=0)

    def forget(self, before_ns: int) -> None:
        """Forget the samples before a time, except those that the windows after this time need."""
        while len(self._samples) > 1 and self._samples[1].at_ns <= before_ns:
            self._samples.popleft()

    def _windows(self, begun_ns: int) -> Iterator[tuple[_Sample, _Sample]]:
        """Yield the last sample before each window, and the window's last sample."""
        samples = list(self._samples)
        first = 0
        for last in samples:
            if last.at_ns < begun_ns:
                continue
            start_ns = max(begun_ns, last.at_ns - _WINDOW_NS)
            while first + 1 < len(samples) and samples[first + 1].at_ns <= start_ns:
                first += 1
            yield samples[first], last


def _delays(first: _Sample, last: _Sample) -> Iterator[int]:
    return (after - before for before, after in zip(first.late_ns, last.late_ns, strict=False))
