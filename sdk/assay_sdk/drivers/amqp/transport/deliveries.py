"""Messages in transfer frames, and what disposition frames say of their deliveries, for tracing.

A delivery is known by its id within its session and direction (OASIS AMQP 1.0, 2.6.12), a session by the channel of
each end (2.5.1), and a link by the handle of the end that sends on it (2.7.3).  Invalid frames show nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, cast

from msgspec import Struct

from assay_sdk.amqp import codec, types
from assay_sdk.amqp.frames import AMQP_FRAME
from assay_sdk.amqp.types import DecodeError, Described
from assay_sdk.driver import Disposition, Outcome, Transfer
from assay_sdk.model.message import Message

Direction = Literal["in", "out"]

BEGIN, ATTACH, TRANSFER, DISPOSITION = 0x11, 0x12, 0x14, 0x15
_NAMES: Mapping[str, int] = {
    "amqp:begin:list": BEGIN,
    "amqp:attach:list": ATTACH,
    "amqp:transfer:list": TRANSFER,
    "amqp:disposition:list": DISPOSITION,
    "amqp:accepted:list": 0x24,
    "amqp:rejected:list": 0x25,
    "amqp:released:list": 0x26,
    "amqp:modified:list": 0x27,
}
"""Symbolic descriptors, which may stand for numbers (1.4)."""
_OUTCOMES: Mapping[int, Outcome] = {
    0x24: Outcome.ACCEPTED,
    0x25: Outcome.REJECTED,
    0x26: Outcome.RELEASED,
    0x27: Outcome.MODIFIED,
}
"""States that are outcomes; an outcome within a transactional state is none before the discharge (4.4.2)."""
_OTHER: Mapping[Direction, Direction] = {"in": "out", "out": "in"}
_SERIALS = 1 << 32


class _Begun(Struct):
    """A delivery of which not all frames have passed."""

    number: object = None
    octets: bytes = b""
    settled: bool = False


class _Way:
    """One direction of a session: names of links and begun deliveries by handle, unsettled deliveries by their ids."""

    def __init__(self) -> None:
        self.links: dict[object, str] = {}
        self.begun: dict[object, _Begun] = {}
        self.unsettled: dict[int, tuple[Message, str]] = {}


_Session = Mapping[Direction, _Way]


class Deliveries:
    """The deliveries of one connection, from its first frame on."""

    def __init__(self) -> None:
        self._sessions: dict[Direction, dict[int, _Session]] = {"in": {}, "out": {}}

    def feed(self, direction: Direction, octets: bytes) -> tuple[Transfer | None, tuple[Disposition, ...]]:
        """Return the message that is complete with this frame, and what the frame says of earlier ones.

        Args:
            direction: The direction of the frame.
            octets: A whole frame or protocol header.

        Returns:
            None and nothing for other frames, and for a delivery that is aborted or cannot be read.
        """
        read = _performative(octets)
        if read is None:
            return None, ()
        code, fields, payload = read
        channel = int.from_bytes(octets[6:8])
        if code == BEGIN:
            self._begin(direction, channel, _field(fields, 0))
        session = self._sessions[direction].get(channel)
        if session is None:
            return None, ()
        if code == ATTACH:
            session[direction].links[_field(fields, 1)] = str(_field(fields, 0))
        elif code == TRANSFER:
            return _transferred(session[direction], fields, payload), ()
        elif code == DISPOSITION:
            # The receiver's disposition is about deliveries of the other direction.
            receiver = _field(fields, 0) is True
            way = session[_OTHER[direction] if receiver else direction]
            return None, tuple(_disposed(way, fields, receiver=receiver))
        return None, ()

    def _begin(self, direction: Direction, channel: int, remote: object) -> None:
        """Note a new session, or the answer to the other end's (``remote-channel``)."""
        known = self._sessions[_OTHER[direction]].get(remote) if isinstance(remote, int) else None
        self._sessions[direction][channel] = {"in": _Way(), "out": _Way()} if known is None else known


def _performative(octets: bytes) -> tuple[int, list[object], bytes] | None:
    """The code and fields of a frame that matters here, and the part of a message that follows; None for any other."""
    if octets.startswith(b"AMQP") or octets[5] != AMQP_FRAME:
        return None
    body = octets[octets[4] * 4 :]
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
    if code not in {BEGIN, ATTACH, TRANSFER, DISPOSITION}:
        return None
    return code, cast("list[object]", performative.value), body[reader.at :]


def _code(descriptor: object) -> int:
    if isinstance(descriptor, str):
        return _NAMES.get(descriptor, -1)
    return descriptor if isinstance(descriptor, int) else -1


def _field(fields: list[object], number: int) -> object:
    """A field that can be a key; None if the frame leaves it out."""
    value = fields[number] if number < len(fields) else None
    return value if isinstance(value, bool | int | str) else None


def _transferred(way: _Way, fields: list[object], payload: bytes) -> Transfer | None:
    handle, number, settled, more, aborted = (_field(fields, at) for at in (0, 1, 4, 5, 9))
    delivery = way.begun.pop(handle, None) or _Begun(number)
    if aborted is True:
        return None
    delivery.octets += payload
    delivery.settled |= settled is True
    if more is True:
        way.begun[handle] = delivery
        return None
    if not delivery.octets:
        return None
    try:
        message = codec.decode(delivery.octets).message
    except DecodeError:
        return None
    link = way.links.get(handle, "")
    if not delivery.settled and isinstance(delivery.number, int):
        way.unsettled[delivery.number] = message, link
    return Transfer(message, delivery.settled, link)


def _disposed(way: _Way, fields: list[object], *, receiver: bool) -> Iterator[Disposition]:
    """What a disposition says, delivery by delivery; nothing if it has neither an outcome nor settles."""
    first, last, settled = (_field(fields, at) for at in (1, 2, 3))
    state = fields[4] if len(fields) > 4 else None  # noqa: PLR2004  the fifth field
    outcome = _OUTCOMES.get(_code(state.descriptor)) if isinstance(state, Described) else None
    if not isinstance(first, int) or (outcome is None and settled is not True):
        return
    span = ((last if isinstance(last, int) else first) - first) % _SERIALS
    among = way.unsettled if span else way.unsettled.keys() & {first}
    for number in [one for one in among if (one - first) % _SERIALS <= span]:
        message, link = way.unsettled.pop(number) if settled is True else way.unsettled[number]
        yield Disposition(message, outcome, settled is True, receiver, link)
