"""Change fields of frames and performatives without decoding the others."""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.amqp.frames.fields import HEAD_SIZE
from assay_sdk.amqp import types
from assay_sdk.amqp.editing import parts
from assay_sdk.amqp.frames import HEADER_SIZE, frame
from assay_sdk.amqp.values import skip


def changed(octets: bytes, fields: Mapping[int, bytes]) -> bytes:
    """Return a performative with other values for some fields.

    Args:
        octets: The performative, well-formed.
        fields: Encoded values by position.
    """
    at = skip(octets, 1)  # behind the descriptor
    items = parts(octets[: skip(octets, at)], at)
    items += [types.null()] * (max(fields) + 1 - len(items))
    for position, value in fields.items():
        items[position] = value
    return octets[:at] + types.fields(items)


def changed_frame(octets: bytes, fields: Mapping[int, bytes]) -> bytes:
    """Return an engine's frame with other values for some fields of its performative."""
    return frame(changed(octets[HEADER_SIZE:], fields), channel=int.from_bytes(octets[6:8]))


def fields_of(octets: bytes) -> list[bytes]:
    """Return the encoded fields of the performative in an engine's frame."""
    return parts(octets, HEADER_SIZE + HEAD_SIZE)
