"""What a classic session and a simplified context have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar, overload

from assay_sdk.driver import Durability
from assay_sdk.engine.consumer import Consumer as EngineConsumer
from assay_sdk.engine.producer import Producer as EngineProducer
from assay_sdk.engine.session import Session as EngineSession
from assay_sdk.engine.settings import Source
from assay_sdk.faces.calling import Caller
from assay_sdk.faces.message import Message
from assay_sdk.model.converters import Converter
from assay_sdk.model.destinations import Destination, Queue, TemporaryQueue, TemporaryTopic, Topic
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import Mqrc, refused

T = TypeVar("T")


class QueueBrowser(Generic[T]):
    """Looks at a queue without taking anything; each iteration looks anew."""

    def __init__(self, caller: Caller, engine: EngineSession, queue: Queue[T], selector: str | None) -> None:
        self._caller = caller
        self._engine = engine
        self._queue = queue
        self._selector = selector

    @property
    def queue(self) -> Queue[T]:
        """The queue."""
        return self._queue

    @property
    def message_selector(self) -> str | None:
        """The selector."""
        return self._selector

    def __iter__(self) -> Iterator[Message[T]]:
        """The messages that are there now, in the queue's order.

        Raises:
            JmsError: The connection cannot browse, or the broker refuses.
        """
        messages = self._caller(self._engine.browse(self._queue.address, self._selector))
        return iter([Message.from_wire(message, self._queue.converter) for message in messages])


class SessionBase:
    """What a classic session and a simplified context have in common."""

    def __init__(self, caller: Caller, engine: EngineSession) -> None:
        self._caller = caller
        self._engine = engine

    def commit(self) -> None:
        """Commit the unit of work (JMS 6.2.7).

        Raises:
            JmsError: It is not transacted, closed or lost; or the unit was rolled back instead.
        """
        self._caller(self._engine.commit())

    def rollback(self) -> None:
        """Roll the unit of work back; what was received comes again (JMS 6.2.7).

        Raises:
            JmsError: It is not transacted, closed or lost.
        """
        self._caller(self._engine.rollback())

    def recover(self) -> None:
        """Have everything unacknowledged come again, in its order (JMS 6.2.11).

        Raises:
            JmsError: It is transacted, closed or lost.
        """
        self._caller(self._engine.recover())

    def acknowledge(self) -> None:
        """Acknowledge everything that was handed over, from all consumers (JMS 8.7); nothing in other modes.

        Raises:
            JmsError: It is closed or lost.
        """
        self._caller(self._engine.acknowledge())

    def unsubscribe(self, name: str, *, shared: bool = False) -> None:
        """Remove a durable subscription.

        Args:
            name: Its name.
            shared: Whether it is shared, and so may stand without a client id.

        Raises:
            JmsError: There is none, it is in use, or there is no client id.
        """
        self._caller(self._engine.unsubscribe(name, shared=shared))

    def create_browser(self, queue: Queue[T], selector: str | None = None) -> QueueBrowser[T]:
        """Make a browser; it looks when it is iterated."""
        return QueueBrowser(self._caller, self._engine, queue, selector)

    @overload
    def create_temporary_queue(self) -> TemporaryQueue[str]: ...
    @overload
    def create_temporary_queue(
        self, body_type: type[T], *, converter: Converter[T] | None = None
    ) -> TemporaryQueue[T]: ...
    @overload
    def create_temporary_queue(self, *, converter: Converter[T]) -> TemporaryQueue[T]: ...
    def create_temporary_queue(
        self, body_type: Any = str, *, converter: Converter[Any] | None = None
    ) -> TemporaryQueue[Any]:
        """Make a temporary queue: anybody sends to it, this connection alone receives, and it goes with that.

        Args:
            body_type: Type of the bodies.
            converter: Converts them; by default what the type has.

        Raises:
            JmsError: There are none here, or the connection is lost.
        """
        shape = TemporaryQueue("made", body_type, converter=converter)  # refused, if at all, before anything is made
        return TemporaryQueue(self._temporary(AddressKind.TEMPORARY_QUEUE), converter=shape.converter)

    @overload
    def create_temporary_topic(self) -> TemporaryTopic[str]: ...
    @overload
    def create_temporary_topic(
        self, body_type: type[T], *, converter: Converter[T] | None = None
    ) -> TemporaryTopic[T]: ...
    @overload
    def create_temporary_topic(self, *, converter: Converter[T]) -> TemporaryTopic[T]: ...
    def create_temporary_topic(
        self, body_type: Any = str, *, converter: Converter[Any] | None = None
    ) -> TemporaryTopic[Any]:
        """Make a temporary topic: anybody publishes on it, this connection alone subscribes, and it goes with that.

        Args:
            body_type: Type of the bodies.
            converter: Converts them; by default what the type has.

        Raises:
            JmsError: There are none here, or the connection is lost.
        """
        shape = TemporaryTopic("made", body_type, converter=converter)
        return TemporaryTopic(self._temporary(AddressKind.TEMPORARY_TOPIC), converter=shape.converter)

    def delete_temporary(self, destination: TemporaryQueue[Any] | TemporaryTopic[Any]) -> None:
        """Delete a temporary destination before its connection ends.

        Raises:
            JmsError: The connection has not made it, or has a consumer of it.
        """
        self._caller(self._engine.connection.temporaries.delete(self._engine, destination.address))

    def _temporary(self, kind: AddressKind) -> str:
        return self._caller(self._engine.connection.temporaries.make(self._engine, kind)).name

    def _producer(self, destination: Destination[T] | None) -> EngineProducer:
        return self._caller(self._engine.create_producer(destination.address if destination is not None else None))

    def _consumer(self, source: Source) -> EngineConsumer:
        return self._caller(self._engine.create_consumer(source))

    def _subscription(
        self,
        topic: Topic[T],
        name: str,
        selector: str | None,
        *,
        durability: Durability,
        shared: bool,
        no_local: bool = False,
    ) -> EngineConsumer:
        if not name:
            raise self._caller.error(refused(Mqrc.SUB_NAME_ERROR, "a subscription of this kind has a name: give one"))
        return self._consumer(
            Source(
                address=topic.address,
                selector=selector,
                no_local=no_local,
                durability=durability,
                name=name,
                shared=shared,
            )
        )
