"""A queue manager's knowledge of the others in its network."""

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
    """A clustered queue on another queue manager.

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
        """Whether it runs, as far as is known."""
        self.bulletin = _SILENT
        """Its last bulletin; kept while it is down, and over our own restart."""
        self.taken: set[int] = set()
        """The numbers of messages from it that it may send again."""


class Members:
    """The other queue managers.

    Args:
        connected: Whether this queue manager is in a network.
    """

    def __init__(self, *, connected: bool) -> None:
        self.connected = connected
        self.told: Bulletin | None = None
        """The last bulletin to the others."""
        self.retries: Schedule[tuple[Queue, Entry]] = Schedule()
        """Messages that a receiver could not put anywhere, until they are sent again."""
        self._neighbours: dict[str, Neighbour] = {}
        self._turn = 0

    def __iter__(self) -> Iterator[tuple[str, Neighbour]]:
        """All others, sorted by name."""
        return iter(sorted(self._neighbours.items(), key=lambda one: one[0]))

    def neighbour(self, name: str) -> Neighbour:
        """Return another queue manager by its name, added if it is new."""
        return self._neighbours.setdefault(name, Neighbour())

    def instances(self, name: str) -> list[Instance]:
        """Return the clustered queues of this name on other queue managers."""
        if not self._neighbours:
            return []
        return [
            Instance(member, definition, neighbour.up)
            for member, neighbour in self
            for definition in neighbour.bulletin.instances
            if definition.name == name
        ]

    def next_turn(self) -> int:
        """Return the next number for the choice between cluster instances in turn."""
        self._turn += 1
        return self._turn
