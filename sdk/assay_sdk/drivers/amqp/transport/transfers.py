"""Messages in outgoing transfer frames (OASIS AMQP 1.0, 2.7.5), for tracing."""

from __future__ import annotations

from typing import cast

from assay_sdk.amqp import codec, types
from assay_sdk.amqp.frames import AMQP_FRAME
from assay_sdk.amqp.types import DecodeError, Described
from assay_sdk.driver import Transfer

TRANSFER = 0x14
_DELIVERY_ID, _SETTLED = 1, 4


def transfer_in(octets: bytes) -> Transfer | None:
    """Return the message that a frame transfers, and whether the transfer is settled.

    Returns:
        None for other frames, and for frames after the first one of a message.
    """
    if octets.startswith(b"AMQP") or octets[5] != AMQP_FRAME:
        return None
    body = octets[octets[4] * 4 :]
    if not body:
        return None  # a heartbeat
    try:
        reader = types.Reader(body)
        performative = reader.value()
        if not isinstance(performative, Described) or performative.descriptor != TRANSFER:
            return None
        fields = cast("list[object]", performative.value)
        if len(fields) <= _DELIVERY_ID or fields[_DELIVERY_ID] is None:
            return None
        message = codec.decode(body[reader.at :]).message
    except DecodeError:
        return None  # a further frame of a message
    return Transfer(message, settled=len(fields) > _SETTLED and fields[_SETTLED] is True)
