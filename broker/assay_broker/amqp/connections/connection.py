"""An AMQP connection, which connects proton's engine with the queue manager.

`assay_broker.amqp.connections.states.TABLE` is the connection's state machine.  All code runs on the runner's loop.
The socket passes input to the engine, which then calls the connection with events.  The queue manager may answer a
command at any time, even during the call that sends it.  After input or answers the socket writes the engine's output.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from assay_broker.amqp.conditions import (
    FORCED,
    INTERNAL_ERROR,
    Condition,
    close_frame,
    condition,
)
from assay_broker.amqp.connections.sessions import Sessions
from assay_broker.amqp.connections.states import TABLE, ConnectionAction, ConnectionInput, ConnectionState
from assay_broker.amqp.engine import Engine, EngineLink, EngineSession
from assay_broker.amqp.frames.errors import ProtocolError
from assay_broker.amqp.frames.peer_properties import offered, open_properties
from assay_broker.amqp.frames.validation import FrameValidator
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links.link import LinkContext
from assay_broker.bug_text import BUG
from assay_broker.core import commands
from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.shell import QueueManager
from assay_sdk.amqp.terms import OWN_UNCOMMITTED, SOLE_CONNECTION
from assay_sdk.model.reasons import Refused
from assay_sdk.model.stepper import Stepper
from assay_sdk.time import Runner

_LOG = logging.getLogger(__name__)
_OVER = frozenset((ConnectionState.ENDED, ConnectionState.PARTED, ConnectionState.GONE))


class ConnectionOwner(Protocol):
    """The interface through which a connection uses the listener."""

    queue_manager: QueueManager
    runner: Runner
    limits: AmqpLimits
    idle_timeout_ms: int
    containers: dict[str, dict[AmqpConnection, None]]
    """The open connections by container id."""

    def memory_is_short(self) -> bool:
        """Return whether messages take so much memory that senders get no new credit."""
        ...


class SocketPort(Protocol):
    """The interface through which an AMQP connection uses the client's socket."""

    peer: str
    user: str | None

    def flush(self) -> None:
        """Write the connection's output."""
        ...

    def ending(self) -> None:
        """Start the time limit for the client's close, because the server has sent its close."""
        ...


class AmqpConnection(Stepper[ConnectionState, ConnectionInput, ConnectionAction]):
    """An AMQP connection of one client.

    Args:
        socket: The client's socket.
        owner: The listener.
    """

    def __init__(self, socket: SocketPort, owner: ConnectionOwner) -> None:
        super().__init__(TABLE, ConnectionState.WAITING)
        limits = owner.limits
        self.container = ""
        self.since_ns = owner.runner.clock.wall_ns()
        self.context = LinkContext(owner.queue_manager, owner.runner.clock, limits, owner.memory_is_short)
        self.engine = Engine(
            self, max_frame=limits.max_frame, channels=limits.sessions, idle_timeout_ms=owner.idle_timeout_ms
        )
        self._socket = socket
        self._owner = owner
        self._queue_manager = owner.queue_manager
        self._runner = owner.runner
        self._validator = FrameValidator(limits)
        self._sessions = Sessions(self.context)
        self._siblings: dict[AmqpConnection, None] = {}
        """The open connections with this connection's container id, including this connection."""
        self._sent: list[Callable[[], None]] = []
        self._feeding = False
        """Whether the engine is handling input; the socket flushes the output afterwards."""
        self._why: Condition | None = None
        self._opened = False
        self._heard = False
        self._flush_due = False

    # --- for the socket

    def receive(self, octets: bytes) -> None:
        """Check octets from the client, and pass their frames to the engine."""
        validator = self._validator
        if validator.may_exceed_windows(octets):
            validator.limit(self._sessions.windows(self.engine))
        try:
            frames = validator.feed(octets)
        except ProtocolError as error:
            self.broken(Condition(error.condition, f"The connection is closed: {error.text}."))
            return
        if frames:
            self.engine.push(frames)
            self.fed()
        while validator.faults:
            self._sessions.fault(*validator.faults.popleft())
        while validator.echoes:
            session = self._sessions.on(validator.echoes.popleft())
            if session is not None:
                self.engine.tell_session(session)

    def fed(self) -> None:
        """Make the engine report its events, after new input or at the end of a time limit.

        Do nothing between the client's open and the queue manager's answer; the events wait for the answer.
        """
        if self.state is ConnectionState.ASKING:
            return
        self.context.instant_ms = self.context.now_ms()
        self._feeding = True
        try:
            self.engine.dispatch()
            self.context.catch_up()
        except Exception:  # noqa: BLE001  an error of the server ends this connection only
            self.failed("an event")
        finally:
            self.context.instant_ms = 0
            self._feeding = False

    def pull(self) -> bytes:
        """Return the output for the client, which the socket then writes."""
        octets = self.engine.pull()
        if self.context.starved and not self.context.congested:
            self._resume()
            more = self.engine.pull()
            octets += more
            if more and self.context.starved:
                self._wake()  # resumed links may have more to write
        if self._sent:
            sent, self._sent = self._sent, []
            for told in sent:
                self._runner.call_soon(told)  # later, because some loops write the output only after all due jobs
        return octets

    def _resume(self) -> None:
        """Resume the links that waited because too much output was unsent.

        A drain that had to wait can then end, even if the client sends nothing more.
        """
        starved, self.context.starved = self.context.starved, {}
        try:
            for end in starved:
                end.resume()
        except Exception:  # noqa: BLE001  the engine's output must still be sent
            self.failed("a link")

    def freed(self) -> None:
        """Resume all links, because the client has read its output or memory is free again."""
        for end in tuple(self.context.links.values()):
            end.resume()
        self._wake()

    def expel(self, why: Condition) -> None:
        """Close the connection with this error; if an error was set earlier, the client gets the earlier one."""
        self._why = self._why or why
        self._step(ConnectionInput.EXPELLED)
        self._wake()

    @property
    def is_open(self) -> bool:
        """Whether client and server have opened the connection and neither has closed it."""
        return self.state is ConnectionState.OPEN

    @property
    def ended(self) -> bool:
        """Whether the socket must close after it has written the remaining output."""
        return self.state in _OVER

    def lose(self, name: str, *, receives: bool) -> None:
        """Detach a link, because a client of the same container id has attached a link of the same name again.

        Args:
            name: The link's name.
            receives: Whether the client is the link's receiver.
        """
        self._sessions.lose(name, receives=receives)
        self._wake()

    def gone(self) -> None:
        """Handle the end of the socket."""
        self._step(ConnectionInput.LOST)

    def failed(self, doing: str) -> None:
        """Log the current exception, which is a bug of the server, and close this connection only.

        Args:
            doing: A noun phrase for the failed work, for the log.
        """
        _LOG.exception("%s of the connection of %s failed; the server closes the connection", doing, self._socket.peer)
        self.expel(Condition(INTERNAL_ERROR, f"{BUG}."))

    # --- `shared_resources.Peer`, for the queue manager

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Handle the queue manager's answer to a command; call `sent`, if given, once the socket has the output."""
        answered = self.context.expected.pop(answer.token, None)
        if answered is None:
            return
        if sent is not None:
            self._sent.append(sent)
        try:
            answered(answer)
        except Exception:  # noqa: BLE001  another connection's command may have caused this call, and must not fail
            self.failed("an answer")
        self._wake()

    def deliver(self, delivery: Deliver) -> None:
        """Send a message to the client; do nothing if the message's link has ended."""
        end = self.context.links.get(delivery.link)
        if end is None:
            return
        try:
            end.deliver(delivery)
        except Exception:  # noqa: BLE001  another connection's command may have caused this call, and must not fail
            self.failed("a delivery")
        self._wake()

    def close_link(self, closed: CloseLink) -> None:
        """Detach a link that the queue manager has closed."""
        end = self.context.links.get(closed.link)
        if end is not None:
            end.revoked(closed.refused)
            self._wake()

    def lost(self, why: Refused) -> None:
        """Close the connection, because the queue manager has cut it or has stopped."""
        self.context.number = 0
        self.expel(Condition(FORCED, why.text))

    def _wake(self) -> None:
        if not self._flush_due and not self._feeding and self.state is not ConnectionState.GONE:
            self._flush_due = True
            self._runner.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        try:
            self.context.catch_up()
        except Exception:  # noqa: BLE001  an error of the server ends this connection only
            self.failed("catching up")
        self._socket.flush()

    # --- `engine.Events`, for the engine

    def connection_opened(self) -> None:
        """Handle the client's open."""
        self._heard = True
        self._step(ConnectionInput.OPENED)

    def connection_closed(self) -> None:
        """Handle the client's close."""
        self._step(ConnectionInput.CLOSED)

    def broken(self, why: Condition) -> None:
        """Close the connection and read no further input.

        Args:
            why: The error: the client's input breaks the protocol, or the client has not opened the connection in time.
        """
        self._why = self._why or why
        self._step(ConnectionInput.BROKEN)
        self._wake()

    def session_opened(self, session: EngineSession) -> None:
        """Handle the client's begin."""
        session.channel = self._validator.begins.popleft()
        if self.is_open:
            self._sessions.begun(self.engine, session)

    def session_closed(self, session: EngineSession) -> None:
        """Handle the client's end, which ends a session."""
        self._sessions.ended(session)
        session.close()
        self.engine.free_session(session)

    def link_opened(self, link: EngineLink) -> None:
        """Handle the client's attach."""
        attach = self._validator.attaches.popleft()
        if self.is_open:
            for one in tuple(self._siblings):
                one.lose(attach.name, receives=attach.receives)
            why = self._sessions.attached(link, attach)
            if why is not None:
                self.expel(why)

    # --- the table

    def _step(self, what: ConnectionInput) -> None:
        act = self.step(what)
        if self.state is ConnectionState.ENDING:
            self._validator.await_close()
            self._socket.ending()
        if act is not ConnectionAction.NOTHING:
            self._DOES[act](self)

    def _ask(self) -> None:
        self.container = self.engine.container
        context, desired = self.context, self._validator.desired
        context.gets_own = OWN_UNCOMMITTED in desired
        token, alone = context.expect(self._asked), SOLE_CONNECTION in desired
        number = self._queue_manager.connect(self, token, self.container or None, self._socket.user, alone=alone)
        context.number = context.number or number

    def _asked(self, answer: Answer) -> None:
        self.context.number = answer.connection
        if answer.refused is None:
            self._step(ConnectionInput.ADMITTED)
        else:
            self._why = condition(answer.refused)
            self._step(ConnectionInput.REFUSED)
        if not self._feeding:  # otherwise `fed` is running, and handles the rest of the input itself
            self._runner.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Handle the input that the client sent before the queue manager answered."""
        self.fed()
        self._flush()

    def _open(self) -> None:
        self._opened = True
        if self.container:
            self._siblings = self._owner.containers.setdefault(self.container, {})
        self._siblings[self] = None
        properties = open_properties(self._queue_manager.properties)
        self.engine.open(self._queue_manager.name, offered=offered(self._validator.desired), properties=properties)
        _LOG.debug("%s has connected as %s", self._socket.peer, self.container[:80])

    def _refuse(self) -> None:
        """Send an open and a close with the reason, because AMQP allows no close before an open."""
        self._let_go()
        self.engine.open(
            self._queue_manager.name,
            offered=b"",
            properties=open_properties(self._queue_manager.properties, failed=True),
        )
        self.engine.close(self._why)

    def _leave(self) -> None:
        self.context.pass_on()
        self._sessions.cut()
        self.context.ask(self._left, commands.Disconnect, clean=True)

    def _left(self, answer: Answer) -> None:
        """Answer the client's close; the queue manager has ended the connection, or no longer knows it."""
        del answer
        self._queue_manager.forget(self.context.number)
        self.context.number = 0
        self._step(ConnectionInput.RELEASED)

    def _expel(self) -> None:
        self._let_go()
        if not self._opened:
            self.engine.open(self._queue_manager.name, offered=b"", properties=b"")
        self.engine.close(self._why)
        if not self._heard and self._why is not None:
            self.engine.end(close_frame(self._why))
        _LOG.info("the connection of %s is closed: %s", self._socket.peer, self._why and self._why.description)

    def _answer_close(self) -> None:
        self._let_go()
        self.engine.close(self._why)
        self._wake()

    def _forget(self) -> None:
        self._let_go()
        self.engine.free()
        if self in self._siblings:
            del self._siblings[self]
            if not self._siblings:
                self._owner.containers.pop(self.container, None)

    def _let_go(self) -> None:
        """End all links, and tell the queue manager that the connection has ended; a second call does nothing."""
        self.context.pass_on()
        self._sessions.cut()
        number, self.context.number = self.context.number, 0
        if number:
            self._queue_manager.handle(commands.Disconnect(number, None, clean=False))
            self._queue_manager.forget(number)
        self.context.expected.clear()

    _DOES: ClassVar[Mapping[ConnectionAction, Callable[[Any], None]]] = {
        ConnectionAction.ASK: _ask,
        ConnectionAction.OPEN: _open,
        ConnectionAction.REFUSE: _refuse,
        ConnectionAction.LEAVE: _leave,
        ConnectionAction.ANSWER: _answer_close,
        ConnectionAction.EXPEL: _expel,
        ConnectionAction.FORGET: _forget,
    }
    """The method that carries out each action of the state machine."""
