"""Tracing: the messages in transfer frames, and the outcomes in disposition frames.

The frames identify a delivery by its id within its session and direction (OASIS AMQP 1.0, 2.6.12), a session by each
end's channel (2.5.1), and a link by the handle that the sender of the messages has chosen (2.7.3).  Invalid frames are
ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from assay_sdk.amqp import codec, performatives
from assay_sdk.amqp.performatives import (
    ATTACH,
    BEGIN,
    DISPOSITION,
    TRANSFER,
    Performative,
    code_of,
    disposed_ids,
    read_performative,
)
from assay_sdk.amqp.types import DecodeError, Described
from assay_sdk.driver import Disposition, Outcome, Transfer
from assay_sdk.model.message import Message

Direction = Literal["in", "out"]

_OUTCOMES: Mapping[int, Outcome] = {
    performatives.ACCEPTED: Outcome.ACCEPTED,
    performatives.REJECTED: Outcome.REJECTED,
    performatives.RELEASED: Outcome.RELEASED,
    performatives.MODIFIED: Outcome.MODIFIED,
}
"""The outcomes among the delivery states.  An outcome within a transactional state is not one of them, because it takes
effect only at the discharge (AMQP 1.0, 4.4.2)."""
_OTHER: Mapping[Direction, Direction] = {"in": "out", "out": "in"}


class _Begun(Struct):
    """A delivery whose last transfer frame has not been traced yet."""

    number: object = None
    octets: bytes = b""
    settled: bool = False


class _Way:
    """The links and deliveries in one direction of a traced session.

    The keys of `links`, `targets` and `begun` are handles; the keys of `unsettled` are delivery ids.
    """

    def __init__(self) -> None:
        self.links: dict[object, str] = {}
        self.targets: dict[object, str] = {}
        """The address to which each sender of this direction sends; empty for a target without an address."""
        self.begun: dict[object, _Begun] = {}
        self.unsettled: dict[int, tuple[Message, str]] = {}


_Session = Mapping[Direction, _Way]


class Deliveries:
    """The traced deliveries of one connection."""

    def __init__(self) -> None:
        self._sessions: dict[Direction, dict[int, _Session]] = {"in": {}, "out": {}}

    def feed(self, direction: Direction, octets: bytes) -> tuple[Transfer | None, tuple[Disposition, ...]]:
        """Read the next frame of the connection.

        Args:
            direction: Direction of the frame.
            octets: A whole frame or protocol header.

        Returns:
            The message that the frame completes, and the outcomes and settlements of earlier deliveries.  The message
            is None if the frame completes none, if the delivery is aborted, or if the message cannot be decoded.
        """
        read = read_performative(octets)
        if read is None:
            return None, ()
        if read.code == BEGIN:
            self._begin(direction, read.channel, read[0])
        session = self._sessions[direction].get(read.channel)
        if session is None:
            return None, ()
        if read.code == ATTACH:
            session[direction].links[_key(read[1])] = str(read[0])
            session[direction].targets[_key(read[1])] = _address(read[6])
        elif read.code == TRANSFER:
            return _transferred(session[direction], read), ()
        elif read.code == DISPOSITION:
            # A receiver's disposition is about deliveries that came in the other direction.
            receiver = read[0] is True
            way = session[_OTHER[direction] if receiver else direction]
            return None, tuple(_disposed(way, read, receiver=receiver))
        return None, ()

    def _begin(self, direction: Direction, channel: int, remote: object) -> None:
        """Add a session at its first begin frame, or join the two channels of a session at its second begin frame.

        Args:
            direction: Direction of the frame.
            channel: Channel of the frame, which the frame's sender has chosen for the session.
            remote: ``remote-channel`` of the frame: the other end's channel, only in the second frame.
        """
        known = self._sessions[_OTHER[direction]].get(remote) if isinstance(remote, int) else None
        self._sessions[direction][channel] = {"in": _Way(), "out": _Way()} if known is None else known


def _key(handle: object) -> int | None:
    """Return a handle as a dictionary key; None if the frame has a value of another type in its place."""
    return handle if isinstance(handle, int) else None


def _address(terminus: object) -> str:
    """Return the address of a source or target; an empty text if it has none."""
    fields = terminus.value if isinstance(terminus, Described) else None
    return fields[0] if isinstance(fields, list) and fields and isinstance(fields[0], str) else ""


def _transferred(way: _Way, transfer: Performative) -> Transfer | None:
    number, settled, more, aborted = (transfer[at] for at in (1, 4, 5, 9))
    handle = _key(transfer[0])
    delivery = way.begun.pop(handle, None) or _Begun(number)
    if aborted is True:
        return None
    delivery.octets += transfer.payload
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
    return Transfer(message, delivery.settled, link, way.targets.get(handle, ""))


def _disposed(way: _Way, disposition: Performative, *, receiver: bool) -> Iterator[Disposition]:
    """Yield the outcome or settlement of each delivery in a disposition; nothing if the disposition has neither."""
    settled, state = disposition[3] is True, disposition[4]
    outcome = _OUTCOMES.get(code_of(state.descriptor)) if isinstance(state, Described) else None
    if outcome is None and not settled:
        return
    for number in disposed_ids(disposition, way.unsettled):
        message, link = way.unsettled.pop(number) if settled else way.unsettled[number]
        yield Disposition(message, outcome, settled, receiver, link)
