"""Resolved destinations: the queue or topic behind a name, and the objects that led to it."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.queue import Queue
from assay_sdk.model.message import Address


class Target(Struct, frozen=True, eq=False):
    """The queue or topic to which a queue's name was resolved.

    Args:
        path: The object that the client named, and then, if it is an alias, the queue behind it. For a queue without an
            object, the definition from which the queue has its attributes. The defaults of the first object apply
            (DD-52).
        queue: The queue; None if the name is an alias of a topic.
        topic: The topic; None for a queue.
    """

    path: tuple[Definition, ...]
    queue: Queue | None = None
    topic: Address | None = None

    @property
    def inhibited(self) -> str | None:
        """The name of the first object on the path that is disabled for puts; None if all are enabled."""
        for one in self.path:
            if one.says("PUT", "DISABLED"):
                return one.name
        return None


class InstanceChoice(Struct, frozen=True, eq=False):
    """The input for the choice between several instances of a cluster queue.

    Args:
        bound: The queue that the sender opened; None if it opened none. If this is a transmission queue, the sender is
            bound to the instance on the other queue manager.
        group: The message's group id; None without a group id.
    """

    bound: Queue | None = None
    group: str | None = None


class Route(Struct, frozen=True, eq=False, kw_only=True):
    """A sender's resolved destination, valid until an object or authority changes, or the queue is dropped.

    Args:
        target: The destination.
        objects: The number of changes of objects at the resolution (`Directory.changes`).
        authorities: The number of changes of authority at the resolution (`Authorities.changes`).
        longest: The highest number of octets of a message that the queue and the queue manager take; -1 if puts are
            disabled or the destination is a topic.
        homes: The home of the queue, as a tuple for `Pending.homes`; empty for a topic.
        queues: The queue, as a tuple for `Pending.queues`; empty for a topic.
    """

    target: Target
    objects: int
    authorities: int
    longest: int
    homes: tuple[str, ...]
    queues: tuple[Queue, ...]

    def holds(self, objects: int, authorities: int) -> bool:
        """Return whether the route is still valid.

        Args:
            objects: The present value of `Directory.changes`.
            authorities: The present value of `Authorities.changes`.
        """
        return (
            self.objects == objects
            and self.authorities == authorities
            and (self.target.queue is None or not self.target.queue.gone)
        )
