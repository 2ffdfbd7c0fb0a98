"""Defects of an MQ Light client in its sends (QS-02 to QS-05)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Closed, Done, Driver, DriverCommand, DriverEvent, Send
from assay_sdk.model.message import Message
from assay_steps.defects.model import on_wire
from assay_steps.defects.qos.light_clients import is_ours
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, drivers, wires

_LARGE = 100_000
"""The largest number of characters of a body that does not count as large."""
_SOON_NS = 1_000_000_000


def _never_resends(driver: Driver) -> Driver:
    """The client does not resend an unanswered at-least-once message on its next connection."""
    sent: set[str | None] = set()

    class Once(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if isinstance(command, Send) and is_ours(command.message):
                if command.message.message_id in sent:
                    return ()
                sent.add(command.message.message_id)
            return (command,)

    return wires(Once)(driver)


def _repeats_unanswered(driver: Driver) -> Driver:
    """If the connection is lost during an at-most-once send, the client repeats the send on its next connection."""
    lost: list[Message] = []

    class Repeats(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._unanswered: dict[int, Message] = {}

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Send) or not command.settled or not is_ours(command.message):
                return (command,)
            self._unanswered[command.token] = command.message
            again = [replace(command, token=self.line.own_token(), message=message) for message in lost]
            lost.clear()
            return (*again, command)

        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            if isinstance(event, Done):
                self._unanswered.pop(event.token, None)
            elif isinstance(event, Closed):
                lost.extend(self._unanswered.values())
                self._unanswered.clear()
            return (event,)

    return wires(Repeats)(driver)


class _OneMessageId(WireFilter):
    """All messages that an MQ Light client sends have the message id of its first message."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._first: str | None = None

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Send) or not is_ours(command.message):
            return (command,)
        self._first = self._first or command.message.message_id
        return (replace(command, message=replace(command.message, message_id=self._first)),)


class _LargeOneInFront(WireFilter):
    """After a large message, the next message of the client begins with the large one's body."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._large = ""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Send) or not is_ours(command.message):
            return (command,)
        front, body = self._large, command.message.body
        self._large = body if isinstance(body, str) and len(body) > _LARGE else ""
        if not front or not isinstance(body, str):
            return (command,)
        return (replace(command, message=replace(command.message, body=front + body)),)


class _SaidAtOnce(WireFilter):
    """From a producer's second at-least-once send on, the client reports each send as done a second before it sends."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._links: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Send) or command.settled or not is_ours(command.message):
            return (command,)
        if command.link not in self._links:
            self._links.add(command.link)
            return (command,)
        late = replace(command, token=self.line.own_token())
        clock = self.line.runner.clock
        self.line.runner.call_at(clock.monotonic_ns() + _SOON_NS, lambda: self.line.wire.submit(late))
        return ()


QOS_SENDING_DEFECTS = (
    on_wire(drivers, _never_resends, "never-resends", "QS-04", "QS-05"),
    on_wire(drivers, _repeats_unanswered, "unanswered-at-most-once-repeated", "QS-02", "QS-03"),
    on_wire(wires, _OneMessageId, "one-message-id-for-all", "QS-04"),
    on_wire(wires, _LargeOneInFront, "large-body-before-the-next", "QS-04"),
    on_wire(wires, _SaidAtOnce, "later-sends-answered-at-once", "QS-04"),
)
