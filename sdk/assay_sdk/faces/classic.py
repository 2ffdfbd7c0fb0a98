"""The classic face: ConnectionFactory, Connection, Session, MessageProducer, MessageConsumer (JMS 6 to 8).

Refusals are `assay_sdk.errors.MessagingError` and its subclasses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from msgspec import structs

from assay_sdk.driver import Driver, Durability, Login
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.settings import Source
from assay_sdk.errors import CHECKED, MessagingError
from assay_sdk.faces.caller import Caller, Dial, dial
from assay_sdk.faces.consumer import ConsumerBase
from assay_sdk.faces.message import Message
from assay_sdk.faces.poison import PoisonOptions, policy_of
from assay_sdk.faces.producer import ProducerBase
from assay_sdk.faces.session import QueueBrowser, SessionBase
from assay_sdk.faces.xa import XaResource
from assay_sdk.model.destinations import Destination, Topic
from assay_sdk.model.message import Property
from assay_sdk.model.reasons import Refused
from assay_sdk.observer import Observer, nobody
from assay_sdk.time import Runner

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
    """Sends to one destination, or to one named with each send (JMS 7)."""


class MessageConsumer(ConsumerBase[T]):
    """Receives from a queue or a subscription (JMS 8)."""


class Session(SessionBase):
    """A session: makes producers and consumers, and settles what they receive (JMS 6.2)."""

    @overload
    def create_producer(self, destination: Destination[T]) -> MessageProducer[T]: ...
    @overload
    def create_producer(self, destination: None = None) -> MessageProducer[Any]: ...
    def create_producer(self, destination: Destination[Any] | None = None) -> MessageProducer[Any]:
        """Make a producer; None for one whose sends name their destination.

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
        """Make a consumer of a queue, or an unshared non-durable subscription on a topic.

        Args:
            destination: Where from.
            selector: Which messages.
            no_local: On a topic, leave out what this connection sent.
            poison: What becomes of a message that comes again and again (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingError: A missing capability, or the broker's answer.
        """
        source = Source(
            address=self._caller.address(destination),
            selector=selector,
            no_local=no_local,
            poison=policy_of(self._caller, poison),
        )
        return self._message_consumer(destination, self._consumer(source))

    def create_durable_consumer(
        self,
        topic: Topic[T],
        name: str,
        selector: str | None = None,
        *,
        no_local: bool = False,
        **poison: Unpack[PoisonOptions],
    ) -> MessageConsumer[T]:
        """Make or re-open an unshared durable subscription; it needs a client id (PD-17).

        Raises:
            MessagingError: No client id, in use, a missing capability, or the broker's answer.
        """
        engine = self._subscription(
            topic,
            name,
            selector,
            durability=Durability.DURABLE,
            shared=False,
            no_local=no_local,
            poison=policy_of(self._caller, poison),
        )
        return self._message_consumer(topic, engine)

    def create_shared_consumer(
        self, topic: Topic[T], name: str, selector: str | None = None, **poison: Unpack[PoisonOptions]
    ) -> MessageConsumer[T]:
        """Make or join a shared non-durable subscription.

        Raises:
            MessagingError: A missing capability, or the broker's answer.
        """
        engine = self._subscription(
            topic,
            name,
            selector,
            durability=Durability.NON_DURABLE,
            shared=True,
            poison=policy_of(self._caller, poison),
        )
        return self._message_consumer(topic, engine)

    def create_shared_durable_consumer(
        self, topic: Topic[T], name: str, selector: str | None = None, **poison: Unpack[PoisonOptions]
    ) -> MessageConsumer[T]:
        """Make, re-open or join a shared durable subscription.

        Raises:
            MessagingError: A missing capability, or the broker's answer.
        """
        engine = self._subscription(
            topic, name, selector, durability=Durability.DURABLE, shared=True, poison=policy_of(self._caller, poison)
        )
        return self._message_consumer(topic, engine)

    def create_message(self, body: T, **properties: Property) -> Message[T]:
        """Make a message with a body and properties."""
        return Message(body, properties=properties)

    def close(self) -> None:
        """Close it: what was not acknowledged comes again, an open unit of work is rolled back (JMS 6.2.15).

        Raises:
            MessagingError: A listener of this session closes it.
        """
        self._caller(self._engine.close(threading.get_ident()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _message_consumer(self, destination: Destination[T], engine: EngineConsumer) -> MessageConsumer[T]:
        return MessageConsumer(self._caller, engine, destination.converter, self.acknowledge)


class XaSession(Session):
    """A session whose units of work are branches of global ones (JMS 6.2.9): it works between start and end only."""

    def __init__(self, caller: Caller, engine: EngineSession) -> None:
        super().__init__(caller, engine)
        self._xa_resource = XaResource(caller, engine)

    @property
    def xa_resource(self) -> XaResource:
        """What a transaction manager works with: it starts and ends branches, and commits or rolls them back."""
        return self._xa_resource


class Connection:
    """A connection (JMS 6.1); hands nothing over before `start`.  Made by a `ConnectionFactory`."""

    def __init__(self, caller: Caller, engine: EngineConnection) -> None:
        self._caller = caller
        self._engine = engine

    @property
    def client_id(self) -> str | None:
        """JMS client id."""
        return self._engine.client_id

    def create_session(self, mode: AckMode = AckMode.AUTO) -> Session:
        """Open a session.

        Raises:
            MessagingError: The connection is gone, or has no transactions.
        """
        if mode is AckMode.XA:
            return self.create_xa_session()
        return Session(self._caller, self._caller(self._engine.session(mode)))

    def create_xa_session(self) -> XaSession:
        """Open a session for a transaction manager.

        Raises:
            MessagingError: The connection is gone, or has no global units of work.
        """
        return XaSession(self._caller, self._caller(self._engine.session(AckMode.XA)))

    def start(self) -> None:
        """Start handing messages over (JMS 6.1.4).

        Raises:
            MessagingError: The connection is gone.
        """
        self._caller(self._engine.start())

    def stop(self) -> None:
        """Hand nothing over until the next start; returns when no callback is under way (JMS 6.1.5).

        Raises:
            MessagingError: The connection is gone.
        """
        self._caller(self._engine.stop(threading.get_ident()))

    def set_exception_listener(self, listener: Callable[[MessagingError], None] | None) -> None:
        """Have a callback told of what no call can raise: a lost connection, a listener that raised (JMS 6.1.7)."""
        if listener is None:
            self._engine.on_exception = None
            return
        tell = listener

        def told(refused: Refused) -> None:
            tell(CHECKED[refused.kind](refused))

        self._engine.on_exception = told

    def close(self) -> None:
        """Close it with all its sessions.

        Raises:
            MessagingError: A listener of this connection closes it.
        """
        self._caller(self._engine.close(threading.get_ident()))

    def abort(self) -> None:
        """Lose the connection as if the line had been cut: nothing is said to the broker."""
        self._caller(self._engine.abort())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


class ConnectionFactory:
    """Makes connections to one place.

    Args:
        url: ``amqp://host:port``.
        client_id: JMS client id of its connections.
        login: User and password; None for anonymous.
        ca_file: PEM file with the certificates of those who are believed, for ``amqps://``; None for the system's.
        checks: Whether the client enforces rules of its own; False lets the broker answer.
        prefetch: How many messages a receiving consumer may have sent ahead.
        runner: The crank; None for that of the world where the URL leads, or else for one I/O loop that all
            connections of the process share.
        driver: The protocol; None for the one that serves the URL.
        observer: Told every event.
        trace: Whether the observer is told every protocol frame.
        id_prefix: What message ids begin with; None makes one up for each connection.
    """

    def __init__(
        self,
        url: str,
        *,
        client_id: str | None = None,
        login: Login | None = None,
        ca_file: str | None = None,
        checks: bool = True,
        prefetch: int = 0,
        runner: Runner | None = None,
        driver: Driver | None = None,
        observer: Observer = nobody,
        trace: bool = False,
        id_prefix: str | None = None,
    ) -> None:
        self._dial = Dial(
            url=url,
            client_id=client_id,
            login=login,
            ca_file=ca_file,
            checks=checks,
            prefetch=prefetch,
            runner=runner,
            driver=driver,
            observer=observer,
            trace=trace,
            id_prefix=id_prefix,
        )

    def create_connection(self, login: Login | None = None, *, client_id: str | None = None) -> Connection:
        """Connect.

        Args:
            login: In place of the factory's.
            client_id: In place of the factory's.

        Raises:
            MessagingError: No driver, no broker, a refused login, or a client id in use.
        """
        options = structs.replace(
            self._dial, login=login or self._dial.login, client_id=client_id or self._dial.client_id
        )
        return Connection(*dial(options, CHECKED))
