"""What a peer asks for at once, passed on together.

A portion of octets brings many messages, or settles many: each kind goes to the queue manager as one command, in the
peer's order, and links catch up with their credit once.
"""

from __future__ import annotations

from assay_broker.amqp.links.link import LinkEnd
from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_broker.shell import QueueManager
from assay_sdk.driver import Outcome

_TOGETHER = 128
"""Messages that are put in one turn of the queue manager's; others have theirs in between."""


class CommandBatch:
    """What has gathered of one connection: puts, or settlements of one link with one outcome, but never both.

    Args:
        queue_manager: Who is asked.
    """

    def __init__(self, queue_manager: QueueManager) -> None:
        self.number = 0
        """What the queue manager calls the connection."""
        self._queue_manager = queue_manager
        self._puts: list[commands.Put] = []
        self._settling: tuple[int, Outcome, list[int]] | None = None
        self._behind: dict[LinkEnd, None] = {}

    def handle(self, command: Command) -> None:
        """Have the queue manager do something, after what was asked before."""
        self.pass_on()
        self._queue_manager.handle(command)

    def put(self, put: commands.Put) -> None:
        """Put a message; what follows at once goes with it."""
        if self._settling is not None or (self._puts and self._puts[-1].unit != put.unit):
            self.pass_on()  # what belongs to a unit of work is answered at once, unless others are stored with it
        self._puts.append(put)
        if len(self._puts) >= _TOGETHER:
            self.pass_on()

    def settle(self, link: int, delivery: int, outcome: Outcome) -> None:
        """Settle a delivery; what follows at once with the same outcome goes with it."""
        settling = self._settling
        if settling is not None and settling[0] == link and settling[1] is outcome:
            settling[2].append(delivery)
            return
        self.pass_on()
        self._settling = (link, outcome, [delivery])

    def pass_on(self) -> None:
        """Have the queue manager do what has gathered."""
        if self._puts:
            puts, self._puts = self._puts, []
            self._queue_manager.put_together(puts)
        settling, self._settling = self._settling, None
        if settling is not None:
            link, outcome, deliveries = settling
            self._queue_manager.handle(commands.Settle(self.number, None, link, tuple(deliveries), outcome))

    def later(self, end: LinkEnd) -> None:
        """Have a link catch up with its credit, once for all that happens now."""
        self._behind[end] = None

    def catch_up(self) -> None:
        """Pass on what has gathered, and have the links catch up, until nothing is left of either."""
        self.pass_on()
        while self._behind:
            behind, self._behind = self._behind, {}
            for end in behind:
                end.catch_up()
            self.pass_on()
