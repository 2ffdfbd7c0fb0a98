"""All queues of a queue manager by their homes."""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.homes import home_of, is_shared, shared_home
from assay_broker.core.queues.queue import Queue
from assay_broker.core.refusals import refusal
from assay_sdk.model.reasons import Mqrc


class Queues:
    """All queues by their homes.

    Args:
        max_queues: The limit.
        shared: The queues of the sharing group.
    """

    def __init__(self, max_queues: int, shared: dict[str, Queue]) -> None:
        self._max_queues = max_queues
        self._own: dict[str, Queue] = {}
        self._shared = shared
        self._new: list[Queue] = []

    def __iter__(self) -> Iterator[Queue]:
        """All queues, its own and the shared ones."""
        return iter((*self._own.values(), *self._shared.values()))

    @property
    def octets(self) -> int:
        """Octets of memory, roughly, that the messages on all queues take."""
        return sum(queue.entries.octets for queue in self)

    def find(self, home: str) -> Queue | None:
        """Find a queue by its home; None if there is none."""
        return self._at(home).get(home)

    def named(self, name: str) -> Queue | None:
        """Find an application's queue by its name, local or shared; None if there is none."""
        return self._own.get(home_of(name)) or self._shared.get(shared_home(name))

    def _at(self, home: str) -> dict[str, Queue]:
        return self._shared if is_shared(home) else self._own

    def make(
        self,
        home: str,
        name: str,
        definition: Definition,
        *,
        recorded: bool,
        on_use: bool = False,
        limited: bool = True,
    ) -> Queue:
        """Return the queue of this home, made if it is not there.

        Args:
            home: Its home.
            name: Its name in refusals.
            definition: Its attributes.
            recorded: Whether persistent messages on it are on disk.
            on_use: Whether it is a queue of an application.
            limited: Whether the limit holds; it does not at a start from records.

        Raises:
            RefusalError: There are too many queues.
        """
        queues = self._at(home)
        queue = queues.get(home)
        if queue is not None:
            return queue
        if limited and len(queues) >= self._max_queues:
            raise refusal(
                Mqrc.RESOURCE_PROBLEM, f"{name} cannot be made: there are {self._max_queues} queues already.", name
            )
        queue = queues[home] = Queue(home, name, definition, recorded=recorded, on_use=on_use)
        self._new.append(queue)
        return queue

    def forget_if_idle(self, queue: Queue) -> None:
        """Drop a queue that was made on use and has no messages and no users."""
        if queue.on_use and queue.idle:
            self.forget(queue)

    def forget_unused(self) -> None:
        """Drop the queues that were made since the last call and are not used, for example for a refused command."""
        for queue in self._new:
            self.forget_if_idle(queue)
        self._new.clear()

    def restored(self, queue: Queue) -> Queue:
        """Return the queue at the home of this one; bring this one back if there is none."""
        present = self.find(queue.home)
        if present is None:
            self.revive(queue)
        return present or queue

    def revive(self, queue: Queue) -> None:
        """Undo `forget`."""
        queue.gone = False
        self._at(queue.home)[queue.home] = queue

    def forget(self, queue: Queue) -> None:
        """Drop a queue, and mark it as gone for links that still have it."""
        queue.gone = True
        if self.find(queue.home) is queue:
            del self._at(queue.home)[queue.home]
