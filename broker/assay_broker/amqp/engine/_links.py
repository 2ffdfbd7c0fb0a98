"""Sessions and links."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Protocol

from cproton import ffi, lib
from msgspec import Struct

from assay_broker.amqp.conditions import Condition
from assay_broker.amqp.engine._data import fresh, set_condition, text
from assay_broker.amqp.engine._deliveries import Delivery, set_transactional
from assay_broker.amqp.frames.attaches import AttachReply

_new_delivery, _send, _advance = lib.pn_delivery, lib.pn_link_send, lib.pn_link_advance
_pending, _receive = lib.pn_delivery_pending, lib.pn_link_recv
"""Cached at import: this runs for every message."""


class SettleMode(IntEnum):
    """Settlement modes of a sender (2.8.2)."""

    UNSETTLED = 0
    SETTLED = 1
    MIXED = 2


SHORT = 16_384
"""Octets of a message that is given to the engine at once.

The engine moves all that the client's window has no room for with each frame, which is too slow for a long message.
"""
_BUFFER = 2_048
"""Octets of the longest message that is read into memory of its link's."""
_MOST_PORTION, _FRAME_HEAD = 1 << 18, 128
"""Octets of a long message given at a time if frames may be longer, and octets that a frame has besides."""


class LinkOwner(Protocol):
    """The engine of a connection, as its links use it."""

    @property
    def max_frame(self) -> int:
        """Octets of a frame that the client takes."""
        ...

    def attach(self, link: EngineLink, end: AttachReply) -> None:
        """Attach a link."""
        ...

    def tell(self, link: EngineLink) -> None:
        """Write a flow for a link, whether its state has changed or not."""
        ...

    def forget_link(self, link: EngineLink) -> None:
        """Forget a link that is detached on both sides."""
        ...


class LinkEvents(Protocol):
    """The receiver of what the client does to a link: `assay_broker.amqp.links.link.LinkEnd`."""

    def changed(self, delivery: Delivery) -> None:
        """Handle a new delivery, a further part of one, or its new state."""
        ...

    def flowed(self) -> None:
        """Handle a flow: credit was given, taken or is to be drained."""
        ...

    def detached(self, *, closed: bool) -> None:
        """Handle the client's detach, which is a close or not."""
        ...


class _Sending(Struct):
    """A long message that is being sent.

    Args:
        delivery: Its delivery, which is not over.
        rest: Octets that the engine was not given yet.
        settled: Whether it is settled with its end.
    """

    delivery: Delivery
    rest: memoryview
    settled: bool


class Tag:
    """A tag of four octets, overwritten for each delivery, because the engine copies it."""

    __slots__ = ("_octets", "_owner", "_place", "_shown")

    def __init__(self) -> None:
        self._place: object = ffi.new("char[4]")  # owns the memory of the others
        self._octets: Any = ffi.buffer(self._place)
        self._owner: Any = ffi.new("pn_bytes_t *", (4, self._place))
        self._shown: object = self._owner[0]

    def of(self, number: int) -> object:
        """Return the tag for a delivery's number."""
        self._octets[:] = number.to_bytes(4)
        return self._shown


_NO_TAG = Tag()
"""The tag of receivers' links, which send no deliveries."""


class EngineSession:
    """One session, which `Engine.begin` begins on our side.

    Args:
        pointer: Proton's pointer.
    """

    def __init__(self, pointer: object) -> None:
        self.pointer = pointer
        self.alive = True
        self.number = 0
        """Its number on the connection, for the queue manager."""
        self.channel = 0
        """Its channel on the client's side."""

    def close(self, problem: Condition | None = None) -> None:
        """End the session on our side."""
        if self.alive:
            set_condition(lib.pn_session_condition(self.pointer), problem)
            lib.pn_session_close(self.pointer)

    @property
    def unsent(self) -> int:
        """Octets that wait for the client's window."""
        return int(lib.pn_session_outgoing_bytes(self.pointer)) if self.alive else 0


class EngineLink:
    """One link.

    Args:
        engine: The engine of its connection.
        pointer: Proton's pointer.
        session: The session it belongs to.
    """

    __slots__ = (
        "_buffer",
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
        self.end: LinkEvents | None = None
        """The receiver of its events; None for none."""
        self.alive = True
        self.opened = False
        self.handle = 0
        """Our handle in its session, once it is attached."""
        self.sent = 0
        """Of a sender: the number of deliveries given to the engine."""
        self.given_back = 0
        """Of a sender: credit that drains have used up."""
        self.is_sender = bool(lib.pn_link_is_sender(pointer))
        self.name = text(lib.pn_link_name(pointer))
        self.tag = Tag() if self.is_sender else _NO_TAG
        self._buffer: Any = None
        """The memory into which its short messages are read, one after the other."""
        self._sending: _Sending | None = None

    # --- attaching

    def open(self, end: AttachReply) -> None:
        """Attach the link on our side.

        Args:
            end: The fields of the attach.
        """
        if self.alive and not self.opened:
            self.opened = True
            lib.pn_link_set_snd_settle_mode(self.pointer, end.snd_settle_mode)
            lib.pn_link_set_rcv_settle_mode(self.pointer, end.rcv_settle_mode)
            if end.max_message_size:
                lib.pn_link_set_max_message_size(self.pointer, end.max_message_size)
            self.engine.attach(self, end)

    def takes(self, end: AttachReply) -> bool:
        """Whether our attach fits into the client's max-frame-size."""
        return end.longest <= self.engine.max_frame

    def close(self, problem: Condition | None = None) -> None:
        """Detach the link with a close."""
        self._sending = None
        if self.alive:
            set_condition(lib.pn_link_condition(self.pointer), problem)
            lib.pn_link_close(self.pointer)

    def detach(self) -> None:
        """Detach the link; the client may attach it again."""
        self._sending = None
        if self.alive:
            lib.pn_link_detach(self.pointer)

    def free(self) -> None:
        """Free a link that is detached on both sides."""
        if self.alive:
            self.alive = False
            self.engine.forget_link(self)
            lib.pn_link_free(self.pointer)

    # --- credit

    @property
    def credit(self) -> int:
        """Of a sender: deliveries that the client still takes. Of a receiver: those that the client may still send."""
        return int(lib.pn_link_credit(self.pointer)) if self.alive else 0

    @property
    def draining(self) -> bool:
        """Of a sender: whether the client drains its credit."""
        return self.alive and bool(lib.pn_link_get_drain(self.pointer))

    @property
    def overdrawn(self) -> bool:
        """Of a receiver: whether the client has sent more than its credit, or says so in a flow."""
        return self.alive and int(lib.pn_link_credit(self.pointer)) < int(lib.pn_link_queued(self.pointer))

    @property
    def queued(self) -> int:
        """Of a sender: deliveries that wait for the session's window."""
        return int(lib.pn_link_queued(self.pointer)) if self.alive else 0

    def drained(self) -> None:
        """Of a sender: give the remaining credit back and write a flow, even if none remains. Nothing may be queued."""
        if self.alive and self.credit > 0:
            self.given_back += int(lib.pn_link_drained(self.pointer))
        elif self.alive:
            self.tell()

    def tell(self) -> None:
        """Write a flow, unless the engine will do so at the end of a drain, after the queued deliveries."""
        if self.alive and not (self.is_sender and self.draining and self.queued):
            self.engine.tell(self)

    def flow(self, credit: int) -> None:
        """Of a receiver: give credit for this many more deliveries."""
        if self.alive and credit > 0:
            lib.pn_link_flow(self.pointer, credit)

    # --- sending

    def send(self, number: int, octets: bytes, *, settled: bool, state: bytes = b"") -> Delivery | None:
        """Send a message of up to `SHORT` octets.

        Args:
            number: The number from which its tag is made.
            octets: The message, of no more than `SHORT` octets.
            settled: Whether it is sent settled.
            state: The fields of its transactional state, an encoded list; empty for no state.

        Returns:
            The delivery; None when it is settled with that, or the link is gone.
        """
        if not self.alive:
            return None
        pointer = self.pointer
        delivery: Delivery = _new_delivery(pointer, self.tag.of(number))
        if state:
            set_transactional(delivery, state)
        _send(pointer, octets, len(octets))
        _advance(pointer)
        self.sent += 1
        if settled:
            lib.pn_delivery_settle(delivery)
            return None
        return delivery

    def send_long(
        self, number: int, head: bytes, rest: memoryview, *, settled: bool, state: bytes = b""
    ) -> Delivery | None:
        """Send the beginning of a message, or all of it. While `unfinished`, `send_on` continues it.

        Args:
            number: The number from which its tag is made.
            head: Its first octets: sections before the bare message.
            rest: All others.
            settled: Whether it is sent settled.
            state: The fields of its transactional state, an encoded list; empty for no state.

        Returns:
            The delivery; None when the link is gone.
        """
        if not self.alive:
            return None
        delivery: Delivery = _new_delivery(self.pointer, self.tag.of(number))
        if state:
            set_transactional(delivery, state)
        _send(self.pointer, head, len(head))
        self._sending = _Sending(delivery, rest, settled)
        self._give(self._sending)
        return delivery

    @property
    def unfinished(self) -> bool:
        """Of a sender: whether a message was sent in part."""
        return self._sending is not None

    def send_on(self) -> bool:
        """Continue a message if the client has taken the part sent. Return whether it is complete."""
        sending = self._sending
        if sending is not None and self.alive and not _pending(sending.delivery):
            self._give(sending)
        return self._sending is None

    def give_up(self, delivery: Delivery) -> bool:
        """Abort a delivery if it was sent in part, which settles it. Return whether it was."""
        if self._sending is None or self._sending.delivery != delivery:
            return False
        self.abort()
        return True

    def abort(self) -> Delivery | None:
        """Abort the delivery that was sent in part, which settles it. Return it, to be forgotten; None for none."""
        sending, self._sending = self._sending, None
        if sending is None:
            return None
        if self.alive:
            self.sent += 1
            lib.pn_delivery_abort(sending.delivery)
        return sending.delivery

    def _give(self, sending: _Sending) -> None:
        size = min(max(self.engine.max_frame - _FRAME_HEAD, SHORT), _MOST_PORTION)
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
        """Return the octets of a delivery that have arrived and were not read."""
        size = _pending(delivery)
        if not self.alive or size <= 0:
            return b""
        if self._buffer is None and size <= _BUFFER:
            self._buffer = fresh(_BUFFER)
        buffer = self._buffer if size <= _BUFFER else fresh(size)
        read = _receive(self.pointer, buffer, size)
        octets: bytes = ffi.unpack(buffer, read) if read > 0 else b""
        return octets

    def is_current(self, delivery: Delivery) -> bool:
        """Whether this delivery is being received."""
        return self.alive and bool(lib.pn_link_current(self.pointer) == delivery)

    def drop(self, delivery: Delivery) -> None:
        """Discard a delivery."""
        if self.is_current(delivery):
            self.read(delivery)
            if not lib.pn_delivery_partial(delivery):
                self.advance()
                lib.pn_delivery_settle(delivery)

    def advance(self) -> None:
        """Advance to the next delivery."""
        if self.alive:
            _advance(self.pointer)
