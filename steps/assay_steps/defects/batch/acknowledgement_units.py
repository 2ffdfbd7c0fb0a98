"""Defects of the client in local units of work: the messages in a unit, commits and rollbacks (BT-12)."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from assay_adapters.ports.client import AckMode, Client, ClientConnection, ClientSession, Script
from assay_adapters.ports.outcome import JmsErrorKind, Ok, Refused
from assay_adapters.ports.outcome import Outcome as Answer
from assay_sdk.driver import (
    Arrived,
    Begin,
    Commit,
    Done,
    DriverCommand,
    DriverEvent,
    Enlist,
    Failed,
    OpenReceiver,
    Outcome,
    Rollback,
    Settle,
)
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import Mqrc, refused
from assay_steps.defects.callbacks import Opens, sending_in_callbacks
from assay_steps.defects.consumers import ConsumerFilter, consuming
from assay_steps.defects.model import at_port, on_wire
from assay_steps.defects.ports import SessionFilter, SessionsFilter, clients, connecting, in_sessions
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, commands, wires

_TOPICS = (AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC)


def _first_of_enlisted(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
    """The client makes only the first message of a batch part of the unit of work."""
    return (replace(command, deliveries=command.deliveries[:1]),) if isinstance(command, Enlist) else None


class _CommitsUnanswered(WireFilter):
    """The client's commit call returns before the broker has answered."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        return (replace(command, token=self.line.own_token()),) if isinstance(command, Commit) else (command,)


class _CommitsRefused(WireFilter):
    """A commit of a local unit of work rolls the unit back, and is refused."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._refused: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Commit):
            return (command,)
        self._refused.add(command.token)
        return (Rollback(command.token, command.unit),)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        if not isinstance(event, Done) or event.token not in self._refused:
            return (event,)
        self._refused.discard(event.token)
        return (Failed(event.token, refused(Mqrc.BACKED_OUT, "The unit of work was backed out.")),)


class _SetAgainCommits(ConsumerFilter):
    """Setting a batch listener again commits the messages that the earlier listener received."""

    _set = False

    def listen_batch(self, script: Script | None, size: int, timeout_ms: int) -> Answer[None]:
        if self._set and script is not None:
            self.session.commit()
        self._set = script is not None
        return super().listen_batch(script, size, timeout_ms)


class _NonPersistentOutside(WireFilter):
    """Non-persistent messages that are received in a unit of work are not part of it."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._light: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, Enlist) or not self._light & set(command.deliveries):
            return (command,)
        return (Settle(command.token, command.link, command.deliveries, Outcome.ACCEPTED),)

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


class _CommitsAfterLoss(SessionFilter):
    """A commit after the loss of the connection returns as if the unit of work were committed."""

    def commit(self) -> Answer[None]:
        answer = super().commit()
        is_lost = isinstance(answer, Refused) and answer.kind is JmsErrorKind.CONNECTION_LOST
        return Ok(None) if is_lost else answer


class _TopicsOutside(WireFilter):
    """Messages of topics that are received in a unit of work are not part of it."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._topics: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver) and command.address.kind in _TOPICS:
            self._topics.add(command.link)
        if isinstance(command, Enlist) and command.link in self._topics:
            return (Settle(command.token, command.link, command.deliveries, Outcome.ACCEPTED),)
        return (command,)


class _EndsAllUnits(WireFilter):
    """A commit or rollback of one session also ends the units of work of the connection's other sessions."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._open: set[int] = set()

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, Begin) and command.xid is None:
            self._open.add(command.unit)
        if not isinstance(command, Commit | Rollback):
            return (command,)
        if command.unit not in self._open:
            return ()  # another session has ended it
        self._open.discard(command.unit)
        others, self._open = sorted(self._open), set()
        return (command, *(type(command)(self.line.own_token(), unit) for unit in others))


def _closes_again(connection: ClientConnection) -> ClientConnection:
    """Closing a session a second time closes its connection, with the other sessions."""

    class ClosesAgain(SessionFilter):
        _closed = False

        def close(self) -> Answer[None]:
            if self._closed:
                return connection.close()
            self._closed = True
            return super().close()

    return SessionsFilter(connection, ClosesAgain)


def _in_second_session(connection: ClientConnection, session: ClientSession, ack: AckMode, other: AckMode) -> Opens:
    """Return a function that opens a transacted session's producers in a second session of the connection."""
    second = connection.session(other) if ack is AckMode.TRANSACTED else Ok(session)
    owner = second.value if isinstance(second, Ok) else session
    return lambda to, qos: owner.producer(to, qos=qos)


def _callback_sends_outside(client: Client) -> Client:
    """Messages that a transacted session sends within a callback are not part of the session's unit of work."""
    return sending_in_callbacks(client, partial(_in_second_session, other=AckMode.AUTO))


def _callback_sends_uncommitted(client: Client) -> Client:
    """A transacted session's commit does not commit the messages that the session has sent within a callback."""
    return sending_in_callbacks(client, partial(_in_second_session, other=AckMode.TRANSACTED))


BATCH_ACKNOWLEDGEMENT_UNITS_DEFECTS = (
    on_wire(commands, _first_of_enlisted, "enlists-first-of-batch", "BT-12", "BT-13"),
    on_wire(wires, _CommitsUnanswered, "commit-returns-unanswered", "BT-12"),
    on_wire(wires, _CommitsRefused, "commits-refused", "BT-12", "DD-26"),
    at_port(consuming, _SetAgainCommits, "listener-set-again-commits", "BT-12"),
    on_wire(wires, _NonPersistentOutside, "takes-non-persistent-outside-unit", "BT-12", "BT-13"),
    on_wire(wires, _RefusalUnnoted, "commits-without-what-was-refused", "BT-12"),
    at_port(in_sessions, _CommitsAfterLoss, "commit-after-loss-accepted", "BT-12"),
    on_wire(wires, _TopicsOutside, "takes-from-topics-outside-unit", "BT-12"),
    on_wire(wires, _EndsAllUnits, "ends-units-of-other-sessions", "BT-12", "DD-25"),
    at_port(connecting, _closes_again, "closed-again-closes-the-connection", "BT-12"),
    at_port(clients, _callback_sends_outside, "callback-sends-outside-the-unit", "BT-12"),
    at_port(clients, _callback_sends_uncommitted, "callback-sends-never-committed", "BT-12"),
)
