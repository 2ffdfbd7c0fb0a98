"""Sessions and links."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final, Protocol

from cproton import ffi, lib
from msgspec import Struct

from assay_broker.amqp.engine._data import NO_OCTETS, Problem, fresh, set_condition, text
from assay_broker.amqp.engine._deliveries import Delivery
from assay_broker.amqp.frames.attaches import AttachReply

_new_delivery, _send, _advance = lib.pn_delivery, lib.pn_link_send, lib.pn_link_advance
_pending, _receive = lib.pn_delivery_pending, lib.pn_link_recv
"""Looked up once: for each message."""


class SettleMode(IntEnum):
    """What a sender of a link does (2.8.2)."""

    UNSETTLED = 0
    SETTLED = 1
    MIXED = 2


SHORT = 16_384
"""Octets of a message that the engine is given at once.  Of what the peer's window has no room for, the engine moves
all with each frame: with a long message that would take more time than there is."""


class LinkOwner(Protocol):
    """What a session or link needs of its connection's engine."""

    @property
    def portion(self) -> int:
        """Octets of a long message that the engine is given at a time: about what fits into a frame."""
        ...

    @property
    def max_frame(self) -> int:
        """Octets of a frame that the peer takes; 0 for any."""
        ...

    def begin(self, session: EngineSession, capacity: int) -> None:
        """Begin a session."""
        ...

    def attach(self, link: EngineLink, end: AttachReply) -> None:
        """Attach a link."""
        ...

    def tell(self, link: EngineLink) -> None:
        """Say how a link stands, whether that has changed or not."""
        ...

    def forget_link(self, link: EngineLink) -> None:
        """A link is gone on both sides."""
        ...


class DeliveryListener(Protocol):
    """Who hears of the deliveries of a link: `assay_broker.amqp.links.link.LinkEnd`."""

    def changed(self, delivery: Delivery) -> None:
        """A delivery has come, in whole or in part, or the peer has said what became of one."""
        ...


class _Sending(Struct):
    """A long message on its way.

    Args:
        delivery: Its delivery, which is not over.
        rest: What the engine was not given yet.
        settled: Whether it is settled with its end.
    """

    delivery: Delivery
    rest: memoryview
    settled: bool


class Tag:
    """A tag of four octets, to be written anew for each delivery: the engine takes a copy."""

    __slots__ = ("_octets", "_owner", "_place", "_shown")

    def __init__(self) -> None:
        self._place: object = ffi.new("char[4]")  # owns what the others show
        self._octets: Any = ffi.buffer(self._place)
        self._owner: Any = ffi.new("pn_bytes_t *", (4, self._place))
        self._shown: object = self._owner[0]

    def of(self, number: int) -> object:
        """The tag of a delivery's number."""
        self._octets[:] = number.to_bytes(4)
        return self._shown


class _Basket:
    """Where a link's messages are read to, one after the other, unless they are long."""

    SIZE: Final = 2_048

    __slots__ = ("octets", "place")

    def __init__(self) -> None:
        self.place: object = ffi.new(f"char[{self.SIZE}]")  # owns what the other shows
        self.octets: Any = ffi.buffer(self.place)


_NO_TAG = Tag()
"""Of receivers, which make no deliveries."""


class EngineSession:
    """One session.

    Args:
        engine: Where it belongs.
        pointer: Proton's.
    """

    def __init__(self, engine: LinkOwner, pointer: object) -> None:
        self._engine = engine
        self.pointer = pointer
        self.alive = True
        self.links: dict[EngineLink, None] = {}

    def open(self, capacity: int) -> None:
        """Begin our side.

        Args:
            capacity: Octets of unread deliveries that it takes: its incoming window, in frames.
        """
        if self.alive:
            self._engine.begin(self, capacity)

    def close(self, problem: Problem | None = None) -> None:
        """End our side."""
        if self.alive:
            if problem is not None:
                set_condition(lib.pn_session_condition(self.pointer), problem)
            lib.pn_session_close(self.pointer)

    @property
    def unsent(self) -> int:
        """Octets that wait for the peer's window."""
        return int(lib.pn_session_outgoing_bytes(self.pointer)) if self.alive else 0


class EngineLink:
    """One link.

    Args:
        engine: Where it belongs.
        pointer: Proton's.
        session: The session it belongs to.
    """

    __slots__ = (
        "_basket",
        "_sending",
        "alive",
        "end",
        "engine",
        "given_back",
        "handle",
        "is_sender",
        "name",
        "opened",
        "pointer",
        "sent",
        "session",
        "tag",
    )

    def __init__(self, engine: LinkOwner, pointer: object, session: EngineSession) -> None:
        self.engine = engine
        self.pointer = pointer
        self.session = session
        self.end: DeliveryListener | None = None
        """Who hears of its deliveries; None where nobody does."""
        self.alive = True
        self.opened = False
        self.handle = 0
        """What we call it in its session, once it is attached."""
        self.sent = 0
        """Of a sender: the deliveries that were handed to the engine."""
        self.given_back = 0
        """Of a sender: credit that drains have used up."""
        self.is_sender = bool(lib.pn_link_is_sender(pointer))
        self.name = text(lib.pn_link_name(pointer))
        self.tag = Tag() if self.is_sender else _NO_TAG
        self._basket: _Basket | None = None
        self._sending: _Sending | None = None

    # --- attaching

    def open(self, end: AttachReply) -> None:
        """Attach our side.

        Args:
            end: What the attach says.
        """
        if self.alive and not self.opened:
            self.opened = True
            lib.pn_link_set_snd_settle_mode(self.pointer, end.snd_settle_mode)
            lib.pn_link_set_rcv_settle_mode(self.pointer, end.rcv_settle_mode)
            if end.max_message_size:
                lib.pn_link_set_max_message_size(self.pointer, end.max_message_size)
            self.engine.attach(self, end)

    def takes(self, end: AttachReply) -> bool:
        """Whether our attach fits into a frame that the peer takes."""
        most = self.engine.max_frame
        return not most or end.longest <= most

    def close(self, problem: Problem | None = None) -> None:
        """Detach our side for good."""
        self._sending = None
        if self.alive:
            if problem is not None:
                set_condition(lib.pn_link_condition(self.pointer), problem)
            lib.pn_link_close(self.pointer)

    def detach(self) -> None:
        """Detach our side; the peer may come back to it."""
        self._sending = None
        if self.alive:
            lib.pn_link_detach(self.pointer)

    def free(self) -> None:
        """Both sides are detached."""
        if self.alive:
            self.alive = False
            self.session.links.pop(self, None)
            self.engine.forget_link(self)
            lib.pn_link_free(self.pointer)

    # --- credit

    @property
    def credit(self) -> int:
        """Of a sender: deliveries that the peer still takes.  Of a receiver: those that it may still send."""
        return int(lib.pn_link_credit(self.pointer)) if self.alive else 0

    @property
    def draining(self) -> bool:
        """Of a sender: whether the peer wants its credit used or given back."""
        return self.alive and bool(lib.pn_link_get_drain(self.pointer))

    @property
    def overdrawn(self) -> bool:
        """Of a receiver: whether the peer has sent, or says that it has sent, more than it had credit for."""
        return self.alive and int(lib.pn_link_credit(self.pointer)) < int(lib.pn_link_queued(self.pointer))

    @property
    def queued(self) -> int:
        """Of a sender: deliveries that wait for the session's window."""
        return int(lib.pn_link_queued(self.pointer)) if self.alive else 0

    @property
    def credit_left(self) -> int:
        """Of a sender: credit as the peer knows it."""
        return max(0, self.credit + self.queued)

    @property
    def count(self) -> int:
        """Of a sender: its delivery-count (2.6.7)."""
        return self.sent - self.queued + self.given_back

    def drained(self) -> None:
        """Of a sender: give back what credit is left, and say so even if that is none; nothing is queued then."""
        if self.alive and self.credit > 0:
            self.given_back += int(lib.pn_link_drained(self.pointer))
        elif self.alive:
            self.tell()

    def tell(self) -> None:
        """Say how the link stands, unless the engine will: it does at the end of a drain, behind what is queued."""
        if self.alive and not (self.is_sender and self.draining and self.queued):
            self.engine.tell(self)

    def flow(self, credit: int) -> None:
        """Of a receiver: allow this many more deliveries."""
        if self.alive and credit > 0:
            lib.pn_link_flow(self.pointer, credit)

    # --- sending

    def send(self, number: int, octets: bytes, *, settled: bool) -> Delivery | None:
        """Transfer a message that is not long.

        Args:
            number: What its tag is made of.
            octets: The message, of no more than `SHORT` octets.
            settled: Whether that is all.

        Returns:
            The delivery; None when it is settled with that, or the link is gone.
        """
        if not self.alive:
            return None
        pointer = self.pointer
        delivery: Delivery = _new_delivery(pointer, self.tag.of(number))
        _send(pointer, octets, len(octets))
        _advance(pointer)
        self.sent += 1
        if settled:
            lib.pn_delivery_settle(delivery)
            return None
        return delivery

    def send_long(self, number: int, head: bytes, rest: memoryview, *, settled: bool) -> Delivery | None:
        """Transfer the beginning of a message, or all of it; `send_on` goes on with it as long as it is `unfinished`.

        Args:
            number: What its tag is made of.
            head: Its first octets: sections before the bare message.
            rest: All others.
            settled: Whether that is all.

        Returns:
            The delivery; None when the link is gone.
        """
        if not self.alive:
            return None
        delivery: Delivery = _new_delivery(self.pointer, self.tag.of(number))
        _send(self.pointer, head, len(head))
        self._sending = _Sending(delivery, rest, settled)
        self._give(self._sending)
        return delivery

    @property
    def unfinished(self) -> bool:
        """Of a sender: whether a message is on its way of which there is more."""
        return self._sending is not None

    def send_on(self) -> bool:
        """Go on with a message if the peer has taken what it was sent of it; whether that was all."""
        sending = self._sending
        if sending is not None and self.alive and not _pending(sending.delivery):
            self._give(sending)
        return self._sending is None

    def give_up(self, delivery: Delivery) -> bool:
        """Send no more of a message if this is the one on its way; it is settled with that.  Whether it was."""
        sending = self._sending
        if sending is None or sending.delivery != delivery:
            return False
        self._sending = None
        if self.alive:
            self.sent += 1
            lib.pn_delivery_abort(delivery)
        return True

    def _give(self, sending: _Sending) -> None:
        size = self.engine.portion
        portion, sending.rest = sending.rest[:size], sending.rest[size:]
        _send(self.pointer, ffi.from_buffer(portion), len(portion))
        if not sending.rest:
            self._sending = None
            _advance(self.pointer)
            self.sent += 1
            if sending.settled:
                lib.pn_delivery_settle(sending.delivery)

    # --- receiving

    def read(self, delivery: Delivery) -> bytes:
        """What has come of a delivery and has not been read."""
        size = _pending(delivery)
        if not self.alive or size <= 0:
            return NO_OCTETS
        octets: bytes
        if size > _Basket.SIZE:
            buffer = fresh(size)
            read = _receive(self.pointer, buffer, size)
            octets = ffi.unpack(buffer, read) if read > 0 else NO_OCTETS
            return octets
        basket = self._basket
        if basket is None:
            basket = self._basket = _Basket()
        read = _receive(self.pointer, basket.place, size)
        octets = basket.octets[:read] if read > 0 else NO_OCTETS
        return octets

    def is_current(self, delivery: Delivery) -> bool:
        """Whether this is the delivery that is being received."""
        return self.alive and bool(lib.pn_link_current(self.pointer) == delivery)

    def drop(self, delivery: Delivery) -> None:
        """Read nothing of a delivery that nobody wants any more."""
        if self.is_current(delivery):
            self.read(delivery)
            if not lib.pn_delivery_partial(delivery):
                self.advance()
                lib.pn_delivery_settle(delivery)

    def advance(self) -> None:
        """Go on to the next delivery."""
        if self.alive:
            _advance(self.pointer)
