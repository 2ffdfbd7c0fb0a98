"""The state of a queue manager from one start of its core to the next stop or kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay_broker.core.commands import Command, Stored, StoreFailed
from assay_broker.core.core import Core
from assay_broker.log import Held
from assay_broker.stores import PartedStore, Store
from assay_sdk.model.message import Message
from assay_sdk.time import NS_PER_MS, CancelJob, Runner


class Life:
    """One life of a queue manager: its core and its jobs from a start to the next stop or kill.

    Args:
        core: The core.
        store: The store of the core's records.
        runner: Runs the jobs, and has the clock.
        run: Passes a command to the core.
        let_out: Carries out effects whose batch is durable.
        due: Called when the core's next time event is due.
        contain: Runs a job of the log, and logs the job's exception, if any.
    """

    def __init__(
        self,
        core: Core,
        store: Store,
        runner: Runner,
        *,
        run: Callable[[Life, Command], None],
        let_out: Callable[[Life, Sequence[Held]], None],
        due: Callable[[], None],
        contain: Callable[[Callable[[], None]], bool],
    ) -> None:
        self.core = core
        self.store = store
        self.parted = store if isinstance(store, PartedStore) else None
        self.over = False
        self.asked: dict[tuple[int, int], Message] = {}
        """Messages whose send is not answered yet, by connection and token; filled only if answer hooks are set."""
        self._runner = runner
        self._run = run
        self._let_out = let_out
        self._due = due
        self._contain = contain
        self._tick_job: CancelJob | None = None
        self._tick_ms: int | None = None

    def stored(self, stored: Stored) -> None:
        """Tell the core that a batch and all earlier batches that have not failed are durable."""
        self._run(self, stored)

    def failed(self, failed: StoreFailed) -> None:
        """Tell the core that the store could not make batches durable."""
        self._run(self, failed)

    def let_out(self, effects: Sequence[Held]) -> None:
        """Carry out effects that have waited until their batch was durable."""
        self._let_out(self, effects)

    def contain(self, job: Callable[[], None]) -> bool:
        """Run a job, and write its exception, if any, to the server's log; return whether the job succeeded."""
        return self._contain(job)

    def schedule_tick(self) -> None:
        """Schedule a job for the core's next time event.

        Call this method after each command, because a command may change the time of the next event.
        """
        due_ms = self.core.next_due_ms()
        if self.over or due_ms == self._tick_ms:
            return
        if self._tick_job is not None:
            self._tick_job()
        self._tick_ms, self._tick_job = due_ms, None
        if due_ms is not None:
            clock = self._runner.clock
            due_ns = clock.monotonic_ns() + due_ms * NS_PER_MS - clock.wall_ns()
            self._tick_job = self._runner.call_at(due_ns, self._tick)

    def end(self) -> None:
        """End this life and cancel its job for the next time event."""
        self.over = True
        if self._tick_job is not None:
            self._tick_job()

    def _tick(self) -> None:
        self._tick_ms = self._tick_job = None
        self._due()
