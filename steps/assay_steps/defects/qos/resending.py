"""Defects of an MQ Light client in sends that are repeated after a reconnection (QS-04, QS-05)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.defects.sends import as_text
from assay_sdk.driver import (
    Closed,
    Done,
    Driver,
    DriverCommand,
    DriverEvent,
    Failed,
    Opened,
    OpenReceiver,
    OpenSender,
    Send,
)
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind
from assay_steps.defects.model import Defect, on_wire
from assay_steps.defects.qos.light_clients import is_ours, resends, resends_as, subscribes
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, drivers, wires

_MOST_SENDS = 2


def _gives_up(driver: Driver) -> Driver:
    """The client does not send a message a third time if the broker has answered neither send."""
    sent: dict[str | None, int] = {}

    class Twice(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Send) or not is_ours(command.message) or command.settled:
                return (command,)
            times = sent[command.message.message_id] = sent.get(command.message.message_id, 0) + 1
            return (command,) if times <= _MOST_SENDS else ()

    return wires(Twice)(driver)


def _loses_the_first(driver: Driver) -> Driver:
    """The first message that a client sends on a later connection is lost."""
    sent: set[str | None] = set()

    class First(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._first = bool(sent)

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, Send) or not is_ours(command.message) or command.settled:
                return (command,)
            lost = self._first and command.message.message_id not in sent
            self._first = False
            sent.add(command.message.message_id)
            return () if lost else (command,)

    return wires(First)(driver)


def _tries_once(driver: Driver) -> Driver:
    """After a first refused attempt to reconnect, the client does not try again."""
    lasting = False

    class Last(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._opened = False

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            nonlocal lasting
            lasting = lasting or subscribes(command)
            return (command,)

        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            self._opened = self._opened or isinstance(event, Opened)
            if isinstance(event, Closed) and event.refused is not None and lasting and not self._opened:
                return (replace(event, refused=replace(event.refused, kind=JmsErrorKind.SECURITY)),)
            return (event,)

    return wires(Last)(driver)


class AttachLostForGood(WireFilter):
    """The client gives up a send if the connection is lost while it opens the producer's link."""

    opens: type[OpenSender | OpenReceiver] = OpenSender

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._attaching: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        """Note each command that opens a link of the type `opens`."""
        if isinstance(command, self.opens):
            self._attaching.add(command.token)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        """Change the failure of a noted command into a failure after which the client does not try again."""
        if isinstance(event, Failed) and event.token in self._attaching:
            return (replace(event, refused=replace(event.refused, kind=JmsErrorKind.RESOURCE_ALLOCATION)),)
        return (event,)


def _renames_the_first(driver: Driver) -> Driver:
    """A message that the client sends again has another message id than at its first send."""
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


def _resends_elsewhere(driver: Driver) -> Driver:
    """The client sends an unanswered message again to another topic."""
    sent: set[str | None] = set()

    class Elsewhere(WireFilter):
        def __init__(self, line: FilteredWire) -> None:
            super().__init__(line)
            self._sessions: dict[int, int] = {}

        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if isinstance(command, OpenSender):
                self._sessions[command.link] = command.session
            if not isinstance(command, Send) or not is_ours(command.message) or command.settled:
                return (command,)
            if command.message.message_id not in sent:
                sent.add(command.message.message_id)
                return (command,)
            other = Address(AddressKind.TOPIC, "another/topic")
            link = self.line.own_token()
            opened = OpenSender(self.line.own_token(), self._sessions[command.link], link, other)
            return (opened, replace(command, link=link, message=replace(command.message, to=other)))

    return wires(Elsewhere)(driver)


class _SendsRefusedAgain(WireFilter):
    """The client sends a refused message once more, and tells the application nothing about the refusal."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._sent: dict[int, Send] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Send) and is_ours(command.message) and not command.settled:
            self._sent[command.token] = command
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        refused = self._sent.pop(event.token, None) if isinstance(event, Done | Failed) else None
        if refused is None or not isinstance(event, Failed) or event.refused.kind is JmsErrorKind.CONNECTION_LOST:
            return (event,)
        self.line.wire.submit(refused)
        return ()


QOS_RESENDING_DEFECTS = (
    Defect(
        name="resends-bytes-as-text",
        rules=("QS-05",),
        text="The client resends a body of bytes as a text.",
        wire=resends_as(as_text),
    ),
    Defect(
        name="resends-another-body",
        rules=("QS-05",),
        text="The client resends a message with another body.",
        wire=resends_as(lambda message: replace(message, body=f"{message.body!s} again")),
    ),
    Defect(
        name="resends-under-another-id",
        rules=("QS-05",),
        text="The client resends a message with another message id than the application gets.",
        wire=resends_as(lambda message: replace(message, message_id=f"{message.message_id}2")),
    ),
    Defect(
        name="resends-answered",
        rules=("QS-05",),
        text="The client resends an answered at-least-once message on its next connection.",
        wire=resends(settled=False),
    ),
    on_wire(drivers, _gives_up, "sent-again-only-once", "QS-05"),
    on_wire(drivers, _loses_the_first, "first-on-a-new-connection-lost", "QS-05"),
    on_wire(drivers, _tries_once, "one-attempt-to-connect-again", "QS-05"),
    on_wire(wires, AttachLostForGood, "attach-lost-for-good", "QS-05"),
    on_wire(drivers, _renames_the_first, "sent-first-under-another-id", "QS-05"),
    on_wire(wires, _SendsRefusedAgain, "refused-sent-again", "QS-05"),
    on_wire(drivers, _resends_elsewhere, "resends-to-another-topic", "QS-04", "QS-05"),
)
