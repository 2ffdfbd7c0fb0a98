"""The flow frames that the engine does not write itself (OASIS AMQP 1.0, 2.7.4).

The engine writes a flow only when a link's state has changed.  It does not answer ``echo``, nor a drain when no credit
is left.  The functions here make these answers from a session's flow, which the engine writes on request.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay_broker.amqp.frames.fields import leading
from assay_sdk.amqp import types
from assay_sdk.amqp.editing import parts
from assay_sdk.amqp.frames import HEADER_SIZE, frame

_FLOW = 0x13
_WINDOW, _OF_SESSION, _DRAIN = 1, 4, 8
_WRAP = 1 << 32


def body_of(octets: bytes, code: int) -> bytes:
    """Return the encoded fields of a frame's performative; empty if the performative has another code."""
    begin = octets[4] * 4
    return octets[begin + 3 :] if octets[begin : begin + 3] == bytes((0, 0x53, code)) else b""


def of_link(frames: Iterable[bytes], *, handle: int, count: int, credit: int, drain: bool) -> bytes:
    """Return a flow with the state of a link on which the server sends.

    Args:
        frames: The engine's frames; one of them is a flow of the session.
        handle: The link's handle.
        count: The link's delivery-count.
        credit: The link's credit.
        drain: Whether the client drains the credit.
    """
    available = types.uint(0) if drain else types.null()
    link = types.uint(handle), types.uint(count % _WRAP), types.uint(credit), available, types.boolean(drain)
    return _first(frames, _OF_SESSION, *link)


def of_session(frames: Iterable[bytes]) -> bytes:
    """Return a flow with the state of a session, without a link.

    Args:
        frames: The engine's frames; one of them is a flow of the session or of one of its links.
    """
    return _first(frames, _OF_SESSION)


def of_receiver(frames: Iterable[bytes]) -> bytes:
    """Return the engine's flow for a link on which the server receives, without the ``drain`` field.

    The server sets ``drain`` only to make the engine write a flow.
    """
    return _first(frames, _DRAIN)


def _first(frames: Iterable[bytes], kept: int, *more: bytes) -> bytes:
    """Return the first flow among frames, with its last fields replaced; empty if no frame is a flow.

    Args:
        frames: The frames.
        kept: The number of fields at the flow's beginning that are kept.
        more: The encoded fields that follow the kept ones.
    """
    for octets in frames:
        fields = body_of(octets, _FLOW)
        if fields:
            flow = types.described(_FLOW, types.fields((*parts(fields)[:kept], *more)))
            return frame(flow, channel=int.from_bytes(octets[6:8]))
    return b""


def window(frames: Iterable[bytes]) -> int:
    """Return the incoming window in the last flow among the engine's frames, in transfers; 0 if none is a flow."""
    found = 0
    for octets in frames:
        if body_of(octets, _FLOW):
            found = leading(octets, HEADER_SIZE)[0][_WINDOW] or 0
    return found


def is_of_session(octets: bytes) -> bool:
    """Return whether a flow of the engine has only the state of a session, without a link."""
    return leading(octets, HEADER_SIZE)[0][_OF_SESSION] is None
