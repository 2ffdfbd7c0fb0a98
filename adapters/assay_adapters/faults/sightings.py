"""The kit's messages and their settlements on one AMQP connection, read from the frames that pass the proxy.

`Conversation` reads frames, and returns the messages that they carry or settle, without I/O. It identifies a delivery
by its id within its session and direction (OASIS AMQP 1.0, 2.6.12), and a session by the channel of each end (2.5.1).
The kit's id of a message is an application property (AMQP 1.0, 3.2.5), or the beginning of the body.
`Conversation` ignores invalid frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import cast

from msgspec import Struct

from assay_adapters.clients.keys import KID
from assay_adapters.clients.keys import key_in as key_in_body
from assay_sdk.amqp import types
from assay_sdk.amqp.performatives import (
    AMQP_VALUE,
    APPLICATION_PROPERTIES,
    BEGIN,
    DATA,
    DISPOSITION,
    RECEIVED,
    TRANSFER,
    Performative,
    code_of,
    disposed_ids,
    read_performative,
)
from assay_sdk.amqp.types import DecodeError, Described

_HEAD_LIMIT = 1 << 16
"""The number of octets at the beginning of a message in which the kit's id is searched for."""


class Direction(StrEnum):
    """The direction of frames on a connection."""

    TO_BROKER = "to-broker"
    TO_CLIENT = "to-client"

    @property
    def other(self) -> Direction:
        """The opposite direction."""
        return Direction.TO_CLIENT if self is Direction.TO_BROKER else Direction.TO_BROKER


class What(StrEnum):
    """An event of a message on its way through the proxy."""

    SENT = "sent"
    """The client has sent the last frame of a message."""
    ANSWERED = "answered"
    """The broker has sent its outcome or settlement of a message from the client."""
    DELIVERED = "delivered"
    """The broker has sent the last frame of a message."""
    SETTLED = "settled"
    """The client has sent its outcome or settlement of a message from the broker."""


class Passing(Struct, frozen=True):
    """A frame that carries or settles one of the kit's messages.

    Args:
        what: The event of the message.
        key: The kit's id of the message.
    """

    what: What
    key: str


_COMES: Mapping[Direction, What] = {Direction.TO_BROKER: What.SENT, Direction.TO_CLIENT: What.DELIVERED}
_ENDS: Mapping[Direction, What] = {Direction.TO_BROKER: What.ANSWERED, Direction.TO_CLIENT: What.SETTLED}


class _Partial:
    """A message whose last frame has not passed the proxy yet."""

    def __init__(self, delivery: int) -> None:
        self.delivery = delivery
        self.settled = False
        self.head = bytearray()


class _Way:
    """The messages in one direction of a session.

    `partial` has the incomplete messages by the handle of their link. `unsettled` has the kit's ids of the unsettled
    messages by delivery id.
    """

    def __init__(self) -> None:
        self.partial: dict[int, _Partial] = {}
        self.unsettled: dict[int, str] = {}


_Session = Mapping[Direction, _Way]


class Conversation:
    """A reader of all frames of one connection, from its first frame on."""

    def __init__(self) -> None:
        self._sessions: dict[Direction, dict[int, _Session]] = {direction: {} for direction in Direction}

    def read(self, direction: Direction, frame: bytes) -> tuple[Passing, ...]:
        """Return an event for each of the kit's messages that a frame completes, answers or settles.

        Args:
            direction: The frame's direction.
            frame: The whole frame.
        """
        read = read_performative(frame)
        if read is None or read.code not in {BEGIN, TRANSFER, DISPOSITION}:
            return ()
        if read.code == BEGIN:
            self._begin(direction, read.channel, read[0])
            return ()
        session = self._sessions[direction].get(read.channel)
        if session is None:
            return ()
        if read.code == TRANSFER:
            return tuple(_transferred(session[direction], read, _COMES[direction]))
        # A receiver's disposition settles deliveries of the other direction.
        is_receiver = read[0] is True
        way = direction.other if is_receiver else direction
        ended = tuple(_ended(session[way], read))
        return tuple(Passing(_ENDS[way], key) for key in ended) if is_receiver else ()

    def _begin(self, direction: Direction, channel: int, remote: object) -> None:
        """Note a new session, or the other end's begin for a session (then `remote` is its ``remote-channel``)."""
        known = self._sessions[direction.other].get(remote) if isinstance(remote, int) else None
        session: _Session = {way: _Way() for way in Direction}
        self._sessions[direction][channel] = session if known is None else known


def _transferred(way: _Way, transfer: Performative, what: What) -> Iterator[Passing]:
    handle, delivery, settled, more, aborted = (transfer[number] for number in (0, 1, 4, 5, 9))
    if not isinstance(handle, int):
        return
    partial = way.partial.get(handle)
    if partial is None:
        if not isinstance(delivery, int):
            return  # the rest of an aborted message
        partial = way.partial[handle] = _Partial(delivery)
    partial.settled = partial.settled or settled is True
    if len(partial.head) < _HEAD_LIMIT:
        partial.head += transfer.payload
    if more is True and aborted is not True:
        return
    del way.partial[handle]
    key = None if aborted is True else key_in(bytes(partial.head))
    if key is not None:
        if not partial.settled:
            way.unsettled[partial.delivery] = key
        yield Passing(what, key)


def _ended(way: _Way, disposition: Performative) -> Iterator[str]:
    """Yield the kit's ids of the deliveries that a disposition settles or gives an outcome, and forget them."""
    settled, state = disposition[3], disposition[4]
    is_outcome = isinstance(state, Described) and code_of(state.descriptor) != RECEIVED
    if not is_outcome and settled is not True:
        return
    for delivery in disposed_ids(disposition, way.unsettled):
        yield way.unsettled.pop(delivery)


def key_in(octets: bytes) -> str | None:
    """Return the kit's id from a message's application properties, or from its body if it has no such properties.

    Args:
        octets: The message's sections, or their beginning.

    Returns:
        The kit's id; None if these octets do not contain one.
    """
    reader = types.Reader(octets)
    try:
        while reader.more:
            section = reader.value()
            if not isinstance(section, Described):
                return None
            code = code_of(section.descriptor)
            if code == APPLICATION_PROPERTIES:
                found = cast("dict[object, object]", section.value)
                key = found.get(KID) if isinstance(section.value, dict) else None
                return key if isinstance(key, str) else None
            if code in {DATA, AMQP_VALUE}:
                body = section.value
                return key_in_body(body) or None if isinstance(body, str | bytes) else None
    except DecodeError:
        return None
    return None
