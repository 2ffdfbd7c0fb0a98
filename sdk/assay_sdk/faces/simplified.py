"""The simplified face: `connect` gives a `Context`, which makes producers and consumers (JMS 5.2).

Refusals are `assay_sdk.errors.MessagingRuntimeError` and its subclasses.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack, overload

from assay_sdk.driver import Driver, Durability, Login
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.settings import DeliveryMode, Source
from assay_sdk.errors import RUNTIME, JmsError, MessagingRuntimeError
from assay_sdk.faces.caller import Caller, Dial, Duration, dial
from assay_sdk.faces.consumer import ConsumerBase
from assay_sdk.faces.poison import PoisonOptions, policy_of
from assay_sdk.faces.producer import ProducerBase
from assay_sdk.faces.session import SessionBase
from assay_sdk.faces.xa import XaResource
from assay_sdk.model.destinations import Destination, Topic
from assay_sdk.model.reasons import Refused
from assay_sdk.observer import Observer, nobody
from assay_sdk.time import Runner

__all__ = ["Consumer", "Context", "Producer", "XaContext", "connect"]

T = TypeVar("T")


class Producer(ProducerBase[T]):
    """Sends to one destination, or to one named with each send.

    Settings are properties (``producer.priority = 7``) and calls that can be chained
    (``producer.set_priority(7).set_time_to_live(1000).send("hello")``).
    """

    def set_delivery_delay(self, delay: Duration) -> Self:
        """Delay what is sent from now on (DD-01).

        Raises:
            MessagingRuntimeError: DD-10, DD-13, or no such span; the earlier value stays (DD-15).
        """
        self.delivery_delay = delay
        return self

    def set_time_to_live(self, ttl: Duration) -> Self:
        """Let what is sent from now on expire; 0 never.

        Raises:
            MessagingRuntimeError: DD-12, or no such span; the earlier value stays (DD-15).
        """
        self.time_to_live = ttl
        return self

    def set_delivery_mode(self, mode: DeliveryMode) -> Self:
        """Send persistent or non-persistent from now on (PD-02).

        Raises:
            MessagingRuntimeError: The connection has no such mode.
        """
        self.delivery_mode = mode
        return self

    def set_priority(self, priority: int) -> Self:
        """Send with this priority from now on.

        Raises:
            MessagingRuntimeError: It is not 0 to 9, or the connection has no priorities.
        """
        self.priority = priority
        return self


class Consumer(ConsumerBase[T]):
    """Receives from a queue or a subscription."""

    def receive_body(self, timeout: Duration | None = None) -> T | None:
        """Wait for a message and give its body; None when none came.

        Raises:
            MessagingRuntimeError: As `receive`, or the body is not of the destination's type.
        """
        message = self.receive(timeout)
        if message is None:
            return None
        try:
            return message.body
        except JmsError as error:
            raise self._caller.error(error.refused) from error


class _Share:
    """How many contexts still use a connection: the last one closes it (JMS 5.2.3)."""

    def __init__(self, caller: Caller, connection: EngineConnection) -> None:
        self.connection = connection
        self._caller = caller
        self._contexts = 0

    def join(self) -> None:
        """One more."""
        self._contexts += 1

    def leave(self) -> None:
        """One less."""
        self._contexts -= 1
        if self._contexts == 0:
            self._caller(self.connection.close(threading.get_ident()))


class Context(SessionBase):
    """A connection and a session in one; `connect` makes the first, `create_context` more on the same connection."""

    def __init__(self, caller: Caller, share: _Share, engine: EngineSession, mode: AckMode) -> None:
        super().__init__(caller, engine)
        self._auto_start = True
        self._share = share
        self._mode = mode
        self._closed = False
        share.join()

    @property
    def client_id(self) -> str | None:
        """JMS client id."""
        return self._share.connection.client_id

    @property
    def session_mode(self) -> AckMode:
        """Its acknowledgement mode."""
        return self._mode

    @property
    def auto_start(self) -> bool:
        """Whether making a consumer starts the connection; settable, True at first."""
        return self._auto_start

    @auto_start.setter
    def auto_start(self, auto_start: bool) -> None:
        self._auto_start = auto_start

    def create_context(self, session_mode: AckMode) -> Context:
        """Make another context, with a session of its own, on the same connection.

        Raises:
            MessagingRuntimeError: The connection is gone, or has no transactions.
        """
        if session_mode is AckMode.XA:
            return self.create_xa_context()
        return Context(
            self._caller, self._share, self._caller(self._share.connection.session(session_mode)), session_mode
        )

    def create_xa_context(self) -> XaContext:
        """Make another context for a transaction manager, on the same connection.

        Raises:
            MessagingRuntimeError: The connection is gone, or has no global units of work.
        """
        engine = self._caller(self._share.connection.session(AckMode.XA))
        return XaContext(self._caller, self._share, engine, AckMode.XA)

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
        """Make a producer, with settings if you like; None for one whose sends name their destination.

        Raises:
            MessagingRuntimeError: The context is closed, a setting is refused, or the broker refuses the destination.
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
        """Make a consumer of a queue, or an unshared non-durable subscription on a topic.

        Args:
            destination: Where from.
            selector: Which messages.
            no_local: On a topic, leave out what this connection sent.
            poison: What becomes of a message that comes again and again (`assay_sdk.faces.poison.PoisonOptions`).

        Raises:
            MessagingRuntimeError: A missing capability, or the broker's answer.
        """
        source = Source(
            address=self._caller.address(destination),
            selector=selector,
            no_local=no_local,
            poison=policy_of(self._caller, poison),
        )
        return self._started(destination, self._consumer(source))

    def create_durable_consumer(
        self,
        topic: Topic[T],
        name: str,
        selector: str | None = None,
        *,
        no_local: bool = False,
        **poison: Unpack[PoisonOptions],
    ) -> Consumer[T]:
        """Make or re-open an unshared durable subscription; it needs a client id (PD-17).

        Raises:
            MessagingRuntimeError: No client id, in use, a missing capability, or the broker's answer.
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
        return self._started(topic, engine)

    def create_shared_consumer(
        self, topic: Topic[T], name: str, selector: str | None = None, **poison: Unpack[PoisonOptions]
    ) -> Consumer[T]:
        """Make or join a shared non-durable subscription.

        Raises:
            MessagingRuntimeError: A missing capability, or the broker's answer.
        """
        engine = self._subscription(
            topic,
            name,
            selector,
            durability=Durability.NON_DURABLE,
            shared=True,
            poison=policy_of(self._caller, poison),
        )
        return self._started(topic, engine)

    def create_shared_durable_consumer(
        self, topic: Topic[T], name: str, selector: str | None = None, **poison: Unpack[PoisonOptions]
    ) -> Consumer[T]:
        """Make, re-open or join a shared durable subscription.

        Raises:
            MessagingRuntimeError: A missing capability, or the broker's answer.
        """
        engine = self._subscription(
            topic, name, selector, durability=Durability.DURABLE, shared=True, poison=policy_of(self._caller, poison)
        )
        return self._started(topic, engine)

    def start(self) -> None:
        """Start handing messages over; needed only where `auto_start` is off.

        Raises:
            MessagingRuntimeError: The connection is gone.
        """
        self._caller(self._share.connection.start())

    def stop(self) -> None:
        """Hand nothing over until the next start; returns when no callback is under way.

        Raises:
            MessagingRuntimeError: The connection is gone.
        """
        self._caller(self._share.connection.stop(threading.get_ident()))

    def set_exception_listener(self, listener: Callable[[MessagingRuntimeError], None] | None) -> None:
        """Have a callback told of what no call can raise: a lost connection, a listener that raised."""
        if listener is None:
            self._share.connection.on_exception = None
            return
        tell = listener

        def told(refused: Refused) -> None:
            tell(RUNTIME[refused.kind](refused))

        self._share.connection.on_exception = told

    def close(self) -> None:
        """Close its session; the last context closes the connection.

        Raises:
            MessagingRuntimeError: A listener of this context closes it.
        """
        self._caller(self._engine.close(threading.get_ident()))
        if not self._closed:
            self._closed = True
            self._share.leave()

    def abort(self) -> None:
        """Lose the connection as if the line had been cut: nothing is said to the broker."""
        self._caller(self._share.connection.abort())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _started(self, destination: Destination[T], engine: EngineConsumer) -> Consumer[T]:
        if self.auto_start:
            self.start()
        return Consumer(self._caller, engine, destination.converter, self.acknowledge)


class XaContext(Context):
    """A context whose units of work are branches of global ones (JMS 11.2): it works between start and end only."""

    def __init__(self, caller: Caller, share: _Share, engine: EngineSession, mode: AckMode) -> None:
        super().__init__(caller, share, engine, mode)
        self._xa_resource = XaResource(caller, engine)

    @property
    def xa_resource(self) -> XaResource:
        """What a transaction manager works with: it starts and ends branches, and commits or rolls them back."""
        return self._xa_resource


def connect(
    url: str,
    *,
    client_id: str | None = None,
    login: Login | None = None,
    ca_file: str | None = None,
    session_mode: AckMode = AckMode.AUTO,
    checks: bool = True,
    prefetch: int = 0,
    runner: Runner | None = None,
    driver: Driver | None = None,
    observer: Observer = nobody,
    trace: bool = False,
    id_prefix: str | None = None,
) -> Context:
    """Connect, and open a session.

    Args:
        url: ``amqp://host:port``.
        client_id: JMS client id.
        login: User and password; None for anonymous.
        ca_file: PEM file with the certificates of those who are believed, for ``amqps://``; None for the system's.
        session_mode: The session's acknowledgement mode.
        checks: Whether the client enforces rules of its own; False lets the broker answer.
        prefetch: How many messages a receiving consumer may have sent ahead; 0 asks for each as it is wanted.
        runner: The crank; None for that of the world where the URL leads, or else for one I/O loop that all
            connections of the process share.
        driver: The protocol; None for the one that serves the URL.
        observer: Told every event.
        trace: Whether the observer is told every protocol frame.
        id_prefix: What message ids begin with; None makes one up.

    Raises:
        MessagingRuntimeError: No driver, no broker, a refused login, or a client id in use.
    """
    options = Dial(
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
    caller, connection = dial(options, RUNTIME)
    try:
        session = caller(connection.session(session_mode))
    except MessagingRuntimeError:
        caller(connection.close(threading.get_ident()))
        raise
    kind = XaContext if session_mode is AckMode.XA else Context
    return kind(caller, _Share(caller, connection), session, session_mode)
