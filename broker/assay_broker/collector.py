"""Collects the commands of one client's connection, and sends them to the queue manager together."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Concatenate, ParamSpec

from assay_broker.core import commands
from assay_broker.core.commands import Command
from assay_broker.core.effects import Answer
from assay_broker.shell import QueueManager
from assay_sdk.driver import Outcome
from assay_sdk.time import NS_PER_MS, Clock

_TOGETHER = 128
"""The highest number of puts in one turn; between turns the queue manager serves other connections."""

Answered = Callable[[Answer], None]
_Fields = ParamSpec("_Fields")


class CommandCollector:
    """The collector of the commands of one connection.

    One read from the socket often brings many messages or settlements.  The collector gathers successive puts, or
    successive settlements of one link with the same outcome, and passes them to the queue manager together, in the
    client's order.

    Args:
        queue_manager: The queue manager.
        clock: The clock.
    """

    def __init__(self, queue_manager: QueueManager, clock: Clock) -> None:
        self.number = 0
        """The connection's number at the queue manager; 0 while the queue manager has no such connection."""
        self.instant_ms = 0
        """The time at which the current input arrived, for `now_ms`; 0 while no input is being handled."""
        self.expected: dict[int, Answered] = {}
        """The functions to call with the queue manager's answers, by the tokens of the commands."""
        self._queue_manager = queue_manager
        self._clock = clock
        self._numbers = itertools.count(1)
        self._puts: list[commands.Put] = []
        self._settling: tuple[int, Outcome, list[int]] | None = None

    def now_ms(self) -> int:
        """Return the time in milliseconds since the epoch; all input that arrives together has the same time.

        The time is rounded up, as clients round it (DD-02, DD-56), so that no delay ends too early for the client.
        """
        return self.instant_ms or -(-self._clock.wall_ns() // NS_PER_MS)

    def next_number(self) -> int:
        """Return a number that is unique on this connection."""
        return next(self._numbers)

    def expect(self, answered: Answered) -> int:
        """Return a token for a command, and store the function to call with the command's answer."""
        token = next(self._numbers)
        self.expected[token] = answered
        return token

    def ask(
        self,
        answered: Answered | None,
        kind: Callable[Concatenate[int, int | None, _Fields], Command],
        *fields: _Fields.args,
        **more: _Fields.kwargs,
    ) -> None:
        """Send a command of this connection to the queue manager, after the collected puts and settlements.

        Args:
            answered: Called with the answer; None to ask for no answer.
            kind: The command's type.
            fields: The command's fields after connection and token.
            more: Further fields by name.
        """
        token = None if answered is None else self.expect(answered)
        self.handle(kind(self.number, token, *fields, **more))

    def handle(self, command: Command) -> None:
        """Send a command to the queue manager, after the collected puts and settlements."""
        self.pass_on()
        self._queue_manager.handle(command)

    def put(self, put: commands.Put) -> None:
        """Collect a put, to send it to the queue manager together with the next puts."""
        if self._settling is not None or (self._puts and self._puts[-1].unit != put.unit):
            self.pass_on()  # puts in a unit need no flush, so they must not share a turn with puts that wait for one
        self._puts.append(put)
        if len(self._puts) >= _TOGETHER:
            self.pass_on()

    def settle(self, link: int, delivery: int, outcome: Outcome) -> None:
        """Collect a settlement, to send it together with the next settlements of the same link and outcome."""
        settling = self._settling
        if settling is not None and settling[0] == link and settling[1] is outcome:
            settling[2].append(delivery)
            return
        self.pass_on()
        self._settling = (link, outcome, [delivery])

    def pass_on(self) -> None:
        """Send the collected puts and settlements to the queue manager."""
        if self._puts:
            puts, self._puts = self._puts, []
            self._queue_manager.put_together(puts)
        settling, self._settling = self._settling, None
        if settling is not None:
            link, outcome, deliveries = settling
            self._queue_manager.handle(commands.Settle(self.number, None, link, tuple(deliveries), outcome))
