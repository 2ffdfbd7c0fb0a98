"""The replacing of fields in frames and performatives, without decoding the other fields."""

from __future__ import annotations

from collections.abc import Mapping

from assay_broker.amqp.frames.fields import HEAD_SIZE
from assay_sdk.amqp import types
from assay_sdk.amqp.editing import parts
from assay_sdk.amqp.frames import HEADER_SIZE, frame
from assay_sdk.amqp.values import skip


def changed(octets: bytes, fields: Mapping[int, bytes]) -> bytes:
    """Return a performative in which some fields have new values.

    Args:
        octets: The performative, which must be well-formed.
        fields: The new values, encoded, by the fields' positions.
    """
    at = skip(octets, 1)  # after the descriptor
    items = parts(octets[: skip(octets, at)], at)
    items += [types.null()] * (max(fields) + 1 - len(items))
    for position, value in fields.items():
        items[position] = value
    return octets[:at] + types.fields(items)


def changed_frame(octets: bytes, fields: Mapping[int, bytes]) -> bytes:
    """Return a frame of the engine in which some fields of the performative have new values."""
    return frame(changed(octets[HEADER_SIZE:], fields), channel=int.from_bytes(octets[6:8]))


def fields_of(octets: bytes) -> list[bytes]:
    """Return the encoded fields of the performative in a frame that the AMQP engine has made."""
    return parts(octets, HEADER_SIZE + HEAD_SIZE)
