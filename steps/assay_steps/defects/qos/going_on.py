"""Defects of an MQ Light client after a receive call without a message, and after its close."""

from __future__ import annotations

from msgspec.structs import replace

from assay_adapters.ports.client import Client, Seen
from assay_adapters.ports.outcome import Ok, Outcome
from assay_sdk.driver import Closed, Driver, DriverCommand, DriverEvent, Durability, Opened, OpenReceiver, Send
from assay_steps.defects.consumers import ConsumerFilter, consuming
from assay_steps.defects.model import Defect, at_port, in_both, on_wire
from assay_steps.defects.ports import ConnectionFilter, ConnectionsFilter
from assay_steps.defects.qos.qualities import is_ours, subscribes
from assay_steps.defects.qos.returning import AttachLostForGood
from assay_steps.defects.wires import FilteredWire, WireFilter, drivers, wires

_LARGE = 100_000
"""The most characters of a body that is not large."""


class _AskedInVain(ConsumerFilter):
    """After a receive call without a message, all further receive calls return no message."""

    _vain = False

    def receive(self, timeout_ms: int) -> Outcome[Seen | None]:
        if self._vain:
            return Ok(None)
        answer = super().receive(timeout_ms)
        self._vain = isinstance(answer, Ok) and answer.value is None
        return answer


class _GoesOnClosed:
    """A client that is closed while it has no connection connects again and receives messages."""

    def __init__(self) -> None:
        self._torn = False

    def port(self, client: Client) -> Client:
        torn = self._is_torn

        class Deaf(ConnectionFilter):
            def close(self) -> Outcome[None]:
                return Ok(None) if torn() else super().close()

        return ConnectionsFilter(client, Deaf)

    def wire(self, driver: Driver) -> Driver:
        note = self._note

        class Noting(WireFilter):
            def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
                if isinstance(event, Opened | Closed):
                    note(isinstance(event, Closed))
                return (event,)

        return wires(Noting)(driver)

    def _is_torn(self) -> bool:
        return self._torn

    def _note(self, torn: bool) -> None:
        self._torn = torn


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


class _AttachingLostForGood(AttachLostForGood):
    """The client gives a subscription up if the connection is lost while it attaches the subscription's link."""

    opens = OpenReceiver


def _renames_the_first(driver: Driver) -> Driver:
    """The message that the client sends first, and that it sends again, have different message ids."""
    sent: set[str | None] = set()

    class First(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Send) or not is_ours(command.message) or command.settled:
                return (command,)
            given = command.message.message_id
            if given in sent:
                return (command,)
            sent.add(given)
            return (replace(command, message=replace(command.message, message_id=f"{given}1")),)

    return wires(First)(driver)


class _EndlessNotDurable(WireFilter):
    """The client asks for a non-durable subscription if the subscription's time to live has no limit."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver) and subscribes(command) and command.timeout_ms is None:
            return (replace(command, durability=Durability.NON_DURABLE),)
        return (command,)


GOING_ON_QOS_DEFECTS: tuple[Defect, ...] = (
    at_port(consuming, _AskedInVain, "deaf-once-asked-in-vain", "QS-13"),
    on_wire(drivers, _renames_the_first, "sent-first-under-another-id", "QS-05"),
    on_wire(wires, _EndlessNotDurable, "endless-subscription-not-durable", "QS-20"),
    on_wire(wires, _OneMessageId, "one-message-id-for-all", "QS-04"),
    on_wire(wires, _LargeOneInFront, "large-body-before-the-next", "QS-04"),
    on_wire(wires, _AttachingLostForGood, "subscription-lost-as-it-is-attached", "QS-11"),
    in_both(_GoesOnClosed(), "goes-on-though-closed", "QS-11"),
)
"""All defects of this module."""
