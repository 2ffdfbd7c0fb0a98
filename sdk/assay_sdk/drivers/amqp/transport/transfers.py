"""Messages in outgoing transfer frames (OASIS AMQP 1.0, 2.7.5), for tracing."""

from __future__ import annotations

from typing import cast

from msgspec import Struct

from assay_sdk.amqp import codec, types
from assay_sdk.amqp.frames import AMQP_FRAME
from assay_sdk.amqp.types import DecodeError, Described
from assay_sdk.driver import Transfer

TRANSFER = 0x14
_HANDLE, _SETTLED, _MORE, _ABORTED = 0, 4, 5, 9


class _Begun(Struct):
    """A delivery of which not all frames have passed."""

    octets: bytes = b""
    settled: bool = False


class Transfers:
    """Puts the frames of each outgoing delivery together: a message may be larger than a frame."""

    def __init__(self) -> None:
        self._begun: dict[tuple[int, object], _Begun] = {}

    def feed(self, octets: bytes) -> Transfer | None:
        """Return the message whose last transfer frame this is, and whether its delivery is settled.

        Returns:
            None for other frames, and for a delivery that is aborted or cannot be read.
        """
        found = _performative(octets)
        if found is None:
            return None
        fields, payload = found
        line = int.from_bytes(octets[6:8]), _field(fields, _HANDLE)
        delivery = self._begun.pop(line, None) or _Begun()
        if _field(fields, _ABORTED) is True:
            return None
        delivery.octets += payload
        delivery.settled |= _field(fields, _SETTLED) is True
        if _field(fields, _MORE) is True:
            self._begun[line] = delivery
            return None
        if not delivery.octets:
            return None
        try:
            return Transfer(codec.decode(delivery.octets).message, settled=delivery.settled)
        except DecodeError:
            return None


def _performative(octets: bytes) -> tuple[list[object], bytes] | None:
    """The fields of a transfer, and the part of a message that follows them; None for any other frame."""
    if octets.startswith(b"AMQP") or octets[5] != AMQP_FRAME:
        return None
    body = octets[octets[4] * 4 :]
    if not body:
        return None  # a heartbeat
    reader = types.Reader(body)
    try:
        performative = reader.value()
    except DecodeError:
        return None
    if not isinstance(performative, Described) or performative.descriptor != TRANSFER:
        return None
    return cast("list[object]", performative.value), body[reader.at :]


def _field(fields: list[object], number: int) -> object:
    """A field; None if the frame leaves it out."""
    return fields[number] if number < len(fields) else None
