"""The other queue managers of a network, as one queue manager knows them from their parcels."""

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
        member: The name of the other queue manager.
        definition: The definition of the queue.
        up: Whether the other queue manager runs, as far as this queue manager knows.
    """

    member: str
    definition: Definition
    up: bool


class Neighbour:
    """One other queue manager of the network, as known from its parcels."""

    def __init__(self) -> None:
        self.up = False
        """Whether the other queue manager runs, according to its last greeting, bulletin or `Gone`."""
        self.bulletin = _SILENT
        """The last bulletin from the other queue manager; valid also while the other is down, and after a restart."""
        self.taken: set[int] = set()
        """The numbers of messages that came from the other queue manager, and that it may send again."""


class Members:
    """The other queue managers of the network.

    Args:
        connected: Whether this queue manager is in a network.
    """

    def __init__(self, *, connected: bool) -> None:
        self.connected = connected
        self.told: Bulletin | None = None
        """The last bulletin that this queue manager sent; None before the first."""
        self.retries: Schedule[tuple[Queue, Entry]] = Schedule()
        """The messages that another queue manager could not take, by the time at which they are sent again."""
        self._neighbours: dict[str, Neighbour] = {}
        self._turn = 0

    def __iter__(self) -> Iterator[tuple[str, Neighbour]]:
        """Iterate over the names and states of all other queue managers, sorted by name."""
        return iter(sorted(self._neighbours.items(), key=lambda one: one[0]))

    def neighbour(self, name: str) -> Neighbour:
        """Return another queue manager by its name; add it if the name is new."""
        return self._neighbours.setdefault(name, Neighbour())

    def instances(self, name: str) -> list[Instance]:
        """Return the clustered queues of this name on other queue managers, sorted by queue manager."""
        if not self._neighbours:
            return []
        return [
            Instance(member, definition, neighbour.up)
            for member, neighbour in self
            for definition in neighbour.bulletin.instances
            if definition.name == name
        ]

    def next_turn(self) -> int:
        """Increment and return the counter by which the instances of a clustered queue take turns."""
        self._turn += 1
        return self._turn
