"""Change fields of frames and performatives without decoding the others."""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import HEADER_SIZE, frame
from assay_sdk.amqp.values import skip

_NULL = types.null()
_HEAD_SIZE = 3
"""Octets before the fields: a small numeric descriptor."""


def changed(octets: bytes, fields: Mapping[int, bytes]) -> bytes:
    """Return a performative with other values for some fields.

    Args:
        octets: The performative, well-formed.
        fields: Encoded values by position.
    """
    at = skip(octets, 1)  # behind the descriptor
    parts = encoded_items(octets[at:])
    parts += [_NULL] * (max(fields) + 1 - len(parts))
    for position, value in fields.items():
        parts[position] = value
    return octets[:at] + types.fields(parts)


def changed_frame(octets: bytes, fields: Mapping[int, bytes]) -> bytes:
    """Return an engine's frame with other values for some fields of its performative."""
    return frame(changed(octets[HEADER_SIZE:], fields), channel=int.from_bytes(octets[6:8]))


def fields_of(octets: bytes) -> list[bytes]:
    """Return the encoded fields of the performative in an engine's frame, which has at least one."""
    return encoded_items(octets[HEADER_SIZE + _HEAD_SIZE :])


_LIST8_HEAD, _LIST32_HEAD = 3, 9


def encoded_items(octets: bytes) -> list[bytes]:
    """Return the encoded items of an encoded list that is not empty."""
    short = octets[0] == 0xC0  # noqa: PLR2004  a list of less than 256 octets
    count = octets[2] if short else int.from_bytes(octets[5:9])
    at = _LIST8_HEAD if short else _LIST32_HEAD
    spans: list[bytes] = []
    for _ in range(count):
        begin, at = at, skip(octets, at)
        spans.append(octets[begin:at])
    return spans
