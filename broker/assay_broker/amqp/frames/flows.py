"""Flow frames that the engine does not write (OASIS AMQP 1.0, 2.7.4).

The engine writes a flow when a link's state has changed, and not because the client asks. It leaves ``echo``
unanswered, and a drain for which all credit is used up. It writes a session's flow on request, which is completed
here.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay_broker.amqp.frames.editing import encoded_items
from assay_broker.amqp.frames.fields import numbers
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import HEADER_SIZE, frame

_FLOW = 0x13
_WINDOW, _OF_SESSION, _DRAIN = 1, 4, 8
_WRAP = 1 << 32


def body_of(octets: bytes, code: int) -> bytes:
    """Return the encoded fields of a frame with this performative; empty for another."""
    begin = octets[4] * 4
    return octets[begin + 3 :] if octets[begin : begin + 3] == bytes((0, 0x53, code)) else b""


def of_link(frames: Iterable[bytes], *, handle: int, count: int, credit: int, drain: bool) -> bytes:
    """Return a flow with the state of a sender's link.

    Args:
        frames: The engine's frames for the session.
        handle: The link's.
        count: Its delivery-count.
        credit: Its credit.
        drain: Whether the receiver drains it.
    """
    for octets in frames:
        fields = body_of(octets, _FLOW)
        if fields:
            link = (
                types.uint(handle),
                types.uint(count % _WRAP),
                types.uint(credit),
                types.uint(0) if drain else types.null(),
                types.boolean(drain),
            )
            return _flow(octets, [*encoded_items(fields)[:_OF_SESSION], *link])
    return b""


def of_session(frames: Iterable[bytes]) -> bytes:
    """Return a flow with the state of a session, without a link.

    Args:
        frames: The engine's frames for it, and perhaps for a link.
    """
    for octets in frames:
        fields = body_of(octets, _FLOW)
        if fields:
            return _flow(octets, encoded_items(fields)[:_OF_SESSION])
    return b""


def of_receiver(frames: Iterable[bytes]) -> bytes:
    """Return a flow of a receiver's link without ``drain``, which the engine was made to write."""
    for octets in frames:
        fields = body_of(octets, _FLOW)
        if fields:
            return _flow(octets, encoded_items(fields)[:_DRAIN])
    return b""


def window(frames: Iterable[bytes]) -> int:
    """Return the incoming window in the last flow among the engine's frames, in transfers; 0 if there is none."""
    found = 0
    for octets in frames:
        fields = numbers(octets, HEADER_SIZE) if body_of(octets, _FLOW) else None
        if fields is not None:
            found = fields[_WINDOW] or 0
    return found


def is_of_session(octets: bytes) -> bool:
    """Whether an engine's flow has the state of the session and no link."""
    fields = numbers(octets, HEADER_SIZE)
    return fields is not None and fields[_OF_SESSION] is None


def _flow(octets: bytes, fields: list[bytes]) -> bytes:
    return frame(types.described(_FLOW, types.fields(fields)), channel=int.from_bytes(octets[6:8]))
