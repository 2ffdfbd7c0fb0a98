"""Adds fields to the engine's open and attach frames (OASIS AMQP 1.0, 2.7.1, 2.7.3).

The engine cannot write the server's capabilities and properties, nor all fields of sources and targets.  The functions
here also leave out the flow that the engine writes after each begin.
"""

from __future__ import annotations

from functools import lru_cache
from typing import cast

from msgspec import Struct

from assay_broker.amqp.frames import flows
from assay_broker.amqp.frames.attaches import HANDLE, NAME, OFFERED_AT, PROPERTIES_AT, SOURCE_AT, TARGET_AT, AttachReply
from assay_broker.amqp.frames.editing import changed_frame, fields_of
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import HEADER_SIZE, PROTOCOL_HEADER, whole
from assay_sdk.amqp.values import simple

_OPEN, _BEGIN, _ATTACH, _FLOW = (bytes((code,)) for code in range(0x10, 0x14))
_CODE, _CHANNEL = slice(HEADER_SIZE + 2, HEADER_SIZE + 3), slice(6, 8)
"""The places of the performative's code and of the channel in a frame of the engine."""
_OFFERED_OF_OPEN, _PROPERTIES_OF_OPEN = 7, 9
"""The positions of the offered capabilities and the properties in an open."""
_NULL = types.null()
_SHORT, _REMEMBERED = 512, 1_024
"""The most octets of output whose completion is cached, because similar clients get the same output
(`bench/broker.py connect`); and the most cached results."""


class OpenReply(Struct, frozen=True):
    """The fields of the server's open that the engine cannot write.

    Args:
        offered: The offered capabilities, as an encoded array of symbols; empty for none.
        properties: The properties, as an encoded map; empty for none.
    """

    offered: bytes
    properties: bytes


class Incomplete(Struct, frozen=True):
    """The changes to be made to the frames in the engine's next output.

    Args:
        open: The fields of the open; None if the output has no open.
        begins: Whether the output has a begin. The engine then also writes a flow, which repeats the begin's state, so
            the server leaves the flow out.
        attach: The fields of the attach; None if the output has no attach.
    """

    open: OpenReply | None = None
    begins: bool = False
    attach: AttachReply | None = None


NOTHING = Incomplete()


def completed(octets: bytes, what: Incomplete) -> tuple[bytes, int]:
    """Add fields to frames of the engine's output, and leave out the flow that repeats a begin's state.

    Args:
        octets: The output: whole frames, after the protocol header at the connection's start.
        what: The changes.

    Returns:
        The changed output, and the handle of the attach; 0 without an attach.
    """
    varying = 0 if what.attach is None else what.attach.varying
    return (_completed_again if len(octets) + varying <= _SHORT else _completed)(octets, what)


def _completed(octets: bytes, what: Incomplete) -> tuple[bytes, int]:
    at = HEADER_SIZE if octets.startswith(PROTOCOL_HEADER) else 0
    frames, handle, begun = [octets[:at]], 0, b""
    for frame in whole(octets[at:]):
        code = frame[_CODE]
        if code == _OPEN and what.open is not None:
            frames.append(changed_frame(frame, _fields_of_open(what.open)))
        elif code == _ATTACH and what.attach is not None:
            frames.append(changed_frame(frame, _fields_of_attach(what.attach)))
            handle = cast("int", simple(fields_of(frame)[HANDLE], 0)[0])
        elif code == _FLOW and frame[_CHANNEL] == begun and flows.is_of_session(frame):
            pass  # dropped, because the session's begin has the same state
        else:
            frames.append(frame)
            if code == _BEGIN and what.begins:
                begun = frame[_CHANNEL]
    return b"".join(frames), handle


_completed_again = lru_cache(_REMEMBERED)(_completed)


def _fields_of_open(end: OpenReply) -> dict[int, bytes]:
    return {_OFFERED_OF_OPEN: end.offered or _NULL, _PROPERTIES_OF_OPEN: end.properties or _NULL}


def _fields_of_attach(end: AttachReply) -> dict[int, bytes]:
    return {
        NAME: types.string(end.name),
        SOURCE_AT: end.source or _NULL,
        TARGET_AT: end.target or _NULL,
        OFFERED_AT: end.offered or _NULL,
        PROPERTIES_AT: end.properties or _NULL,
    }
