"""How late the harness itself comes: what a busy machine holds up looks like a broker that delivers late, or never.

While a scenario runs, its runner has a job every so often, and each tells how much later than due it ran.  The journal
keeps the sum; `assay_evidence.judge` lets no scenario fail that had too much of it.
"""

from __future__ import annotations

from functools import partial
from typing import Self

from assay_sdk.time import Runner

BEAT_NS = 50_000_000
"""How far the jobs lie apart: little beside the shortest time that a claim rests on."""


class Heartbeat:
    """Beats for the length of a block.

    Args:
        runner: A runner whose time goes by itself; None where time is virtual, and nothing comes late.
    """

    def __init__(self, runner: Runner | None) -> None:
        self._runner = runner
        self._sum_ns = 0
        self._due_ns = 0
        self._over = False

    def __enter__(self) -> Self:
        if self._runner is not None:
            self._next(self._runner)
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        if self._runner is not None:
            self._sum_ns += max(0, self._runner.clock.monotonic_ns() - self._due_ns)  # the last one may be overdue

    @property
    def late_ns(self) -> int | None:
        """How much later than due the jobs ran, in all, in nanoseconds; None where time is virtual."""
        return None if self._runner is None else self._sum_ns

    def _beat(self, runner: Runner) -> None:
        if not self._over:
            self._sum_ns += runner.clock.monotonic_ns() - self._due_ns
            self._next(runner)

    def _next(self, runner: Runner) -> None:
        self._due_ns = runner.clock.monotonic_ns() + BEAT_NS
        runner.call_at(self._due_ns, partial(self._beat, runner))
