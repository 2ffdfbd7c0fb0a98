"""One life of a queue manager, from a start of its core to its end: what goes with it when it is killed."""

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
        store: Where it keeps its records.
        runner: Where its time comes from.
        run: Has the core handle a command.
        let_out: Lets out what needs to wait no more.
        due: Told when something of the core's is due by itself.
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
        """Messages whose send is still to be answered, by connection and token; only what somebody wants to see."""
        self._runner = runner
        self._run = run
        self._let_out = let_out
        self._due = due
        self._tick_job: CancelJob | None = None
        self._tick_ms: int | None = None

    def stored(self, stored: Stored) -> None:
        """A batch is durable, and every one before it."""
        self._run(self, stored)

    def failed(self, failed: StoreFailed) -> None:
        """Batches could not be made durable."""
        self._run(self, failed)

    def let_out(self, effects: Sequence[Held]) -> None:
        """What these have waited for is durable."""
        self._let_out(self, effects)

    def schedule_tick(self) -> None:
        """See to it that time is told when the core wants it next; to be called whenever that may have changed."""
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
        """Nothing of it happens any more."""
        self.over = True
        if self._tick_job is not None:
            self._tick_job()

    def _tick(self) -> None:
        self._tick_ms = self._tick_job = None
        self._due()
