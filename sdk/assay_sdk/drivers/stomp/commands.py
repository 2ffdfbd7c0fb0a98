"""The STOMP driver's commands: a table with the function that carries out each command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from assay_sdk.driver import (
    Begin,
    Browse,
    Close,
    CloseLink,
    CloseSession,
    Commit,
    Credit,
    Drain,
    DriverCommand,
    Enlist,
    LinkClosed,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Rollback,
    Send,
    Settle,
    Unsubscribe,
)
from assay_sdk.drivers.commands import CommandTable, UnknownError, find
from assay_sdk.drivers.stomp.context import Receipt, WireContext, answering, unsupported
from assay_sdk.drivers.stomp.messages import send_frame
from assay_sdk.drivers.stomp.receiver import Receiver
from assay_sdk.drivers.stomp.requests import Browser, NameLookUp
from assay_sdk.drivers.stomp.subscriptions import subscribe_headers, unsubscribe_headers
from assay_sdk.drivers.stomp.units import Unit
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.stomp import ContentError, Frame, LocalError


class CommandedWire(WireContext, Protocol):
    """The attributes and methods of a `StompWire` that its commands use."""

    def close(self, command: Close) -> None:
        """Close the connection."""
        ...


class Commands(CommandTable):
    """The driver's commands on one STOMP connection, with the sessions, links and units of work that they name.

    Args:
        wire: The connection.
    """

    def __init__(self, wire: CommandedWire) -> None:
        self._wire = wire
        self._sessions: set[int] = set()
        self._senders: dict[int, tuple[int, Address | None]] = {}
        """The session and the destination of each sender."""
        self._receivers: dict[int, Receiver] = {}
        self._units: dict[int, Unit] = {}
        self._temporary: dict[int, NameLookUp] = {}
        """The look-ups of temporary destinations, by the numbers of the links that created the destinations."""
        self._by_id: dict[str, Receiver | Browser | NameLookUp] = {}
        # STOMP has no XA and cancels no messages, so the driver answers those commands as unsupported.
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
            Browse: self._browse,
            Close: wire.close,
        }
        super().__init__(wire.answers, functions, self._unsupported, (ContentError, LocalError))

    def message(self, frame: Frame) -> None:
        """Handle a MESSAGE frame; ignore it if its subscription has ended meanwhile."""
        found = self._by_id.get(frame.headers.get("subscription", ""))
        if isinstance(found, Receiver):
            found.message(frame)
        elif found is not None and found.message(frame):
            del self._by_id[found.id]

    def closed(self, name: str, why: Refused) -> None:
        """Handle a subscription that the broker has ended.

        Args:
            name: The id of the subscription; the driver ignores an id that it does not know.
            why: The broker's reason.
        """
        found = self._by_id.get(name)
        if isinstance(found, Receiver):
            self._drop(found)
            found.forget()
            self._wire.answers.emit(LinkClosed(found.number, why))

    def _refusable(self, receiver: Receiver, token: int) -> Receipt:
        """Return the function for the receipt of a SUBSCRIBE; a refusal ends the receiver, but not the connection."""
        answer = answering(self._wire, token)

        def answered(why: Refused | None) -> None:
            if why is not None and self._receivers.get(receiver.number) is receiver:
                self._drop(receiver)
            answer(why)

        return answered

    # --- look-up of sessions, links and units of work

    def _session(self, number: int) -> int:
        if number not in self._sessions:
            raise UnknownError(f"this connection has no open session {number}")
        return number

    def _receiver(self, number: int) -> Receiver:
        return find(self._receivers, number, "open receiver")

    def _unit(self, number: int) -> Unit:
        return find(self._units, number, "unit of work")

    def _take_unit(self, number: int) -> Unit:
        unit = self._unit(number)
        del self._units[number]
        return unit

    # --- sessions, which STOMP does not have

    def _open_session(self, command: OpenSession) -> None:
        self._sessions.add(command.session)
        self._wire.answers.done(command.token)

    def _close_session(self, command: CloseSession) -> None:
        """End the session's units of work and receivers.

        The receipt for the last UNSUBSCRIBE answers the command; without receivers, the driver answers at once.
        """
        session = self._session(command.session)
        self._sessions.discard(session)
        self._senders = {link: sender for link, sender in self._senders.items() if sender[0] != session}
        units = [unit for unit in self._units.values() if unit.session == session]
        receivers = [receiver for receiver in self._receivers.values() if receiver.session == session]
        for unit in units:
            del self._units[unit.number]
            self._wire.send(Frame("ABORT", {"transaction": unit.name}))
        for receiver in receivers:
            self._drop(receiver)
            last = receiver is receivers[-1]
            receiver.close(answering(self._wire, command.token) if last else None)
        if not receivers:
            self._wire.answers.done(command.token)

    # --- links

    def _open_sender(self, command: OpenSender) -> None:
        session, address = self._session(command.session), command.address
        if command.dynamic and address is not None:
            if Capability.TEMPORARY_DESTINATION not in self._wire.conventions.capabilities:
                why = unsupported("the broker has no temporary destinations over STOMP", "use a lasting destination")
                self._wire.answers.fail(command.token, why)
                return
            look_up = NameLookUp(self._wire, command.token, address.kind)
            look_up.open()
            self._temporary[command.link] = self._by_id[look_up.id] = look_up
            return
        if (gone := self._gone(address)) is not None:
            self._wire.answers.fail(command.token, gone)
            return
        self._senders[command.link] = session, address
        self._wire.answers.done(command.token)

    def _gone(self, address: Address | None) -> Refused | None:
        """Return the refusal for a temporary destination that the application has deleted; None for others."""
        if address is None or address not in self._wire.names.deleted:
            return None
        return refused(Mqrc.UNKNOWN_OBJECT_NAME, f"{address} was deleted by this connection", address.name)

    def _open_receiver(self, command: OpenReceiver) -> None:
        self._session(command.session)
        if (gone := self._gone(command.address)) is not None:
            self._wire.answers.fail(command.token, gone)
            return
        headers = subscribe_headers(self._wire, command, f"receiver-{command.link}")
        if isinstance(headers, Refused):
            self._wire.answers.fail(command.token, headers)
            return
        receiver = Receiver(self._wire, command, headers)
        name = receiver.durable_name
        if name is not None and self._in_use(name):
            self._wire.answers.fail(command.token, _used(name))
            return
        receiver.open(self._refusable(receiver, command.token))
        self._receivers[command.link] = self._by_id[receiver.id] = receiver

    def _in_use(self, name: str) -> bool:
        return any(receiver.durable_name == name for receiver in self._receivers.values())

    def _drop(self, receiver: Receiver) -> None:
        del self._receivers[receiver.number]
        del self._by_id[receiver.id]

    def _close_link(self, command: CloseLink) -> None:
        receiver = self._receivers.get(command.link)
        if receiver is not None:
            self._drop(receiver)
            receiver.close(answering(self._wire, command.token))
            return
        temporary = self._temporary.pop(command.link, None)
        if temporary is not None and temporary.address is not None:
            self._wire.names.deleted.add(temporary.address)
        self._senders.pop(command.link, None)
        self._wire.answers.done(command.token)

    def _send(self, command: Send) -> None:
        _, address = find(self._senders, command.link, "open sender")
        to = command.message.to or address
        wire, token = self._wire, command.token
        if to is None:
            wire.answers.fail(token, refused(Mqrc.UNKNOWN_OBJECT_NAME, "the message has no destination"))
            return
        if (gone := self._gone(to)) is not None:
            wire.answers.fail(token, gone)
            return
        unit = None if command.unit is None else self._unit(command.unit)
        frame = send_frame(command.message, to, wire.conventions, wire.names.write)
        if unit is not None:
            frame.headers["transaction"] = unit.name
        if command.settled or (unit is not None and not wire.conventions.receipt_before_commit):
            wire.send(frame)
            wire.when_room(lambda: wire.answers.done(token))
        else:
            wire.send(frame, answering(wire, token))

    def _credit(self, command: Credit) -> None:
        self._receiver(command.link).credit(command.token, command.credit)

    def _drain(self, command: Drain) -> None:
        self._receiver(command.link).drain(command.token)

    def _settle(self, command: Settle) -> None:
        self._receiver(command.link).settle(command.token, command.deliveries, command.outcome)

    def _browse(self, command: Browse) -> None:
        self._session(command.session)
        if not self._wire.conventions.browser:
            why = unsupported("the broker has no browsers over STOMP", "use AMQP, or the broker's administration")
            self._wire.answers.fail(command.token, why)
            return
        browser = Browser(self._wire, command)
        browser.open()
        self._by_id[browser.id] = browser

    def _unsubscribe(self, command: Unsubscribe) -> None:
        self._session(command.session)
        if not command.shared and self._in_use(command.name):
            self._wire.answers.fail(command.token, _used(command.name))
            return
        headers = unsubscribe_headers(self._wire, command)
        if isinstance(headers, Refused):
            self._wire.answers.fail(command.token, headers)
            return
        self._wire.send(Frame("UNSUBSCRIBE", headers), answering(self._wire, command.token))

    # --- units of work

    def _begin(self, command: Begin) -> None:
        if command.xid is not None:
            self._unsupported(command)
            return
        unit = self._units[command.unit] = Unit(self._wire, command.unit, self._session(command.session))
        unit.begin(command.token)

    def _enlist(self, command: Enlist) -> None:
        self._receiver(command.link).enlist(command.token, command.deliveries, self._unit(command.unit))

    def _commit(self, command: Commit) -> None:
        self._take_unit(command.unit).commit(command.token)

    def _rollback(self, command: Rollback) -> None:
        self._take_unit(command.unit).abort(command.token)

    def _unsupported(self, command: DriverCommand) -> None:
        what = f"STOMP cannot carry out {type(command).__name__}"
        self._wire.answers.fail(command.token, unsupported(what, "use another protocol"))


def _used(name: str) -> Refused:
    text = f"the subscription {name!r} has a consumer on this connection: close the consumer first"
    return refused(Mqrc.SUBSCRIPTION_IN_USE, text, name)
