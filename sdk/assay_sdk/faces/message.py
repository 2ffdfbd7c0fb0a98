"""Messages of the application: JMS headers as attributes, properties as a mapping, and a typed body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from assay_sdk.amqp.foreign import shown_body
from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.settings import AS_DESTINATION, DeliveryMode
from assay_sdk.errors import MessageFormatError
from assay_sdk.model import message as wire
from assay_sdk.model.contents import check_contents, check_names
from assay_sdk.model.converters import ConversionError, Converter
from assay_sdk.model.destinations import Destination, DestinationError, Queue, Topic, address_of
from assay_sdk.model.destinations import destination as destination_at
from assay_sdk.model.message import DEFAULT_PRIORITY, Address, Body, Property
from assay_sdk.model.properties import GROUP_ID, GROUP_SEQUENCE, group_of, group_properties
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")

_FIELDS = frozenset({GROUP_ID, GROUP_SEQUENCE})
"""Properties that AMQP carries in fields of their own: group-id and group-sequence."""


class Message(Generic[T]):
    """A message that the application sends, has sent, or has received.

    A send reads correlation id, reply-to, type, group, properties and body from the message.  The producer or the
    broker decides the other headers, and the send sets them in the message.  Values that the application gives these
    headers before a send have no effect (PD-04; JMS 2.0, 3.4).

    Args:
        body: Body, of the destination's type.
        properties: The application's own properties, and those that begin with ``JMSX`` or ``JMS_IBM_``.  A name has
            only letters, digits, ``_`` and ``$``, so that a selector can refer to it (Jakarta Messaging 3.1, 3.5.1).
        correlation_id: JMSCorrelationID.
        reply_to: JMSReplyTo: the queue or topic for replies.
        jms_type: JMSType.
        group_id: JMSXGroupID, also in ``properties["JMSXGroupID"]``.
        group_sequence: JMSXGroupSeq, also in ``properties["JMSXGroupSeq"]``.

    Attributes:
        message_id: JMSMessageID.
        timestamp: JMSTimestamp: time of the send, in milliseconds since the epoch.
        destination: JMSDestination: the queue or topic to which the message was sent.
        delivery_mode: JMSDeliveryMode.  `DeliveryMode.AS_DESTINATION` after a send with that mode, because only a
            receiver learns the mode that the broker chose.
        priority: JMSPriority; `AS_DESTINATION` after a send with that priority.
        expiration: JMSExpiration in milliseconds since the epoch; 0 for no expiry.
        delivery_time: JMSDeliveryTime in milliseconds since the epoch; 0 for a message without delay.
        redelivered: JMSRedelivered.
        delivery_count: JMSXDeliveryCount; 0 for a message that was not received.
    """

    def __init__(
        self,
        body: T | None = None,
        *,
        properties: Mapping[str, Property] | None = None,
        correlation_id: str | None = None,
        reply_to: Destination[Any] | None = None,
        jms_type: str | None = None,
        group_id: str | None = None,
        group_sequence: int | None = None,
    ) -> None:
        given = cast("object", properties)
        if not (given is None or isinstance(given, Mapping)):
            raise TypeError(f"properties is {given!r}: give a mapping of names to values")
        self.properties: MutableMapping[str, Property] | Mapping[str, Property] = {
            **(properties or {}),
            **group_properties(group_id, group_sequence),
        }
        self.correlation_id = correlation_id
        self._reply_to: Destination[Any] | Address | None = reply_to
        self.jms_type = jms_type
        self.message_id: str | None = None
        self.timestamp = 0
        self._to: Address | None = None
        self.delivery_mode = DeliveryMode.PERSISTENT
        self.priority = DEFAULT_PRIORITY
        self.expiration = 0
        self.delivery_time = 0
        self.redelivered = False
        self.delivery_count = 0
        self._body: T | None = body
        self._undecoded: tuple[str | None, Converter[T]] | None = None
        """Content type and converter of the raw body, until it is decoded."""
        self._raw: Body = None
        self._acknowledge: Callable[[], None] | None = None

    @classmethod
    def from_wire(
        cls, sent: wire.Message, converter: Converter[T], acknowledge: Callable[[], None] | None = None
    ) -> Message[T]:
        """Make the application's message from a driver's message; the properties are read-only (JMS 2.0, 3.10).

        Args:
            sent: The message as the driver received it.
            converter: Decodes the body when the application reads it.
            acknowledge: Called by `acknowledge`; None for a message that needs no acknowledgement.
        """
        message: Message[T] = Message()
        show_received(message, sent)
        message._raw, content_type = shown_body(sent)
        message._undecoded = content_type, converter
        message._acknowledge = acknowledge
        return message

    @property
    def destination(self) -> Queue[Any] | Topic[Any] | None:
        """JMSDestination; None before a send.

        Raises:
            MessageFormatError: The destination of the received message has an invalid name.
        """
        return None if self._to is None else _destination(self._to)

    @destination.setter
    def destination(self, to: Address | None) -> None:
        self._to = to

    @property
    def reply_to(self) -> Destination[Any] | None:
        """JMSReplyTo: the destination for replies; None without one.

        The reply-to of a received message accepts bodies of any type.

        Raises:
            MessageFormatError: The reply-to of the received message has an invalid name.
        """
        return _destination(self._reply_to) if isinstance(self._reply_to, Address) else self._reply_to

    @reply_to.setter
    def reply_to(self, reply_to: Destination[Any] | Address | None) -> None:
        self._reply_to = reply_to

    @property
    def body(self) -> T:
        """Body, decoded at the first access.

        Raises:
            MessageFormatError: The body is not of the destination's type; `raw_body` returns it undecoded.  With
                automatic acknowledgement, `receive` has acknowledged the message already.
        """
        if self._undecoded is not None:
            content_type, converter = self._undecoded
            try:
                self._body = converter.decode(self._raw, content_type)
            except ConversionError as error:
                objects = () if self._to is None else (self._to.name,)
                raise MessageFormatError(Refused(JmsErrorKind.MESSAGE_FORMAT, str(error), objects=objects)) from error
            self._undecoded = None
        return cast("T", self._body)

    @body.setter
    def body(self, body: T) -> None:
        self._undecoded = None
        self._body = body

    @property
    def raw_body(self) -> Body:
        """Received body as text or bytes, not decoded to the destination's type; None if the message has no body.

        With this text or these bytes, the application can log, store or forward a message whose `body` cannot be
        decoded.  A body of a type that only other clients send, such as a map, is JSON text, or bytes if JSON cannot
        represent it (`assay_sdk.amqp.foreign`).
        """
        return self._raw

    @property
    def group_id(self) -> str | None:
        """JMSXGroupID; None for a message without a group."""
        value = self.properties.get(GROUP_ID)
        return value if isinstance(value, str) else None

    @property
    def group_sequence(self) -> int | None:
        """JMSXGroupSeq, the position in the group, from 1; None for a message without one."""
        value = self.properties.get(GROUP_SEQUENCE)
        return value if isinstance(value, int) else None

    def acknowledge(self) -> None:
        """Acknowledge all messages that the session has delivered (JMS 2.0, 3.6.5).

        In modes other than `AckMode.CLIENT`, and for a message that was not received, the call does nothing.

        Raises:
            JmsError: The session is closed or lost.
        """
        if self._acknowledge is not None:
            self._acknowledge()

    def __repr__(self) -> str:
        return f"Message({self.message_id or 'not sent'})"


def _destination(address: Address) -> Queue[Any] | Topic[Any]:
    try:
        return destination_at(address)
    except DestinationError as error:
        refused = Refused(JmsErrorKind.MESSAGE_FORMAT, str(error), objects=(address.name,))
        raise MessageFormatError(refused) from error


def received(delivery: EngineDelivery, converter: Converter[T], acknowledge: Callable[[], None]) -> Message[T]:
    """Make the application's message from a delivery.

    Args:
        delivery: Delivery of the engine.
        converter: Decodes the body when the application reads it.
        acknowledge: Called by `Message.acknowledge`.
    """
    message = Message.from_wire(delivery.message, converter, acknowledge)
    message.redelivered = delivery.redelivered
    message.delivery_count = delivery.count
    return message


def show_sent(message: Message[T], sent: wire.Message) -> None:
    """Set the headers of the application's message from the message that the driver sent."""
    _show_headers(message, sent)
    message.delivery_mode = DeliveryMode.AS_DESTINATION if sent.durable is None else _mode(sent)
    message.priority = AS_DESTINATION if sent.priority is None else sent.priority


def show_received(message: Message[T], came: wire.Message) -> None:
    """Set the headers of the application's message from the message that the driver received.

    The properties become read-only (JMS 2.0, 3.10).
    """
    _show_headers(message, came)
    message.reply_to = came.reply_to
    message.delivery_mode = _mode(came)
    message.priority = DEFAULT_PRIORITY if came.priority is None else came.priority
    message.properties = MappingProxyType({**came.properties, **group_properties(came.group_id, came.group_sequence)})


def _mode(message: wire.Message) -> DeliveryMode:
    """Return the delivery mode; without a durable header it is non-persistent, as in JMS's mapping to AMQP 1.0."""
    return DeliveryMode.PERSISTENT if message.durable else DeliveryMode.NON_PERSISTENT


def _show_headers(message: Message[T], sent: wire.Message) -> None:
    message.message_id = sent.message_id
    message.correlation_id = sent.correlation_id
    message.timestamp = sent.creation_ms or 0
    message.destination = sent.to
    message.jms_type = sent.subject
    message.expiration = sent.expiry_ms or 0
    message.delivery_time = sent.delivery_time_ms or 0


def drafted(message: Message[T], converter: Converter[T]) -> wire.Message:
    """Make the driver's message from the application's message: body, properties and the headers that a sender sets.

    Raises:
        ConversionError: The body is not of the destination's type.
        ContentError: A text or a property has an invalid type or value, UTF-8 cannot encode a text, or a property's
            name is invalid.
        PropertyError: A property that the client itself reads, such as JMSXGroupSeq, has an invalid value.
        DestinationError: The reply-to is not a destination.
        MessageFormatError: The body or the reply-to of a received message, which the application forwards, cannot be
            read.
    """
    body, content_type = converter.encode(message.body)
    group_id, sequence = group_of(message.properties)
    draft = wire.Message(
        correlation_id=message.correlation_id,
        reply_to=None if message.reply_to is None else address_of(message.reply_to, "reply_to"),
        subject=message.jms_type,
        group_id=group_id,
        group_sequence=sequence,
        properties={name: value for name, value in message.properties.items() if name not in _FIELDS},
        content_type=content_type,
        body=body,
    )
    check_contents(draft)
    if not isinstance(message.properties, MappingProxyType):  # a received message can be forwarded with invalid names
        check_names(draft.properties)
    return draft
