"""Frames in words, with the names of their fields (OASIS AMQP 1.0, parts 2 to 5), for a user who examines a fail.

A frame may be incomplete, because a recording keeps only the beginning of a long frame.  For a message, the words
contain the number of its octets in the frame and the sections before its body, but never the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from assay_sdk.amqp import types
from assay_sdk.amqp.types import DecodeError, Described

_LONGEST = 96
"""The most characters of one value; a longer value is cut."""

_PERFORMATIVES: Mapping[int, tuple[str, str]] = {
    0x10: (
        "open",
        (
            "container-id hostname max-frame-size channel-max idle-time-out outgoing-locales incoming-locales"
            " offered-capabilities desired-capabilities properties"
        ),
    ),
    0x11: (
        "begin",
        (
            "remote-channel next-outgoing-id incoming-window outgoing-window handle-max offered-capabilities"
            " desired-capabilities properties"
        ),
    ),
    0x12: (
        "attach",
        (
            "name handle role snd-settle-mode rcv-settle-mode source target unsettled incomplete-unsettled"
            " initial-delivery-count max-message-size offered-capabilities desired-capabilities properties"
        ),
    ),
    0x13: (
        "flow",
        (
            "next-incoming-id incoming-window next-outgoing-id outgoing-window handle delivery-count link-credit"
            " available drain echo properties"
        ),
    ),
    0x14: (
        "transfer",
        "handle delivery-id delivery-tag message-format settled more rcv-settle-mode state resume aborted batchable",
    ),
    0x15: ("disposition", "role first last settled state batchable"),
    0x16: ("detach", "handle closed error"),
    0x17: ("end", "error"),
    0x18: ("close", "error"),
    0x1D: ("error", "condition description info"),
    0x23: ("received", "section-number section-offset"),
    0x24: ("accepted", ""),
    0x25: ("rejected", "error"),
    0x26: ("released", ""),
    0x27: ("modified", "delivery-failed undeliverable-here message-annotations"),
    0x28: (
        "source",
        (
            "address durable expiry-policy timeout dynamic dynamic-node-properties distribution-mode filter"
            " default-outcome outcomes capabilities"
        ),
    ),
    0x29: ("target", "address durable expiry-policy timeout dynamic dynamic-node-properties capabilities"),
    0x30: ("coordinator", "capabilities"),
    0x31: ("declare", "global-id"),
    0x32: ("discharge", "txn-id fail"),
    0x33: ("declared", "txn-id"),
    0x34: ("transactional-state", "txn-id outcome"),
    0x70: ("header", "durable priority ttl first-acquirer delivery-count"),
    0x71: ("delivery-annotations", ""),
    0x72: ("message-annotations", ""),
    0x73: (
        "properties",
        (
            "message-id user-id to subject reply-to correlation-id content-type content-encoding absolute-expiry-time"
            " creation-time group-id group-sequence reply-to-group-id"
        ),
    ),
    0x74: ("application-properties", ""),
}
"""Name and field names of each described type, by the number of its descriptor."""
_BEFORE_BODY = range(0x70, 0x75)
_TRANSFER = 0x14
_ROLES = {True: "receiver", False: "sender"}


def in_words(octets: bytes, size: int) -> str:
    """Return a frame of AMQP in words, without its channel.

    Args:
        octets: The frame, or its beginning.
        size: The size of the whole frame in octets.
    """
    start = octets[4] * 4
    reader = types.Reader(octets[start:])
    try:
        performative = reader.value()
    except DecodeError:
        return "undecodable, or longer than its recorded beginning"
    payload = size - start - reader.at
    if not payload:
        return _value(performative)
    sections = _sections(reader) if _code(performative) == _TRANSFER and not _is_later_part(performative) else ""
    return f"{_value(performative)} message of {payload} octets{sections}"


def _is_later_part(transfer: object) -> bool:
    """Return whether a transfer has no delivery-id, and so continues an earlier transfer (AMQP 1.0, 2.7.5)."""
    fields = cast("list[object]", transfer.value) if isinstance(transfer, Described) else []
    return len(fields) < 2 or fields[1] is None  # noqa: PLR2004 - the delivery's id is the second field


def _sections(reader: types.Reader) -> str:
    """Return the sections of a message before its body, as far as they are recorded."""
    told: list[str] = []
    while reader.more:
        try:
            section = reader.value()
        except DecodeError:
            break
        if _code(section) not in _BEFORE_BODY:
            break
        told.append(_value(section))
    return f": {' '.join(told)}" if told else ""


def _code(value: object) -> int:
    return value.descriptor if isinstance(value, Described) and isinstance(value.descriptor, int) else -1


def _value(value: object) -> str:
    match value:
        case Described(value=inner):
            return _described(value, inner)
        case bytes() | bytearray() | memoryview():
            return _cut(bytes(value).hex())
        case dict():
            entries = cast("dict[object, object]", value).items()
            return "{" + ", ".join(f"{_value(key)}={_value(entry)}" for key, entry in entries) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_value, cast("list[object]", value))) + "]"
        case bool():
            return "true" if value else "false"
        case _:
            return _cut(str(value))


def _described(value: Described, inner: object) -> str:
    known = _PERFORMATIVES.get(_code(value))
    if known is None:
        descriptor = f"0x{value.descriptor:x}" if isinstance(value.descriptor, int) else str(value.descriptor)
        return f"{_cut(descriptor)}({_value(inner)})"
    name, fields = known
    if not isinstance(inner, list):
        return f"{name}{_value(inner)}"
    shown = [
        f"{field}={_field(field, entry)}"
        for field, entry in zip(fields.split(), cast("list[object]", inner), strict=False)
        if entry is not None
    ]
    return f"{name}({' '.join(shown)})" if shown else name


def _field(name: str, value: object) -> str:
    return _ROLES[value] if name == "role" and isinstance(value, bool) else _value(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
