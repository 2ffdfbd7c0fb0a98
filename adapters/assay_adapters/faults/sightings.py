"""The kit's messages and their settlements on one AMQP connection, as the proxy sees them.

Frames in, sightings out, without I/O. A delivery is known by its id within its session and direction (OASIS AMQP 1.0,
2.6.12) and a session by the channel of each end (2.5.1); the kit's id is one of a message's application properties
(3.2.5), or begins its body. Frames that are not valid give no sighting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import cast

from msgspec import Struct

from assay_adapters.clients.keys import KID
from assay_adapters.clients.keys import key_in as key_in_body
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import AMQP_FRAME
from assay_sdk.amqp.types import DecodeError, Described

_BEGIN, _TRANSFER, _DISPOSITION = 0x11, 0x14, 0x15
_NAMES: Mapping[str, int] = {
    "amqp:begin:list": _BEGIN,
    "amqp:transfer:list": _TRANSFER,
    "amqp:disposition:list": _DISPOSITION,
    "amqp:application-properties:map": 0x74,
    "amqp:data:binary": 0x75,
    "amqp:amqp-value:*": 0x77,
}
"""Symbolic descriptors, which may stand for numbers (1.4)."""
_RECEIVED = 0x23
"""A delivery state that is not an outcome (3.4.1)."""
_APPLICATION_PROPERTIES = 0x74
_BODIES = (0x75, 0x77)
_HEAD_LIMIT = 1 << 16
"""The highest number of octets in which the properties of a message of several frames are searched."""
_SERIALS = 1 << 32


class Direction(StrEnum):
    """The direction of octets."""

    TO_BROKER = "to-broker"
    TO_CLIENT = "to-client"

    @property
    def other(self) -> Direction:
        """The opposite direction."""
        return Direction.TO_CLIENT if self is Direction.TO_BROKER else Direction.TO_BROKER


class What(StrEnum):
    """The kinds of sightings."""

    SENT = "sent"
    """The last frame of a message to the broker."""
    ANSWERED = "answered"
    """The broker's outcome or settlement of a message from the client."""
    DELIVERED = "delivered"
    """The last frame of a message to the client."""
    SETTLED = "settled"
    """The client's outcome or settlement of a message from the broker."""


class Passing(Struct, frozen=True):
    """A sighting."""

    what: What
    key: str


_COMES: Mapping[Direction, What] = {Direction.TO_BROKER: What.SENT, Direction.TO_CLIENT: What.DELIVERED}
_ENDS: Mapping[Direction, What] = {Direction.TO_BROKER: What.ANSWERED, Direction.TO_CLIENT: What.SETTLED}


class _Partial:
    """A message whose last frame has not passed yet."""

    def __init__(self, delivery: int) -> None:
        self.delivery = delivery
        self.settled = False
        self.head = bytearray()


class _Way:
    """One direction of a session: partial messages by handle, and unsettled ones by delivery id."""

    def __init__(self) -> None:
        self.partial: dict[int, _Partial] = {}
        self.unsettled: dict[int, str] = {}


_Session = Mapping[Direction, _Way]


class Conversation:
    """One connection, from its first frame on."""

    def __init__(self) -> None:
        self._sessions: dict[Direction, dict[int, _Session]] = {direction: {} for direction in Direction}

    def look(self, direction: Direction, frame: bytes) -> tuple[Passing, ...]:
        """Return the sightings in a frame or protocol header.

        Args:
            direction: Its direction.
            frame: The whole frame.
        """
        read = _performative(frame)
        if read is None:
            return ()
        code, fields, payload = read
        channel = int.from_bytes(frame[6:8])
        if code == _BEGIN:
            self._begin(direction, channel, _field(fields, 0))
            return ()
        session = self._sessions[direction].get(channel)
        if session is None:
            return ()
        if code == _TRANSFER:
            return tuple(_transferred(session[direction], fields, payload, _COMES[direction]))
        # The receiver's disposition is about deliveries of the other direction.
        is_receiver = _field(fields, 0) is True
        way = direction.other if is_receiver else direction
        ended = tuple(_ended(session[way], fields))
        return tuple(Passing(_ENDS[way], key) for key in ended) if is_receiver else ()

    def _begin(self, direction: Direction, channel: int, remote: object) -> None:
        """Note a new session, or the answer to the other end's (``remote-channel``)."""
        known = self._sessions[direction.other].get(remote) if isinstance(remote, int) else None
        session: _Session = {way: _Way() for way in Direction}
        self._sessions[direction][channel] = session if known is None else known


def _performative(frame: bytes) -> tuple[int, list[object], bytes] | None:
    """Return code, fields and payload of a frame, if it can give a sighting."""
    if frame.startswith(b"AMQP") or frame[5] != AMQP_FRAME:
        return None
    body = frame[frame[4] * 4 :]
    if not body:
        return None  # a heartbeat
    reader = types.Reader(body)
    try:
        performative = reader.value()
    except DecodeError:
        return None
    if not isinstance(performative, Described) or not isinstance(performative.value, list):
        return None
    code = _code(performative.descriptor)
    if code not in {_BEGIN, _TRANSFER, _DISPOSITION}:
        return None
    return code, cast("list[object]", performative.value), body[reader.at :]


def _code(descriptor: object) -> int:
    if isinstance(descriptor, str):
        return _NAMES.get(descriptor, -1)
    return descriptor if isinstance(descriptor, int) else -1


def _field(fields: list[object], number: int) -> object:
    return fields[number] if len(fields) > number else None


def _transferred(way: _Way, fields: list[object], payload: bytes, what: What) -> Iterator[Passing]:
    handle, delivery, settled, more, aborted = (_field(fields, number) for number in (0, 1, 4, 5, 9))
    if not isinstance(handle, int):
        return
    partial = way.partial.get(handle)
    if partial is None:
        if not isinstance(delivery, int):
            return  # the rest of an aborted message
        partial = way.partial[handle] = _Partial(delivery)
    partial.settled = partial.settled or settled is True
    if len(partial.head) < _HEAD_LIMIT:
        partial.head += payload
    if more is True and aborted is not True:
        return
    del way.partial[handle]
    key = None if aborted is True else key_in(bytes(partial.head))
    if key is not None:
        if not partial.settled:
            way.unsettled[partial.delivery] = key
        yield Passing(what, key)


def _ended(way: _Way, fields: list[object]) -> Iterator[str]:
    """Return the kit's ids of the deliveries that a disposition ends: with an outcome, or settled without one."""
    first, last, settled, state = (_field(fields, number) for number in (1, 2, 3, 4))
    if not isinstance(first, int):
        return
    is_outcome = isinstance(state, Described) and _code(state.descriptor) != _RECEIVED
    if not is_outcome and settled is not True:
        return
    span = ((last if isinstance(last, int) else first) - first) % _SERIALS
    for delivery in [number for number in way.unsettled if (number - first) % _SERIALS <= span]:
        yield way.unsettled.pop(delivery)


def key_in(octets: bytes) -> str | None:
    """Return the kit's id from a message's application properties, or without any from its body.

    Args:
        octets: The message's sections, or their beginning.

    Returns:
        The id; None if it is not in these octets.
    """
    reader = types.Reader(octets)
    try:
        while reader.more:
            section = reader.value()
            if not isinstance(section, Described):
                return None
            code = _code(section.descriptor)
            if code == _APPLICATION_PROPERTIES:
                found = cast("dict[object, object]", section.value)
                key = found.get(KID) if isinstance(section.value, dict) else None
                return key if isinstance(key, str) else None
            if code in _BODIES:
                body = section.value
                return key_in_body(body) or None if isinstance(body, str | bytes) else None
    except DecodeError:
        return None
    return None
