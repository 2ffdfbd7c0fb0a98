"""AMQP frames: splitting a stream into frames, encoding them, and showing them as text (OASIS AMQP 1.0, 2.3)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from msgspec import Struct

from assay_sdk.amqp import types
from assay_sdk.amqp.types import DecodeError, Described

PROTOCOL_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"

HEADER_SIZE = 8
"""Size of a protocol header, and of the fixed part of a frame, in octets."""

AMQP_FRAME, SASL_FRAME = 0, 1

_NAMES: Mapping[tuple[int, int], str] = {
    (AMQP_FRAME, 0x10): "open",
    (AMQP_FRAME, 0x11): "begin",
    (AMQP_FRAME, 0x12): "attach",
    (AMQP_FRAME, 0x13): "flow",
    (AMQP_FRAME, 0x14): "transfer",
    (AMQP_FRAME, 0x15): "disposition",
    (AMQP_FRAME, 0x16): "detach",
    (AMQP_FRAME, 0x17): "end",
    (AMQP_FRAME, 0x18): "close",
    (SASL_FRAME, 0x40): "sasl-mechanisms",
    (SASL_FRAME, 0x41): "sasl-init",
    (SASL_FRAME, 0x42): "sasl-challenge",
    (SASL_FRAME, 0x43): "sasl-response",
    (SASL_FRAME, 0x44): "sasl-outcome",
}
_SECRET = {"sasl-init", "sasl-challenge", "sasl-response"}
"""Frames that may contain a password; `show` omits their fields and octets."""


class Splitter:
    """An object that cuts a stream of octets into protocol headers and frames."""

    def __init__(self) -> None:
        self._rest = bytearray()

    @property
    def rest(self) -> bytes:
        """Octets after the last complete frame: the beginning of a frame, or octets that are not a frame."""
        return bytes(self._rest)

    def feed(self, octets: bytes) -> Iterator[bytes]:
        """Yield the protocol headers and frames that these octets complete.

        Raises:
            DecodeError: The size that a frame states is smaller than a frame's header.
        """
        self._rest += octets
        at = 0
        try:
            while len(self._rest) - at >= HEADER_SIZE:
                size = HEADER_SIZE
                if not self._rest.startswith(b"AMQP", at):
                    size = int.from_bytes(self._rest[at : at + 4])
                    if size < HEADER_SIZE:
                        raise DecodeError(f"a frame of {size} octets")
                if len(self._rest) - at < size:
                    break
                frame = bytes(self._rest[at : at + size])
                at += size
                yield frame
        finally:
            del self._rest[:at]


def whole(octets: bytes) -> Iterator[bytes]:
    """Split octets that consist of whole frames, and yield each frame."""
    at, end = 0, len(octets)
    while at < end:
        begin, at = at, at + max(int.from_bytes(octets[at : at + 4]), HEADER_SIZE)
        yield octets[begin:at]


def frame(performative: bytes, *, sasl: bool = False, channel: int = 0) -> bytes:
    """Return a frame with an encoded performative.

    Args:
        performative: The performative.
        sasl: Whether the frame is a SASL frame.
        channel: Channel of the frame.
    """
    return struct.pack(">IBBH", HEADER_SIZE + len(performative), 2, int(sasl), channel) + performative


class Shown(Struct, frozen=True):
    """A frame for the journal: a line of text, and the frame's octets; no octets if it may contain a password."""

    text: str
    octets: bytes


def show(octets: bytes) -> Shown:
    """Return a protocol header or frame for the journal, without passwords.

    Args:
        octets: A whole frame or protocol header.
    """
    if octets.startswith(b"AMQP"):
        return Shown("header " + ".".join(str(number) for number in octets[4:]), octets)
    kind, channel = octets[5], int.from_bytes(octets[6:8])
    body = octets[octets[4] * 4 :]
    if not body:
        return Shown("heartbeat", octets)
    try:
        reader = types.Reader(body)
        performative = reader.value()
    except DecodeError as error:
        return Shown(f"channel {channel} undecodable: {error}", octets)
    if not isinstance(performative, Described) or not isinstance(performative.descriptor, int):
        return Shown(f"channel {channel} no performative", octets)
    name = _NAMES.get((kind, performative.descriptor), f"0x{performative.descriptor:02x}")
    if name in _SECRET:
        return Shown(f"{name} (not shown)", b"")
    payload = len(body) - reader.at
    tail = f" payload={payload}" if payload else ""
    return Shown(f"channel {channel} {name} {performative.value!r}{tail}", octets)
