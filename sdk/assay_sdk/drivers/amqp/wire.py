"""An AMQP connection of the driver: carries out commands, handles Proton's events, and answers every token once.

The code runs on the runner's loop.  `submit` only queues a command, so the SDK's engine may call it while it handles an
event.  One job carries out all queued commands, so that Proton's output for them goes to the socket in one piece.
"""

from __future__ import annotations

import itertools
import ssl
import uuid
from collections import deque
from collections.abc import Callable, Mapping
from typing import cast

import proton
from proton import Collector, Connection, Delivery, Event, Link, Session, Transport, symbol

from assay_sdk.amqp.codec import Prefixes
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.amqp.terms import CONTAINER_ID, INVALID_FIELD, OPEN_FAILED
from assay_sdk.driver import (
    Close,
    Closed,
    DriverCommand,
    DriverEvent,
    Failed,
    Frame,
    Opened,
    PeerProperties,
    Target,
)
from assay_sdk.drivers.amqp import offers
from assay_sdk.drivers.amqp.commands import Commands
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.ends import LinkEnd
from assay_sdk.drivers.amqp.links.names import LinkNames, peer_properties
from assay_sdk.drivers.amqp.sessions import SessionEnd
from assay_sdk.drivers.amqp.transport.amqp_socket import AmqpSocket
from assay_sdk.drivers.amqp.transport.attach_fields import AttachFields
from assay_sdk.drivers.answers import Answers, lost
from assay_sdk.drivers.place import Place
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.runners.real import LoopRunner
from assay_sdk.time import CancelJob

IDLE_TIMEOUT_S = 30.0
"""Idle timeout in seconds: a connection whose broker sends no frame for longer is lost.  The default of RabbitMQ and
Artemis is a minute."""

CLOSE_TIMEOUT_MS = 5_000
"""The time for which the client waits for the broker's close before it closes the socket, in milliseconds."""

MAX_FRAME = 1 << 20
"""Largest frame that the client accepts, in octets; the same as in Qpid JMS (``jms.maxFrameSize``)."""


_UNWANTED: Mapping[str, JmsErrorKind] = {
    "amqp:link:stolen": JmsErrorKind.INVALID_CLIENT_ID,
    "amqp:unauthorized-access": JmsErrorKind.SECURITY,
}
"""Error kinds for conditions with which a broker ends a connection, and after which the client should not reconnect.

- ``amqp:link:stolen``: another client has taken over the client id; IBM MQ sends this to MQ Light clients.
- ``amqp:unauthorized-access``: the user has lost the authority.
"""


class AmqpWire:
    """An AMQP connection (`assay_sdk.driver.Wire`).

    Args:
        target: Broker to connect to, and how.
        place: Host and port of the broker.
        sink: Called with each event, on the loop.
        runner: Runner that watches the socket.
        epoch: Number of the connection among the driver's connections.
        context: TLS context; None for a connection without TLS.
        conventions: Rules that the client must follow and that the broker does not send.
    """

    def __init__(
        self,
        target: Target,
        place: Place,
        sink: Callable[[DriverEvent], None],
        runner: LoopRunner,
        epoch: int,
        *,
        context: ssl.SSLContext | None = None,
        conventions: Conventions = Conventions(),  # noqa: B008  a frozen value
    ) -> None:
        self.epoch = epoch
        self.conventions = conventions
        self.prefixes = Prefixes()
        self.message_prefixes = self.prefixes
        self.capabilities: frozenset[Capability] = frozenset()
        self.answers = Answers(sink, runner, target.request_timeout_ms, self._flush)
        self.ends: dict[Link, LinkEnd] = {}
        self.sessions: dict[Session, SessionEnd] = {}
        self.names = LinkNames(explicit=target.client_id is not None)
        self.connection = Connection()
        self._target = target
        self._runner = runner
        self._queue: deque[DriverCommand] = deque()
        self._numbers = itertools.count(1)
        self._collector = Collector()
        self._commands = Commands(self)
        self._handlers: Mapping[object, Callable[[Event], None]] = {
            Event.CONNECTION_REMOTE_OPEN: self._on_open,
            Event.CONNECTION_REMOTE_CLOSE: self._on_close,
            Event.SESSION_REMOTE_OPEN: self._on_session_open,
            Event.SESSION_REMOTE_CLOSE: self._on_session_close,
            Event.LINK_REMOTE_OPEN: self._on_link_open,
            Event.LINK_REMOTE_CLOSE: self._on_link_close,
            Event.LINK_REMOTE_DETACH: self._on_link_close,
            Event.LINK_FLOW: self._on_flow,
            Event.DELIVERY: self._on_delivery,
            Event.TRANSPORT_ERROR: self._on_transport_error,
        }
        self._closing: int | None = None
        self._is_open = False
        self._gone = False
        transport = Transport()
        self._transport = transport
        self._prepare(place, transport)
        self._line = AmqpSocket(
            place,
            target.login,
            self,
            transport,
            runner,
            trace=target.trace,
            recording=target.recording,
            context=context,
        )
        due_ns = runner.clock.monotonic_ns() + target.open_timeout_ms * 1_000_000
        self._timer: CancelJob = runner.call_at(due_ns, self._open_timed_out)
        runner.call_soon(self._line.start)

    def submit(self, command: DriverCommand) -> None:
        """Queue a command, which is answered once; the answer is `Failed` if the connection is lost."""
        self._queue.append(command)
        if len(self._queue) == 1:
            self._runner.call_soon(self._work)

    def abort(self) -> None:
        """Drop the connection without closing it at the broker, as if the network had failed."""
        self._runner.call_soon(lambda: self._line.drop(lost("the connection was aborted by this client")))

    # --- called by links (`ends.LinkContext`)

    def now_ms(self) -> int:
        """Return the time of day in milliseconds since the epoch."""
        return self._runner.clock.wall_ns() // 1_000_000

    def next_delivery(self) -> int:
        """Take a new delivery number, and return it."""
        return next(self._numbers)

    def add_attach_fields(self, link_name: str, fields: AttachFields) -> None:
        """Add fields that Proton cannot set to the attach of a link."""
        self._line.attach_fields[link_name] = fields

    def offered(self, link_name: str) -> tuple[str, ...]:
        """Return, and forget, the capabilities that the broker has offered in the attach of a link."""
        return () if self._line.link_offers is None else self._line.link_offers.take(link_name)

    def forget(self, end: LinkEnd) -> None:
        """Forget a link that is closed on both sides."""
        self.ends.pop(end.engine, None)
        self.names.release(end.name)
        self._commands.forget(end)

    # --- called by the socket (`amqp_socket.SocketOwner`)

    def line_ready(self) -> None:
        """Send the open, because the login has succeeded."""
        self._transport.bind(self.connection)
        self._line.flush()

    def line_fed(self) -> None:
        """Handle Proton's events, because the socket has passed octets to Proton."""
        while not self._gone and (event := self._collector.peek()) is not None:
            self._collector.pop()
            handle = self._handlers.get(event.type)
            if handle is not None:
                handle(event)

    def line_frame(self, seen: Frame) -> None:
        """Emit an event for a traced frame."""
        self.answers.emit(seen)

    def line_gone(self, why: Refused | None) -> None:
        """Answer `Failed` for all open commands, then report that the connection has ended."""
        self._gone = True
        self._timer()
        closing, asked = self._closing, self._closing is not None
        if closing is not None:
            self.answers.done(closing)  # the close has succeeded, also if the connection was lost meanwhile
        reason = why or lost("the connection is closed")
        everything = reason if reason.kind is JmsErrorKind.CONNECTION_LOST or not self._is_open else lost(reason.text)
        while self._queue:
            command = self._queue.popleft()
            self.answers.owe(command)
        for end in tuple(self.ends.values()):
            end.cut(everything)
        self.answers.fail_all(everything)
        self.answers.emit(Closed(self.epoch, None if asked else why))

    def _flush(self) -> None:
        self._line.flush()

    # --- commands

    def _work(self) -> None:
        while self._queue and not self._gone:
            command = self._queue.popleft()
            self.answers.owe(command)
            self._commands.carry_out(command)
        if self._gone:
            while self._queue:
                token = self._queue.popleft().token
                self.answers.emit(Failed(token, lost("the connection is closed: create a new one")))
            return
        self._line.flush()
        self.line_fed()

    def close(self, command: Close) -> None:
        """Close the connection normally, after the frames of earlier commands."""
        if self._closing is not None:
            self.answers.done(command.token)
            return
        self._closing = command.token
        if not self._is_open:
            self._line.drop(None)
            return
        self.connection.close()
        self._timer()
        due_ns = self._runner.clock.monotonic_ns() + CLOSE_TIMEOUT_MS * 1_000_000
        self._timer = self._runner.call_at(due_ns, lambda: self._line.drop(None))

    # --- opening

    def _prepare(self, place: Place, transport: Transport) -> None:
        transport.idle_timeout = IDLE_TIMEOUT_S
        transport.max_frame_size = MAX_FRAME
        connection = self.connection
        connection.collect(self._collector)
        connection.container = self._target.client_id or f"assay:{uuid.uuid4()}"
        connection.hostname = place.host
        connection.desired_capabilities = [symbol(name) for name in offers.DESIRED]
        connection.properties = {symbol("product"): "assay-sdk", symbol("platform"): f"proton {proton.VERSION_MAJOR}"}
        connection.open()

    def _open_timed_out(self) -> None:
        text = f"the broker did not open the connection within {self._target.open_timeout_ms} ms"
        self._line.drop(refused(Mqrc.Q_MGR_NOT_AVAILABLE, text))

    def _on_open(self, _event: Event) -> None:
        properties = peer_properties(self.connection.remote_properties)
        if OPEN_FAILED in properties:
            return  # the broker's close follows, with the reason
        self._timer()
        self._is_open = True
        self.capabilities = offers.capabilities(map(str, self.connection.remote_offered_capabilities or ()))
        if not offers.desired_of_sender(self.capabilities):
            self._line.link_offers = None
        self.prefixes = self._prefixes(properties)
        ours = self.conventions
        self.message_prefixes = Prefixes(
            self.prefixes.queue if ours.message_queue_prefix is None else ours.message_queue_prefix,
            self.prefixes.topic if ours.message_topic_prefix is None else ours.message_topic_prefix,
            ours.slash,
        )
        self._line.beat()
        self.answers.emit(Opened(self.epoch, self.capabilities, properties))

    def _prefixes(self, told: PeerProperties) -> Prefixes:
        ours = self.conventions
        return Prefixes(
            str(told.get("queue-prefix", "")) if ours.queue_prefix is None else ours.queue_prefix,
            str(told.get("topic-prefix", "")) if ours.topic_prefix is None else ours.topic_prefix,
            ours.slash,
        )

    def _on_close(self, _event: Event) -> None:
        condition = self.connection.remote_condition
        self.connection.close()
        self._line.flush()
        if self._closing is not None or condition is None:
            self._line.drop(None if self._closing is not None else lost("the broker closed the connection"))
        elif self._is_open:
            text = refusal(condition, "to keep the connection open").text
            kind = _UNWANTED.get(condition.name)
            self._line.drop(lost(text) if kind is None else Refused(kind, text))
        else:
            self._line.drop(self._why_not_opened(condition))

    def _why_not_opened(self, condition: Condition) -> Refused:
        info = condition.info if isinstance(condition.info, dict) else {}
        if {str(name): str(value) for name, value in info.items()}.get(INVALID_FIELD) == CONTAINER_ID:
            client_id = self._target.client_id or ""
            text = f"the client id {client_id!r} is in use or not allowed: {condition.description or condition.name}"
            return Refused(JmsErrorKind.INVALID_CLIENT_ID, text, objects=(client_id,))
        return refusal(condition, "the connection", otherwise=JmsErrorKind.CONNECTION_LOST)

    # --- events of the transport, sessions, links and deliveries

    def _on_transport_error(self, _event: Event) -> None:
        condition = self._transport.condition
        detail = f"{condition.description or condition.name}" if condition is not None else "no reason given"
        self._line.flush()
        self._line.drop(lost(f"the connection broke: {detail}"))

    def _on_session_open(self, event: Event) -> None:
        session = self.sessions.get(cast("Session", event.session))
        if session is not None:
            session.opened()

    def _on_session_close(self, event: Event) -> None:
        engine = cast("Session", event.session)
        session = self.sessions.pop(engine, None)
        if session is not None:
            for end in tuple(session.ends):
                self.ends.pop(end.engine, None)
                self.names.release(end.name)
            session.remote_closed(engine.remote_condition)
            self._commands.forget_session(session)

    def _on_link_open(self, event: Event) -> None:
        end = self.ends.get(cast("Link", event.link))
        if end is not None:
            end.remote_opened()

    def _on_link_close(self, event: Event) -> None:
        engine = cast("Link", event.link)
        end = self.ends.get(engine)
        if end is not None:
            end.remote_closed(engine.remote_condition)

    def _on_flow(self, event: Event) -> None:
        end = self.ends.get(cast("Link", event.link))
        if end is not None:
            end.flow()

    def _on_delivery(self, event: Event) -> None:
        delivery = cast("Delivery", event.delivery)
        end = self.ends.get(delivery.link)
        if end is not None:
            end.delivery(delivery)
