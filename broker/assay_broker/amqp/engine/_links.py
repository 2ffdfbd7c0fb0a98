"""The sessions and links in proton's engine."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Protocol

from cproton import ffi, lib
from msgspec import Struct

from assay_broker.amqp.conditions import Condition
from assay_broker.amqp.engine._data import fresh, set_condition, text
from assay_broker.amqp.engine._deliveries import Delivery, set_transactional
from assay_broker.amqp.frames.attaches import AttachReply


class SettleMode(IntEnum):
    """The settlement modes of a sender (AMQP 1.0, 2.8.2)."""

    UNSETTLED = 0
    SETTLED = 1
    MIXED = 2


SHORT = 16_384
"""The most octets of a message that is passed to the engine as a whole; a longer message is passed in portions.

The engine copies all its unsent octets for each frame, which is too slow for a long message.
"""
_BUFFER = 2_048
"""The size of the buffer that a link reuses for short messages, in octets."""
_MOST_PORTION, _FRAME_HEAD = 1 << 18, 128
"""The most octets of a long message that are passed to the engine at a time; and the most octets of a transfer without
its payload."""


class LinkOwner(Protocol):
    """The interface through which a link uses the engine of its connection."""

    @property
    def max_frame(self) -> int:
        """The most octets of a frame to the client."""
        ...

    def attach(self, link: EngineLink, end: AttachReply) -> None:
        """Send the server's attach for a link."""
        ...

    def tell(self, link: EngineLink) -> None:
        """Write a flow for a link, even if its state has not changed."""
        ...

    def forget_link(self, link: EngineLink) -> None:
        """Forget a link that client and server have detached."""
        ...


class LinkEvents(Protocol):
    """The receiver of events about a link, implemented by `assay_broker.amqp.links.link.LinkEnd`."""

    def changed(self, delivery: Delivery) -> None:
        """Handle a new delivery, a further part of a delivery, or a delivery's new state."""
        ...

    def flowed(self) -> None:
        """Handle the client's flow, which may change the credit or request a drain."""
        ...

    def detached(self, *, closed: bool) -> None:
        """Handle the client's detach.

        Args:
            closed: True if the client closes the link; False if the client may attach the link again.
        """
        ...


class _Sending(Struct):
    """A long message of which the server has sent only a part.

    Args:
        delivery: The message's delivery, which is not complete.
        rest: The octets that the server has not passed to the engine yet.
        settled: Whether the server settles the delivery when it passes the last octet to the engine.
    """

    delivery: Delivery
    rest: memoryview
    settled: bool


class Tag:
    """A delivery tag of four octets in C memory; each delivery reuses the memory, because the engine copies the tag."""

    __slots__ = ("_octets", "_owner", "_place", "_shown")

    def __init__(self) -> None:
        self._place: object = ffi.new("char[4]")  # owns the memory to which the other objects point
        self._octets: Any = ffi.buffer(self._place)
        self._owner: Any = ffi.new("pn_bytes_t *", (4, self._place))
        self._shown: object = self._owner[0]

    def of(self, number: int) -> object:
        """Return the tag for a delivery's number, valid until the next call."""
        self._octets[:] = number.to_bytes(4)
        return self._shown


_NO_TAG = Tag()
"""A placeholder for the tag of links on which the server receives; the server makes no tags for these links."""


class EngineSession:
    """A session that the client has begun; `Engine.begin` sends the server's begin.

    Args:
        pointer: Proton's pointer.
    """

    def __init__(self, pointer: object) -> None:
        self.pointer = pointer
        self.alive = True
        self.number = 0
        """The session's number on the connection, for the queue manager."""
        self.channel = 0
        """The client's channel."""

    def close(self, problem: Condition | None = None) -> None:
        """Send the server's end, with an error if one is given."""
        if self.alive:
            set_condition(lib.pn_session_condition(self.pointer), problem)
            lib.pn_session_close(self.pointer)

    @property
    def unsent(self) -> int:
        """The number of octets that wait for the client's window."""
        return int(lib.pn_session_outgoing_bytes(self.pointer)) if self.alive else 0


class EngineLink:
    """A link in proton's engine.

    *Sender* and *receiver* here mean the server's role on the link.

    Args:
        engine: The engine of the connection.
        pointer: Proton's pointer.
        session: The link's session.
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
        """The receiver of the link's events; None for no receiver."""
        self.alive = True
        self.opened = False
        self.handle = 0
        """The server's handle, once the link is attached."""
        self.sent = 0
        """For a sender: the number of deliveries passed to the engine."""
        self.given_back = 0
        """For a sender: the number of credits that drains have consumed without a message."""
        self.is_sender = bool(lib.pn_link_is_sender(pointer))
        self.name = text(lib.pn_link_name(pointer))
        self.tag = Tag() if self.is_sender else _NO_TAG
        self._buffer: Any = None
        """The buffer into which short messages are read, one after the other."""
        self._sending: _Sending | None = None

    # --- attaching

    def open(self, end: AttachReply) -> None:
        """Send the server's attach.

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
        """Return whether the server's attach fits into the client's max-frame-size."""
        return end.longest <= self.engine.max_frame

    def close(self, problem: Condition | None = None) -> None:
        """Send the server's detach as a close, with an error if one is given."""
        self._sending = None
        if self.alive:
            set_condition(lib.pn_link_condition(self.pointer), problem)
            lib.pn_link_close(self.pointer)

    def detach(self) -> None:
        """Send the server's detach, after which the client may attach the link again."""
        self._sending = None
        if self.alive:
            lib.pn_link_detach(self.pointer)

    def free(self) -> None:
        """Free the link, after client and server have detached it."""
        if self.alive:
            self.alive = False
            self.engine.forget_link(self)
            lib.pn_link_free(self.pointer)

    # --- credit

    @property
    def credit(self) -> int:
        """The number of deliveries that the link's sender (server or client) may still send."""
        return int(lib.pn_link_credit(self.pointer)) if self.alive else 0

    @property
    def draining(self) -> bool:
        """For a sending link: whether the client drains the credit that it has given."""
        return self.alive and bool(lib.pn_link_get_drain(self.pointer))

    @property
    def overdrawn(self) -> bool:
        """For a receiving link: whether the client has exceeded its credit, by transfers or by the count in a flow."""
        return self.alive and int(lib.pn_link_credit(self.pointer)) < int(lib.pn_link_queued(self.pointer))

    @property
    def queued(self) -> int:
        """For a sending link: the number of deliveries that wait for the session's window."""
        return int(lib.pn_link_queued(self.pointer)) if self.alive else 0

    def drained(self) -> None:
        """For a sending link: end a drain by giving back the remaining credit, and write a flow.

        Call this only when no delivery waits for the window.
        """
        if self.alive and self.credit > 0:
            self.given_back += int(lib.pn_link_drained(self.pointer))
        elif self.alive:
            self.tell()

    def tell(self) -> None:
        """Write a flow; do nothing while a drain waits for queued deliveries, because the end of a drain writes one."""
        if self.alive and not (self.is_sender and self.draining and self.queued):
            self.engine.tell(self)

    def flow(self, credit: int) -> None:
        """For a receiving link: allow the client this number of further deliveries."""
        if self.alive and credit > 0:
            lib.pn_link_flow(self.pointer, credit)

    # --- sending

    def send(self, number: int, octets: bytes, *, settled: bool, state: bytes = b"") -> Delivery | None:
        """Send a message of up to `SHORT` octets.

        Args:
            number: The delivery's number, from which its tag is made.
            octets: The message, of no more than `SHORT` octets.
            settled: Whether the delivery is sent settled.
            state: The fields of the delivery's transactional state, as an encoded list; empty for no state.

        Returns:
            The delivery; None if it was sent settled or the link was freed.
        """
        if not self.alive:
            return None
        pointer = self.pointer
        delivery: Delivery = lib.pn_delivery(pointer, self.tag.of(number))
        if state:
            set_transactional(delivery, state)
        lib.pn_link_send(pointer, octets, len(octets))
        lib.pn_link_advance(pointer)
        self.sent += 1
        if settled:
            lib.pn_delivery_settle(delivery)
            return None
        return delivery

    def send_long(
        self, number: int, head: bytes, rest: memoryview, *, settled: bool, state: bytes = b""
    ) -> Delivery | None:
        """Start to send a message of any length.

        While `unfinished` is True, call `send_on` to continue the message.

        Args:
            number: The delivery's number, from which its tag is made.
            head: The message's first octets, up to the bare message.
            rest: The message's other octets.
            settled: Whether the delivery is sent settled.
            state: The fields of the delivery's transactional state, as an encoded list; empty for no state.

        Returns:
            The delivery; None if the link was freed.
        """
        if not self.alive:
            return None
        delivery: Delivery = lib.pn_delivery(self.pointer, self.tag.of(number))
        if state:
            set_transactional(delivery, state)
        lib.pn_link_send(self.pointer, head, len(head))
        self._sending = _Sending(delivery, rest, settled)
        self._give(self._sending)
        return delivery

    @property
    def unfinished(self) -> bool:
        """For a sending link: whether a message has been sent only in part."""
        return self._sending is not None

    def send_on(self) -> bool:
        """Pass the next part of a message to the engine, if the engine has sent the part before.

        Returns:
            True if no part of the message is left.
        """
        sending = self._sending
        if sending is not None and self.alive and not lib.pn_delivery_pending(sending.delivery):
            self._give(sending)
        return self._sending is None

    def give_up(self, delivery: Delivery) -> bool:
        """Abort and settle a delivery that was sent only in part; return False for any other delivery."""
        if self._sending is None or self._sending.delivery != delivery:
            return False
        self.abort()
        return True

    def abort(self) -> Delivery | None:
        """Abort the delivery that was sent only in part, if any; the abort also settles the delivery.

        Returns:
            The aborted delivery, which must no longer be used; None if no delivery was sent in part.
        """
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
        lib.pn_link_send(self.pointer, ffi.from_buffer(portion), len(portion))
        if not sending.rest:
            self._sending = None
            lib.pn_link_advance(self.pointer)
            self.sent += 1
            if sending.settled:
                lib.pn_delivery_settle(sending.delivery)

    # --- receiving

    def read(self, delivery: Delivery) -> bytes:
        """Return the octets of a delivery that have arrived since the last call."""
        size = lib.pn_delivery_pending(delivery)
        if not self.alive or size <= 0:
            return b""
        if self._buffer is None and size <= _BUFFER:
            self._buffer = fresh(_BUFFER)
        buffer = self._buffer if size <= _BUFFER else fresh(size)
        read = lib.pn_link_recv(self.pointer, buffer, size)
        octets: bytes = ffi.unpack(buffer, read) if read > 0 else b""
        return octets

    def is_current(self, delivery: Delivery) -> bool:
        """Return whether the link is receiving this delivery now."""
        return self.alive and bool(lib.pn_link_current(self.pointer) == delivery)

    def drop(self, delivery: Delivery) -> None:
        """Discard the octets of the current delivery; settle the delivery if it is complete."""
        if self.is_current(delivery):
            self.read(delivery)
            if not lib.pn_delivery_partial(delivery):
                self.advance()
                lib.pn_delivery_settle(delivery)

    def advance(self) -> None:
        """Continue with the next delivery."""
        if self.alive:
            lib.pn_link_advance(self.pointer)
