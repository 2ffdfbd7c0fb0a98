"""AMQP messages of every kind, made one part at a time, and the parts of an encoded message by their places."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import cast

from assay_sdk.amqp import types
from assay_sdk.amqp.editing import parts
from assay_sdk.amqp.sections import (
    APPLICATION_PROPERTIES,
    DATA,
    DELIVERY_ANNOTATIONS,
    FOOTER,
    HEADER,
    MESSAGE_ANNOTATIONS,
    PROPERTIES,
    SEQUENCE,
    VALUE,
    split,
)

HEADER_FIELDS = ("durable", "priority", "ttl", "first-acquirer", "delivery-count")
DEFAULTS: Mapping[str, object] = {"durable": False, "priority": 4, "first-acquirer": False, "delivery-count": 0}
"""The values of the header's fields that mean the same as an absent field (AMQP 1.0, 3.2.1)."""
PROPERTY_FIELDS = (
    *("message-id", "user-id", "to", "subject", "reply-to", "correlation-id", "content-type", "content-encoding"),
    *("absolute-expiry-time", "creation-time", "group-id", "group-sequence", "reply-to-group-id"),
)
_MAPS = {
    DELIVERY_ANNOTATIONS: "delivery-annotations",
    MESSAGE_ANNOTATIONS: "message-annotations",
    APPLICATION_PROPERTIES: "application-properties",
    FOOTER: "footer",
}
_BODIES = {DATA: "data", SEQUENCE: "sequence", VALUE: "value"}
_KINDS: Mapping[str, tuple[int, ...]] = {
    "null": (0x40,),
    "boolean": (0x41, 0x42, 0x56),
    "number": (0x43, 0x44, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x60, 0x61, 0x70, 0x71, 0x80, 0x81),
    "fraction": (0x72, 0x82),
    "char": (0x73,),
    "timestamp": (0x83,),
    "decimal": (0x74, 0x84, 0x94),
    "uuid": (0x98,),
    "binary": (0xA0, 0xB0),
    "string": (0xA1, 0xB1),
    "symbol": (0xA3, 0xB3),
    "list": (0x45, 0xC0, 0xD0),
    "map": (0xC1, 0xD1),
    "array": (0xE0, 0xF0),
    "described": (0x00,),
}
_KIND_OF = {code: kind for kind, codes in _KINDS.items() for code in codes}

Part = tuple[str, object]
"""The type of a value, without the widths of numbers, and the value."""


def _typed(octets: bytes) -> Part:
    """Return the type and the value of an encoded value; the items of a list or map have their types, too."""
    kind = _KIND_OF[octets[0]]
    if kind == "list":
        return kind, [_typed(item) for item in parts(octets)]
    if kind == "map":
        items = parts(octets)
        return kind, sorted(map(repr, zip(map(_typed, items[::2]), map(_typed, items[1::2]), strict=True)))
    value = types.decode(octets)
    if kind == "number" and cast("int", value) >= 1 << 63:
        return "large number", value
    return kind, repr(value) if isinstance(value, float) else value  # one nan is not equal to another


def places(octets: bytes) -> dict[str, Part]:
    """Return the parts of an encoded message by their places, such as ``header.ttl``, without null and defaults."""
    found: dict[str, Part] = {}
    for span in split(octets):
        value = octets[span.value : span.end]
        if span.code in {HEADER, PROPERTIES}:
            section, names = ("header", HEADER_FIELDS) if span.code == HEADER else ("properties", PROPERTY_FIELDS)
            for name, field in zip(names, parts(value), strict=False):
                if field != types.null() and DEFAULTS.get(name) != types.decode(field):
                    found[f"{section}.{name}"] = _typed(field)
        elif span.code in _MAPS:
            items = parts(value)
            for name, field in zip(items[::2], items[1::2], strict=True):
                found[f"{_MAPS[span.code]}.{types.decode(name)}"] = _typed(field)
        elif span.code == DATA and "body.data" in found:
            found["body.data"] = "binary", _joined(found["body.data"], _typed(value))
        elif span.code == SEQUENCE and "body.sequence" in found:
            found["body.sequence"] = "list", [found["body.sequence"], _typed(value)]
        else:
            found[f"body.{_BODIES[span.code]}"] = _typed(value)
    return found


def _joined(*several: Part) -> bytes:
    return b"".join(octets for _, octets in several if isinstance(octets, bytes))


# --- messages

_TEXT = types.described(VALUE, types.string("text"))


def _header(**given: bytes) -> bytes:
    fields = (given.get(name.replace("-", "_"), types.null()) for name in HEADER_FIELDS)
    return types.described(HEADER, types.fields(fields))


def _properties(**given: bytes) -> bytes:
    fields = (given.get(name.replace("-", "_"), types.null()) for name in PROPERTY_FIELDS)
    return types.described(PROPERTIES, types.fields(fields))


def _application(given: Mapping[str, bytes]) -> bytes:
    return types.described(
        APPLICATION_PROPERTIES, types.mapping({types.string(key): one for key, one in given.items()})
    )


def _annotations(given: Mapping[str, bytes], section: int = MESSAGE_ANNOTATIONS) -> bytes:
    return types.described(section, types.mapping({types.symbol(key): one for key, one in given.items()}))


def _float(value: float) -> bytes:
    return b"\x72" + struct.pack(">f", value)


_UUID = b"\x98" + bytes(range(16))
_VALUES: Mapping[str, bytes] = {
    "null": types.null(),
    "true": types.boolean(value=True),
    "false": types.boolean(value=False),
    "byte": types.byte(-128),
    "ubyte": types.ubyte(255),
    "short": b"\x61\x80\x00",
    "ushort": b"\x60\xff\xff",
    "int": types.integer(-(2**31)),
    "uint": types.uint(2**32 - 1),
    "long": types.long(-(2**63)),
    "ulong": types.ulong(2**63 - 1),
    "largest ulong": types.ulong(2**64 - 1),
    "float": _float(1.1),
    "double": types.double(0.1),
    "infinity": types.double(float("inf")),
    "nan": types.double(float("nan")),
    "decimal": b"\x84" + bytes(8),
    "char": b"\x73\0\0\0a",
    "timestamp": types.timestamp(5),
    "uuid": _UUID,
    "binary": types.binary(bytes(range(256))),
    "string": types.string("grün\r\n:\\"),
    "symbol": types.symbol("red"),
}
"""A value of every simple type of AMQP."""
_COMPOUNDS: Mapping[str, bytes] = {
    "list of nothing": types.compound(()),
    "map of nothing": types.mapping({}),
    "map with numbers as names": types.mapping({types.integer(1): types.string("x")}),
    "map with a symbol as name": types.mapping({types.symbol("a"): types.string("x")}),
    "map of lists and maps": types.mapping(
        {
            types.string("a"): types.compound((types.integer(1), types.mapping({types.string("b"): types.null()}))),
            types.string("ü"): types.compound(()),
        }
    ),
    "array": types.symbols(["a", "b"]),
    "list with an array": types.compound((types.symbols(["a"]),)),
    "described": types.described(7, types.string("x")),
}


def _bodies() -> dict[str, bytes]:
    data = types.described(DATA, types.binary(bytes(range(256))))
    sequence = types.described(SEQUENCE, types.compound((types.integer(1), types.timestamp(5))))
    found = {
        "no octets": types.described(DATA, types.binary(b"")),
        "octets": data,
        "octets in two sections": data + data,
        "a text of nothing": types.described(VALUE, types.string("")),
        "a text with NUL": types.described(VALUE, types.string("a\0b\r\n\0")),
        "a long text": types.described(VALUE, types.string("ü" * 10_000)),
        "a sequence": sequence,
        "two sequences": sequence + sequence,
    }
    for name, value in (*_VALUES.items(), *_COMPOUNDS.items()):
        found[f"value: {name}"] = types.described(VALUE, value)
    for name, value in _VALUES.items():
        found[f"list: {name}"] = types.described(VALUE, types.compound((value,)))
        found[f"map: {name}"] = types.described(VALUE, types.mapping({types.string("a"): value}))
    return found


def _heads(now_ms: int, taken: Mapping[str, str]) -> dict[str, bytes]:
    """Return the sections before the body, each with one part that is set, by name."""
    ids = {"string": types.string("ID:1"), "uuid": _UUID, "ulong": types.ulong(7), "binary": types.binary(b"\1\2")}
    odd = {
        "": "x",
        " a ": " b ",
        "a:b\r\n\\": "c:\r\n\\",
        "nul\0": "x",
        "text": "a\0b",
        "ü": "ö",
        "timestamp": "noon",
        "JMSXUserID": "u",
    }
    return {
        "nothing": b"",
        "not durable": _header(durable=types.boolean(value=False)),
        "durable": _header(durable=types.boolean(value=True)),
        **{f"priority {number}": _header(priority=types.ubyte(number)) for number in (0, 4, 9, 12)},
        "time to live": _header(ttl=types.uint(600_000)),
        "first acquirer": _header(first_acquirer=types.boolean(value=True)),
        "failed deliveries": _header(delivery_count=types.uint(3)),
        "annotation for the next node": _annotations({"x-opt-a": types.string("b")}, DELIVERY_ANNOTATIONS),
        "annotation": _annotations({"x-opt-a": types.string("b")}),
        "delay": _annotations({"x-opt-delivery-delay": types.long(20)}),
        "delivery time, passed": _annotations({"x-opt-delivery-time": types.long(now_ms)})
        + _properties(creation_time=types.timestamp(now_ms - 5)),
        "delivery time, passed before the timestamp": _annotations({"x-opt-delivery-time": types.long(5)})
        + _properties(creation_time=types.timestamp(6)),
        **{f"message id: {kind}": _properties(message_id=one) for kind, one in ids.items()},
        **{f"correlation id: {kind}": _properties(correlation_id=one) for kind, one in ids.items()},
        "user id": _properties(user_id=types.binary(b"user")),
        "to": _properties(to=types.string("THERE")),
        "type": _properties(subject=types.string("order: \n")),
        "type with NUL": _properties(subject=types.string("a\0b")),
        "reply to a queue": _properties(reply_to=types.string("A/B")),
        **{
            f"reply to {number}": _annotations({"x-opt-jms-reply-to": types.byte(number)})
            + _properties(reply_to=types.string("R"))
            for number in range(4)
        },
        "content encoding": _properties(content_encoding=types.symbol("gzip")),
        **{
            f"content type {name}": _properties(content_type=types.symbol(name))
            for name in ("text/plain;charset=utf-8", "application/json", "image/png")
        },
        "expiry": _properties(absolute_expiry_time=types.timestamp(now_ms + 600_000)),
        "created": _properties(creation_time=types.timestamp(now_ms - 1_000)),
        "created before 1970": _properties(creation_time=types.timestamp(-5)),
        "group": _properties(group_id=types.string("g"), group_sequence=types.uint(2**32 - 1)),
        "place in the group": _properties(group_sequence=types.uint(0)),
        "group to reply to": _properties(reply_to_group_id=types.string("g")),
        **{f"property: {kind}": _application({"p": one}) for kind, one in _VALUES.items()},
        "properties with odd names": _application({name: types.string(one) for name, one in odd.items()}),
        "properties with taken names": _application({name: types.string(one) for name, one in taken.items()}),
    }


def messages(now_ms: int, taken: Mapping[str, str]) -> dict[str, bytes]:
    """Return messages of every kind: each head with a text, each body without a head, and each body with a full head.

    Args:
        now_ms: The time, in milliseconds since the epoch.
        taken: Names of properties that STOMP uses for other purposes, with values.
    """
    footer = _annotations({"x-f": types.string("1")}, FOOTER)
    full = (
        _header(durable=types.boolean(value=True), priority=types.ubyte(7), ttl=types.uint(600_000))
        + _properties(
            message_id=types.string("ID:full"),
            subject=types.string("order"),
            reply_to=types.string("REPLY"),
            correlation_id=types.string("ID:before"),
            content_type=types.symbol("text/plain"),
            creation_time=types.timestamp(now_ms - 7),
            group_id=types.string("g"),
            group_sequence=types.uint(3),
        )
        + _application({f"{kind} property": one for kind, one in _VALUES.items()})
    )
    return {
        **{f"head: {name}": head + _TEXT for name, head in _heads(now_ms, taken).items()},
        "footer": _TEXT + footer,
        **{f"body: {name}": body for name, body in _bodies().items()},
        **{f"full head, body: {name}": full + body for name, body in _bodies().items()},
    }
