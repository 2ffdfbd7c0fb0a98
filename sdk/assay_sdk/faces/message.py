"""Messages as an application has them: JMS's headers as attributes, properties as a mapping, a typed body."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from assay_sdk.engine.deliveries.delivery import EngineDelivery
from assay_sdk.engine.settings import AS_DESTINATION, DeliveryMode
from assay_sdk.errors import MessageFormatError
from assay_sdk.model import message as wire
from assay_sdk.model.converters import ConversionError, Converter
from assay_sdk.model.destinations import Destination, DestinationError, Queue, Topic, address_of
from assay_sdk.model.destinations import destination as destination_at
from assay_sdk.model.message import Address, Body, Property
from assay_sdk.model.properties import GROUP_ID, GROUP_SEQUENCE, group_of, group_properties
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")

DEFAULT_PRIORITY = 4

_FIELDS = frozenset({GROUP_ID, GROUP_SEQUENCE})
"""Properties that have fields of their own on the wire."""


class Message(Generic[T]):
    """A message to be sent, one that was sent, or one that came.

    What the sender decides (correlation id, reply-to, type, group, properties, body) is taken from here; everything
    else is decided by the producer or the broker and shown here afterwards: setting it before a send has no effect
    (PD-04, JMS 3.4).

    Args:
        body: The body, of the destination's type.
        properties: Properties: the application's own, and those that begin with ``JMSX`` or ``JMS_IBM_``.
        correlation_id: JMSCorrelationID.
        reply_to: JMSReplyTo: the queue or topic to which an answer is to be sent.
        jms_type: JMSType.
        group_id: JMSXGroupID, which is a property: ``properties["JMSXGroupID"]`` is the same.
        group_sequence: JMSXGroupSeq, which is a property too.

    Attributes:
        message_id: JMSMessageID.
        timestamp: JMSTimestamp: when it was sent, in milliseconds since the epoch.
        destination: JMSDestination: the queue or topic to which it was sent.
        delivery_mode: JMSDeliveryMode; after a send as the destination defines `DeliveryMode.AS_DESTINATION`, since
            what the broker decided is known only to who receives it.
        priority: JMSPriority; after such a send `AS_DESTINATION`.
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
        reply_to: Destination[Any] | None = None,
        jms_type: str | None = None,
        group_id: str | None = None,
        group_sequence: int | None = None,
    ) -> None:
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
        self._undecoded: tuple[wire.Message, Converter[T]] | None = None
        self._raw: Body = None
        self._acknowledge: Callable[[], None] | None = None

    @classmethod
    def from_wire(
        cls, sent: wire.Message, converter: Converter[T], acknowledge: Callable[[], None] | None = None
    ) -> Message[T]:
        """The message that a wire brought; its properties are read-only (JMS 3.10)."""
        message: Message[T] = Message()
        show_received(message, sent)
        message._undecoded = sent, converter
        message._raw = sent.body
        message._acknowledge = acknowledge
        return message

    @property
    def destination(self) -> Queue[Any] | Topic[Any] | None:
        """JMSDestination; None before a send.

        Raises:
            MessageFormatError: It came with a name that cannot name a destination.
        """
        return None if self._to is None else _destination(self._to)

    @destination.setter
    def destination(self, to: Address | None) -> None:
        self._to = to

    @property
    def reply_to(self) -> Destination[Any] | None:
        """JMSReplyTo; of a message that came a destination that takes bodies of any type.

        Raises:
            MessageFormatError: It came with a name that cannot name a destination.
        """
        return _destination(self._reply_to) if isinstance(self._reply_to, Address) else self._reply_to

    @reply_to.setter
    def reply_to(self, reply_to: Destination[Any] | Address | None) -> None:
        self._reply_to = reply_to

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

    @property
    def raw_body(self) -> Body:
        """The body as it came, text or bytes, whatever the destination's type; None for one that has none.

        For a message whose `body` cannot be read: log it, keep it, or send it on.
        """
        return self._raw

    @property
    def group_id(self) -> str | None:
        """JMSXGroupID; None where the message belongs to no group."""
        value = self.properties.get(GROUP_ID)
        return value if isinstance(value, str) else None

    @property
    def group_sequence(self) -> int | None:
        """JMSXGroupSeq; None where it has no place in a group."""
        value = self.properties.get(GROUP_SEQUENCE)
        return value if isinstance(value, int) else None

    def acknowledge(self) -> None:
        """Acknowledge, in the meaning of the session's mode (JMS 3.6.5); nothing for one that was not received.

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
    """The message of a delivery."""
    message = Message.from_wire(delivery.message, converter, acknowledge)
    message.redelivered = delivery.redelivered
    message.delivery_count = delivery.count
    return message


def show_sent(message: Message[T], sent: wire.Message) -> None:
    """Show on a message what was used, after its send."""
    _show_headers(message, sent)
    message.delivery_mode = DeliveryMode.AS_DESTINATION if sent.durable is None else _mode(sent)
    message.priority = AS_DESTINATION if sent.priority is None else sent.priority


def show_received(message: Message[T], came: wire.Message) -> None:
    """Show on a message what came; its properties become read-only (JMS 3.10)."""
    _show_headers(message, came)
    message.reply_to = came.reply_to
    message.delivery_mode = _mode(came)
    message.priority = DEFAULT_PRIORITY if came.priority is None else came.priority
    message.properties = MappingProxyType({**came.properties, **group_properties(came.group_id, came.group_sequence)})


def _mode(message: wire.Message) -> DeliveryMode:
    """Absent is non-persistent to a receiver, as in JMS's mapping to AMQP 1.0."""
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
    """What of a message its sender decides, encoded for the wire.

    Raises:
        ConversionError: The body is not of the destination's type.
        PropertyError: A property that the client itself reads is none.
        DestinationError: The reply-to is no destination.
    """
    body, content_type = converter.encode(message.body)
    group_id, sequence = group_of(message.properties)
    return wire.Message(
        correlation_id=message.correlation_id,
        reply_to=None if message.reply_to is None else address_of(message.reply_to, "reply_to"),
        subject=message.jms_type,
        group_id=group_id,
        group_sequence=sequence,
        properties={name: value for name, value in message.properties.items() if name not in _FIELDS},
        content_type=content_type,
        body=body,
    )
