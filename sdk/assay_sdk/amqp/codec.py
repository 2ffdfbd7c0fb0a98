"""Conversion of `Message` to AMQP 1.0 message sections and back, in the JMS mapping (OASIS AMQP 1.0, 3.2).

JMS headers are mapped as in the working draft of the AMQP JMS mapping and in Apache Qpid JMS
(``AmqpJmsMessageFacade``, ``AmqpMessageSupport``, ``AmqpDestinationHelper``).  Annotations contain the message type,
the kinds of the destinations, and the delivery time (``x-opt-delivery-time``).  `proton.Message` is not used, because
it omits an explicit ``durable=false``, does not distinguish an absent field from a zero, and truncates milliseconds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import cast

from msgspec import Struct

from assay_sdk.amqp import terms, types
from assay_sdk.amqp.identifiers import identifier, identifier_text
from assay_sdk.amqp.sections import (
    APPLICATION_PROPERTIES,
    DATA,
    FOOTER,
    HEADER,
    MESSAGE_ANNOTATIONS,
    NAMES,
    PROPERTIES,
    SEQUENCE,
    VALUE,
)
from assay_sdk.amqp.types import DecodeError, Described
from assay_sdk.model.message import Address, AddressKind, Body, Message, Property

_MESSAGE_TYPE = types.symbol(terms.MESSAGE_TYPE)
_DESTINATION = types.symbol(terms.DESTINATION)
_REPLY_TO = types.symbol(terms.REPLY_TO)
_DELIVERY_TIME = types.symbol(terms.DELIVERY_TIME)
_PRIORITY = types.symbol(terms.PRIORITY)

_TYPE_PLAIN, _TYPE_BYTES, _TYPE_TEXT = 0, 3, 5

_KIND_NUMBERS: Mapping[AddressKind, int] = {
    AddressKind.QUEUE: 0,
    AddressKind.TOPIC: 1,
    AddressKind.TEMPORARY_QUEUE: 2,
    AddressKind.TEMPORARY_TOPIC: 3,
}
KINDS: Mapping[int, AddressKind] = {number: kind for kind, number in _KIND_NUMBERS.items()}
"""Kind of destination for each number in the annotations."""

MAX_TTL_MS = 2**32 - 1
"""Longest time to live in a header, whose field is a uint of milliseconds (AMQP 1.0, 3.2.1).  A longer time to live is
sent only as absolute-expiry-time."""


class Prefixes(Struct, frozen=True):
    """Prefixes that a broker requires for the names of queues and topics.

    A broker can send both prefixes as the properties ``queue-prefix`` and ``topic-prefix`` of its open frame.

    Args:
        queue: The prefix of queues.
        topic: The prefix of topics.
        slash: The characters that a broker requires in place of a slash in a name.
    """

    queue: str = ""
    topic: str = ""
    slash: str = "/"

    def of(self, kind: AddressKind) -> str:
        """Return the prefix for a kind of destination; empty for temporary destinations, which the broker names."""
        return {AddressKind.QUEUE: self.queue, AddressKind.TOPIC: self.topic}.get(kind, "")


class Received(Struct, frozen=True):
    """A decoded message, with its header's delivery-count (`count`) and first-acquirer (None if absent)."""

    message: Message
    count: int
    first_acquirer: bool | None = None


_UNFIT = "a field of the message does not fit into its AMQP type"


class EncodeError(ValueError):
    """The error for a message that AMQP cannot encode; the text names the part of the message at fault."""


def wire_name(address: Address, prefixes: Prefixes) -> str:
    """Return the name of a destination as the broker requires it: with its prefix, and with its text for slashes."""
    return prefixes.of(address.kind) + address.name.replace("/", prefixes.slash)


# --- encoding


def encode(message: Message, prefixes: Prefixes = Prefixes(), *, annotated: bool = True) -> bytes:  # noqa: B008  a frozen value
    """Encode the sections of a message.

    Args:
        message: Message to encode.  If it has `Message.encoded`, the result is this value.
        prefixes: Prefixes that the broker requires for names.
        annotated: Whether to encode the message annotations.

    Raises:
        EncodeError: AMQP cannot carry a part of the message.
    """
    if message.encoded is not None:
        return message.encoded
    try:
        header = _header(message)
    except struct.error as error:
        raise EncodeError(f"{_UNFIT}: {error}") from error
    return header + without_header(message, prefixes, annotated=annotated)


def without_header(message: Message, prefixes: Prefixes = Prefixes(), *, annotated: bool = True) -> bytes:  # noqa: B008  a frozen value
    """Encode the sections of a message after its header: annotations, properties and body.

    Args:
        message: Message to encode; `Message.encoded` is ignored.
        prefixes: Prefixes that the broker requires for names.
        annotated: Whether to encode the message annotations.

    Raises:
        EncodeError: AMQP cannot carry a part of the message.
    """
    try:
        return b"".join(
            (
                _annotations(message) if annotated else b"",
                _properties(message, prefixes),
                application_properties(message.properties),
                _body(message.body),
            )
        )
    except (struct.error, UnicodeEncodeError) as error:
        raise EncodeError(f"{_UNFIT}: {error}") from error


def _or_null(encoder: Callable[..., bytes], value: object) -> bytes:
    return types.null() if value is None else encoder(value)


def _header(message: Message) -> bytes:
    ttl_ms = message.ttl_ms if message.ttl_ms and message.ttl_ms <= MAX_TTL_MS else None
    if message.durable is None and message.priority is None and ttl_ms is None:
        return b""
    # `durable` = false is encoded, not left out, because RabbitMQ 4 treats an absent durable as true.
    return types.described(
        HEADER,
        types.fields(
            (
                _or_null(types.boolean, message.durable),
                _or_null(types.ubyte, message.priority),
                _or_null(types.uint, ttl_ms),
            )
        ),
    )


def _annotations(message: Message) -> bytes:
    body = message.body
    number = _TYPE_TEXT if isinstance(body, str) else _TYPE_PLAIN if body is None else _TYPE_BYTES
    annotations = {_MESSAGE_TYPE: types.byte(number)}
    if message.to is not None:
        annotations[_DESTINATION] = types.byte(_KIND_NUMBERS[message.to.kind])
    if message.reply_to is not None:
        annotations[_REPLY_TO] = types.byte(_KIND_NUMBERS[message.reply_to.kind])
    if message.delivery_time_ms is not None:
        annotations[_DELIVERY_TIME] = types.long(message.delivery_time_ms)
    if message.priority is None:
        annotations[_PRIORITY] = types.byte(terms.AS_DEFINED)
    return types.described(MESSAGE_ANNOTATIONS, types.mapping(annotations))


def _properties(message: Message, prefixes: Prefixes) -> bytes:
    expiry_ms = message.expiry_ms
    if expiry_ms is None and message.ttl_ms and message.creation_ms is not None:
        expiry_ms = message.creation_ms + message.ttl_ms
    to = None if message.to is None else wire_name(message.to, prefixes)
    reply_to = None if message.reply_to is None else wire_name(message.reply_to, prefixes)
    return types.described(
        PROPERTIES,
        types.fields(
            (
                _or_null(identifier, message.message_id),
                types.null(),  # user-id: the broker knows the user from the login
                _or_null(types.string, to),
                _or_null(types.string, message.subject),
                _or_null(types.string, reply_to),
                _or_null(identifier, message.correlation_id),
                _or_null(types.symbol, message.content_type),
                types.null(),  # content-encoding
                _or_null(types.timestamp, expiry_ms),
                _or_null(types.timestamp, message.creation_ms),
                _or_null(types.string, message.group_id),
                _or_null(types.uint, message.group_sequence),
            )
        ),
    )


def application_properties(properties: Mapping[str, Property]) -> bytes:
    """Encode the section of application properties; without properties, return no octets.

    Raises:
        EncodeError: An integer has more than 64 bits.
        UnicodeEncodeError: A string has an unpaired surrogate.
    """
    if not properties:
        return b""
    encoded = {types.string(name): _property(name, value) for name, value in properties.items()}
    return types.described(APPLICATION_PROPERTIES, types.mapping(encoded))


_INT_BITS, _LONG_BITS = 31, 63


def _property(name: str, value: Property) -> bytes:  # noqa: PLR0911  one return for each type
    match value:
        case None:
            return types.null()
        case bool():
            return types.boolean(value)
        case int():
            if -(1 << _INT_BITS) <= value < 1 << _INT_BITS:
                return types.integer(value)
            if -(1 << _LONG_BITS) <= value < 1 << _LONG_BITS:
                return types.long(value)
            raise EncodeError(f"property {name!r} does not fit into 64 bits: send it as a string")
        case float():
            return types.double(value)
        case str():
            return types.string(value)
        case bytes():
            return types.binary(value)


def _body(body: Body) -> bytes:
    match body:
        case None:
            return types.described(VALUE, types.null())
        case str():
            return types.described(VALUE, types.string(body))
        case bytes():
            return types.described(DATA, types.binary(body))


# --- decoding


def decode(
    octets: bytes,
    link: Address | None = None,
    prefixes: Prefixes = Prefixes(),  # noqa: B008  a frozen value
    *,
    now_ms: int | None = None,
) -> Received:
    """Decode a received message.

    With a body that is neither text nor bytes (a map, a sequence, a symbol), `Message.body` is None and
    `Message.encoded` has the whole message.

    Args:
        octets: Sections of the message.
        link: Destination of the receiver, for a message that names no destination.
        prefixes: Prefixes that the broker uses for names.
        now_ms: Time of arrival, in milliseconds since the epoch; None if it is unknown.  If the message has a time to
            live but no expiry time, its time to live counts from its arrival, because each intermediary reduces the
            time to live by the time that has passed (AMQP 1.0, 3.2.1).  With None, such a message has no expiry time.

    Raises:
        DecodeError: The sections are malformed.
    """
    sections, body, plain = _split(octets)
    header = _Fields(sections.get(HEADER), "header")
    properties = _Fields(sections.get(PROPERTIES), "properties")
    annotations = _map(sections.get(MESSAGE_ANNOTATIONS), "message annotations")
    creation_ms, ttl_ms = properties.number(9), header.number(2)
    expiry_ms = properties.number(8)
    if expiry_ms is None and ttl_ms and now_ms is not None:
        expiry_ms = now_ms + ttl_ms
    kind = link.kind if link is not None else AddressKind.QUEUE
    to = _address(properties.text(2), annotations.get(terms.DESTINATION), kind, prefixes)
    message = Message(
        message_id=identifier_text(properties.at(0)),
        correlation_id=identifier_text(properties.at(5)),
        to=to or link,
        reply_to=_address(properties.text(4), annotations.get(terms.REPLY_TO), kind, prefixes),
        subject=properties.text(3),
        durable=header.flag(0),
        priority=header.number(1),
        ttl_ms=ttl_ms,
        creation_ms=creation_ms,
        expiry_ms=expiry_ms,
        delivery_time_ms=_optional_number(annotations.get(terms.DELIVERY_TIME), terms.DELIVERY_TIME),
        group_id=properties.text(10),
        group_sequence=properties.number(11),
        properties=_plain_properties(_map(sections.get(APPLICATION_PROPERTIES), "application properties")),
        content_type=properties.text(6),
        body=body,
        encoded=None if plain else octets,
    )
    return Received(message, header.number(4) or 0, header.flag(3))


def _split(octets: bytes) -> tuple[dict[int, object], Body, bool]:
    """Decode all sections of a message.

    Returns:
        The sections by code; the body, or None; and whether `Message.body` can represent the body (none, text, bytes).

    Raises:
        DecodeError: The sections are malformed.
    """
    reader = types.Reader(octets)
    sections: dict[int, object] = {}
    data: list[bytes] = []
    while reader.more:
        section = reader.value()
        if not isinstance(section, Described):
            raise DecodeError("a message section without a descriptor")
        name = section.descriptor
        code = NAMES.get(name) if isinstance(name, str) else name
        if not isinstance(code, int) or not HEADER <= code <= FOOTER:
            raise DecodeError(f"no message section has the descriptor {section.descriptor!r}")
        if code == DATA:
            if not isinstance(section.value, bytes):
                raise DecodeError("a data section that holds no octets")
            data.append(section.value)
        else:
            sections[code] = section.value
    if data:
        return sections, b"".join(data), True
    value = sections.get(VALUE)
    symbol = isinstance(value, types.Symbol)  # a subclass of str, but not text
    if SEQUENCE in sections or symbol or not (value is None or isinstance(value, str | bytes)):
        return sections, None, False
    return sections, value, True


class _Fields:
    """The fields of a header or of properties, by position."""

    def __init__(self, value: object, section: str) -> None:
        if value is not None and not isinstance(value, list):
            raise DecodeError(f"{section} that is no list")
        self._values = cast("list[object]", value or [])
        self._section = section

    def at(self, position: int) -> object:
        return self._values[position] if position < len(self._values) else None

    def number(self, position: int) -> int | None:
        return _optional_number(self.at(position), f"{self._section}, field {position}")

    def text(self, position: int) -> str | None:
        value = self.at(position)
        if value is not None and not isinstance(value, str):
            raise DecodeError(f"{self._section}, field {position} is no text")
        return None if value is None else str(value)

    def flag(self, position: int) -> bool | None:
        value = self.at(position)
        if value is not None and not isinstance(value, bool):
            raise DecodeError(f"{self._section}, field {position} is no boolean")
        return value


def _optional_number(value: object, where: str) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise DecodeError(f"{where} is no whole number")
    return value


def _map(value: object, section: str) -> dict[object, object]:
    if value is not None and not isinstance(value, dict):
        raise DecodeError(f"{section} that are no map")
    return cast("dict[object, object]", value or {})


def _address(name: str | None, kind: object, default: AddressKind, prefixes: Prefixes) -> Address | None:
    if name is None:
        return None
    known = KINDS.get(kind, default) if isinstance(kind, int) else default
    return Address(known, name.removeprefix(prefixes.of(known)).replace(prefixes.slash, "/"))


def _plain_properties(properties: dict[object, object]) -> dict[str, Property]:
    """Convert application properties; values of types other than those of `Property` become text."""
    return {
        str(name): value if value is None or isinstance(value, str | int | float | bytes) else str(value)
        for name, value in properties.items()
    }
