"""What a destination means: the queue or topic behind its name, and the objects on the way."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.core.objects.model import Definition
from assay_broker.core.queues.queue import Queue
from assay_sdk.model.message import Address


class Target(Struct, frozen=True, eq=False):
    """What a name means now.

    Args:
        path: The objects on the way, the one that was named first: its defaults hold (DD-52).
        queue: The queue; None when the name is an alias of a topic.
        topic: The topic; None for a queue.
    """

    path: tuple[Definition, ...]
    queue: Queue | None = None
    topic: Address | None = None

    @property
    def inhibited(self) -> str | None:
        """The first object on the way that is disabled for puts; None when none is."""
        for one in self.path:
            if one.says("PUT", "DISABLED"):
                return one.name
        return None


class Choice(Struct, frozen=True, eq=False):
    """What decides between several instances of a queue in a cluster.

    Args:
        bound: The queue that the sender was bound to when it was opened; None for none.
        group: The message's group id; None for none.
    """

    bound: Queue | None = None
    group: str | None = None


class Route(Struct, frozen=True, eq=False, kw_only=True):
    """What a sender's destination means, as long as nothing is defined, deleted or granted.

    Args:
        target: What it means.
        objects: How often objects had been changed (`Directory.changes`).
        authorities: How often authorities had been (`Authorities.changes`).
        longest: A message of so many octets is not too long for anything on the way; negative where nothing may be put.
        homes: Where its copies go: one home, or none when the target is no queue that is here.
        queues: The same, as queues.
    """

    target: Target
    objects: int
    authorities: int
    longest: int
    homes: tuple[str, ...]
    queues: tuple[Queue, ...]

    def holds(self, objects: int, authorities: int) -> bool:
        """Whether it still means that."""
        return (
            self.objects == objects
            and self.authorities == authorities
            and (self.target.queue is None or not self.target.queue.gone)
        )
