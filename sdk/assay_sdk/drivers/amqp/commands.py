"""The AMQP driver's commands: a table with the function that carries out each command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from proton import Connection, Link, Session, Transport

from assay_sdk.amqp.codec import Prefixes
from assay_sdk.amqp.terms import GLOBAL, SHARED
from assay_sdk.driver import (
    Begin,
    Browse,
    Cancel,
    Close,
    CloseLink,
    CloseSession,
    Commit,
    Credit,
    Drain,
    DriverCommand,
    Enlist,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Rollback,
    Send,
    Settle,
    Unsubscribe,
)
from assay_sdk.drivers.amqp import offers
from assay_sdk.drivers.amqp.links.browser import BrowserEnd, LookupEnd
from assay_sdk.drivers.amqp.links.ends import LinkContext, LinkEnd
from assay_sdk.drivers.amqp.links.names import (
    QPID_DEFAULT_OUTCOME,
    LinkNames,
    follow,
    make_browser,
    make_canceller,
    make_coordinator,
    make_lookup,
    make_receiver,
    make_sender,
)
from assay_sdk.drivers.amqp.links.receiver import ReceiverEnd
from assay_sdk.drivers.amqp.links.requests import Canceller
from assay_sdk.drivers.amqp.links.sender import SenderEnd
from assay_sdk.drivers.amqp.links.transactions import Coordinator, Transaction
from assay_sdk.drivers.amqp.sessions import SessionEnd
from assay_sdk.drivers.amqp.transport.attach_fields import AttachFields
from assay_sdk.drivers.commands import CommandTable, UnknownError, find
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.reasons import JmsErrorKind, Refused


class CommandedWire(LinkContext, Protocol):
    """The attributes and methods of an `AmqpWire` that its commands use."""

    capabilities: frozenset[Capability]
    connection: Connection
    ends: dict[Link, LinkEnd]
    names: LinkNames
    prefixes: Prefixes
    sessions: dict[Session, SessionEnd]

    def close(self, command: Close) -> None:
        """Close the connection."""
        ...


class Commands(CommandTable):
    """The commands of one connection, with its sessions, links and units of work.

    Args:
        wire: The connection.
    """

    def __init__(self, wire: CommandedWire) -> None:
        self._wire = wire
        self._sessions: dict[int, SessionEnd] = {}
        self._senders: dict[int, SenderEnd] = {}
        self._receivers: dict[int, ReceiverEnd] = {}
        self._units: dict[int, Transaction] = {}
        # AMQP 1.0 has no XA, so the driver answers the commands of XA as unsupported.
        functions: Mapping[type, Callable[[Any], None]] = {
            OpenSession: self._open_session,
            CloseSession: self._close_session,
            OpenSender: self._open_sender,
            OpenReceiver: self._open_receiver,
            CloseLink: self._close_link,
            Send: self._send,
            Credit: self._credit,
            Drain: self._drain,
            Settle: self._settle,
            Begin: self._begin,
            Enlist: self._enlist,
            Commit: self._commit,
            Rollback: self._rollback,
            Unsubscribe: self._unsubscribe,
            Cancel: self._cancel,
            Browse: self._browse,
            Close: wire.close,
        }
        super().__init__(wire.answers, functions, self._unsupported)

    def forget(self, end: LinkEnd) -> None:
        """Forget a link that has ended."""
        session = self._sessions.get(end.session)
        if session is not None:
            session.ends.pop(end, None)
        if end.number is not None:
            self._senders.pop(end.number, None)
            self._receivers.pop(end.number, None)

    def forget_session(self, session: SessionEnd) -> None:
        """Forget a session that has ended, with its links and units of work."""
        self._sessions.pop(session.number, None)
        self._senders = {n: end for n, end in self._senders.items() if end.session != session.number}
        self._receivers = {n: end for n, end in self._receivers.items() if end.session != session.number}
        self._units = {n: unit for n, unit in self._units.items() if unit.session != session.number}

    # --- look-up of sessions, links and units of work

    def _session(self, number: int) -> SessionEnd:
        session = find(self._sessions, number, "open session")
        if not session.usable:
            raise UnknownError(f"this connection closes its session {number}")
        return session

    def _receiver(self, number: int) -> ReceiverEnd:
        return find(self._receivers, number, "open receiver")

    def _unit(self, number: int) -> Transaction:
        return find(self._units, number, "unit of work")

    def _start(self, end: LinkEnd, token: int | None = None) -> None:
        """Attach a link; if the command with this token times out, detach the link."""
        self._wire.ends[end.engine] = end
        self._sessions[end.session].ends[end] = None
        if token is not None:
            self._wire.answers.at_limit(token, end.give_up)
        end.open()

    # --- sessions

    def _open_session(self, command: OpenSession) -> None:
        most = cast("Transport", self._wire.connection.transport).remote_channel_max + 1
        if len(self._sessions) >= most:  # Proton sends no begin above the broker's channel-max (AMQP 1.0, 2.7.1)
            text = f"the broker limits a connection to {most} session(s): close one or use another connection"
            self._wire.answers.fail(command.token, Refused(JmsErrorKind.RESOURCE_ALLOCATION, text))
            return
        engine = self._wire.connection.session()
        session = SessionEnd(self._wire.answers, engine, number=command.session, opening=command.token)
        self._sessions[command.session] = session
        self._wire.sessions[engine] = session
        self._wire.answers.at_limit(command.token, session.give_up)
        engine.open()
        if command.transacted:
            self._coordinator(session)

    def _close_session(self, command: CloseSession) -> None:
        self._session(command.session).close(command.token)

    # --- links

    def _open_sender(self, command: OpenSender) -> None:
        session = self._session(command.session)
        engine = make_sender(session.engine, command, self._wire.names, self._wire.prefixes)
        follow(self._wire.conventions, engine, command)
        if desired := offers.desired_of_sender(self._wire.capabilities):
            self._wire.add_attach_fields(engine.name, AttachFields(desired=desired))
        end = SenderEnd(
            self._wire,
            engine,
            number=command.link,
            session=command.session,
            opening=command.token,
            address=command.address,
            dynamic=command.dynamic,
        )
        self._senders[command.link] = end
        self._start(end, command.token)

    def _open_receiver(self, command: OpenReceiver) -> None:
        session = self._session(command.session)
        name = self._wire.names.subscription(command)
        if isinstance(name, Refused):
            self._wire.answers.fail(command.token, name)
            return
        engine = make_receiver(session.engine, command, name, self._wire.names, self._wire.prefixes)
        follow(self._wire.conventions, engine, command)
        self._wire.add_attach_fields(name, QPID_DEFAULT_OUTCOME)
        end = ReceiverEnd(self._wire, engine, command)
        self._receivers[command.link] = end
        self._start(end, command.token)

    def _close_link(self, command: CloseLink) -> None:
        end: LinkEnd | None = self._senders.get(command.link) or self._receivers.get(command.link)
        if end is None:
            self._wire.answers.done(command.token)  # the link has ended already
        else:
            end.close(command.token)

    def _send(self, command: Send) -> None:
        sender = find(self._senders, command.link, "open sender")
        if command.unit is None:
            sender.send(command, None)
            return
        unit = self._unit(command.unit)

        def send() -> None:
            if unit.failed is not None:
                self._wire.answers.fail(command.token, unit.failed)
            else:
                sender.send(command, unit)

        unit.when_declared(send)

    def _credit(self, command: Credit) -> None:
        self._receiver(command.link).credit(command.token, command.credit)

    def _drain(self, command: Drain) -> None:
        self._receiver(command.link).drain(command.token)

    def _settle(self, command: Settle) -> None:
        self._receiver(command.link).settle(command.token, command.deliveries, command.outcome)

    def _browse(self, command: Browse) -> None:
        session = self._session(command.session)
        wire = self._wire
        engine = make_browser(session.engine, command.address, command.selector, wire.names, wire.prefixes)
        self._start(
            BrowserEnd(
                wire,
                engine,
                session=command.session,
                token=command.token,
                address=command.address,
                selector=command.selector,
            ),
            command.token,
        )

    def _unsubscribe(self, command: Unsubscribe) -> None:
        session = self._session(command.session)
        name = self._wire.names.unsubscribing(command.name, shared=command.shared, is_global=command.is_global)
        if isinstance(name, Refused):
            self._wire.answers.fail(command.token, name)
            return
        engine = make_lookup(session.engine, name)
        if name != command.name:
            self._wire.add_attach_fields(name, AttachFields(desired=(SHARED, GLOBAL)))
        end = LookupEnd(self._wire, engine, session=command.session, token=command.token, name=command.name)
        self._start(end, command.token)

    def _cancel(self, command: Cancel) -> None:
        if Capability.CANCEL not in self._wire.capabilities:
            self._unsupported(command)
            return
        session = self._session(command.session)
        if session.canceller is None or not session.canceller.usable:
            session.canceller = Canceller(self._wire, make_canceller(session.engine), session=session.number)
            self._start(session.canceller)
        session.canceller.cancel(command.message_id, command.token)

    # --- units of work

    def _begin(self, command: Begin) -> None:
        if command.xid is not None:
            self._unsupported(command)
            return
        session = self._session(command.session)
        unit = Transaction(command.unit, command.session)
        self._units[command.unit] = unit
        self._coordinator(session).declare(unit, command.token)

    def _enlist(self, command: Enlist) -> None:
        receiver = self._receiver(command.link)
        receiver.enlist(command.token, command.deliveries, self._unit(command.unit))

    def _commit(self, command: Commit) -> None:
        self._end(command, fail=False)

    def _rollback(self, command: Rollback) -> None:
        self._end(command, fail=True)

    def _end(self, command: Commit | Rollback, *, fail: bool) -> None:
        unit = self._unit(command.unit)
        coordinator = self._coordinator(self._session(unit.session))
        if not unit.end(lambda: coordinator.discharge(unit, command.token, fail=fail)):
            raise UnknownError(f"the unit of work {command.unit} is ending already")
        self._wire.answers.at_limit(command.token, lambda: coordinator.give_up_unit(unit))
        del self._units[command.unit]

    def _coordinator(self, session: SessionEnd) -> Coordinator:
        if session.coordinator is None or not session.coordinator.usable:
            session.coordinator = Coordinator(self._wire, make_coordinator(session.engine), session=session.number)
            self._start(session.coordinator)
        return session.coordinator

    def _unsupported(self, command: DriverCommand) -> None:
        text = f"the AMQP driver cannot carry out {type(command).__name__} on this broker: use another driver or broker"
        self._wire.answers.fail(command.token, Refused(JmsErrorKind.UNSUPPORTED, text))
