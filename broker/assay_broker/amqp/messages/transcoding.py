"""The translation of messages between AMQP and the core.

The server decodes as little as it can.  A message stores the octets in which it arrived (`Message.encoded`), and the
fields that the core's rules use.  Its body is decoded only on demand (`assay_broker.core.messages.bodies`).

The server sends a message as follows (OASIS AMQP 1.0, 3.2):

1. The header is new, because it belongs to the transfer.  Its fields are the message's persistence and priority in
   the queue manager, the delivery count, and the rest of the time to live (AMQP 1.0, 3.2.1).
2. Delivery annotations are dropped, because the sender addressed them to this node (AMQP 1.0, 3.2.2).
3. Message annotations are kept, except that a delivery time replaces ``x-opt-delivery-delay``, because the next broker
   would apply the delay again.
4. The bare message is sent unchanged; a missing id stays missing.  If the queue manager changes a message, such as a
   retained publication or a staged message, `assay_broker.core.messages.alterations` encodes it anew.

A message that arrived over another protocol has no octets, and is encoded from its fields.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from assay_broker.amqp.messages.addresses import written
from assay_sdk.amqp import codec, terms, types
from assay_sdk.amqp.editing import with_entries
from assay_sdk.amqp.identifiers import identifier_text
from assay_sdk.amqp.sections import (
    APPLICATION_PROPERTIES,
    DELIVERY_ANNOTATIONS,
    HEADER,
    MESSAGE_ANNOTATIONS,
    PROPERTIES,
    Span,
    behind,
    entries,
    fields,
    section_at,
    simple_entries,
    split,
)
from assay_sdk.amqp.types import MAX_DEPTH, DecodeError
from assay_sdk.amqp.values import Simple, skip
from assay_sdk.model.message import Address, AddressKind, Message, Property

MAX_HEAD = 1_048_576
"""The most octets of a message before its body, because other clients wait while the server decodes them.

JMS clients send a few hundred.  IBM MQ has a similar limit, MAXPROPL.
"""

DEFAULT_PRIORITY = 4
"""The priority of a message whose header has none (AMQP 1.0, 3.2.1)."""

HIGHEST_PRIORITY = 9
"""The highest priority; the server lowers a higher priority to this one (AMQP 1.0, 3.2.1)."""

_LONG_END = 2**63
"""The first number above the range of times, which are signed 64-bit numbers."""

_NOTHING: dict[str, Property] = {}
_SHORT = 64
"""The most octets of a cached section; a cached header saves 1.6 us (`bench/broker.py durable`, 24 us a message)."""
_REMEMBERED = 1_024
_SECTION = bytes((0x00, 0x53))
"""The first octets of a section, in the form that all clients write."""


class _Header(NamedTuple):
    durable: bool | None
    priority: int | None
    ttl_ms: int | None


class _Hints(NamedTuple):
    """The values of the message annotations that rules use; None for a missing annotation."""

    to: object
    reply_to: object
    delivery_ms: int | None
    delay_ms: int | None
    priority: object


_NO_HEADER = _Header(None, None, None)
_NO_HINTS = _Hints(None, None, None, None, None)
_NO_FIELDS: tuple[Simple, ...] = (None,) * 13


# --- from the wire


def read(
    octets: bytes,
    link: Address | None,
    *,
    now_ms: int,
    max_depth: int = MAX_DEPTH,
) -> Message:
    """Decode a message from a client, except for its body.

    Args:
        octets: The message's sections.
        link: The destination of the sender's link; None for the anonymous relay.  Addresses in the message are of the
            same kind as this destination, unless an annotation or a prefix names another kind.
        now_ms: The time of arrival, in milliseconds since the epoch, from which a delay and a time to live count.
        max_depth: The most levels to which annotations may be nested.

    Returns:
        The message, with `octets` as its `Message.encoded`, and without its body.

    Raises:
        DecodeError: The message is malformed; the text names the place.
    """
    if not octets:
        raise DecodeError("a message without a section")
    header, hints, values, properties = _NO_HEADER, _NO_HINTS, _NO_FIELDS, _NOTHING
    for span in split(octets, max_depth):
        code = span.code
        if code > APPLICATION_PROPERTIES:
            break
        if span.end > MAX_HEAD:
            raise DecodeError(f"more than {MAX_HEAD} octets before the body")
        if code == HEADER:
            section = octets[span.begin : span.end]
            header = (_short_header if len(section) <= _SHORT else _header)(section)
        elif code == MESSAGE_ANNOTATIONS:
            section = octets[span.begin : span.end]
            hints = (_short_hints if len(section) <= _SHORT else _hints)(section, max_depth)
        elif code == PROPERTIES:
            values = (*fields(octets, span), *_NO_FIELDS)
        elif code == APPLICATION_PROPERTIES:
            properties = _properties(octets, span)
    if values is _NO_FIELDS and hints is _NO_HINTS:
        return Message(
            to=link,
            durable=header.durable,
            priority=DEFAULT_PRIORITY if header.priority is None else header.priority,
            ttl_ms=header.ttl_ms,
            expiry_ms=now_ms + header.ttl_ms if header.ttl_ms else None,
            properties=properties,
            encoded=octets,
        )
    return _addressed(octets, link, header, hints, values, properties=properties, now_ms=now_ms)


def _addressed(
    octets: bytes,
    link: Address | None,
    header: _Header,
    hints: _Hints,
    values: tuple[Simple, ...],
    *,
    properties: dict[str, Property],
    now_ms: int,
) -> Message:
    """Return a message that has a properties section, message annotations, or both."""
    absolute_ms, created_ms = _time(values[8], "absolute-expiry-time"), _time(values[9], "creation-time")
    return Message(
        message_id=_identifier(values[0]),
        correlation_id=_identifier(values[5]),
        to=_address(_text(values[2], "to"), hints.to, link) or link,
        reply_to=_address(_text(values[4], "reply-to"), hints.reply_to, link),
        subject=_text(values[3], "subject"),
        durable=header.durable,
        priority=_wanted(header, hints),
        ttl_ms=header.ttl_ms,
        creation_ms=created_ms,
        expiry_ms=_expiry(header.ttl_ms, absolute_ms, created_ms, now_ms),
        delivery_time_ms=_due(hints, now_ms),
        group_id=_text(values[10], "group-id"),
        group_sequence=_number(values[11], "group-sequence", 1 << 32),
        properties=properties,
        content_type=_text(values[6], "content-type"),
        encoded=octets,
    )


def _header(section: bytes) -> _Header:
    (span,) = split(section)
    values = (*fields(section, span), *_NO_FIELDS)
    durable = values[0]
    if durable is not None and not isinstance(durable, bool):
        raise DecodeError("header: durable is not a boolean")
    priority = _number(values[1], "priority", 1 << 8)
    _number(values[4], "delivery-count", 1 << 32)
    return _Header(
        durable, None if priority is None else min(priority, HIGHEST_PRIORITY), _number(values[2], "ttl", 1 << 32)
    )


_short_header = lru_cache(_REMEMBERED)(_header)


def _hints(section: bytes, max_depth: int) -> _Hints:
    (span,) = split(section, max_depth)
    found = simple_entries(section, span, max_depth)
    return _Hints(
        found.get(terms.DESTINATION),
        found.get(terms.REPLY_TO),
        _time(found.get(terms.DELIVERY_TIME), terms.DELIVERY_TIME),
        _number(found.get(terms.DELIVERY_DELAY), terms.DELIVERY_DELAY, _LONG_END),
        found.get(terms.PRIORITY),
    )


_short_hints = lru_cache(_REMEMBERED)(_hints)


def _wanted(header: _Header, hints: _Hints) -> int | None:
    """Return the sender's priority; None if an annotation asks for the destination's default priority."""
    if header.priority is None:
        return None if hints.priority == terms.AS_DEFINED else DEFAULT_PRIORITY
    return header.priority


def _expiry(ttl_ms: int | None, absolute_ms: int | None, created_ms: int | None, now_ms: int) -> int | None:
    """Return the time at which a message expires, in milliseconds since the epoch; None for never.

    This is the earlier of the end of its time to live and its absolute expiry time (AMQP 1.0, 3.2.1, 3.2.4); 0 means
    that a field is not set.  JMS clients compute the absolute expiry time from the time to live and their own clock.
    If the absolute expiry time is the creation time plus the time to live, only the absolute expiry time counts.
    """
    if not ttl_ms or (absolute_ms and created_ms is not None and absolute_ms == created_ms + ttl_ms):
        return absolute_ms
    over_ms = now_ms + ttl_ms
    return min(absolute_ms, over_ms) if absolute_ms else over_ms


def _due(hints: _Hints, now_ms: int) -> int | None:
    """Return the time from which the message may be delivered; a delivery time takes precedence over a delay."""
    if hints.delivery_ms is not None or not hints.delay_ms:
        return hints.delivery_ms
    return _time(now_ms + hints.delay_ms, terms.DELIVERY_DELAY)


def _properties(octets: bytes, span: Span) -> dict[str, Property]:
    """Return the application properties; UUIDs become texts, because selectors have no UUIDs."""
    return {name: str(value) if isinstance(value, UUID) else value for name, value in entries(octets, span).items()}


def _identifier(value: Simple) -> str | None:
    return value if value is None or isinstance(value, str) else identifier_text(value)


def _text(value: Simple, where: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise DecodeError(f"{where} is not a text")
    return value


def _number(value: Simple, where: str, end: int, begin: int = 0) -> int | None:
    """Return a number after a check that it is at least `begin` and less than `end`; return None for None.

    Raises:
        DecodeError: The value is not a number, or is out of range.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise DecodeError(f"{where} is not a whole number")
    if not begin <= value < end:
        raise DecodeError(f"{where} is {value}, which is not between {begin} and {end - 1}")
    return value


def _time(value: Simple, where: str) -> int | None:
    """Return a time in milliseconds since the epoch.

    The time may be negative; the queue manager refuses negative times.

    Raises:
        DecodeError: The value is not a time.
    """
    return _number(value, where, _LONG_END, -_LONG_END)


def _address(name: str | None, kind: object, link: Address | None) -> Address | None:
    if name is None:
        return None
    known = codec.KINDS.get(kind) if isinstance(kind, int) else None
    if link is not None and link.name == name and known in (None, link.kind):
        return link  # shares one object among all messages of a link
    return _read_address(name, known, AddressKind.QUEUE if link is None else link.kind)


@lru_cache(_REMEMBERED)
def _read_address(name: str, kind: AddressKind | None, otherwise: AddressKind) -> Address:
    return written(name, kind) or Address(otherwise, name)


# --- to the wire


def write(message: Message, *, count: int, now_ms: int) -> bytes:
    """Encode a message for a receiver.

    Args:
        message: The message, as the queue manager delivers it.
        count: The number of earlier deliveries that failed.
        now_ms: The time, in milliseconds since the epoch.

    Returns:
        All sections of the message; the octets that arrived, if no section changes.

    Raises:
        EncodeError: The message arrived over another protocol, and AMQP cannot carry a part of it.
        DecodeError: The message's octets did not come from `read`, and are malformed.
    """
    octets = message.encoded
    if octets is not None and message.delivery_time_ms is None:
        head = _header_of(message, count, now_ms)
        at = len(head)
        if octets.startswith(head) and octets.startswith(_SECTION, at) and octets[at + 2] > DELIVERY_ANNOTATIONS:
            return octets  # the usual case; the rest is not examined
    head, rest = pieces(message, count=count, now_ms=now_ms)
    if octets is not None and len(head) + len(rest) == len(octets) and octets.startswith(head):
        return octets
    return b"".join((head, rest))


def pieces(message: Message, *, count: int, now_ms: int) -> tuple[bytes, memoryview]:
    """Encode a message for a receiver as `write` does, but as two pieces, so that a long body is not copied."""
    header = _header_of(message, count, now_ms)
    octets = message.encoded
    if octets is None:
        return header, memoryview(codec.without_header(message))
    at = behind(octets, DELIVERY_ANNOTATIONS)
    if message.delivery_time_ms is None:
        return header, memoryview(octets)[at:]
    annotations, at = _with_delivery_time(octets, at, message.delivery_time_ms)
    return header + annotations, memoryview(octets)[at:]


def _header_of(message: Message, count: int, now_ms: int) -> bytes:
    priority = None if message.priority == DEFAULT_PRIORITY else message.priority
    left_ms = None if message.expiry_ms is None else _left(message, now_ms)
    return _encoded_header(message.durable is True, priority, left_ms, count)


def _left(message: Message, now_ms: int) -> int | None:
    """Return the rest of a message's time to live, in milliseconds.

    It is None for no time to live, and for a rest that is too long for the header's field.
    The rest is at least 1, because 0 means to JMS clients that the message never expires.
    """
    if message.expiry_ms is None or not (message.ttl_ms or message.encoded is None):
        return None
    left_ms = message.expiry_ms - now_ms
    if message.ttl_ms:
        left_ms = min(left_ms, message.ttl_ms)
    return None if left_ms > codec.MAX_TTL_MS else max(left_ms, 1)


@lru_cache(_REMEMBERED)
def _encoded_header(durable: bool, priority: int | None, ttl_ms: int | None, count: int) -> bytes:
    """Encode a header, with an explicit ``durable=false``, because some clients treat a missing field as true."""
    return types.described(
        HEADER,
        types.fields(
            (
                types.boolean(durable),
                types.null() if priority is None else types.ubyte(priority),
                types.null() if ttl_ms is None else types.uint(ttl_ms),
                types.null(),
                types.uint(count) if count else types.null(),
            )
        ),
    )


def _with_delivery_time(octets: bytes, at: int, delivery_ms: int) -> tuple[bytes, int]:
    """Return message annotations with a delivery time instead of a delay, and the offset of the next section.

    If the annotations need no change, the result is empty annotations and the offset of the unchanged annotations.
    """
    section, end = b"", at
    if at < len(octets):
        code, value = section_at(octets, at)
        if code == MESSAGE_ANNOTATIONS:
            end = skip(octets, value)
            section = octets[at:end]
            hints = _hints(section, MAX_DEPTH)
            if hints.delivery_ms == delivery_ms and hints.delay_ms is None:
                return b"", at
    added = {terms.DELIVERY_TIME: types.long(delivery_ms)}
    return with_entries(section, MESSAGE_ANNOTATIONS, added, {terms.DELIVERY_DELAY}, name=types.symbol), end
