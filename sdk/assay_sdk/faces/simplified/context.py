"""The context: a connection and a session in one object (JMS 2.0, 5.2)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, Unpack, overload

from assay_sdk.driver import Durability
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.operations import Operation
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.settings import DeliveryMode
from assay_sdk.errors import RUNTIME, MessagingRuntimeError
from assay_sdk.faces.caller import (
    Caller,
    ConnectSettings,
    Duration,
    JmsConnectKeywords,
    open_connection,
    refusal_listener,
)
from assay_sdk.faces.closing import Closing
from assay_sdk.faces.poison import PoisonOptions
from assay_sdk.faces.session import SessionBase
from assay_sdk.faces.simplified.consumer import Consumer
from assay_sdk.faces.simplified.producer import Producer
from assay_sdk.faces.xa import XaResource
from assay_sdk.model.destinations import Destination, Topic

T = TypeVar("T")


class _SharedConnection:
    """A connection that several contexts use; the last context to close also closes the connection (JMS 2.0, 5.2.3)."""

    def __init__(self, connection: EngineConnection) -> None:
        self.connection = connection
        self._contexts = 0

    def join(self) -> None:
        """Count one more context."""
        self._contexts += 1

    @property
    def has_one_context(self) -> bool:
        """Whether the next close of a context closes the connection."""
        return self._contexts == 1

    def leave(self, caller: int) -> Operation[None]:
        """Note that a context has closed; after the last context, close the connection.

        Args:
            caller: Identifier of the thread that closes the context.
        """
        self._contexts -= 1
        if self._contexts == 0:
            yield from self.connection.close(caller)


class Context(SessionBase, Closing):
    """A connection and a session in one object (JMSContext).

    `connect` creates the first context of a connection, and `create_context` more contexts on the same connection.
    """

    def __init__(self, caller: Caller, shared: _SharedConnection, engine: EngineSession, mode: AckMode) -> None:
        super().__init__(caller, engine)
        self._auto_start = True
        self._shared = shared
        self._mode = mode
        self._closed = False
        shared.join()

    @property
    def client_id(self) -> str | None:
        """JMS client id of the connection; None for a connection without one."""
        return self._shared.connection.client_id

    @property
    def session_mode(self) -> AckMode:
        """Acknowledgement mode of the session."""
        return self._mode

    @property
    def auto_start(self) -> bool:
        """Whether creating a consumer starts the connection; True by default, and the application can set it."""
        return self._auto_start

    @auto_start.setter
    def auto_start(self, auto_start: bool) -> None:
        self._auto_start = auto_start

    def create_context(self, session_mode: AckMode) -> Context:
        """Create another context with its own session on the same connection.

        Args:
            session_mode: Acknowledgement mode of the session.

        Raises:
            MessagingRuntimeError: The mode is invalid, the connection is closed or lost, or the broker lacks the
                transactions that the mode needs.
        """
        if session_mode is AckMode.XA:
            return self.create_xa_context()
        return Context(
            self._caller, self._shared, self._caller(self._shared.connection.session(session_mode)), session_mode
        )

    def create_xa_context(self) -> XaContext:
        """Create a context for XA transactions on the same connection.

        Raises:
            MessagingRuntimeError: The connection is closed or lost, or the broker has no XA transactions.
        """
        engine = self._caller(self._shared.connection.session(AckMode.XA))
        return XaContext(self._caller, self._shared, engine, AckMode.XA)

    @overload
    def create_producer(
        self,
        destination: Destination[T],
        *,
        delivery_delay: Duration | None = None,
        time_to_live: Duration | None = None,
        delivery_mode: DeliveryMode | None = None,
        priority: int | None = None,
    ) -> Producer[T]: ...
    @overload
    def create_producer(
        self,
        destination: None = None,
        *,
        delivery_delay: Duration | None = None,
        time_to_live: Duration | None = None,
        delivery_mode: DeliveryMode | None = None,
        priority: int | None = None,
    ) -> Producer[Any]: ...
    def create_producer(
        self,
        destination: Destination[Any] | None = None,
        *,
        delivery_delay: Duration | None = None,
        time_to_live: Duration | None = None,
        delivery_mode: DeliveryMode | None = None,
        priority: int | None = None,
    ) -> Producer[Any]:
        """Create a producer.

        Args:
            destination: Queue or topic; None if each send names one (`send_to`).
            delivery_delay: Time from the send to the earliest delivery; None for no delay.
            time_to_live: Time from the send to the message's expiry; None or 0 for no expiry.
            delivery_mode: None for persistent.
            priority: 0 to 9, or `AS_DESTINATION`; None for 4.

        Raises:
            MessagingRuntimeError: The context is closed, a setting is invalid, the broker or the driver lacks a
                capability that a setting needs, or the broker refuses the destination.
        """
        producer: Producer[Any] = Producer(self._caller, self._producer(destination), destination)
        try:
            if time_to_live is not None:
                producer.set_time_to_live(time_to_live)
            if delivery_delay is not None:
                producer.set_delivery_delay(delivery_delay)
            if delivery_mode is not None:
                producer.set_delivery_mode(delivery_mode)
            if priority is not None:
                producer.set_priority(priority)
        except MessagingRuntimeError:
            producer.close()
            raise
        return producer

    def create_consumer(
        self,
        destination: Destination[T],
        selector: str | None = None,
        *,
        no_local: bool = False,
        **poison: Unpack[PoisonOptions],
    ) -> Consumer[T]:
        """Create a consumer of a queue, or of a new unshared non-durable subscription on a topic.

        Args:
            destination: Queue or topic to consume from.
            selector: JMS message selector; None for all messages.
            no_local: On a topic, exclude messages that this connection sent.
            poison: When to move a message that is delivered repeatedly (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingRuntimeError: The context is closed, an argument is invalid, the broker or the driver lacks a
                capability that the arguments need, or the broker refuses the call.
        """
        return self._started(destination, self._consumer(destination, selector, no_local=no_local, poison=poison))

    def create_durable_consumer(
        self,
        topic: Topic[T],
        name: str,
        selector: str | None = None,
        *,
        no_local: bool = False,
        **poison: Unpack[PoisonOptions],
    ) -> Consumer[T]:
        """Create a consumer of an unshared durable subscription; if the subscription does not exist, create it too.

        The client id and `name` together name the subscription, so the connection needs a client id (PD-17).

        Args:
            topic: Topic of the subscription.
            name: Name of the subscription.
            selector: JMS message selector; None for all messages.
            no_local: Exclude messages that this connection sent.
            poison: When to move a message that is delivered repeatedly (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingRuntimeError: The context is closed, the connection has no client id, the subscription has a
                consumer already, the broker or the driver lacks a capability, an argument is invalid, or the broker
                refuses the call.
        """
        engine = self._subscription(
            topic,
            name,
            selector,
            durability=Durability.DURABLE,
            shared=False,
            no_local=no_local,
            poison=poison,
        )
        return self._started(topic, engine)

    def create_shared_consumer(
        self, topic: Topic[T], name: str, selector: str | None = None, **poison: Unpack[PoisonOptions]
    ) -> Consumer[T]:
        """Create a consumer of a shared non-durable subscription; if the subscription does not exist, create it too.

        Args:
            topic: Topic of the subscription.
            name: Name of the subscription; its consumers share the messages.
            selector: JMS message selector; None for all messages.
            poison: When to move a message that is delivered repeatedly (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingRuntimeError: The context is closed, an argument is invalid, the broker or the driver lacks shared
                subscriptions or another needed capability, or the broker refuses the call.
        """
        engine = self._subscription(
            topic,
            name,
            selector,
            durability=Durability.NON_DURABLE,
            shared=True,
            poison=poison,
        )
        return self._started(topic, engine)

    def create_shared_durable_consumer(
        self, topic: Topic[T], name: str, selector: str | None = None, **poison: Unpack[PoisonOptions]
    ) -> Consumer[T]:
        """Create a consumer of a shared durable subscription; if the subscription does not exist, create it too.

        Args:
            topic: Topic of the subscription.
            name: Name of the subscription; its consumers share the messages.
            selector: JMS message selector; None for all messages.
            poison: When to move a message that is delivered repeatedly (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingRuntimeError: The context is closed, an argument is invalid, the broker or the driver lacks shared
                or durable subscriptions or another needed capability, or the broker refuses the call.
        """
        engine = self._subscription(topic, name, selector, durability=Durability.DURABLE, shared=True, poison=poison)
        return self._started(topic, engine)

    def start(self) -> None:
        """Start delivering messages; needed only when `auto_start` is False, or after `stop`.

        Raises:
            MessagingRuntimeError: The connection is closed or lost.
        """
        self._caller(self._shared.connection.start())

    def stop(self) -> None:
        """Stop delivering messages until the next start, and wait until no listener is running.

        If a listener makes the call, the call does not wait for this listener.

        Raises:
            MessagingRuntimeError: The connection is closed or lost.
        """
        self._caller(self._shared.connection.stop(threading.get_ident()))

    def set_exception_listener(self, listener: Callable[[MessagingRuntimeError], None] | None) -> None:
        """Set the listener for errors that no call of the application can raise; None removes it.

        Examples of such errors are a lost connection, a consumer that the broker has closed, and an exception of a
        message listener.

        Raises:
            MessagingRuntimeError: The listener is not callable, or is a coroutine function.
        """
        self._caller.callback(listener, "the exception listener")
        self._shared.connection.on_exception = refusal_listener(listener, RUNTIME)

    def close(self) -> None:
        """Close the session and, if this is the last context of the connection, the connection.

        Raises:
            MessagingRuntimeError: A listener of this context makes the call.
        """
        self._caller(self._closing(threading.get_ident()))

    def _closing(self, caller: int) -> Operation[None]:
        """Close the session and, if this is the last context of the connection, the connection.

        Both closes are one operation.  With two operations, an interrupt between them would leave the connection open.
        """
        is_last = not self._closed and self._shared.has_one_context
        yield from self._engine.close(caller, awaited=not is_last)
        if not self._closed:
            self._closed = True
            yield from self._shared.leave(caller)

    def abort(self) -> None:
        """Drop the connection without closing it at the broker, as if the network had failed."""
        self._caller(self._shared.connection.abort())

    def _started(self, destination: Destination[T], engine: EngineConsumer) -> Consumer[T]:
        if self.auto_start:
            self.start()
        return Consumer(self._caller, engine, destination.converter, self.acknowledge)


class XaContext(Context):
    """A context for XA transactions, which sends and receives only within a branch (JMS 2.0, 11.2)."""

    def __init__(self, caller: Caller, shared: _SharedConnection, engine: EngineSession, mode: AckMode) -> None:
        super().__init__(caller, shared, engine, mode)
        self._xa_resource = XaResource(caller, engine)

    @property
    def xa_resource(self) -> XaResource:
        """The XA resource, with which a transaction manager starts, ends, commits and rolls back branches."""
        return self._xa_resource


def connect(url: str, *, session_mode: AckMode = AckMode.AUTO, **keywords: Unpack[JmsConnectKeywords]) -> Context:
    """Connect to a broker, and open a session.

    Args:
        url: URL of the broker, such as ``amqp://host:port``.
        session_mode: Acknowledgement mode of the session.
        keywords: Options of the connection (`assay_sdk.faces.caller.JmsConnectKeywords`): ``client_id``, ``login``,
            ``ca_file``, ``checks``, ``prefetch``, ``runner``, ``driver``, ``observer``, ``trace``, ``recording``,
            ``id_prefix``.

    Raises:
        MessagingRuntimeError: A setting is invalid, no driver serves the URL, the broker is unreachable, the login is
            refused, the client id is in use or invalid, or the broker lacks the transactions of the session mode.
    """
    caller, connection = open_connection(ConnectSettings(url=url, **keywords), RUNTIME)
    try:
        session = caller(connection.session(session_mode))
    except MessagingRuntimeError:
        caller(connection.close(threading.get_ident()))
        raise
    kind = XaContext if session_mode is AckMode.XA else Context
    return kind(caller, _SharedConnection(connection), session, session_mode)
