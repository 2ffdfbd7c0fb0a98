"""Resolved destinations: the queue or topic behind a name, and the objects on the path to it."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.queue import Queue
from assay_sdk.model.message import Address


class Target(Struct, frozen=True, eq=False):
    """The present meaning of a name.

    Args:
        path: The objects on the path, the named one first: its defaults apply (DD-52).
        queue: The queue; None if the name is an alias of a topic.
        topic: The topic; None for a queue.
    """

    path: tuple[Definition, ...]
    queue: Queue | None = None
    topic: Address | None = None

    @property
    def inhibited(self) -> str | None:
        """The first object on the path that is disabled for puts; None if none is."""
        for one in self.path:
            if one.says("PUT", "DISABLED"):
                return one.name
        return None


class Choice(Struct, frozen=True, eq=False):
    """The input for the choice between several instances of a cluster queue.

    Args:
        bound: The queue that the sender was bound to at its open; None for none.
        group: The message's group id; None for none.
    """

    bound: Queue | None = None
    group: str | None = None


class Route(Struct, frozen=True, eq=False, kw_only=True):
    """A sender's resolved destination, valid until an object or authority changes.

    Args:
        target: The destination.
        objects: The number of changes of objects at that time (`Directory.changes`).
        authorities: The number of changes of authority at that time (`Authorities.changes`).
        longest: The highest number of octets that every object on the path takes; negative if puts are disabled.
        homes: The home of its copies; empty if the target is not a queue of this queue manager.
        queues: The same, as queues.
    """

    target: Target
    objects: int
    authorities: int
    longest: int
    homes: tuple[str, ...]
    queues: tuple[Queue, ...]

    def holds(self, objects: int, authorities: int) -> bool:
        """Return whether it is still valid."""
        return (
            self.objects == objects
            and self.authorities == authorities
            and (self.target.queue is None or not self.target.queue.gone)
        )
