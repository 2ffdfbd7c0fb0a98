"""The bodies of messages over STOMP, by their kind.

=========  ==========================================  =============================================================
kind       octets in the frame                         body of the message
=========  ==========================================  =============================================================
text       the text in UTF-8                           a text (AMQP: amqp-value with a string)
bytes      the octets                                  octets (AMQP: data)
map        JSON, an object                             AMQP: amqp-value with a map; JMS: MapMessage
list       JSON, an array                              AMQP: amqp-value with a list
empty      none                                        no body (AMQP: amqp-value with null)
amqp       the encoded sections of the AMQP body       any other body: sequences, symbols, times, nested maps with keys
                                                       that are no text
=========  ==========================================  =============================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from assay_sdk.amqp import bodies as encoded_bodies
from assay_sdk.amqp import codec, types
from assay_sdk.amqp.editing import with_entries
from assay_sdk.amqp.sections import DATA, MESSAGE_ANNOTATIONS, VALUE, split
from assay_sdk.amqp.terms import MESSAGE_TYPE
from assay_sdk.amqp.types import MAX_DEPTH, DecodeError
from assay_sdk.amqp.values import LISTS, MAPS, STRINGS, inside, simple, skip
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.stomp.errors import ContentError

_TEXTS = frozenset(("application/json", "application/xml", "application/javascript"))
_INT, _LONG = 2**31, 2**63
_ENCODERS: Mapping[type, Callable[[Any], bytes]] = {
    type(None): lambda _: types.null(),
    bool: types.boolean,
    float: types.double,
    str: types.string,
}
_FRACTIONS = frozenset((0x72, 0x82))
_LARGE = frozenset((0x80,))
"""The format code of a ulong with eight octets; its value can be too large for the signed numbers of other programs."""
_JSON = STRINGS | {0x40, 0x41, 0x42, 0x43, 0x44, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x60, 0x61, 0x70, 0x71, 0x81}
"""Format codes of null, booleans, whole numbers except `_LARGE`, and strings (AMQP 1.0, 1.6)."""
_EMPTY_BODY = types.described(VALUE, types.null())
_JMS_MAP = types.byte(2)
"""The annotation x-opt-jms-msg-type of a MapMessage, as in Qpid JMS."""


class Kind(StrEnum):
    """The kind of a body; its value is the value of the header amq-msg-type."""

    TEXT = "text"
    BYTES = "bytes"
    MAP = "map"
    LIST = "list"
    EMPTY = "empty"
    AMQP = "amqp"


_KINDS: Mapping[str, Kind] = {kind.value: kind for kind in Kind}


def default_kind(content_type: str | None) -> Kind:
    """Return the kind of a body with a content-length and this content type."""
    if content_type is None:
        return Kind.BYTES
    media = content_type.partition(";")[0].strip().lower()
    return (
        Kind.TEXT if media.startswith("text/") or media in _TEXTS or media.endswith(("+json", "+xml")) else Kind.BYTES
    )


def kind_of(headers: Mapping[str, str], content_type: str | None, body: bytes) -> Kind:
    """Return the kind of the body of a SEND or MESSAGE.

    A frame without amq-msg-type has text if its content type is a type of text, and bytes if it has another content
    type. Without a content type the rule of ActiveMQ and Artemis applies: bytes with a content-length, text without
    one. A body that is not UTF-8 is bytes in any case.

    Raises:
        ContentError: The header amq-msg-type has an unknown value.
    """
    said = headers.get("amq-msg-type")
    if said is not None:
        kind = _KINDS.get(said)
        if kind is None:
            raise ContentError(
                f"The header amq-msg-type is {said[:40]!r}: write {', '.join(_KINDS)}", Mqrc.MSG_TYPE_ERROR
            )
        return kind
    kind = default_kind(content_type)
    if kind is Kind.BYTES and content_type is None and "content-length" not in headers:
        kind = Kind.TEXT
    if kind is Kind.TEXT and not _is_text(body):
        return Kind.BYTES
    return kind


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def with_body(message: Message, kind: Kind, octets: bytes) -> Message:
    """Return a message with the body of a SEND or MESSAGE.

    Raises:
        ContentError: The octets are not a body of this kind.
    """
    try:
        match kind:
            case Kind.TEXT:
                return replace(message, body=octets.decode())
            case Kind.BYTES:
                return replace(message, body=octets)
            case Kind.EMPTY:
                return message
            case Kind.MAP:
                return _encoded(message, types.described(VALUE, _value(_map(octets))), {MESSAGE_TYPE: _JMS_MAP})
            case Kind.LIST:
                return _encoded(message, types.described(VALUE, _value(msgspec.json.decode(octets, type=list))), {})
            case Kind.AMQP:
                return _encoded(message, _sections(octets), {})
    except (UnicodeDecodeError, msgspec.DecodeError, DecodeError, codec.EncodeError, RecursionError) as error:
        raise ContentError(
            f"The body is not of the kind {kind.value} that amq-msg-type names: {error}", Mqrc.MSG_TYPE_ERROR
        ) from error


def _sections(octets: bytes) -> bytes:
    """Check the encoded sections of a body, and return them."""
    if not octets or any(span.code < DATA for span in split(octets, MAX_DEPTH)):
        raise DecodeError("sections of a body are missing, or others are there")
    return octets


def _map(octets: bytes) -> dict[str, object]:
    return msgspec.json.decode(octets, type=dict[str, object])


def _encoded(message: Message, body: bytes, annotations: dict[str, bytes]) -> Message:
    """Return the message with its AMQP encoding, because the field `Message.body` cannot express this body."""
    bare = codec.encode(replace(message, encoded=None))
    octets = bare.removesuffix(_EMPTY_BODY) + body
    if annotations:
        octets = with_entries(octets, MESSAGE_ANNOTATIONS, annotations, (), name=types.symbol)
    return replace(message, encoded=octets)


def _value(value: object, depth: int = 0) -> bytes:
    """Encode a value of JSON as an AMQP value."""
    if depth > MAX_DEPTH:
        raise DecodeError(f"it is nested to more than {MAX_DEPTH} levels")
    if isinstance(value, list):
        return types.compound(_value(one, depth + 1) for one in cast("list[object]", value))
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return types.mapping({types.string(name): _value(one, depth + 1) for name, one in pairs})
    if isinstance(value, int) and not isinstance(value, bool):
        if not -_LONG <= value < _LONG:
            raise DecodeError(f"the number {value} does not fit into 64 bits")
        return types.integer(value) if -_INT <= value < _INT else types.long(value)
    return _ENCODERS[type(value)](value)


def body_of(message: Message) -> tuple[Kind, bytes]:
    """Return the kind of a message's body, and its octets in a frame."""
    body, octets = message.body, message.encoded
    if body is None and octets is not None:
        try:
            if not encoded_bodies.is_plain(octets):
                return _compound(octets)
            body = encoded_bodies.body(octets)
        except DecodeError:  # possible, because at arrival the broker checks only the sections, not their values
            return Kind.AMQP, octets
    if isinstance(body, bytes):
        return Kind.BYTES, body
    if isinstance(body, str):
        return Kind.TEXT, body.encode(errors="replace")
    return Kind.EMPTY, b""


def _compound(octets: bytes) -> tuple[Kind, bytes]:
    spans = [span for span in split(octets) if span.code >= DATA]
    sections = octets[spans[0].begin : spans[-1].end]
    if len(spans) == 1 and spans[0].code == VALUE and octets[spans[0].value] in LISTS | MAPS:
        span = spans[0]
        value = types.decode(octets[span.value : span.end])
        if _is_json(octets, span.value, span.end):
            return (Kind.MAP if isinstance(value, dict) else Kind.LIST), msgspec.json.encode(value)
    return Kind.AMQP, sections


def _is_json(octets: bytes, at: int, end: int) -> bool:
    """Return whether JSON can express an encoded value without a loss other than the widths of its numbers."""
    code = octets[at]
    if code in LISTS or code in MAPS:
        return _are_json(octets, at, end)
    if code in _FRACTIONS:
        return math.isfinite(cast("float", simple(octets, at)[0]))
    if code in _LARGE:
        return cast("int", simple(octets, at)[0]) < _LONG
    return code in _JSON


def _are_json(octets: bytes, at: int, end: int) -> bool:
    """Return whether JSON can express the items of an encoded list, or the names and values of a map."""
    is_map = octets[at] in MAPS
    begin, count = inside(octets, at, end)
    for nth in range(count):
        stop = skip(octets, begin)
        if is_map and nth % 2 == 0 and octets[begin] not in STRINGS:
            return False
        if not _is_json(octets, begin, stop):
            return False
        begin = stop
    return True
