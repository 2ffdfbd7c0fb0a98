"""What the queue managers of a sharing group have in common outside their cores: a log, and the way to their peers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Protocol

from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.core.networks.sharing import Group
from assay_broker.log import FLUSH_NS, Log
from assay_sdk.model.reasons import Refused
from assay_sdk.time import Runner


class Peer(Protocol):
    """The other end of a connection."""

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """A command is answered; `sent`, if somebody waits for that, is to be called once the peer has the answer."""
        ...

    def deliver(self, delivery: Deliver) -> None:
        """A message comes."""
        ...

    def close_link(self, closed: CloseLink) -> None:
        """The broker closes a link."""
        ...

    def lost(self, why: Refused) -> None:
        """The connection is gone without a goodbye; nothing follows."""
        ...


class Facility:
    """What the queue managers of a sharing group have in common, each of them alive or not.

    Args:
        runner: The world's crank.
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
        """The peers of all members: any member's core may have something for a receiver on a shared queue."""
        self.wakers: list[Callable[[], None]] = []
        """Make each member look at the time: what expires on shared queues is any member's business."""
