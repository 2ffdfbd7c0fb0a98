"""The source of a consumer's messages (`Origin`), and messages to send (`Draft`), sent (`Sent`) and seen (`Seen`)."""

from __future__ import annotations

from msgspec import Struct

from assay_adapters.clients.bodies import sized
from assay_adapters.ports.client._settings import Mode
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, Property


class Origin(Struct, frozen=True, kw_only=True):
    """The source of a consumer's messages.

    Args:
        address: The queue or topic.
        selector: The JMS selector; None for all messages.
        durability: The durability of a subscription to a topic.
        name: The subscription's name; None for an unshared non-durable subscription and for a queue.
        shared: Whether the subscription is shared.
        no_local: Whether the consumer gets no messages that its own connection sent.
        ttl_ms: The time for which the subscription outlives its last consumer, in milliseconds; None for the default,
            which depends on the durability.
        credit: MQ Light's credit: the largest number of unconfirmed messages that the broker may send before the
            application asks for them. With None, the broker sends messages only for receive calls and to a listener.
    """

    address: Address
    selector: str | None = None
    durability: Durability = Durability.NON_DURABLE
    name: str | None = None
    shared: bool = False
    no_local: bool = False
    ttl_ms: int | None = None
    credit: int | None = None


class Draft(Struct, frozen=True, kw_only=True):
    """A message to send.

    Args:
        key: The kit's id; the client puts it into the property ``assay_kid``, and the body begins with it.
        body: A text, or bytes.
        bare: Whether the message has no properties; the kit then recognises the message by its body.
        properties: Further properties, including those that begin with ``JMS_IBM_``.
        correlation_id: JMSCorrelationID.
        jms_type: JMSType.
        own_mode: The JMSDeliveryMode that is set on the message object before the send; it has no effect (PD-04).
        reused: Whether to send the message object of the producer's last send again, with this draft's key, properties
            and body; a client without message objects ignores it.
        received: The handle of a message that the connection has received and not settled. The client sends that
            message's object, with this draft's key, properties and body; a client without message objects ignores it.
            None for a new object.
        reply_to: JMSReplyTo.
        group_id: The property JMSXGroupID.
        group_sequence: The property JMSXGroupSeq.
        size: The octets to which the body is cut or padded; 0 for an empty body, None for the body without change.
    """

    key: str
    body: str | bytes
    bare: bool = False
    properties: dict[str, Property] = {}
    correlation_id: str | None = None
    jms_type: str | None = None
    own_mode: Mode | None = None
    reused: bool = False
    received: int | None = None
    reply_to: Address | None = None
    group_id: str | None = None
    group_sequence: int | None = None
    size: int | None = None

    @property
    def content(self) -> str | bytes:
        """The body that a client sends, with the demanded size; the journal records its digest.

        Raises:
            ValueError: `size` is negative, too small for the kit's id, or cuts a character in two.
        """
        return sized(self.body, self.key, self.size)


class Sent(Struct, frozen=True, kw_only=True):
    """The headers of a message after its send.

    Args:
        message_id: JMSMessageID; None or empty if the client gave none.
        delivery_time_ms: JMSDeliveryTime in milliseconds since the epoch; None without a delay.
        fields: The headers and properties by JMS name.
    """

    message_id: str | None
    delivery_time_ms: int | None
    fields: dict[str, str | int | bool | None]


class Seen(Struct, frozen=True, kw_only=True):
    """A message that the application received.

    Args:
        key: The kit's id; empty if the kit did not send the message.
        handle: The client's own handle, for `ClientSession.acknowledge`.
        body: A text, or bytes; an empty text for a message without a body.
        message_id: JMSMessageID; None if the message has none.
        count: JMSXDeliveryCount; 0 if the client does not show it.
        redelivered: JMSRedelivered.
        fields: The headers and properties by JMS name. For a message that a consumer received, ``body`` is the kind of
            body: text, bytes or none.
    """

    key: str
    handle: int
    body: str | bytes
    message_id: str | None
    count: int
    redelivered: bool
    fields: dict[str, str | int | bool | None]
