"""The conversion of messages between the queue manager and the frames of a connection (`assay_sdk.stomp.messages`)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.effects import Deliver
from assay_broker.stomp.destinations import Destinations
from assay_sdk.model.message import Message
from assay_sdk.stomp import Frame
from assay_sdk.stomp.messages import read_message, write_message, written

_LAST_MS = 2**63 - 1
"""The last time that fits into the fields of AMQP, in milliseconds since the epoch."""


def message_of(frame: Frame, destinations: Destinations, message_id: str, now_ms: int) -> Message:
    """Return the message of a SEND.

    Args:
        frame: The frame.
        destinations: The connection's destinations.
        message_id: The id for a message whose frame names no id.
        now_ms: The time of arrival, in milliseconds since the epoch.

    Raises:
        FaultError: A destination is not valid.
        ContentError: Another header or the body is not valid.
    """
    headers = frame.headers
    to = destinations.read(headers["destination"], headers.get("destination-type"))
    message = read_message(headers, frame.body, to, destinations.read, message_id, now_ms)
    return _with_expiry(_still_delayed(message, now_ms), now_ms)


def _still_delayed(message: Message, now_ms: int) -> Message:
    """Return the message, due one millisecond from now if its delay ended before the server read the frame.

    Otherwise, on a slow network, the message would no longer count as delayed, and a queue or topic that refuses
    delayed messages would accept it (DD-11).
    """
    due_ms = message.delivery_time_ms
    if due_ms is None or not (message.creation_ms or 0) < due_ms <= now_ms:
        return message
    return replace(message, delivery_time_ms=now_ms + 1)


def _with_expiry(message: Message, now_ms: int) -> Message:
    """Compute a message's expiry from its time to live or, for an encoded message, its time to live from its expiry.

    Receivers over STOMP need the time of expiry.  Receivers over AMQP need the rest of the time to live; for an encoded
    message (a map or a list) the server sends that rest only if `Message.ttl_ms` is set.
    """
    if message.expiry_ms is None:
        if not message.ttl_ms:
            return message
        return replace(message, expiry_ms=min(now_ms + message.ttl_ms, _LAST_MS))
    if message.encoded is None or message.ttl_ms is not None:
        return message
    return replace(message, ttl_ms=max(message.expiry_ms - now_ms, 1))


def headers_of(delivery: Deliver, *, here: bool) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of the MESSAGE for a delivery.

    The caller adds the headers subscription, message-id, ack and content-length.

    Args:
        delivery: The delivery.
        here: Whether the caller writes the header destination, because the message was sent to the destination that the
            subscription names.
    """
    message = delivery.message
    headers, body = write_message(message, written)
    if not here:
        headers["destination"] = written(message.to or delivery.origin)
    if delivery.redelivered or delivery.count:
        headers["redelivered"] = "true"
        headers["JMSXDeliveryCount"] = str(delivery.count + 1)
    return headers, body
