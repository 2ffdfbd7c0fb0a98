"""Further connections to a broker that returns unsettled messages only when a connection ends.

After the end of a subscription, such a broker (RabbitMQ) keeps the unsettled messages until the connection ends, and
accepts no NACK for them.  So each receiver of a session without transactions has a connection of its own, which ends
together with the receiver.

The receivers, senders and units of work of a transacted session share one connection, because a STOMP transaction
belongs to one connection.  This connection ends when the session has closed a receiver, and has neither another
receiver nor an open unit of work.  The closed receiver's unsettled messages then return, and the session's next command
opens another connection.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from msgspec import structs

from assay_sdk.driver import (
    Begin,
    Browse,
    Close,
    Closed,
    CloseLink,
    CloseSession,
    Commit,
    Credit,
    Done,
    Drain,
    DriverCommand,
    DriverEvent,
    Enlist,
    Failed,
    Opened,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Rollback,
    Send,
    Settle,
    Unsubscribe,
    Wire,
)
from assay_sdk.drivers.answers import Answers, lost
from assay_sdk.model.reasons import JmsErrorKind, Refused

_OWN = -1
"""The token of commands that this module itself gives to a further connection; the engine does not wait for their
answers."""

Connect = Callable[[Callable[[DriverEvent], None]], Wire]
"""Opens a further connection, which passes its events to the given function."""


class Main(Protocol):
    """The methods and attributes of the main `StompWire` that its further connections use."""

    answers: Answers

    def lose(self, why: Refused) -> None:
        """Drop the connection, because a further connection was lost.

        Args:
            why: The reason.
        """
        ...


class _Connection:
    """A further connection, and the commands that wait until it is open."""

    def __init__(self, session: int) -> None:
        self.session = session
        self.wire: Wire
        self.waiting: list[DriverCommand] | None = []
        """The commands that wait; None if the connection is open."""
        self.opening: int | None = None
        """Token of the command that opens the connection's only receiver; None for a session's connection."""
        self.ended: Callable[[], None] | None = None
        """Called when the connection has ended; None if it is not being closed."""
        self.refused = False
        """Whether the broker refused the connection's only receiver.

        The end of this connection then does not end the main connection.
        """
        self.failed: Refused | None = None
        """The refusal of a command that had no answer when the connection was lost; None if there is none."""

    @property
    def unanswered(self) -> bool:
        """Whether commands of the engine had no answer at the connection's end.

        False if the broker refused the connection's only receiver.
        """
        waiting = any(command.token != _OWN for command in self.waiting or ())
        return not self.refused and (waiting or self.failed is not None)

    def submit(self, command: DriverCommand) -> None:
        """Give a command to the connection, as soon as the connection is open."""
        if self.waiting is None:
            self.wire.submit(command)
        else:
            self.waiting.append(command)


class _Transacted:
    """A transacted session: its links, units of work and connection."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.connection: _Connection | None = None
        """The connection; None if the last one has ended, and no command has needed another one yet."""
        self.senders: dict[int, OpenSender] = {}
        """The commands that opened the senders: each new connection opens them again."""
        self.receivers: dict[int, int] = {}
        """The open receivers, with the tokens of the commands that opened them."""
        self.units: set[int] = set()
        """The open units of work."""
        self.ends: set[int] = set()
        """The tokens of the commits and rollbacks that have no answer yet."""
        self.keeps = False
        """Whether the broker may keep unsettled messages of a closed receiver until the connection ends."""

    def note(self, command: DriverCommand) -> None:
        """Note a link or a unit of work that begins or ends."""
        if isinstance(command, OpenSender):
            self.senders[command.link] = structs.replace(command, token=_OWN)
        elif isinstance(command, OpenReceiver):
            self.receivers[command.link] = command.token
        elif isinstance(command, Begin):
            self.units.add(command.unit)
        elif isinstance(command, Commit | Rollback):
            self.units.discard(command.unit)
            self.ends.add(command.token)
        elif isinstance(command, CloseLink):
            self.keeps = self.keeps or command.link in self.receivers
            self.receivers.pop(command.link, None)
            self.senders.pop(command.link, None)

    def answered(self, event: Done | Failed) -> None:
        """Note the answer to a command."""
        self.ends.discard(event.token)
        if isinstance(event, Failed):
            self.receivers = {link: token for link, token in self.receivers.items() if token != event.token}

    def may_end(self) -> bool:
        """Return whether to end the connection, so that the broker takes back the messages of closed receivers."""
        return self.keeps and not (self.receivers or self.units or self.ends)


class FurtherConnections:
    """The further connections of one main connection; the loss of one of them ends the main connection, too.

    Args:
        main: The main connection, which must not have emitted `Opened` yet.
        carry_out: Carries out a command on the main connection.
        connect: Opens a further connection.
    """

    def __init__(self, main: Main, carry_out: Callable[[DriverCommand], None], connect: Connect) -> None:
        self._main = main
        self._carry_out = carry_out
        self._connect = connect
        self._alive: list[_Connection] = []
        self._plain: set[int] = set()
        """The sessions that are not transacted."""
        self._receivers: dict[int, _Connection] = {}
        """The connection of each receiver whose session is not transacted."""
        self._transacted: dict[int, _Transacted] = {}

    def carry_out(self, command: DriverCommand) -> None:
        """Carry out a command on the connection to which its session, link or unit of work belongs."""
        if isinstance(command, OpenSession):
            self._open_session(command)
        elif isinstance(command, CloseSession):
            self._close_session(command)
        elif isinstance(command, OpenReceiver) and command.session in self._plain:
            self._open_receiver(command)
        elif isinstance(command, CloseLink) and command.link in self._receivers:
            self._close(self._receivers.pop(command.link), partial(self._main.answers.done, command.token))
        elif isinstance(command, Credit | Drain | Settle | Enlist) and command.link in self._receivers:
            self._receivers[command.link].submit(command)
        elif (session := self._session_of(command)) is not None:
            self._carry_out_in(session, command)
        else:
            self._carry_out(command)

    def close(self, then: Callable[[], None]) -> None:
        """Close all further connections normally.

        Args:
            then: Called when they have ended.
        """
        self._close_all(list(self._alive), then)

    def drop(self) -> None:
        """Drop all further connections, because the main connection has ended."""
        alive, self._alive = self._alive, []
        for connection in alive:
            connection.wire.abort()

    # --- sessions that are not transacted

    def _open_session(self, command: OpenSession) -> None:
        if command.transacted:
            self._transacted[command.session] = session = _Transacted(command.session)
            session.connection = self._open(command.session, command)
        else:
            self._plain.add(command.session)
            self._carry_out(command)

    def _open_receiver(self, command: OpenReceiver) -> None:
        own = OpenSession(_OWN, command.session)
        self._receivers[command.link] = connection = self._open(command.session, own, command)
        connection.opening = command.token

    def _close_session(self, command: CloseSession) -> None:
        mine = [connection for connection in self._alive if connection.session == command.session]
        if self._transacted.pop(command.session, None) is not None:
            self._close_all(mine, partial(self._main.answers.done, command.token))
            return
        self._plain.discard(command.session)
        self._receivers = {link: place for link, place in self._receivers.items() if place.session != command.session}
        self._close_all(mine, partial(self._carry_out, command))

    # --- transacted sessions

    def _session_of(self, command: DriverCommand) -> _Transacted | None:
        """Return the transacted session of a command; None if the command belongs to the main connection."""
        if isinstance(command, OpenSender | OpenReceiver | Browse | Unsubscribe | Begin):
            return self._transacted.get(command.session)
        sessions = self._transacted.values()
        if isinstance(command, Commit | Rollback):
            return next((session for session in sessions if command.unit in session.units), None)
        if isinstance(command, Send | Credit | Drain | Settle | Enlist | CloseLink):
            link = command.link
            return next((found for found in sessions if link in found.receivers or link in found.senders), None)
        return None

    def _carry_out_in(self, session: _Transacted, command: DriverCommand) -> None:
        earlier = session.senders.values()
        if session.connection is None:
            session.connection = self._open(
                session.number, OpenSession(_OWN, session.number, transacted=True), *earlier
            )
        session.note(command)
        if isinstance(command, CloseLink) and session.may_end():
            self._end(session, partial(self._main.answers.done, command.token))
            return
        session.connection.submit(command)

    def _end(self, session: _Transacted, then: Callable[[], None]) -> None:
        """End a session's connection, so that the broker takes back the unsettled messages of the closed receivers."""
        connection, session.connection, session.keeps = session.connection, None, False
        if connection is None:
            then()
        else:
            self._close(connection, then)

    def _answer(self, connection: _Connection, event: Done | Failed) -> None:
        """Pass an answer to the engine; if the session then ends its connection, first wait for that end."""
        answers = self._main.answers
        if isinstance(event, Done):
            answer = partial(answers.done, event.token, event.value, event.properties, event.capabilities)
        else:
            answer = partial(answers.fail, event.token, event.refused)
        session = self._transacted.get(connection.session)
        if session is not None:
            ends_unit = event.token in session.ends
            session.answered(event)
            if ends_unit and session.may_end() and session.connection is connection:
                self._end(session, answer)
                return
        answer()

    # --- the connections

    def _open(self, session: int, *commands: DriverCommand) -> _Connection:
        connection = _Connection(session)
        self._alive.append(connection)
        connection.wire = self._connect(partial(self._event, connection))
        for command in commands:
            connection.submit(command)
        return connection

    def _close_all(self, connections: list[_Connection], then: Callable[[], None]) -> None:
        left = len(connections)
        if not left:
            then()

        def ended(earlier: Callable[[], None] | None) -> None:
            nonlocal left
            if earlier is not None:
                earlier()
            left -= 1
            if not left:
                then()

        for connection in connections:
            self._close(connection, partial(ended, connection.ended))

    def _close(self, connection: _Connection, then: Callable[[], None]) -> None:
        closing = connection.ended is not None
        connection.ended = then
        if not closing:
            connection.submit(Close(_OWN))

    def _event(self, connection: _Connection, event: DriverEvent) -> None:
        if connection not in self._alive:
            return
        if isinstance(event, Opened):
            waiting, connection.waiting = connection.waiting or [], None
            for command in waiting:
                connection.wire.submit(command)
        elif isinstance(event, Closed):
            self._alive.remove(connection)
            if connection.ended is not None and not connection.unanswered:
                connection.ended()
            else:
                why = event.refused or connection.failed
                self._main.lose(why or lost("the broker closed a further connection of this client"))
        elif isinstance(event, Done | Failed):
            if isinstance(event, Failed) and event.refused.kind is JmsErrorKind.CONNECTION_LOST:
                connection.failed = event.refused
            self._answer(connection, event)
            if event.token == connection.opening and isinstance(event, Failed):
                connection.refused = connection.failed is None
                self._close(connection, connection.ended or _nothing)
        else:
            self._main.answers.emit(event)


def _nothing() -> None:
    """Do nothing at the connection's end, because the command that opens its receiver is answered already."""


__all__ = ["FurtherConnections"]
