"""Further connections to a broker that returns unsettled messages only when a connection ends.

Such a broker (RabbitMQ) keeps the unsettled messages of an ended subscription for their connection, and accepts no NACK
for them afterwards.  So each receiver has a connection of its own, which ends with it.

The receivers, senders and units of work of a transacted session share one connection, because a STOMP transaction
belongs to one connection.  There a closed receiver's unsettled messages return when the session ends.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

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
from assay_sdk.model.reasons import Refused

_OWN = -1
"""The token of commands that the client gives to a further connection for itself; the main connection owes no answer
to it."""

Connect = Callable[[Callable[[DriverEvent], None]], Wire]
"""Opens a further connection, whose events go to the function."""


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

    def submit(self, command: DriverCommand) -> None:
        """Give a command to the connection, as soon as the connection is open."""
        if self.waiting is None:
            self.wire.submit(command)
        else:
            self.waiting.append(command)


class FurtherConnections:
    """The further connections of one main connection; the loss of one of them ends the main connection, too.

    Args:
        main: The main connection, whose client has been given no other events.
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
        self._sessions: dict[int, _Connection] = {}
        """The connections of transacted sessions."""
        self._links: dict[int, _Connection] = {}
        self._units: dict[int, _Connection] = {}

    def carry_out(self, command: DriverCommand) -> None:
        """Carry out a command on the connection to which its session, link or unit of work belongs."""
        if isinstance(command, OpenSession):
            self._open_session(command)
        elif isinstance(command, OpenReceiver) and command.session in self._plain:
            self._open_receiver(command)
        elif isinstance(command, CloseSession):
            self._close_session(command)
        elif isinstance(command, CloseLink) and (found := self._links.get(command.link)) and found.opening is not None:
            del self._links[command.link]
            self._close(found, partial(self._main.answers.done, command.token))
        elif (place := self._place(command)) is not None:
            place.submit(command)
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

    def _open_session(self, command: OpenSession) -> None:
        if command.transacted:
            self._sessions[command.session] = self._open(command.session, command)
        else:
            self._plain.add(command.session)
            self._carry_out(command)

    def _open_receiver(self, command: OpenReceiver) -> None:
        own = OpenSession(_OWN, command.session)
        self._links[command.link] = connection = self._open(command.session, own, command)
        connection.opening = command.token

    def _close_session(self, command: CloseSession) -> None:
        transacted = self._sessions.pop(command.session, None)
        self._links = {link: place for link, place in self._links.items() if place.session != command.session}
        self._units = {unit: place for unit, place in self._units.items() if place.session != command.session}
        if transacted is not None:
            self._close(transacted, partial(self._main.answers.done, command.token))
            return
        self._plain.discard(command.session)
        mine = [connection for connection in self._alive if connection.session == command.session]
        self._close_all(mine, partial(self._carry_out, command))

    def _place(self, command: DriverCommand) -> _Connection | None:
        """Return the further connection of a command, and note the links and units of work that it begins."""
        if isinstance(command, OpenSender | OpenReceiver | Browse | Unsubscribe | Begin):
            place = self._sessions.get(command.session)
            if place is not None and isinstance(command, OpenSender | OpenReceiver):
                self._links[command.link] = place
            if place is not None and isinstance(command, Begin):
                self._units[command.unit] = place
            return place
        if isinstance(command, Commit | Rollback):
            return self._units.pop(command.unit, None)
        if isinstance(command, Send | Credit | Drain | Settle | Enlist | CloseLink):
            return self._links.get(command.link)
        return None

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
        answers = self._main.answers
        if isinstance(event, Opened):
            waiting, connection.waiting = connection.waiting or [], None
            for command in waiting:
                connection.wire.submit(command)
        elif isinstance(event, Closed):
            self._alive.remove(connection)
            if connection.ended is not None:
                connection.ended()
            else:
                self._main.lose(event.refused or lost("the broker closed a further connection of this client"))
        elif isinstance(event, Done):
            answers.done(event.token, event.value, event.properties, event.capabilities)
        elif isinstance(event, Failed):
            answers.fail(event.token, event.refused)
            if event.token == connection.opening:
                self._close(connection, connection.ended or _nothing)
        else:
            answers.emit(event)


def _nothing() -> None:
    """Do nothing: the receiver is refused already."""


__all__ = ["FurtherConnections"]
