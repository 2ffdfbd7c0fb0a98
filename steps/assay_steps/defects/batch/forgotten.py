"""Defects by which the client forgets some of the messages that a session has received."""

from __future__ import annotations

from msgspec.structs import replace

from assay_adapters.ports.client import Script
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import (
    Arrived,
    Credit,
    Done,
    DriverCommand,
    DriverEvent,
    Enlist,
    Failed,
    OpenReceiver,
    Settle,
)
from assay_sdk.driver import Outcome as Said
from assay_sdk.model.message import AddressKind
from assay_steps.defects.consumers import ConsumerFilter, consuming
from assay_steps.defects.model import at_port, on_wire
from assay_steps.defects.wires import FilteredWire, WireFilter, wires

_TOPICS = (AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC)


class _SetAgainCommits(ConsumerFilter):
    """Setting a batch listener again commits the messages that the earlier listener received."""

    _set = False

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        if self._set and script is not None:
            self.session.commit()
        self._set = script is not None
        return super().listen_batch(script, size, timeout_ms)


class _EitherKind(ConsumerFilter):
    """Removing a listener of one kind (message or batch) also removes the receiver's listener of the other kind."""

    def listen(self, script: Script | None) -> Answer[None]:
        if script is None:
            super().listen_batch(None, 1, 0)
        return super().listen(script)

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        if script is None:
            super().listen(None)
        return super().listen_batch(script, size, timeout_ms)


class _NonPersistentOutside(WireFilter):
    """Non-persistent messages that are received in a unit of work are not part of it."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._light: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Enlist) or not self._light & set(command.deliveries):
            return (command,)
        return (Settle(command.token, command.link, command.deliveries, Said.ACCEPTED),)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived) and not event.message.durable:
            self._light.add(event.delivery)
        return (event,)


class _RefusalUnnoted(WireFilter):
    """The client commits a unit of work although the broker refused to take received messages into it."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._asked: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Enlist):
            self._asked.add(command.token)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Failed) and event.token in self._asked:
            return (Done(event.token),)
        return (event,)


class _TopicsOutside(WireFilter):
    """Messages of topics that are received in a unit of work are not part of it."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._topics: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver) and command.address.kind in _TOPICS:
            self._topics.add(command.link)
        if isinstance(command, Enlist) and command.link in self._topics:
            return (Settle(command.token, command.link, command.deliveries, Said.ACCEPTED),)
        return (command,)


class _WaitingOvertakes(WireFilter):
    """The client delivers the messages of an unfinished batch before redelivered messages."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._arrived: dict[int, dict[int, Arrived]] = {}
        self._kept: dict[int, list[Arrived]] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Settle) and command.outcome is Said.RELEASED:
            arrived = self._arrived.get(command.link, {})
            self._kept.setdefault(command.link, []).extend(arrived[one] for one in command.deliveries if one in arrived)
            return ()
        if isinstance(command, Credit) and (kept := self._kept.pop(command.link, [])):
            self.line.runner.call_soon(lambda: self._hand_over(kept))
            return (replace(command, credit=max(command.credit - len(kept), 1)),)
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if isinstance(event, Arrived):
            self._arrived.setdefault(event.link, {})[event.delivery] = event
        return (event,)

    def _hand_over(self, kept: list[Arrived]) -> None:
        for one in kept:
            self.line.emit(one)


FORGOTTEN_DEFECTS = (
    at_port(consuming, _SetAgainCommits, "listener-set-again-commits", "BT-12"),
    at_port(consuming, _EitherKind, "listeners-of-either-kind-taken-away", "BT-03"),
    on_wire(wires, _NonPersistentOutside, "takes-non-persistent-outside-unit", "BT-12", "BT-13"),
    on_wire(wires, _RefusalUnnoted, "commits-without-what-was-refused", "BT-12"),
    on_wire(wires, _TopicsOutside, "takes-from-topics-outside-unit", "BT-12"),
    on_wire(wires, _WaitingOvertakes, "what-waits-overtakes-what-comes-back", "BT-07"),
)
