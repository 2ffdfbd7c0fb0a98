"""The table of all queues of a queue manager."""

from __future__ import annotations

from collections.abc import Iterator

from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.homes import home_of, is_shared, shared_home
from assay_broker.core.queues.queue import Queue
from assay_broker.core.refusals import refusal
from assay_sdk.model.reasons import Mqrc


class Queues:
    """All queues of a queue manager, by their homes.

    Args:
        max_queues: The highest number of queues.
        shared: The queues of the sharing group, by their homes.
    """

    def __init__(self, max_queues: int, shared: dict[str, Queue]) -> None:
        self._max_queues = max_queues
        self._own: dict[str, Queue] = {}
        self._shared = shared
        self._new: list[Queue] = []

    def __iter__(self) -> Iterator[Queue]:
        """Iterate over all queues: the queue manager's own, and then the shared queues."""
        return iter((*self._own.values(), *self._shared.values()))

    @property
    def octets(self) -> int:
        """The memory that the messages on all queues take, in octets, approximately."""
        return sum(queue.entries.octets for queue in self)

    def find(self, home: str) -> Queue | None:
        """Return the queue at a home; None if no queue is there."""
        return self._at(home).get(home)

    def named(self, name: str) -> Queue | None:
        """Return an application's queue by its name, own or shared; None if no queue in memory has the name."""
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
        """Return the queue at a home; create it if no queue is there.

        Args:
            home: The home of the queue.
            name: The name of the queue in refusals.
            definition: The attributes of the queue.
            recorded: Whether the store holds the queue's persistent messages.
            on_use: Whether the queue exists in memory only while it has messages or users.
            limited: Whether the highest number of queues applies; it does not apply to recovered queues and
                transmission queues.

        Raises:
            RefusalError: The queue manager has too many queues.
        """
        queue = self.find(home)
        if queue is None:
            queue = Queue(home, name, definition, recorded=recorded, on_use=on_use)
            if limited:
                self.check_room(queue)
            self.add(queue)
        return queue

    def check_room(self, queue: Queue, *, leaving: int = 0) -> None:
        """Refuse a new queue if the queue manager has too many queues.

        Args:
            queue: The new queue, which the caller adds later.
            leaving: The number of queues that the caller drops before it adds the new one.

        Raises:
            RefusalError: The queue manager has too many queues.
        """
        if len(self._at(queue.home)) - leaving >= self._max_queues:
            raise refusal(
                Mqrc.RESOURCE_PROBLEM,
                f"{queue.name} cannot be created: the limit of {self._max_queues} queues is reached.",
                queue.name,
            )

    def add(self, queue: Queue) -> None:
        """Add a new queue; the caller has checked the highest number of queues if it applies (`check_room`)."""
        self._at(queue.home)[queue.home] = queue
        self._new.append(queue)

    def forget_if_idle(self, queue: Queue) -> None:
        """Drop a queue that exists only while it is used (`Queue.on_use`), if it has no messages and no users."""
        if queue.on_use and queue.idle:
            self.forget(queue)

    def forget_unused(self) -> None:
        """Drop each unused queue that was created since the last call, for example for a command that was refused."""
        for queue in self._new:
            self.forget_if_idle(queue)
        self._new.clear()

    def restored(self, queue: Queue) -> Queue:
        """Return the queue at the home of a dropped queue; if no other queue is there, restore the dropped queue."""
        present = self.find(queue.home)
        if present is None:
            self.revive(queue)
        return present or queue

    def revive(self, queue: Queue) -> None:
        """Undo `forget`: add the queue again."""
        queue.gone = False
        self._at(queue.home)[queue.home] = queue

    def forget(self, queue: Queue) -> None:
        """Drop a queue, and mark it as gone for the links and deliveries that refer to it."""
        queue.gone = True
        if self.find(queue.home) is queue:
            del self._at(queue.home)[queue.home]
