"""The messages in a client's SEND and a broker's MESSAGE, by the broker's conventions."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from assay_sdk.drivers.stomp.context import Names
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.stomp import ContentError, Frame
from assay_sdk.stomp.conventions import Conventions
from assay_sdk.stomp.messages import RESERVED, read_message, write_message

_MISSING = "false"


def send_frame(message: Message, to: Address, conventions: Conventions, writer: Callable[[Address], str]) -> Frame:
    """Return the SEND frame for a message.

    Args:
        message: The message.
        to: Its destination.
        conventions: The broker's conventions.
        writer: Returns a destination as the value of a header.

    Raises:
        ContentError: A property of the message has the name of a STOMP header.
    """
    taken = RESERVED.intersection(message.properties) if message.properties else ()
    if taken:
        names = ", ".join(sorted(taken))
        raise ContentError(f"the properties {names} have the names of STOMP headers: choose other names")
    headers, body = write_message(message, writer)
    headers["destination"] = writer(to)
    if message.durable is False:
        headers["persistent"] = "false"
    if message.priority is None:
        del headers["priority"]
        if conventions.unset_priority:
            headers["priority"] = conventions.unset_priority
    if conventions.message_id and message.message_id:
        headers[conventions.message_id] = message.message_id
    if message.expiry_ms is not None and conventions.expires_in:
        headers[conventions.expires] = str(message.ttl_ms or 0)
        del headers["expires"]
    if message.delivery_time_ms is not None and conventions.delay_for:
        del headers["AMQ_SCHEDULED_TIME"]
        headers[conventions.delay] = str(max(0, message.delivery_time_ms - (message.creation_ms or 0)))
    if to.kind is AddressKind.QUEUE:
        headers.update(conventions.to_queue)
    headers["content-length"] = str(len(body))
    return Frame("SEND", headers, body)


def received(frame: Frame, link: Address, spelled: str, names: Names, now_ms: int) -> Message:
    """Return the message in a MESSAGE frame.

    Args:
        frame: The MESSAGE.
        link: The destination of the subscription.
        spelled: The value of the subscription's header destination, which a MESSAGE repeats.
        names: The texts of destinations, and the names of headers, that the broker uses.
        now_ms: The time of arrival, in milliseconds since the epoch.

    Raises:
        ContentError: A header or the body is not valid.
    """
    headers = frame.headers
    if names.message_id != "message-id" and names.message_id in headers:
        headers = {**headers}  # the frame keeps its message-id, which ACK needs
        headers["message-id"] = headers.pop(names.message_id)
    headers.setdefault("persistent", _MISSING)
    for alias, meant in names.aliases:
        if (value := headers.pop(alias, None)) is not None and meant:
            headers.setdefault(meant, value)
    said = headers.get("destination", spelled)
    to = link if said == spelled else names.read(said)
    message_id = headers.get("message-id", "")
    message = read_message(headers, frame.body, to, names.read, message_id=message_id, now_ms=now_ms)
    if names.expires_in and message.ttl_ms:
        return msgspec.structs.replace(message, expiry_ms=_end_of(message.ttl_ms, message.creation_ms, now_ms))
    return message


def _end_of(ttl_ms: int, creation_ms: int | None, now_ms: int) -> int:
    """Return the time of day at which a message expires, in milliseconds since the epoch.

    The time to live counts from the send, by the sender's clock.  If the message would then expire at or before its
    arrival, or live longer than its time to live after the arrival, the clocks of sender and client seem to differ.
    The time to live then counts from the arrival, so that the client does not drop the message too early.

    Args:
        ttl_ms: The time to live in milliseconds.
        creation_ms: The time of the send by the sender's clock, in milliseconds since the epoch; None if unknown.
        now_ms: The time of arrival, in milliseconds since the epoch.
    """
    end_ms = (creation_ms or now_ms) + ttl_ms
    return end_ms if now_ms < end_ms <= now_ms + ttl_ms else now_ms + ttl_ms


def failed_deliveries(frame: Frame) -> tuple[int, bool]:
    """Return how many deliveries of a message failed before, and whether it was delivered before.

    Only the reference broker counts the deliveries to a STOMP client.  For other brokers, the result 1 means that at
    least one delivery failed.
    """
    counted = frame.headers.get("JMSXDeliveryCount", "")
    again = frame.headers.get("redelivered") == "true"
    count = int(counted) - 1 if counted.isascii() and counted.isdigit() else int(again)
    return max(count, 0), again or count > 0
