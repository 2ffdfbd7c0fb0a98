"""The log and the connections that the queue managers of a queue-sharing group share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Protocol

from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.core.networks.sharing_group import Group
from assay_broker.log import FLUSH_NS, Log
from assay_sdk.model.reasons import Refused
from assay_sdk.time import Runner


class Peer(Protocol):
    """The interface through which the queue manager uses a client's connection; listeners and wires implement it."""

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Send the client the answer to a command, and then call `sent`, if given."""
        ...

    def deliver(self, delivery: Deliver) -> None:
        """Send a message to the client's receiver."""
        ...

    def close_link(self, closed: CloseLink) -> None:
        """Tell the client that the broker has closed one of its links."""
        ...

    def lost(self, why: Refused) -> None:
        """End the connection for the given reason. The queue manager calls no method of this peer afterwards."""
        ...


class SharedResources:
    """The log, peers and shared state of a sharing group, or of one queue manager outside a group.

    The members of a group keep this object when they stop and start. A queue manager outside a group gets a new one
    at each start.

    Args:
        runner: Runs the jobs, and has the clock.
        numbers: The source of the numbers of new connections.
        several: Whether the group has several queue managers.
        flush_ns: Nanoseconds from the first write to the flush; see `Log`.
        aside: The executor that waits for the disk; see `Log`.
    """

    def __init__(
        self,
        runner: Runner,
        numbers: Iterator[int],
        *,
        several: bool = False,
        flush_ns: int = FLUSH_NS,
        aside: Executor | None = None,
    ) -> None:
        self.group = Group(several=several)
        self.log = Log(runner, flush_ns, aside)
        self.numbers = numbers
        self.peers: dict[int, Peer] = {}
        """The clients of all members, by connection number; a core may deliver to a client of another member."""
        self.wakers: list[Callable[[], None]] = []
        """One function for each member, which gives the member's core a `Tick`.

        A member that stops calls all functions, so that the other members take over the expiry of shared messages.
        """
