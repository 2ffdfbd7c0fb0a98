"""What one queue manager knows of the others in its network."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay_broker.core.messages.entries import Entry
from assay_broker.core.networks.parcels import Bulletin
from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.queue import Queue
from assay_broker.core.schedule import Schedule

_SILENT = Bulletin("", (), ())


class Instance(Struct, frozen=True):
    """A queue in a cluster, on another queue manager.

    Args:
        member: The queue manager.
        definition: The queue.
        up: Whether the queue manager runs.
    """

    member: str
    definition: Definition
    up: bool


class Neighbour:
    """One other queue manager."""

    def __init__(self) -> None:
        self.up = False
        """Whether it runs, as far as one can know."""
        self.bulletin = _SILENT
        """What it said of itself last; kept while it is down, and over a restart of one's own."""
        self.taken: set[int] = set()
        """The numbers of messages that came from it and for which it may still ask."""


class Members:
    """The other queue managers.

    Args:
        connected: Whether there can be any.
    """

    def __init__(self, *, connected: bool) -> None:
        self.connected = connected
        self.told: Bulletin | None = None
        """What the others were told last."""
        self.retries: Schedule[tuple[Queue, Entry]] = Schedule()
        """What a receiver could not put anywhere, until it is sent again."""
        self._neighbours: dict[str, Neighbour] = {}
        self._turn = 0

    def __iter__(self) -> Iterator[tuple[str, Neighbour]]:
        """All others by name."""
        return iter(sorted(self._neighbours.items(), key=lambda one: one[0]))

    def neighbour(self, name: str) -> Neighbour:
        """Another queue manager."""
        return self._neighbours.setdefault(name, Neighbour())

    def instances(self, name: str) -> list[Instance]:
        """Where else there is a queue of that name in a cluster."""
        if not self._neighbours:
            return []
        return [
            Instance(member, definition, neighbour.up)
            for member, neighbour in self
            for definition in neighbour.bulletin.instances
            if definition.name == name
        ]

    def next_turn(self) -> int:
        """A number that grows: whose turn it is."""
        self._turn += 1
        return self._turn
