"""Performatives in frames (OASIS AMQP 1.0, 2.7), for code that only observes a connection.

The observers are the client's trace, the kit's proxy, and the client's reader of the capabilities in attaches.  They
ignore invalid frames; the client's protocol engine and the broker refuse such frames.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from msgspec import Struct

from assay_sdk.amqp import types
from assay_sdk.amqp.frames import AMQP_FRAME
from assay_sdk.amqp.types import DecodeError, Described

BEGIN, ATTACH, TRANSFER, DISPOSITION = 0x11, 0x12, 0x14, 0x15
RECEIVED, ACCEPTED, REJECTED, RELEASED, MODIFIED = 0x23, 0x24, 0x25, 0x26, 0x27
APPLICATION_PROPERTIES, DATA, AMQP_VALUE = 0x74, 0x75, 0x77

_CODES: Mapping[str, int] = {
    "amqp:begin:list": BEGIN,
    "amqp:attach:list": ATTACH,
    "amqp:transfer:list": TRANSFER,
    "amqp:disposition:list": DISPOSITION,
    "amqp:received:list": RECEIVED,
    "amqp:accepted:list": ACCEPTED,
    "amqp:rejected:list": REJECTED,
    "amqp:released:list": RELEASED,
    "amqp:modified:list": MODIFIED,
    "amqp:application-properties:map": APPLICATION_PROPERTIES,
    "amqp:data:binary": DATA,
    "amqp:amqp-value:*": AMQP_VALUE,
}
"""Numeric code of each symbolic descriptor; a frame may have either form (AMQP 1.0, 1.4)."""
_SERIALS = 1 << 32


class Performative(Struct, frozen=True):
    """A performative of a frame.

    Args:
        code: Number of the performative's descriptor; -1 for an unknown descriptor (`code_of`).
        channel: Channel of the frame.
        fields: Fields of the performative; fields at the end may be missing.
        payload: Octets after the performative; in a transfer, a part of the message.
    """

    code: int
    channel: int
    fields: list[object]
    payload: bytes

    def __getitem__(self, number: int) -> object:
        """Return the field at a position; None if it is missing."""
        return self.fields[number] if number < len(self.fields) else None


def read_performative(octets: bytes) -> Performative | None:
    """Return the performative of a frame.

    Args:
        octets: A whole frame or protocol header.

    Returns:
        The performative; None for headers, heartbeats, SASL frames and invalid frames.
    """
    if octets.startswith(b"AMQP") or octets[5] != AMQP_FRAME:
        return None
    body = octets[octets[4] * 4 :]
    if not body:
        return None  # a heartbeat
    reader = types.Reader(body)
    try:
        found = reader.value()
    except DecodeError:
        return None
    if not isinstance(found, Described) or not isinstance(found.value, list):
        return None
    fields = cast("list[object]", found.value)
    return Performative(code_of(found.descriptor), int.from_bytes(octets[6:8]), fields, body[reader.at :])


def code_of(descriptor: object) -> int:
    """Return the numeric code of a descriptor; -1 if it is an unknown name, or neither a number nor a symbol."""
    if isinstance(descriptor, str):
        return _CODES.get(descriptor, -1)
    return descriptor if isinstance(descriptor, int) else -1


def disposed_ids(disposition: Performative, unsettled: Mapping[int, object]) -> list[int]:
    """Return the unsettled deliveries that a disposition is about (AMQP 1.0, 2.7.6).

    Args:
        disposition: The disposition, which names the first and the last delivery id.
        unsettled: Unsettled deliveries by delivery id, a serial number of 32 bits.

    Returns:
        The delivery ids of these deliveries.
    """
    first, last = disposition[1], disposition[2]
    if not isinstance(first, int):
        return []
    if not isinstance(last, int) or last == first:
        return [first] if first in unsettled else []  # the usual case
    return [number for number in unsettled if (number - first) % _SERIALS <= (last - first) % _SERIALS]
