"""What queue managers of a queue-sharing group share outside their cores: the log and the peers."""

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
    """The other end of a connection."""

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Take the answer to a command. Call `sent`, if given, once the client has the answer."""
        ...

    def deliver(self, delivery: Deliver) -> None:
        """Take a message for a receiver."""
        ...

    def close_link(self, closed: CloseLink) -> None:
        """Close a link that the broker has closed."""
        ...

    def lost(self, why: Refused) -> None:
        """Handle the loss of the connection; no further call follows."""
        ...


class Facility:
    """What the queue managers of a sharing group share, whether they run or not.

    Args:
        runner: Runs the jobs, and has the clock.
        numbers: Where the numbers of connections come from.
        several: Whether there are several of them.
        flush_ns: See `Log`.
        aside: See `Log`.
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
        """The peers of all members: any member's core may have a message for a receiver on a shared queue."""
        self.wakers: list[Callable[[], None]] = []
        """Make each member check the time: any member may expire messages on shared queues."""
