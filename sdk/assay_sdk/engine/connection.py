"""The engine's connection: its sessions, its exception listener and its observer, over one `Wire` of a driver."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import cast

from assay_sdk.driver import (
    Arrived,
    Close,
    Closed,
    Done,
    Drained,
    Driver,
    DriverCommand,
    DriverEvent,
    Failed,
    Frame,
    LinkClosed,
    Opened,
    OpenSession,
    PeerProperties,
    SessionClosed,
    Target,
    TargetError,
    Wire,
)
from assay_sdk.engine.calls import Calls, Pending, RefusedError, lost
from assay_sdk.engine.checks import check_client_id_text, need
from assay_sdk.engine.deliveries.acknowledgement import BEHAVIOURS, AckMode
from assay_sdk.engine.identity import message_id
from assay_sdk.engine.operations import Operation, closed, result_of
from assay_sdk.engine.ports import LinkOwner
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.settings import ConnectionOptions, Source
from assay_sdk.engine.states import LIFE, Act, Life, LifeEvent, Machine
from assay_sdk.engine.temporaries import Temporaries
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import ConnectionLost, FrameSeen, Observer, SessionEnded, no_observer
from assay_sdk.time import Clock, Runner

_LOG = logging.getLogger(__name__)

ExceptionListener = Callable[[Refused, Exception | None], None]
"""Called with a refusal that no call of the application can raise.  The second argument is the exception of the
application's message listener that caused the refusal, or None."""


class EngineConnection:
    """A connection to a broker, which never reconnects after a loss.

    `assay_sdk.engine.operations` runs the methods that return an `Operation`.  The other methods must be called on the
    runner.

    Args:
        driver: Driver of the connection's protocol.
        target: Broker to connect to, and how.
        runner: Runs the operations and the application's callbacks.
        options: Options of the connection.
        observer: Called with each event.
    """

    def __init__(
        self,
        driver: Driver,
        target: Target,
        runner: Runner,
        options: ConnectionOptions,
        observer: Observer = no_observer,
    ) -> None:
        self.runner = runner
        self.options = options
        self.observe = observer
        self.client_id = target.client_id
        self.capabilities: frozenset[Capability] = frozenset()
        self._keeps_ids = True
        self.peer: PeerProperties = {}
        self.started = False
        self.on_exception: ExceptionListener | None = None
        self.sessions: dict[int, EngineSession] = {}
        self._temporaries = Temporaries(self)
        self._driver = driver
        self._target = target
        self._wire: Wire | None = None
        self._calls = Calls()
        self._links: dict[int, LinkOwner] = {}
        self._opening: Pending[None] = Pending()
        self._life: Machine[Life, LifeEvent] = Machine(LIFE, Life.OPENING, "the connection")
        self._numbers = 0
        self._messages = 0

    @property
    def clock(self) -> Clock:
        """The runner's clock."""
        return self.runner.clock

    @property
    def state(self) -> Life:
        """State of the connection."""
        return self._life.state

    # -- operations ------------------------------------------------------------------------------------------------

    def open(self) -> Operation[None]:
        """Connect to the broker.

        Raises:
            RefusedError: The target is invalid (the cause is a `TargetError`), the broker is unreachable or refuses the
                connection, or the target has a client id and the driver or the broker has no client ids.  The kind is
                `invalid-client-id` if the client id is in use or invalid.
        """
        check_client_id_text(self.client_id)
        try:
            self._wire = self._driver.connect(self._target, self._sink, self.runner)
        except TargetError as error:
            raise RefusedError(Refused(JmsErrorKind.MESSAGING, str(error))) from error
        yield from result_of(self._opening)
        if self.client_id is not None and Capability.CLIENT_ID not in self.capabilities:
            yield from self.close(threading.get_ident())
            need(Capability.CLIENT_ID, self.capabilities)

    def close(self, caller: int) -> Operation[None]:
        """Close the sessions, then the connection (JMS 2.0, 6.1.8); do nothing if the connection is closed or lost.

        Args:
            caller: Identifier of the calling thread.

        Raises:
            RefusedError: A listener of this connection makes the call, and would wait for itself.
        """
        for session in self.sessions.values():
            session.dispatcher.refuse_own_callback("the connection", caller)
        if self._life.take(LifeEvent.CLOSE) is not Act.GO:
            return
        # Some brokers take seconds to answer the close of a session, so the client does not wait for these answers.
        for session in tuple(self.sessions.values()):
            yield from session.close(caller, awaited=False)
        yield from closed(self.submit(Close))
        if self._life.take(LifeEvent.CLOSED) is Act.GO:
            self._calls.fail_all(lost())

    def session(self, mode: AckMode) -> Operation[EngineSession]:
        """Open a session.

        Args:
            mode: Acknowledgement mode.

        Raises:
            RefusedError: The mode is invalid, the connection is closed or lost, the connection lacks the transactions
                that the mode needs, or the broker refuses the session.
        """
        self.use()
        given = cast("object", mode)
        if not isinstance(given, AckMode):
            text = f"the session mode is {given!r}: give one of AckMode, such as AckMode.AUTO"
            raise RefusedError(Refused(JmsErrorKind.MESSAGING, text))
        behaviour = BEHAVIOURS[mode]
        if behaviour.transacted:
            need(Capability.LOCAL_TRANSACTION, self.capabilities)
        if behaviour.branching:
            need(Capability.XA, self.capabilities)
        session = EngineSession(self, self.next_number(), behaviour)
        self.sessions[session.number] = session
        try:
            yield from result_of(self.submit(lambda token: OpenSession(token, session.number, behaviour.transacted)))
        except RefusedError:
            self.sessions.pop(session.number, None)
            raise
        session.opened()
        return session

    def start(self) -> Operation[None]:
        """Start delivering messages to the application (JMS 2.0, 6.1.4)."""
        self.use()
        yield from ()
        self.started = True
        for session in self.sessions.values():
            session.resume()

    def stop(self, caller: int) -> Operation[None]:
        """Stop delivering messages until the next start, and wait for running listeners (JMS 2.0, 6.1.5).

        Args:
            caller: Identifier of the calling thread; a listener does not wait for itself.
        """
        self.use()
        self.started = False
        for session in tuple(self.sessions.values()):
            yield from session.dispatcher.wait_until_idle(caller)

    def abort(self) -> Operation[None]:
        """Drop the connection without closing it at the broker, as if the network had failed."""
        yield from ()
        if self._wire is not None:
            self._wire.abort()
        self._lose(lost("the connection was aborted by its application"))

    # -- for sessions, producers and consumers ---------------------------------------------------------------------

    def use(self) -> None:
        """Check that the connection can be used.

        Raises:
            RefusedError: The connection is closed or lost.
        """
        self._life.take(LifeEvent.USE)

    def next_number(self) -> int:
        """Return a number for a session, link or unit of work; each number is used once on this connection."""
        self._numbers += 1
        return self._numbers

    def next_message_id(self) -> str | None:
        """Return a new JMSMessageID (JMS 2.0, 3.4.3); None if the broker gives ids that the sender does not learn."""
        if not self._keeps_ids:
            return None
        self._messages += 1
        return message_id(self.options.id_prefix, self._messages)

    def route(self, link: int, owner: LinkOwner) -> None:
        """Pass the driver's events about a link to the link's producer or consumer."""
        self._links[link] = owner

    def unroute(self, link: int) -> None:
        """Ignore later events about a link."""
        self._links.pop(link, None)

    def make_temporary(self, kind: AddressKind) -> Operation[Address]:
        """Create a temporary destination, which lasts as long as this connection."""
        return self._temporaries.make(kind)

    def delete_temporary(self, address: Address) -> Operation[None]:
        """Delete a temporary destination of this connection."""
        return self._temporaries.delete(address)

    def sources(self) -> Iterator[Source]:
        """List the sources of the consumers of all sessions."""
        return (consumer.source for session in self.sessions.values() for consumer in session.consumers.values())

    def departures(self, name: str) -> tuple[Pending[Done], ...]:
        """Return the pending answers to the `CloseLink` commands for the consumers of a subscription."""
        consumers = [consumer for session in self.sessions.values() for consumer in session.consumers.values()]
        return tuple(one.leaving for one in consumers if one.source.name == name and one.leaving is not None)

    def forget_session(self, number: int) -> None:
        """Forget a closed session."""
        self.sessions.pop(number, None)

    def submit(self, command: Callable[[int], DriverCommand]) -> Pending[Done]:
        """Give a command to the driver.

        Args:
            command: Returns the command with a given token.

        Returns:
            The pending answer; it has failed already if the connection is closed or lost.
        """
        token, answer = self._calls.open()
        if self._wire is None or self.state in {Life.CLOSED, Life.LOST}:
            self._calls.failed(token, lost())
        else:
            self._wire.submit(command(token))
        return answer

    def post(self, command: Callable[[int], DriverCommand]) -> Pending[Done]:
        """Give a command to the driver, and report a refusal to the exception listener.

        A refusal whose reason is the loss of the connection is left out, because `_lose` reports the loss.

        Args:
            command: Returns the command with a given token.

        Returns:
            The pending answer, for which the caller need not wait.
        """
        answer = self.submit(command)
        answer.then(lambda: self._complain(answer.error))
        return answer

    def complain(self, refused: Refused, cause: Exception | None = None) -> None:
        """Call the exception listener with a refusal, in a separate job; without a listener, log the refusal.

        Args:
            refused: A refusal that no call of the application can raise.
            cause: The exception of the application's listener that caused the refusal; None if no listener did.
        """
        listener = self.on_exception
        if listener is not None:
            self.runner.call_soon(lambda: call_listener(listener, refused, cause))
        else:
            _LOG.warning("%s: %s", refused.kind.value, refused.text, exc_info=cause)

    # -- events ----------------------------------------------------------------------------------------------------

    def _sink(self, event: DriverEvent) -> None:
        match event:
            case Done():
                self._calls.done(event)
            case Failed(token=token, refused=refused):
                self._calls.failed(token, refused)
            case Arrived() | Drained() | LinkClosed():
                self._tell_link(event)
            case Opened():
                self._opened(event)
            case SessionClosed(refused=refused):
                self.observe(SessionEnded(refused))
            case Closed(refused=refused):
                self._lose(refused or lost("the peer has closed the connection: connect again"))
            case Frame():
                self.observe(FrameSeen(event))

    def _tell_link(self, event: Arrived | Drained | LinkClosed) -> None:
        owner = self._links.get(event.link)
        if owner is None:
            return  # the client has closed the link while the event was on its way
        match event:
            case Arrived():
                owner.arrived(event)
            case Drained():
                owner.drained()
            case LinkClosed(refused=refused):
                del self._links[event.link]
                owner.peer_closed(refused)

    def _opened(self, event: Opened) -> None:
        if self._life.take(LifeEvent.OPENED) is Act.GO:
            self.capabilities = event.capabilities
            self._keeps_ids = event.message_ids
            self.peer = event.properties
            self._opening.resolve(None)

    def _lose(self, refused: Refused) -> None:
        before = self.state
        if self._life.take(LifeEvent.LOSE) is not Act.END:
            return
        if before is Life.OPENING:
            self._opening.fail(RefusedError(refused))
            return
        # Open commands get the refusal "connection lost", even if the broker closed the connection for another reason
        # (JMS 2.0, 10.3).
        reason = refused if refused.kind is JmsErrorKind.CONNECTION_LOST else lost(refused.text)
        if before is Life.OPEN:
            self.observe(ConnectionLost(refused))
            self.complain(refused)
        self._links.clear()
        self._calls.fail_all(reason)
        for session in tuple(self.sessions.values()):
            session.lose()

    def _complain(self, error: Exception | None) -> None:
        if isinstance(error, RefusedError) and error.refused.kind is not JmsErrorKind.CONNECTION_LOST:
            self.complain(error.refused)


def call_listener(listener: ExceptionListener, refused: Refused, cause: Exception | None) -> None:
    """Call an exception listener; if the listener raises, log the exception, because no call can raise it.

    Args:
        listener: The listener.
        refused: The refusal to report.
        cause: The exception of a message listener that caused the refusal; None if no listener did.
    """
    try:
        listener(refused, cause)
    except Exception:  # noqa: BLE001  a listener may raise anything
        _LOG.exception("the exception listener raised when it was called with: %s", refused.text)
