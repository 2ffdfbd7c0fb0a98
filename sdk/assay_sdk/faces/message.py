"""Messages as an application has them: JMS's headers as attributes, properties as a mapping, a typed body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from types import MappingProxyType
from typing import Generic, TypeVar, cast

from assay_sdk.engine.deliveries import Delivery
from assay_sdk.engine.settings import DeliveryMode
from assay_sdk.errors import MessageFormatError
from assay_sdk.model import message as wire
from assay_sdk.model.converters import ConversionError, Converter
from assay_sdk.model.message import Address, Property
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")

DEFAULT_PRIORITY = 4


class Message(Generic[T]):
    """A message to be sent, one that was sent, or one that came.

    What the sender decides (correlation id, reply-to, type, group, properties, body) is taken from here; everything
    else is decided by the producer or the broker and shown here afterwards: setting it before a send has no effect
    (PD-04, JMS 3.4).

    Args:
        body: The body, of the destination's type.
        properties: Application properties.
        correlation_id: JMSCorrelationID.
        reply_to: JMSReplyTo.
        jms_type: JMSType.
        group_id: JMSXGroupID.
        group_sequence: JMSXGroupSeq.

    Attributes:
        message_id: JMSMessageID.
        timestamp: JMSTimestamp: when it was sent, in milliseconds since the epoch.
        destination: JMSDestination.
        delivery_mode: JMSDeliveryMode.
        priority: JMSPriority.
        expiration: JMSExpiration in milliseconds since the epoch; 0 never.
        delivery_time: JMSDeliveryTime in milliseconds since the epoch; 0 when it was not delayed.
        redelivered: JMSRedelivered.
        delivery_count: JMSXDeliveryCount; 0 before it was delivered.
    """

    def __init__(
        self,
        body: T | None = None,
        *,
        properties: Mapping[str, Property] | None = None,
        correlation_id: str | None = None,
        reply_to: Address | None = None,
        jms_type: str | None = None,
        group_id: str | None = None,
        group_sequence: int | None = None,
    ) -> None:
        self.properties: MutableMapping[str, Property] | Mapping[str, Property] = dict(properties or {})
        self.correlation_id = correlation_id
        self.reply_to = reply_to
        self.jms_type = jms_type
        self.group_id = group_id
        self.group_sequence = group_sequence
        self.message_id: str | None = None
        self.timestamp = 0
        self.destination: Address | None = None
        self.delivery_mode = DeliveryMode.PERSISTENT
        self.priority = DEFAULT_PRIORITY
        self.expiration = 0
        self.delivery_time = 0
        self.redelivered = False
        self.delivery_count = 0
        self._body: T | None = body
        self._undecoded: tuple[wire.Message, Converter[T]] | None = None
        self._acknowledge: Callable[[], None] | None = None

    @classmethod
    def from_wire(
        cls, sent: wire.Message, converter: Converter[T], acknowledge: Callable[[], None] | None = None
    ) -> Message[T]:
        """The message that a wire brought; its properties are read-only (JMS 3.10)."""
        message: Message[T] = Message()
        shown(message, sent)
        message.properties = MappingProxyType(sent.properties)
        message._undecoded = sent, converter
        message._acknowledge = acknowledge
        return message

    @property
    def body(self) -> T:
        """The body, decoded when first asked for.

        Raises:
            MessageFormatError: It is not what the destination's type says; the message itself can still be settled.
        """
        if self._undecoded is not None:
            message, converter = self._undecoded
            try:
                self._body = converter.decode(message.body, message.content_type)
            except ConversionError as error:
                objects = (message.to.name,) if message.to else ()
                raise MessageFormatError(Refused(JmsErrorKind.MESSAGE_FORMAT, str(error), objects=objects)) from error
            self._undecoded = None
        return cast("T", self._body)

    @body.setter
    def body(self, body: T) -> None:
        self._undecoded = None
        self._body = body

    def acknowledge(self) -> None:
        """Acknowledge, in the meaning of the session's mode (JMS 3.6.5); nothing for one that was not received.

        Raises:
            JmsError: The session is closed or lost.
        """
        if self._acknowledge is not None:
            self._acknowledge()

    def __repr__(self) -> str:
        return f"Message({self.message_id or 'not sent'})"


def received(delivery: Delivery, converter: Converter[T], acknowledge: Callable[[], None]) -> Message[T]:
    """The message of a delivery."""
    message = Message.from_wire(delivery.message, converter, acknowledge)
    message.redelivered = delivery.redelivered
    message.delivery_count = delivery.count
    return message


def shown(message: Message[T], sent: wire.Message) -> None:
    """Show on a message what was used, after a send or on arrival."""
    message.message_id = sent.message_id
    message.correlation_id = sent.correlation_id
    message.timestamp = sent.creation_ms or 0
    message.destination = sent.to
    message.reply_to = sent.reply_to
    message.jms_type = sent.subject
    message.group_id = sent.group_id
    message.group_sequence = sent.group_sequence
    # Absent is non-persistent to a receiver, as in JMS's mapping to AMQP 1.0.
    message.delivery_mode = DeliveryMode.PERSISTENT if sent.durable else DeliveryMode.NON_PERSISTENT
    message.priority = DEFAULT_PRIORITY if sent.priority is None else sent.priority
    message.expiration = sent.expiry_ms or 0
    message.delivery_time = sent.delivery_time_ms or 0


def drafted(message: Message[T], converter: Converter[T]) -> wire.Message:
    """What of a message its sender decides, encoded for the wire.

    Raises:
        ConversionError: The body is not of the destination's type.
    """
    body, content_type = converter.encode(message.body)
    return wire.Message(
        correlation_id=message.correlation_id,
        reply_to=message.reply_to,
        subject=message.jms_type,
        group_id=message.group_id,
        group_sequence=message.group_sequence,
        properties=dict(message.properties),
        content_type=content_type,
        body=body,
    )
