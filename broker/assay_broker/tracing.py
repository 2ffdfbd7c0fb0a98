"""Tracing of an in-process wire: translates its commands and events to transfers and dispositions.

A wire in process has no frames. So the tracer makes the frames that an AMQP link would have if its receiver settled
second (OASIS AMQP 1.0, 2.7.3).  A `Settle` becomes an unsettled outcome of the client, and its answer becomes the
broker's settlement. The answer to a send becomes the broker's outcome, which is settled at once.
"""

from __future__ import annotations

from typing import Literal

from assay_sdk import driver
from assay_sdk.driver import Disposition, DriverCommand, DriverEvent, Frame, Outcome, Transfer
from assay_sdk.model.message import Message


class WireTracer:
    """The translator of one wire's commands and events to frames; it stores the unsettled deliveries."""

    def __init__(self) -> None:
        self._links: dict[int, str] = {}
        self._targets: dict[int, str] = {}
        """The destinations of the client's senders, by link; a sender without a destination has no entry."""
        self._sent: dict[int, Message] = {}
        """Unsettled messages of the client, by the tokens of their sends."""
        self._held: dict[int, tuple[Message, str]] = {}
        """Unsettled messages for the client, with the names of their links, by delivery."""
        self._answered: dict[int, driver.Settle] = {}
        """The client's outcomes that the broker has not settled, by the tokens of their commands."""
        self._settled: set[int] = set()
        """Deliveries that the broker sent settled and that have not arrived yet."""

    def is_settled(self, delivery: int) -> None:
        """Note that the broker sent a delivery settled; the caller calls this before the message's `Arrived`."""
        self._settled.add(delivery)

    def command(self, command: DriverCommand) -> Frame:
        """Return the frame that the trace shows for a client's command."""
        transfer: Transfer | None = None
        dispositions: tuple[Disposition, ...] = ()
        match command:
            case driver.OpenReceiver():
                self._links[command.link] = command.name or ""
            case driver.OpenSender(address=address) if address is not None:
                self._targets[command.link] = address.name
            case driver.Send():
                transfer = Transfer(command.message, command.settled, target=self._targets.get(command.link, ""))
                if not command.settled:
                    self._sent[command.token] = command.message
            case driver.Settle():
                self._answered[command.token] = command
                dispositions = self._disposed(command, settled=False)
            case _:
                pass  # other commands send no message and settle none
        return _frame("out", command, transfer, dispositions)

    def event(self, event: DriverEvent) -> Frame:
        """Return the frame that the trace shows for an event from the broker."""
        transfer: Transfer | None = None
        dispositions: tuple[Disposition, ...] = ()
        match event:
            case driver.Arrived():
                transfer = self._arrived(event)
            case driver.Done() | driver.Failed():
                done = isinstance(event, driver.Done)
                dispositions = self._answer(event.token, Outcome.ACCEPTED if done else Outcome.REJECTED)
            case _:
                pass  # other events bring no message and settle none
        return _frame("in", event, transfer, dispositions)

    def _arrived(self, event: driver.Arrived) -> Transfer:
        link = self._links.get(event.link, "")
        settled = event.delivery in self._settled
        self._settled.discard(event.delivery)
        if not settled:
            self._held[event.delivery] = event.message, link
        return Transfer(event.message, settled, link)

    def _answer(self, token: int, outcome: Outcome) -> tuple[Disposition, ...]:
        """Translate the answer to a send into the broker's outcome, and the answer to a `Settle` into a settlement."""
        message = self._sent.pop(token, None)
        if message is not None:
            return (Disposition(message, outcome, settled=True, receiver=True),)
        asked = self._answered.pop(token, None)
        if asked is None or outcome is not Outcome.ACCEPTED:
            return ()
        return self._disposed(asked, settled=True)

    def _disposed(self, command: driver.Settle, *, settled: bool) -> tuple[Disposition, ...]:
        told: list[Disposition] = []
        for delivery in command.deliveries:
            found = self._held.pop(delivery, None) if settled else self._held.get(delivery)
            if found is not None:
                message, link = found
                told.append(Disposition(message, command.outcome, settled, receiver=not settled, link=link))
        return tuple(told)


def _frame(
    direction: Literal["in", "out"],
    what: DriverCommand | DriverEvent,
    transfer: Transfer | None,
    dispositions: tuple[Disposition, ...],
) -> Frame:
    return Frame(direction, repr(what), transfer=transfer, dispositions=dispositions)
