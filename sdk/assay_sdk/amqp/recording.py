"""A recording of a connection's last frames, with which a user can explain a fail without a trace of all frames.

A recording is made for every connection of a test, so it must cost little: it cuts the stream into frames by their
sizes, keeps the beginning of each, and decodes nothing until `FrameRecording.frames` is called.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from msgspec import Struct

from assay_sdk.amqp.frames import HEADER_SIZE, SASL_FRAME, show
from assay_sdk.amqp.wording import in_words

FRAMES = 64
"""The number of frames that a recording keeps."""
KEPT = 2_048
"""The most octets that a recording keeps of each frame: enough for a performative and the sections before a body."""
_SASL_KEPT = 512
Direction = Literal["in", "out"]


class RecordedFrame(Struct, frozen=True):
    """A frame of a recording, in words.

    Args:
        mono_ns: The time at which the client sent the frame or received its end, in nanoseconds of a monotonic clock.
        direction: ``in`` for a received frame, ``out`` for a sent one.
        channel: The frame's channel; None for protocol headers and SASL frames.
        size: The size of the frame in octets, including a message in it.
        text: The frame in words, without passwords and without the body of a message.
    """

    mono_ns: int
    direction: Direction
    channel: int | None
    size: int
    text: str


class FrameRecording:
    """The last frames of a connection and of its reconnections, in both directions, without heartbeats.

    Args:
        limit: The number of frames to keep.
    """

    def __init__(self, limit: int = FRAMES) -> None:
        self._kept: deque[tuple[int, Direction, int, bytes]] = deque(maxlen=limit)
        self._begun = bytearray()
        """The recorded beginning of an incomplete frame."""
        self._size = 0
        """The size of this incomplete frame; 0 until its header is complete."""
        self._missing = 0
        """The number of octets of this frame that have not arrived yet."""
        self._lost = False

    def started(self) -> None:
        """Note that a new transport begins, and discard an incomplete frame of the last transport."""
        self._begun.clear()
        self._size = self._missing = 0
        self._lost = False

    def sent(self, mono_ns: int, frame: bytes) -> None:
        """Record a whole frame or protocol header that the client sends.

        Args:
            mono_ns: The time, in nanoseconds of a monotonic clock.
            frame: The frame.
        """
        self._keep(mono_ns, "out", len(frame), frame)

    def received(self, mono_ns: int, octets: bytes) -> None:
        """Record the frames that octets from the broker complete.

        Args:
            mono_ns: The time, in nanoseconds of a monotonic clock.
            octets: The octets, which may begin and end within a frame.
        """
        at, end = 0, len(octets)
        while at < end and not self._lost:
            if not self._begun and (size := _whole(octets, at, end)):  # the usual case, without a copy of the body
                self._keep(mono_ns, "in", size, octets[at : at + min(size, KEPT)])
                at += size
                continue
            if not self._size:
                at = self._begin(octets, at)
                if not self._size:
                    return
            take = min(self._missing, end - at)
            room = KEPT - len(self._begun)
            if room > 0:
                self._begun += octets[at : at + min(take, room)]
            at += take
            self._missing -= take
            if not self._missing:
                self._keep(mono_ns, "in", self._size, bytes(self._begun))
                self._begun.clear()
                self._size = 0

    def _begin(self, octets: bytes, at: int) -> int:
        """Read the header of a frame, which may arrive in pieces; return the position after the octets read."""
        stop = at + HEADER_SIZE - len(self._begun)
        self._begun += octets[at:stop]
        if len(self._begun) < HEADER_SIZE:
            return len(octets)
        self._size = HEADER_SIZE if self._begun.startswith(b"AMQP") else int.from_bytes(self._begun[:4])
        self._missing = self._size - HEADER_SIZE
        if self._missing < 0:  # the octets are not AMQP, so the client cannot find a later frame in them
            self._lost = True
        return min(stop, len(octets))

    def _keep(self, mono_ns: int, direction: Direction, size: int, octets: bytes) -> None:
        if size == HEADER_SIZE and not octets.startswith(b"AMQP"):
            return  # a heartbeat
        if octets.startswith(b"AMQP"):
            octets = octets[:HEADER_SIZE]
        elif octets[5] == SASL_FRAME:
            octets = _without_secret(octets, size)
        self._kept.append((mono_ns, direction, size, octets[:KEPT]))

    def frames(self) -> tuple[RecordedFrame, ...]:
        """Return the kept frames in words, the oldest first."""
        return tuple(_in_words(*one) for one in self._kept)


def _whole(octets: bytes, at: int, end: int) -> int:
    """Return the size of the frame at a position; 0 for a protocol header, an incomplete frame or an invalid size."""
    size = int.from_bytes(octets[at : at + 4])
    return size if HEADER_SIZE <= size <= end - at and octets[at : at + 4] != b"AMQP" else 0


def _without_secret(octets: bytes, size: int) -> bytes:
    """Return a SASL frame with its name in place of its fields, which may contain a password or a proof of one."""
    name = "sasl (not shown)" if size > _SASL_KEPT else show(octets).text
    if "sasl-outcome" in name:
        name = name.partition(",")[0].rstrip("]") + "]"  # the code alone
    return octets[:HEADER_SIZE] + name.encode()


def _in_words(mono_ns: int, direction: Direction, size: int, octets: bytes) -> RecordedFrame:
    if octets.startswith(b"AMQP"):
        return RecordedFrame(mono_ns, direction, None, size, show(octets).text)
    if octets[5] == SASL_FRAME:
        return RecordedFrame(mono_ns, direction, None, size, octets[HEADER_SIZE:].decode())
    channel = int.from_bytes(octets[6:8])
    return RecordedFrame(mono_ns, direction, channel, size, in_words(octets, size))
