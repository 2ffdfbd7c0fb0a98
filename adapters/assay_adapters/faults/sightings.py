"""What passes over one AMQP connection, as somebody in the middle sees it: the kit's messages and their settlements.

Pure: frames in, sightings out.  A delivery is known by its id within its session and direction (OASIS AMQP 1.0, 2.6.12)
and a session by the channel that each end has for it (2.5.1); the kit's id stands among a message's application
properties (3.2.5).  Whatever makes no sense here is somebody else's business and gives no sighting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import cast

from msgspec import Struct

from assay_adapters.clients.events import KID
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import AMQP_FRAME
from assay_sdk.amqp.types import DecodeError, Described

_BEGIN, _TRANSFER, _DISPOSITION = 0x11, 0x14, 0x15
_NAMES: Mapping[str, int] = {
    "amqp:begin:list": _BEGIN,
    "amqp:transfer:list": _TRANSFER,
    "amqp:disposition:list": _DISPOSITION,
    "amqp:application-properties:map": 0x74,
}
"""A descriptor may be a symbol instead of a number (1.4)."""
_RECEIVED = 0x23
"""A delivery state that is no outcome yet (3.4.1)."""
_APPLICATION_PROPERTIES = 0x74
_HEAD_LIMIT = 1 << 16
"""Octets of a message at most in which its properties are looked for, when it comes in several frames."""
_SERIALS = 1 << 32


class Direction(StrEnum):
    """Which way octets go."""

    TO_BROKER = "to-broker"
    TO_CLIENT = "to-client"

    @property
    def other(self) -> Direction:
        """The way back."""
        return Direction.TO_CLIENT if self is Direction.TO_BROKER else Direction.TO_BROKER


class What(StrEnum):
    """What has passed."""

    SENT = "sent"
    """The last frame of a message to the broker."""
    ANSWERED = "answered"
    """The broker's outcome of a message that it was sent, or its settlement."""
    DELIVERED = "delivered"
    """The last frame of a message to the client."""
    SETTLED = "settled"
    """The client's outcome of a message that it was given, or its settlement."""


class Passing(Struct, frozen=True):
    """Something that the kit knows went by."""

    what: What
    kid: str


_COMES: Mapping[Direction, What] = {Direction.TO_BROKER: What.SENT, Direction.TO_CLIENT: What.DELIVERED}
_ENDS: Mapping[Direction, What] = {Direction.TO_BROKER: What.ANSWERED, Direction.TO_CLIENT: What.SETTLED}


class _Partial:
    """A message whose last frame has not come by yet."""

    def __init__(self, delivery: int) -> None:
        self.delivery = delivery
        self.settled = False
        self.head = bytearray()


class _Way:
    """One direction of a session: what is under way, by handle, and what is not settled, by delivery id."""

    def __init__(self) -> None:
        self.partial: dict[int, _Partial] = {}
        self.unsettled: dict[int, str] = {}


_Session = Mapping[Direction, _Way]


class Conversation:
    """One connection, from its first frame on."""

    def __init__(self) -> None:
        self._sessions: dict[Direction, dict[int, _Session]] = {direction: {} for direction in Direction}

    def look(self, direction: Direction, frame: bytes) -> tuple[Passing, ...]:
        """What a frame, or a protocol header, has to do with the kit's messages.

        Args:
            direction: Which way it goes.
            frame: The whole of it.
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
        # The receiving end speaks of what came to it: of the other direction's deliveries.
        is_receiver = _field(fields, 0) is True
        way = direction.other if is_receiver else direction
        ended = tuple(_ended(session[way], fields))
        return tuple(Passing(_ENDS[way], kid) for kid in ended) if is_receiver else ()

    def _begin(self, direction: Direction, channel: int, remote: object) -> None:
        """A session begins: a new one, or the answer to the other end's (``remote-channel``)."""
        known = self._sessions[direction.other].get(remote) if isinstance(remote, int) else None
        session: _Session = {way: _Way() for way in Direction}
        self._sessions[direction][channel] = session if known is None else known


def _performative(frame: bytes) -> tuple[int, list[object], bytes] | None:
    """Code, fields and payload of a frame that is of interest here."""
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
            return  # the rest of what was aborted
        partial = way.partial[handle] = _Partial(delivery)
    partial.settled = partial.settled or settled is True
    if len(partial.head) < _HEAD_LIMIT:
        partial.head += payload
    if more is True and aborted is not True:
        return
    del way.partial[handle]
    kid = None if aborted is True else kid_in(bytes(partial.head))
    if kid is not None:
        if not partial.settled:
            way.unsettled[partial.delivery] = kid
        yield Passing(what, kid)


def _ended(way: _Way, fields: list[object]) -> Iterator[str]:
    """The kit's ids of the deliveries that a disposition ends: those with an outcome, or settled without."""
    first, last, settled, state = (_field(fields, number) for number in (1, 2, 3, 4))
    if not isinstance(first, int):
        return
    is_outcome = isinstance(state, Described) and _code(state.descriptor) != _RECEIVED
    if not is_outcome and settled is not True:
        return
    span = ((last if isinstance(last, int) else first) - first) % _SERIALS
    for delivery in [number for number in way.unsettled if (number - first) % _SERIALS <= span]:
        yield way.unsettled.pop(delivery)


def kid_in(octets: bytes) -> str | None:
    """The kit's id among a message's application properties.

    Args:
        octets: The message's sections, or as many octets of them as there are.

    Returns:
        None where it has none, or not in these octets.
    """
    reader = types.Reader(octets)
    try:
        while reader.more:
            section = reader.value()
            if not isinstance(section, Described):
                return None
            if _code(section.descriptor) == _APPLICATION_PROPERTIES:
                found = cast("dict[object, object]", section.value)
                kid = found.get(KID) if isinstance(section.value, dict) else None
                return kid if isinstance(kid, str) else None
    except DecodeError:
        return None
    return None
