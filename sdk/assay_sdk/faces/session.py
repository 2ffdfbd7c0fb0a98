"""What a classic session and a simplified context have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar, overload

from assay_sdk.driver import Durability
from assay_sdk.engine.deliveries.acknowledgement import Settling
from assay_sdk.engine.deliveries.poison import PoisonPolicy
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.sessions.producer import EngineProducer
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.settings import Source
from assay_sdk.faces.caller import Caller, Duration
from assay_sdk.faces.consumer import ConsumerBase
from assay_sdk.faces.message import Message
from assay_sdk.faces.producer import ProducerBase
from assay_sdk.model.converters import ANY, Converter, converter_for
from assay_sdk.model.destinations import Destination, Queue, TemporaryQueue, TemporaryTopic, Topic
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused

T = TypeVar("T")
U = TypeVar("U")


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

    def cancel(self, handle: str) -> bool:
        """Take a delayed message back before it is delivered: all copies of a publication, too.

        Args:
            handle: The message id that its send gave (`Receipt.message_id`): a string that outlives this process, the
                connection and, for a persistent message, the broker's restart.

        Returns:
            Whether it was taken back.  False when no such message is staged: it was delivered, cancelled or has
            expired, it had no delay, or its unit of work is not committed yet.

        Raises:
            JmsError: The broker cannot take messages back (`JmsErrorKind.UNSUPPORTED`, before anything is sent), the
                user may neither send to its destination nor administer the staging queue, or the handle is no string.
        """
        return self._caller(self._engine.cancel(self._checked_handle(handle)))

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
        self._caller.address(queue)
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
        self._caller(self._engine.delete_temporary(destination.address))

    @overload
    def request(
        self, destination: Destination[T], message: Message[T] | T, *, timeout: Duration | None = None
    ) -> Message[Any] | None: ...
    @overload
    def request(
        self,
        destination: Destination[T],
        message: Message[T] | T,
        *,
        timeout: Duration | None = None,
        reply_type: type[U],
    ) -> Message[U] | None: ...
    def request(
        self,
        destination: Destination[T],
        message: Message[T] | T,
        *,
        timeout: Duration | None = None,
        reply_type: type[Any] | None = None,
    ) -> Message[Any] | None:
        """Send a message with a temporary queue as its reply-to, and wait for the answer there.

        Each request has a queue of its own, deleted afterwards, so an answer that comes too late is never taken for the
        answer to another request; whoever sends it is refused.

        Args:
            destination: Where the request goes.
            message: A `Message` without a reply-to, or a body of the destination's type.
            timeout: How long to wait for the answer; None waits for ever, 0 takes what is there.
            reply_type: Type of the answer's body; None takes text, bytes and JSON as they come.

        Returns:
            The answer, acknowledged as the session's mode says; None when none came in time.

        Raises:
            JmsError: The session works in units of work (what it sends leaves with the commit), the message has a
                reply-to of its own, the broker has no temporary queues, or as `send` and `receive`.
        """
        self._check_request(message)
        queue = self.create_temporary_queue(converter=ANY if reply_type is None else converter_for(reply_type))
        try:
            return self._ask(destination, message, queue, timeout)
        finally:
            self.delete_temporary(queue)

    def _checked_handle(self, given: object) -> str:
        if isinstance(given, str) and given:
            return given
        text = f"the handle is {given!r}: give the message id of a receipt, such as 'ID:414D51…'"
        raise self._caller.error(Refused(JmsErrorKind.MESSAGING, text))

    def _check_request(self, message: object) -> None:
        if self._engine.behaviour.settling in (Settling.BY_UNIT, Settling.BY_BRANCH):
            text = "a request in a unit of work waits in vain, because it is sent at the commit: use another session"
            raise self._caller.error(Refused(JmsErrorKind.ILLEGAL_STATE, text))
        if isinstance(message, Message) and message.reply_to is not None:
            text = "the request has a reply-to, and request makes one of its own: leave it out, or send and receive"
            raise self._caller.error(Refused(JmsErrorKind.INVALID_DESTINATION, text))

    def _ask(
        self,
        destination: Destination[T],
        message: Message[T] | T,
        queue: TemporaryQueue[Any],
        timeout: Duration | None,
    ) -> Message[Any] | None:
        asked: Message[T] = message if isinstance(message, Message) else Message(message)
        asked.reply_to = queue
        try:
            engine = self._consumer(Source(address=queue.address))
            with ConsumerBase(self._caller, engine, queue.converter, self.acknowledge) as consumer:
                with ProducerBase(self._caller, self._producer(destination), destination) as producer:
                    producer.send(asked)
                self._caller(self._engine.connection.start())
                return consumer.receive(timeout)
        finally:
            asked.reply_to = None

    def _temporary(self, kind: AddressKind) -> str:
        return self._caller(self._engine.make_temporary(kind)).name

    def _producer(self, destination: Destination[T] | None) -> EngineProducer:
        address = None if destination is None else self._caller.address(destination)
        return self._caller(self._engine.create_producer(address))

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
        poison: PoisonPolicy,
    ) -> EngineConsumer:
        if not name:
            raise self._caller.error(refused(Mqrc.SUB_NAME_ERROR, "a subscription of this kind has a name: give one"))
        return self._consumer(
            Source(
                address=self._caller.address(topic),
                selector=selector,
                no_local=no_local,
                durability=durability,
                name=name,
                shared=shared,
                poison=poison,
            )
        )
