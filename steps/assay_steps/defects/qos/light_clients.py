"""Filters that recognize MQ Light clients, for defects of several features.

An MQ Light client's sends set neither persistence nor priority, and the names of its receivers' links begin with
``private:`` or ``share:``.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_sdk.driver import Arrived, Done, Driver, DriverCommand, DriverEvent, OpenReceiver, Send, Settle
from assay_sdk.driver import Outcome as Settlement
from assay_sdk.engine.light.subscription import PRIVATE, SHARE
from assay_sdk.model.message import Message
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, wires


def is_ours(message: Message) -> bool:
    """Return whether an MQ Light client sent a message; False for the scenario's other clients."""
    return message.durable is None and message.priority is None


def subscribes(command: DriverCommand) -> bool:
    """Return whether a command opens a subscription of an MQ Light client."""
    return isinstance(command, OpenReceiver) and str(command.name).startswith((f"{PRIVATE}:", f"{SHARE}:"))


def sends_as(change: Callable[[Send], Send]) -> Callable[[DriverCommand], tuple[DriverCommand, ...] | None]:
    """Make a function for `commands` that changes the sends of MQ Light clients."""

    def rewrite(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
        return (change(command),) if isinstance(command, Send) and is_ours(command.message) else None

    return rewrite


def resends_as(change: Callable[[Message], Message]) -> Callable[[Driver], Driver]:
    """Make a function that puts a filter on a driver; the filter changes messages that the client sends again."""

    def filtered(driver: Driver) -> Driver:
        sent: set[str | None] = set()

        class Changed(WireFilter):
            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, Send) or not is_ours(command.message):
                    return (command,)
                if command.message.message_id in sent:
                    return (replace(command, message=change(command.message)),)
                sent.add(command.message.message_id)
                return (command,)

        return wires(Changed)(driver)

    return filtered


def resends(*, settled: bool) -> Callable[[Driver], Driver]:
    """Make a function that puts a filter on a driver; the filter sends answered messages again on the next connection.

    It sends them before the first message that the client sends on that connection.

    Args:
        settled: Whether the filter repeats at-most-once sends; False for at-least-once sends.
    """

    def filtered(driver: Driver) -> Driver:
        over: dict[int, list[Message]] = {}

        class Again(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._open: dict[int, Message] = {}

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, Send) or not is_ours(command.message):
                    return (command,)
                if command.settled is settled:
                    self._open[command.token] = command.message
                earlier = [message for epoch in list(over) if epoch < self.line.epoch for message in over.pop(epoch)]
                again = (Send(self.line.own_token(), command.link, message, settled=settled) for message in earlier)
                return (*again, command)

            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Done) and event.token in self._open:
                    over.setdefault(self.line.epoch, []).append(self._open.pop(event.token))
                return (event,)

        return wires(Again)(driver)

    return filtered


class LightLinks(WireFilter):
    """A filter that records the links of at-least-once receivers of MQ Light clients."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.links: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        """Remember a link of an at-least-once receiver, and let `accepting` replace acknowledgements on such a link."""
        if isinstance(command, OpenReceiver) and subscribes(command) and not command.settled:
            self.links.add(command.link)
        if isinstance(command, Settle) and command.link in self.links and command.outcome is Settlement.ACCEPTED:
            return self.accepting(command)
        return (command,)

    def accepting(self, command: Settle) -> tuple[DriverCommand, ...]:
        """Return the commands that the driver gets in place of an acknowledgement."""
        return (command,)


def attaches_again(hit: Callable[[OpenReceiver, int], bool]) -> Callable[[Driver], Driver]:
    """Make a function that puts a filter on a driver; the filter lets the client reopen only some subscriptions.

    Args:
        hit: Returns whether the client reopens a subscription on a later connection.  Its arguments are the command
            that opens the subscription, and the number of subscriptions that were opened earlier on this connection.
    """

    def filtered(driver: Driver) -> Driver:
        attached: set[tuple[str | None, str]] = set()

        class Again(WireFilter):
            def __init__(self, line: FilteredWire) -> None:
                super().__init__(line)
                self._count = 0

            def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
                if not isinstance(command, OpenReceiver) or not subscribes(command):
                    return (command,)
                key = command.name, str(command.address)
                again, before = key in attached, self._count
                attached.add(key)
                self._count += 1
                return () if again and not hit(command, before) else (command,)

        return wires(Again)(driver)

    return filtered


class HoldingLinks(LightLinks):
    """A filter that records the unaccepted deliveries of receivers with quality of service at least once."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.held: dict[int, list[int]] = {}

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        """Remember a delivery to a receiver with quality of service at least once."""
        if isinstance(event, Arrived) and event.link in self.links:
            self.held.setdefault(event.link, []).append(event.delivery)
        return (event,)

    def take(self, link: int, deliveries: tuple[int, ...]) -> None:
        """Forget deliveries that are accepted."""
        self.held[link] = [one for one in self.held.get(link, []) if one not in deliveries]

    def accept(self, link: int, *deliveries: int) -> None:
        """Accept deliveries for the application."""
        if deliveries:
            self.take(link, deliveries)
            self.line.wire.submit(Settle(self.line.own_token(), link, deliveries, Settlement.ACCEPTED))
