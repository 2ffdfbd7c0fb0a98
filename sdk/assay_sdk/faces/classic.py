"""The classic face: ConnectionFactory, Connection, Session, MessageProducer, MessageConsumer (JMS 2.0, 6 to 8).

Its calls raise `assay_sdk.errors.MessagingError` and its subclasses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, Unpack, overload

from msgspec import structs

from assay_sdk.driver import Durability, Login
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.errors import CHECKED, MessagingError
from assay_sdk.faces.caller import Caller, ConnectSettings, JmsConnectKeywords, open_connection, refusal_listener
from assay_sdk.faces.closing import Closing
from assay_sdk.faces.consumer import ConsumerBase
from assay_sdk.faces.message import Message
from assay_sdk.faces.poison import PoisonOptions
from assay_sdk.faces.producer import ProducerBase
from assay_sdk.faces.session import QueueBrowser, SessionBase
from assay_sdk.faces.xa import XaResource
from assay_sdk.model.destinations import Destination, Topic
from assay_sdk.model.message import Property

__all__ = [
    "Connection",
    "ConnectionFactory",
    "MessageConsumer",
    "MessageProducer",
    "QueueBrowser",
    "Session",
    "XaSession",
]

T = TypeVar("T")


class MessageProducer(ProducerBase[T]):
    """A producer for one destination, or for destinations that each send names (JMS 2.0, 7)."""

    __slots__ = ()


class MessageConsumer(ConsumerBase[T]):
    """A consumer of a queue or a subscription (JMS 2.0, 8)."""


class Session(SessionBase, Closing):
    """A session, which creates producers and consumers and acknowledges received messages (JMS 2.0, 6.2)."""

    @overload
    def create_producer(self, destination: Destination[T]) -> MessageProducer[T]: ...
    @overload
    def create_producer(self, destination: None = None) -> MessageProducer[Any]: ...
    def create_producer(self, destination: Destination[Any] | None = None) -> MessageProducer[Any]:
        """Create a producer.

        Args:
            destination: Queue or topic; None if each send names one (`send_to`).

        Raises:
            MessagingError: The session is closed, or the broker refuses the destination.
        """
        return MessageProducer(self._caller, self._producer(destination), destination)

    def create_consumer(
        self,
        destination: Destination[T],
        selector: str | None = None,
        *,
        no_local: bool = False,
        **poison: Unpack[PoisonOptions],
    ) -> MessageConsumer[T]:
        """Create a consumer of a queue, or of a new unshared non-durable subscription on a topic.

        Args:
            destination: Queue or topic to consume from.
            selector: JMS message selector; None for all messages.
            no_local: On a topic, exclude messages that this connection sent.
            poison: When to move a message that is delivered repeatedly (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingError: The session is closed, an argument is invalid, the broker or the driver lacks a capability
                that the arguments need, or the broker refuses the call.
        """
        return self._message_consumer(
            destination, self._consumer(destination, selector, no_local=no_local, poison=poison)
        )

    def create_durable_consumer(
        self,
        topic: Topic[T],
        name: str,
        selector: str | None = None,
        *,
        no_local: bool = False,
        **poison: Unpack[PoisonOptions],
    ) -> MessageConsumer[T]:
        """Create a consumer of an unshared durable subscription; if the subscription does not exist, create it too.

        The client id and `name` together name the subscription, so the connection needs a client id (PD-17).

        Args:
            topic: Topic of the subscription.
            name: Name of the subscription.
            selector: JMS message selector; None for all messages.
            no_local: Exclude messages that this connection sent.
            poison: When to move a message that is delivered repeatedly (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingError: The session is closed, the connection has no client id, the subscription has a consumer
                already, the broker or the driver lacks a capability, an argument is invalid, or the broker refuses the
                call.
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
        return self._message_consumer(topic, engine)

    def create_shared_consumer(
        self, topic: Topic[T], name: str, selector: str | None = None, **poison: Unpack[PoisonOptions]
    ) -> MessageConsumer[T]:
        """Create a consumer of a shared non-durable subscription; if the subscription does not exist, create it too.

        Args:
            topic: Topic of the subscription.
            name: Name of the subscription; its consumers share the messages.
            selector: JMS message selector; None for all messages.
            poison: When to move a message that is delivered repeatedly (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingError: The session is closed, an argument is invalid, the broker or the driver lacks shared
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
        return self._message_consumer(topic, engine)

    def create_shared_durable_consumer(
        self, topic: Topic[T], name: str, selector: str | None = None, **poison: Unpack[PoisonOptions]
    ) -> MessageConsumer[T]:
        """Create a consumer of a shared durable subscription; if the subscription does not exist, create it too.

        Args:
            topic: Topic of the subscription.
            name: Name of the subscription; its consumers share the messages.
            selector: JMS message selector; None for all messages.
            poison: When to move a message that is delivered repeatedly (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingError: The session is closed, an argument is invalid, the broker or the driver lacks shared or
                durable subscriptions or another needed capability, or the broker refuses the call.
        """
        engine = self._subscription(topic, name, selector, durability=Durability.DURABLE, shared=True, poison=poison)
        return self._message_consumer(topic, engine)

    def create_message(self, body: T, **properties: Property) -> Message[T]:
        """Create a message with a body and properties."""
        return Message(body, properties=properties)

    def close(self) -> None:
        """Close the session (JMS 2.0, 6.2.15).

        The broker rolls back the session's unit of work, and delivers unacknowledged messages again.  With
        `AckMode.DUPS_OK`, the close acknowledges these messages instead.

        Raises:
            MessagingError: A listener of this session makes the call.
        """
        self._caller(self._engine.close(threading.get_ident()))

    def _message_consumer(self, destination: Destination[T], engine: EngineConsumer) -> MessageConsumer[T]:
        return MessageConsumer(self._caller, engine, destination.converter, self.acknowledge)


class XaSession(Session):
    """A session for XA transactions, which sends and receives only within a branch (JMS 2.0, 6.2.9)."""

    def __init__(self, caller: Caller, engine: EngineSession) -> None:
        super().__init__(caller, engine)
        self._xa_resource = XaResource(caller, engine)

    @property
    def xa_resource(self) -> XaResource:
        """The XA resource, with which a transaction manager starts, ends, commits and rolls back branches."""
        return self._xa_resource


class Connection(Closing):
    """A connection to a broker, created by a `ConnectionFactory` (JMS 2.0, 6.1).

    It delivers no messages before `start`.
    """

    def __init__(self, caller: Caller, engine: EngineConnection) -> None:
        self._caller = caller
        self._engine = engine

    @property
    def client_id(self) -> str | None:
        """JMS client id of the connection; None for a connection without one."""
        return self._engine.client_id

    def create_session(self, mode: AckMode = AckMode.AUTO) -> Session:
        """Open a session.

        Args:
            mode: Acknowledgement mode.

        Raises:
            MessagingError: The mode is invalid, the connection is closed or lost, or the broker lacks the transactions
                that the mode needs.
        """
        if mode is AckMode.XA:
            return self.create_xa_session()
        return Session(self._caller, self._caller(self._engine.session(mode)))

    def create_xa_session(self) -> XaSession:
        """Open a session for a transaction manager.

        Raises:
            MessagingError: The connection is closed or lost, or the broker has no XA transactions.
        """
        return XaSession(self._caller, self._caller(self._engine.session(AckMode.XA)))

    def start(self) -> None:
        """Start delivering messages (JMS 2.0, 6.1.4).

        Raises:
            MessagingError: The connection is closed or lost.
        """
        self._caller(self._engine.start())

    def stop(self) -> None:
        """Stop delivering messages until the next start, and wait until no listener is running (JMS 2.0, 6.1.5).

        If a listener makes the call, the call does not wait for this listener.

        Raises:
            MessagingError: The connection is closed or lost.
        """
        self._caller(self._engine.stop(threading.get_ident()))

    def set_exception_listener(self, listener: Callable[[MessagingError], None] | None) -> None:
        """Set the listener for errors that no call of the application can raise; None removes it (JMS 2.0, 6.1.7).

        Examples of such errors are a lost connection, a consumer that the broker has closed, and an exception of a
        message listener.

        Raises:
            MessagingError: The listener is not callable, or is a coroutine function.
        """
        self._caller.callback(listener, "the exception listener")
        self._engine.on_exception = refusal_listener(listener, CHECKED)

    def close(self) -> None:
        """Close the connection and all its sessions.

        Raises:
            MessagingError: A listener of this connection makes the call.
        """
        self._caller(self._engine.close(threading.get_ident()))

    def abort(self) -> None:
        """Drop the connection without closing it at the broker, as if the network had failed."""
        self._caller(self._engine.abort())


class ConnectionFactory:
    """A factory of connections to one broker.

    Args:
        url: URL of the broker, such as ``amqp://host:port``.
        keywords: Options of the connections (`assay_sdk.faces.caller.JmsConnectKeywords`).
    """

    def __init__(self, url: str, **keywords: Unpack[JmsConnectKeywords]) -> None:
        self._settings = ConnectSettings(url=url, **keywords)

    def create_connection(self, login: Login | None = None, *, client_id: str | None = None) -> Connection:
        """Connect to the broker.

        Args:
            login: User and password; None for the factory's login.
            client_id: JMS client id; None for the factory's client id.

        Raises:
            MessagingError: A setting is invalid, no driver serves the URL, the broker is unreachable, the login is
                refused, or the client id is in use, empty or otherwise invalid.
        """
        shared = self._settings
        settings = structs.replace(
            shared,
            login=shared.login if login is None else login,
            client_id=shared.client_id if client_id is None else client_id,
        )
        return Connection(*open_connection(settings, CHECKED))
