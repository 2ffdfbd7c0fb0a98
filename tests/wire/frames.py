"""Changes of single fields in AMQP frames, and the frames that a broken proxy sends itself."""

from __future__ import annotations

from collections.abc import Mapping

from assay_sdk.amqp import types
from assay_sdk.amqp.editing import parts
from assay_sdk.amqp.frames import frame
from assay_sdk.amqp.performatives import ACCEPTED, DISPOSITION, Performative, read_performative
from assay_sdk.amqp.values import skip

HEARTBEAT = b"\x00\x00\x00\x08\x02\x00\x00\x00"
OPEN, BEGIN, ATTACH, TRANSFER, DETACH, END, CLOSE = 0x10, 0x11, 0x12, 0x14, 0x16, 0x17, 0x18
COORDINATOR = 0x30
TRUE, FALSE = types.boolean(value=True), types.boolean(value=False)


def changed(octets: bytes, fields: Mapping[int, bytes], *, payload: bytes | None = None) -> bytes:
    """Return a frame with some fields of its performative replaced.

    Args:
        octets: The whole frame.
        fields: The new encoded values, by position.
        payload: The new octets after the performative; None to keep them.
    """
    channel, body = int.from_bytes(octets[6:8]), octets[octets[4] * 4 :]
    begin = skip(body, 1)  # after the descriptor
    end = skip(body, begin)
    kept = parts(body[:end], begin)
    kept += [types.null()] * (max(fields, default=-1) + 1 - len(kept))
    for position, value in fields.items():
        kept[position] = value
    return frame(body[:begin] + types.fields(kept) + (body[end:] if payload is None else payload), channel=channel)


def disposition(channel: int, delivery: int, *, by_receiver: bool) -> bytes:
    """Return a frame that accepts and settles one delivery.

    Args:
        channel: The channel of the frame's sender.
        delivery: The delivery's id.
        by_receiver: Whether the frame's sender is the receiver of the delivery.
    """
    accepted = types.described(ACCEPTED, types.compound([]))
    fields = (types.boolean(by_receiver), types.uint(delivery), types.null(), TRUE, accepted)
    return frame(types.described(DISPOSITION, types.fields(fields)), channel=channel)


def ids_of(found: Performative) -> range:
    """Return the delivery ids that a disposition names."""
    first, last = found[1], found[2]
    assert isinstance(first, int)
    return range(first, (last if isinstance(last, int) else first) + 1)


def transfer_in(octets: bytes) -> Performative | None:
    """Return the performative of a frame if it is a transfer."""
    found = read_performative(octets)
    return found if found is not None and found.code == TRANSFER else None
