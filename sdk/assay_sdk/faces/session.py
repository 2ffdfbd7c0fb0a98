"""The base of the classic face's session and the simplified face's context, and the queue browser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar, overload

from assay_sdk.driver import Durability
from assay_sdk.engine.deliveries.acknowledgement import Settling
from assay_sdk.engine.sessions import requests
from assay_sdk.engine.sessions.consumer import EngineConsumer
from assay_sdk.engine.sessions.producer import EngineProducer
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.settings import Source
from assay_sdk.errors import JmsError
from assay_sdk.faces.caller import Caller, Duration
from assay_sdk.faces.consumer import ConsumerBase
from assay_sdk.faces.message import Message
from assay_sdk.faces.poison import policy_of
from assay_sdk.faces.producer import ProducerBase
from assay_sdk.model.converters import ANY, Converter, converter_for
from assay_sdk.model.destinations import Destination, Queue, TemporaryQueue, TemporaryTopic, Topic
from assay_sdk.model.message import AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")
U = TypeVar("U")


class QueueBrowser(Generic[T]):
    """A browser, which lists a queue's messages without removing them; each iteration requests a new list."""

    def __init__(self, caller: Caller, engine: EngineSession, queue: Queue[T], selector: str | None) -> None:
        self._caller = caller
        self._engine = engine
        self._queue = queue
        self._selector = selector

    @property
    def queue(self) -> Queue[T]:
        """Queue of the browser."""
        return self._queue

    @property
    def message_selector(self) -> str | None:
        """Message selector of the browser; None if the browser has none."""
        return self._selector

    def __iter__(self) -> Iterator[Message[T]]:
        """Iterate over the messages that are on the queue now, in the queue's order.

        Raises:
            JmsError: The session is closed or lost, the selector is invalid, the driver or the broker cannot browse, or
                the broker refuses the queue.
        """
        messages = self._caller(requests.browse(self._engine, self._queue.address, self._selector))
        return iter([Message.from_wire(message, self._queue.converter) for message in messages])


class SessionBase:
    """Base of the classic face's `Session` and the simplified face's `Context`."""

    def __init__(self, caller: Caller, engine: EngineSession) -> None:
        self._caller = caller
        self._engine = engine
        self._answered: list[TemporaryQueue[Any]] = []
        """The queues of earlier requests that the client could not delete yet, because the application had not
        acknowledged the reply."""

    def commit(self) -> None:
        """Commit the unit of work (JMS 2.0, 6.2.7).

        Raises:
            JmsError: The session is not transacted or is in XA mode, is closed or lost, or the broker rolled the unit
                of work back, or did not answer in time (MQRC_CALL_INTERRUPTED: the unit is in doubt).
        """
        self._caller(self._engine.commit())

    def rollback(self) -> None:
        """Roll the unit of work back; the broker redelivers the messages that were received in it (JMS 2.0, 6.2.7).

        Raises:
            JmsError: The session is not transacted or is in XA mode, is closed or lost, or the broker refuses the
                rollback.
        """
        self._caller(self._engine.rollback())

    def recover(self) -> None:
        """Give unacknowledged messages back, so that the broker delivers them again in their order (JMS 2.0, 6.2.11).

        Raises:
            JmsError: The session is transacted or in XA mode, or is closed or lost.
        """
        self._caller(self._engine.recover())

    def acknowledge(self) -> None:
        """Acknowledge every message that the session's consumers have received (JMS 2.0, 8.7).

        In modes other than `AckMode.CLIENT`, the call does nothing.

        Raises:
            JmsError: The session is closed or lost.
        """
        self._caller(self._engine.acknowledge())

    def cancel(self, handle: str) -> bool:
        """Cancel a delayed message before the broker delivers it; for a publication, cancel all its copies.

        Args:
            handle: The message id that the send returned (`Receipt.message_id`).  The id stays valid when the
                connection or this process ends.  The id of a persistent message also stays valid when the broker
                restarts.

        Returns:
            True if the broker has cancelled the message.  False if no such message is staged: it was delivered or
            cancelled, has expired, had no delay, or its unit of work is not committed yet.

        Raises:
            JmsError: The session is closed or lost, the broker cannot cancel messages (`JmsErrorKind.UNSUPPORTED`,
                raised before anything is sent), the user may neither send to the destination nor administer the
                staging queue, or the handle is not text, is empty, or has an unpaired surrogate.
        """
        return self._caller(requests.cancel(self._engine, self._checked_handle(handle)))

    def unsubscribe(self, name: str, *, shared: bool = False) -> None:
        """Remove a durable subscription.

        Args:
            name: Name of the subscription.
            shared: Whether the subscription is shared; only a shared subscription can exist without a client id.

        Raises:
            JmsError: The session is closed or lost, the name is invalid, the subscription does not exist or has a
                consumer, the subscription is unshared and the connection has no client id, or the driver or the broker
                lacks durable subscriptions.
        """
        self._caller(requests.unsubscribe(self._engine, name, shared=shared))

    def create_browser(self, queue: Queue[T], selector: str | None = None) -> QueueBrowser[T]:
        """Create a browser of a queue.

        Args:
            queue: Queue to browse.
            selector: JMS message selector; None for all messages.

        Raises:
            JmsError: The destination is not a queue.
        """
        self._caller.queue(queue)
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
        """Create a temporary queue, from which only this connection can receive.

        The broker deletes the queue when the connection ends.

        Args:
            body_type: Type of the bodies.
            converter: Encodes and decodes the bodies; by default the converter of the type.

        Raises:
            JmsError: The broker has no temporary destinations, or the session is closed or lost.
            NoConverterError: The SDK has no converter for the type, and no converter is given.
        """
        # A type without a converter is refused here, before the broker creates the queue.
        shape = TemporaryQueue("made", body_type, converter=converter)
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
        """Create a temporary topic, to which only this connection can subscribe.

        The broker deletes the topic when the connection ends.

        Args:
            body_type: Type of the bodies.
            converter: Encodes and decodes the bodies; by default the converter of the type.

        Raises:
            JmsError: The broker has no temporary destinations, or the session is closed or lost.
            NoConverterError: The SDK has no converter for the type, and no converter is given.
        """
        shape = TemporaryTopic("made", body_type, converter=converter)
        return TemporaryTopic(self._temporary(AddressKind.TEMPORARY_TOPIC), converter=shape.converter)

    def delete_temporary(self, destination: TemporaryQueue[Any] | TemporaryTopic[Any]) -> None:
        """Delete a temporary destination before its connection ends.

        Raises:
            JmsError: The session is closed or lost, the connection did not create the destination, or the connection
                still has a consumer on it.
        """
        self._caller(requests.delete_temporary(self._engine, self._caller.address(destination)))

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
        """Send a message with a temporary queue as its reply-to, and wait for the reply on this queue.

        The call starts the connection.  Each request has its own queue, which the client deletes afterwards.  The
        broker then refuses a late reply, so no later request receives this reply.  If the application acknowledges the
        reply itself, the client deletes the queue at the next request after the acknowledgement.  When the connection
        ends, the broker deletes the queues that the client could not delete.

        Args:
            destination: Destination of the request.
            message: A `Message` without a reply-to, or a body of the destination's type.
            timeout: How long to wait for the reply; None waits without limit, 0 does not wait.
            reply_type: Type of the reply's body; None accepts text, bytes and JSON.

        Returns:
            The reply, acknowledged as the session's mode requires; None if no reply came before the timeout.

        Raises:
            JmsError: The session is transacted, so the broker would get the request only at the commit.  Or the message
                has a reply-to already, the broker has no temporary queues, or a `send` or `receive` call would fail.
            NoConverterError: The SDK has no converter for `reply_type`.
        """
        self._check_request(message)
        queue = self.create_temporary_queue(converter=ANY if reply_type is None else converter_for(reply_type))
        try:
            return self._request(destination, message, queue, timeout)
        finally:
            self._answered = [one for one in (*self._answered, queue) if not self._delete_answered(one)]

    def _delete_answered(self, queue: TemporaryQueue[Any]) -> bool:
        """Delete a request's queue; return False if the application must acknowledge the reply before the deletion.

        An error of the deletion is ignored, so that the application gets the reply, or the error of the request.
        """
        try:
            self.delete_temporary(queue)
        except JmsError as error:
            return error.refused.kind is not JmsErrorKind.ILLEGAL_STATE
        return True

    def _checked_handle(self, handle: object) -> str:
        if isinstance(handle, str) and handle and handle == handle.encode(errors="replace").decode():
            return handle  # "replace" changes an unpaired surrogate, which no message id has
        text = f"the handle is {handle!r}: give the message id that a send returned, such as 'ID:414D51…'"
        raise self._caller.error(Refused(JmsErrorKind.MESSAGING, text))

    def _check_request(self, message: object) -> None:
        if self._engine.behaviour.settling in (Settling.BY_UNIT, Settling.BY_BRANCH):
            text = "a transacted session sends only at its commit, so no reply can come: use another session"
            raise self._caller.error(Refused(JmsErrorKind.ILLEGAL_STATE, text))
        if isinstance(message, Message) and message.reply_to is not None:
            text = "the message has a reply-to, and request sets its own: remove it, or call send and receive"
            raise self._caller.error(Refused(JmsErrorKind.INVALID_DESTINATION, text))

    def _request(
        self,
        destination: Destination[T],
        message: Message[T] | T,
        queue: TemporaryQueue[Any],
        timeout: Duration | None,
    ) -> Message[Any] | None:
        request: Message[T] = message if isinstance(message, Message) else Message(message)
        request.reply_to = queue
        try:
            engine = self._caller(self._engine.create_consumer(Source(address=queue.address)))
            with ConsumerBase(self._caller, engine, queue.converter, self.acknowledge) as consumer:
                with ProducerBase(self._caller, self._producer(destination), destination) as producer:
                    producer.send(request)
                self._caller(self._engine.connection.start())
                return consumer.receive(timeout)
        finally:
            request.reply_to = None

    def _temporary(self, kind: AddressKind) -> str:
        return self._caller(requests.make_temporary(self._engine, kind)).name

    def _producer(self, destination: Destination[T] | None) -> EngineProducer:
        address = None if destination is None else self._caller.address(destination)
        return self._caller(self._engine.create_producer(address))

    def _consumer(
        self, destination: Destination[Any], selector: str | None, *, no_local: bool, poison: Mapping[str, object]
    ) -> EngineConsumer:
        source = Source(
            address=self._caller.address(destination),
            selector=selector,
            no_local=no_local,
            poison=policy_of(self._caller, poison),
        )
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
        poison: Mapping[str, object],
    ) -> EngineConsumer:
        policy = policy_of(self._caller, poison)
        source = Source(
            address=self._caller.topic(topic),
            selector=selector,
            no_local=no_local,
            durability=durability,
            name=name,
            shared=shared,
            poison=policy,
        )
        return self._caller(self._engine.create_consumer(source))
