"""An AMQP connection of the driver: carries out commands, handles Proton's events, and answers every token once."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import cast

import proton
from proton import Collector, Connection, Delivery, Event, Link, Session, Transport, symbol

from assay_sdk.amqp.codec import Prefixes
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.amqp.terms import CONTAINER_ID, INVALID_FIELD, OPEN_FAILED
from assay_sdk.driver import DriverEvent, Frame, Opened, PeerProperties, Target
from assay_sdk.drivers.amqp import offers
from assay_sdk.drivers.amqp.commands import Commands
from assay_sdk.drivers.amqp.errors import Condition, refusal
from assay_sdk.drivers.amqp.links.ends import LinkEnd
from assay_sdk.drivers.amqp.links.names import LinkNames, peer_properties
from assay_sdk.drivers.amqp.sessions import SessionEnd
from assay_sdk.drivers.amqp.transport.amqp_socket import AmqpSocket
from assay_sdk.drivers.amqp.transport.attach_fields import AttachFields
from assay_sdk.drivers.answers import lost
from assay_sdk.drivers.host_port import HostPort
from assay_sdk.drivers.network import NetworkWire, Route
from assay_sdk.model.reasons import JmsErrorKind, Refused

IDLE_TIMEOUT_S = 30.0
"""Idle timeout in seconds: a connection whose broker sends no frame for longer is lost.  The default of RabbitMQ and
Artemis is a minute."""

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


class AmqpWire(NetworkWire[AmqpSocket]):
    """An AMQP connection (`assay_sdk.driver.Wire`).

    Args:
        target: Broker to connect to, and how.
        route: The way to the broker.
        sink: Called with each event, on the loop.
        epoch: Number of the connection among the driver's connections.
        conventions: Rules that the client must follow and that the broker's *open* frame does not name.
    """

    def __init__(
        self,
        target: Target,
        route: Route,
        sink: Callable[[DriverEvent], None],
        epoch: int,
        *,
        conventions: Conventions = Conventions(),  # noqa: B008  a frozen value
    ) -> None:
        super().__init__(target, route, sink, epoch)
        self.conventions = conventions
        self.prefixes = Prefixes()
        self.message_prefixes = self.prefixes
        self.ends: dict[Link, LinkEnd] = {}
        self.sessions: dict[Session, SessionEnd] = {}
        self.names = LinkNames(explicit=target.client_id is not None)
        self.connection = Connection()
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
        transport = Transport()
        self._transport = transport
        self._prepare(route.host_port, transport)
        line = AmqpSocket(
            route.host_port,
            target.login,
            self,
            transport,
            route.runner,
            trace=target.trace,
            recording=target.recording,
            context=route.context,
        )
        self._start(line, self._commands.carry_out)

    # --- called by links (`ends.LinkContext`)

    def add_attach_fields(self, link_name: str, fields: AttachFields) -> None:
        """Add fields to the attach of a link, because Proton cannot set them."""
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
        """Handle Proton's events, because the socket has passed octets to Proton or time has passed."""
        while not self._gone and (event := self._collector.peek()) is not None:
            self._collector.pop()
            handle = self._handlers.get(event.type)
            if handle is not None:
                handle(event)

    def line_frame(self, seen: Frame) -> None:
        """Emit an event for a traced frame."""
        self.answers.emit(seen)

    # --- called by `NetworkWire`

    def _flush(self) -> None:
        self._line.flush()

    def _worked(self) -> None:
        self._line.flush()
        self.line_fed()

    def _ask_to_close(self) -> None:
        self.connection.close()

    def _cut(self, why: Refused) -> None:
        for end in tuple(self.ends.values()):
            end.cut(why)

    # --- opening

    def _prepare(self, host_port: HostPort, transport: Transport) -> None:
        transport.idle_timeout = IDLE_TIMEOUT_S
        transport.max_frame_size = MAX_FRAME
        connection = self.connection
        connection.collect(self._collector)
        connection.container = self._target.client_id or f"assay:{uuid.uuid4()}"
        connection.hostname = host_port.host
        connection.desired_capabilities = [symbol(name) for name in offers.DESIRED]
        connection.properties = {symbol("product"): "assay-sdk", symbol("platform"): f"proton {proton.VERSION_MAJOR}"}
        connection.open()

    def _on_open(self, _event: Event) -> None:
        properties = peer_properties(self.connection.remote_properties)
        if OPEN_FAILED in properties:
            return  # the broker's close follows, with the reason
        self._set_open()
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
