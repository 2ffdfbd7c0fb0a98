"""Commands that a client's input causes at once, passed on to the queue manager together.

One read from the socket often brings many messages or settlements. Each run of them goes to the queue manager as one
command, in the client's order, and links update their credit once afterwards.
"""

from __future__ import annotations

from assay_broker.amqp.links.link import LinkEnd
from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_broker.shell import QueueManager
from assay_sdk.driver import Outcome

_TOGETHER = 128
"""Messages put in one turn of the queue manager; other connections have their turn in between."""


class CommandBatch:
    """The commands of one connection that have not been passed on.

    They are puts, or settlements of one link with one outcome, never both.

    Args:
        queue_manager: The queue manager.
    """

    def __init__(self, queue_manager: QueueManager) -> None:
        self.number = 0
        """The queue manager's number of the connection."""
        self._queue_manager = queue_manager
        self._puts: list[commands.Put] = []
        self._settling: tuple[int, Outcome, list[int]] | None = None
        self._behind: dict[LinkEnd, None] = {}

    def handle(self, command: Command) -> None:
        """Pass on what is held, then have the queue manager handle a command."""
        self.pass_on()
        self._queue_manager.handle(command)

    def put(self, put: commands.Put) -> None:
        """Hold a put, to be passed on with the puts that follow."""
        if self._settling is not None or (self._puts and self._puts[-1].unit != put.unit):
            self.pass_on()  # puts in a unit of work are answered at once, unless others are stored with them
        self._puts.append(put)
        if len(self._puts) >= _TOGETHER:
            self.pass_on()

    def settle(self, link: int, delivery: int, outcome: Outcome) -> None:
        """Hold a settlement, to be passed on with those of the same link and outcome that follow."""
        settling = self._settling
        if settling is not None and settling[0] == link and settling[1] is outcome:
            settling[2].append(delivery)
            return
        self.pass_on()
        self._settling = (link, outcome, [delivery])

    def pass_on(self) -> None:
        """Pass everything that is held on to the queue manager."""
        if self._puts:
            puts, self._puts = self._puts, []
            self._queue_manager.put_together(puts)
        settling, self._settling = self._settling, None
        if settling is not None:
            link, outcome, deliveries = settling
            self._queue_manager.handle(commands.Settle(self.number, None, link, tuple(deliveries), outcome))

    def later(self, end: LinkEnd) -> None:
        """Have a link's `catch_up` called once, after everything that arrives now."""
        self._behind[end] = None

    def catch_up(self) -> None:
        """Pass on what is held and call `catch_up` of the links that asked for it, until neither is left."""
        self.pass_on()
        while self._behind:
            behind, self._behind = self._behind, {}
            for end in behind:
                end.catch_up()
            self.pass_on()
