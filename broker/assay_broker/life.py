"""The state of a queue manager from one start of its core to its end, which a kill loses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay_broker.core.commands import Command, Stored, StoreFailed
from assay_broker.core.core import Core
from assay_broker.log import Held
from assay_broker.stores import PartedStore, Store
from assay_sdk.model.message import Message
from assay_sdk.time import CancelJob, Runner

_NS_PER_MS = 1_000_000


class Life:
    """What lasts from one start of the core to its end.

    Args:
        core: The core.
        store: The store of its records.
        runner: Its clock and its jobs.
        run: Has the core handle a command.
        let_out: Carries out effects that need not wait any longer.
        due: Called when the core's next time event is due.
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
    ) -> None:
        self.core = core
        self.store = store
        self.parted = store if isinstance(store, PartedStore) else None
        self.over = False
        self.asked: dict[tuple[int, int], Message] = {}
        """Messages whose send has no answer yet, by connection and token; kept only if a hook wants them."""
        self._runner = runner
        self._run = run
        self._let_out = let_out
        self._due = due
        self._tick_job: CancelJob | None = None
        self._tick_ms: int | None = None

    def stored(self, stored: Stored) -> None:
        """Let out what waited for a batch: it and every earlier one are durable."""
        self._run(self, stored)

    def failed(self, failed: StoreFailed) -> None:
        """Handle batches that could not be made durable."""
        self._run(self, failed)

    def let_out(self, effects: Sequence[Held]) -> None:
        """Carry out effects whose batch is durable."""
        self._let_out(self, effects)

    def schedule_tick(self) -> None:
        """Schedule the core's next time event; call it whenever that time may have changed."""
        due_ms = self.core.next_due_ms()
        if self.over or due_ms == self._tick_ms:
            return
        if self._tick_job is not None:
            self._tick_job()
        self._tick_ms, self._tick_job = due_ms, None
        if due_ms is not None:
            clock = self._runner.clock
            due_ns = clock.monotonic_ns() + due_ms * _NS_PER_MS - clock.wall_ns()
            self._tick_job = self._runner.call_at(due_ns, self._tick)

    def end(self) -> None:
        """End it: none of its jobs runs any more."""
        self.over = True
        if self._tick_job is not None:
            self._tick_job()

    def _tick(self) -> None:
        self._tick_ms = self._tick_job = None
        self._due()
