"""The engine of one connection: octets, events, and the connection itself."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Protocol

from cproton import ffi, lib

from assay_broker.amqp.conditions import BAD_FIELD, FRAMING_ERROR, NOT_ALLOWED, Condition, close_frame
from assay_broker.amqp.engine._data import fresh, set_condition, text
from assay_broker.amqp.engine._deliveries import Delivery
from assay_broker.amqp.engine._links import EngineLink, EngineSession
from assay_broker.amqp.frames import flows
from assay_broker.amqp.frames.attaches import AttachReply
from assay_broker.amqp.frames.completion import NOTHING, Incomplete, OpenReply, completed
from assay_broker.amqp.frames.performatives import CLOSE
from assay_sdk.amqp.frames import Splitter, whole


class Events(Protocol):
    """The receiver of the client's events; those of a link go to its `EngineLink.end`."""

    def connection_opened(self) -> None:
        """Handle the client's open."""
        ...

    def connection_closed(self) -> None:
        """Handle the client's close."""
        ...

    def session_opened(self, session: EngineSession) -> None:
        """Handle the client's begin."""
        ...

    def session_closed(self, session: EngineSession) -> None:
        """Handle the client's end of a session."""
        ...

    def link_opened(self, link: EngineLink) -> None:
        """Handle the client's attach."""
        ...

    def broken(self, why: Condition) -> None:
        """Handle a protocol error of the client, for which the engine closes the connection."""
        ...


_STANDARD = {"amqp:session:invalid-field": BAD_FIELD, "amqp:not allowed": NOT_ALLOWED}
"""Conditions of the engine that the specification does not know (2.8.15 to 2.8.18), and the ones it has instead."""

_ANY_FRAME = 1 << 32
"""The longest frame of a client that names no limit."""
_LOG = logging.getLogger(__name__)
_delivery_of, _link_of, _kind_of = lib.pn_event_delivery, lib.pn_delivery_link, lib.pn_event_type
"""Cached at import: this runs for every message."""


def _hear(_transport: object, said: object) -> None:
    """Log what the engine would write to standard error at debug level: a client could fill a log with it."""
    _LOG.debug("the engine says: %s", text(said))


_TRACER: object = ffi.callback("void(pn_transport_t *, const char *)", _hear)


class Engine:
    """The server's side of one connection.

    Args:
        events: The receiver of the client's events.
        max_frame: Octets of a frame that we take.
        channels: Sessions at a time.
        idle_timeout_ms: How long the client may be silent, in milliseconds; 0 for no limit.
    """

    def __init__(self, events: Events, *, max_frame: int, channels: int, idle_timeout_ms: int) -> None:
        self._events = events
        self._connection = lib.pn_connection()
        self._collector = lib.pn_collector()
        self._transport = lib.pn_transport()
        lib.pn_transport_set_tracer(self._transport, _TRACER)
        lib.pn_connection_collect(self._connection, self._collector)
        lib.pn_transport_set_max_frame(self._transport, max_frame)
        lib.pn_transport_set_channel_max(self._transport, channels - 1)
        if idle_timeout_ms:
            lib.pn_transport_set_idle_timeout(self._transport, idle_timeout_ms)
        lib.pn_transport_bind(self._transport, self._connection)
        self._sessions: dict[object, EngineSession] = {}
        self._links: dict[object, EngineLink] = {}
        self._flowed: dict[EngineLink, None] = {}
        self._cut_out = bytearray()
        self._incomplete = NOTHING
        """The frames to be completed in the engine's next output."""
        self._beginning: EngineSession | None = None
        self._attaching: EngineLink | None = None
        """The session and link whose begin and attach these are."""
        self.mute = False
        """Whether the engine gives no more output."""
        self.alive = True

    @property
    def max_frame(self) -> int:
        """Octets of a frame that the client takes."""
        return int(lib.pn_transport_get_remote_max_frame(self._transport)) or _ANY_FRAME

    # --- octets

    def push(self, octets: bytes) -> None:
        """Take octets from the client, unless the engine has ended its side; their events wait for `dispatch`."""
        at, size = 0, len(octets)
        buffer = ffi.from_buffer(octets)
        while self.alive and at < size:
            room = min(lib.pn_transport_capacity(self._transport), size - at)
            taken = lib.pn_transport_push(self._transport, buffer + at, room) if room > 0 else 0
            if taken <= 0:
                return
            at += taken

    def pull(self) -> bytes:
        """Return all output for the client."""
        if not self._cut_out:
            return self._pull()
        before, self._cut_out = self._cut_out, bytearray()
        return bytes(before + self._pull())

    def _pull(self) -> bytes:
        octets = self._written()
        if self._incomplete is NOTHING:
            return octets
        octets, handle = completed(octets, self._incomplete)
        if self._attaching is not None:
            self._attaching.handle = handle
        self._nothing_begins()
        return octets

    def _nothing_begins(self) -> None:
        self._incomplete, self._beginning, self._attaching = NOTHING, None, None

    def _take_out(self) -> None:
        """Take the engine's output so far, because the engine would write later frames before some of it."""
        self._cut_out += self._pull()

    def _written(self) -> bytes:
        parts: list[bytes] = []
        while self.alive:
            pending = lib.pn_transport_pending(self._transport)
            if pending <= 0:
                self.mute = pending < 0
                break
            buffer = fresh(pending)
            size = lib.pn_transport_peek(self._transport, buffer, pending)
            parts.append(ffi.unpack(buffer, size))
            lib.pn_transport_pop(self._transport, size)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def tick(self, now_ms: int) -> int:
        """Let the engine send a heartbeat and notice a silent client.

        Returns:
            When it wants to be asked again, in milliseconds; 0 for never.
        """
        return int(lib.pn_transport_tick(self._transport, now_ms)) if self.alive else 0

    # --- events

    def dispatch(self) -> None:
        """Report all events, including those that their handlers cause.

        Credit comes last, because the engine reports its present value: deliveries that the client released before it
        gave credit are then available again.
        """
        self._tell()
        while self.alive and self._flowed:
            flowed, self._flowed = self._flowed, {}
            for link in flowed:
                if link.alive and link.end is not None:
                    link.end.flowed()
            self._tell()

    def _tell(self) -> None:
        collector, peek, pop = self._collector, lib.pn_collector_peek, lib.pn_collector_pop
        while self.alive and (event := peek(collector)):
            handler = _HANDLERS.get(_kind_of(event))
            if handler is None:  # two events of three
                pop(collector)
                continue
            try:
                handler(self, event)
            finally:
                if self.alive:
                    pop(collector)

    def on_open(self, _event: object) -> None:
        self._events.connection_opened()

    def on_close(self, _event: object) -> None:
        self._events.connection_closed()

    def on_delivery(self, event: object) -> None:
        delivery: Delivery = _delivery_of(event)
        link = self._links.get(_link_of(delivery))
        if link is not None and link.end is not None:
            link.end.changed(delivery)

    def on_flow(self, event: object) -> None:
        link = self._links.get(lib.pn_event_link(event))
        if link is not None:
            self._flowed[link] = None

    def on_link_open(self, event: object) -> None:
        pointer = lib.pn_event_link(event)
        session = self._sessions.get(lib.pn_link_session(pointer))
        if session is not None:
            link = self._links[pointer] = EngineLink(self, pointer, session)
            self._events.link_opened(link)

    def on_link_end(self, event: object) -> None:
        link = self._links.get(lib.pn_event_link(event))
        if link is not None and link.end is not None:
            link.end.detached(closed=_kind_of(event) == lib.PN_LINK_REMOTE_CLOSE)

    def on_session_open(self, event: object) -> None:
        pointer = lib.pn_event_session(event)
        session = self._sessions[pointer] = EngineSession(pointer)
        self._events.session_opened(session)

    def on_session_close(self, event: object) -> None:
        session = self._sessions.get(lib.pn_event_session(event))
        if session is not None:
            self._events.session_closed(session)

    def on_error(self, _event: object) -> None:
        """Note that the engine closes the connection.

        Its close waits to be pulled, and frames to be completed are dropped.
        """
        self._nothing_begins()
        condition = lib.pn_transport_condition(self._transport)
        name = text(lib.pn_condition_get_name(condition))
        why = Condition(_STANDARD.get(name, name) or FRAMING_ERROR, text(lib.pn_condition_get_description(condition)))
        if name in _STANDARD:
            frames = Splitter().feed(self._pull())
            self._cut_out += b"".join(close_frame(why) if flows.body_of(one, CLOSE) else one for one in frames)
        self._events.broken(why)

    # --- the connection

    @property
    def container(self) -> str:
        """The client's container id."""
        return text(lib.pn_connection_remote_container(self._connection)) if self.alive else ""

    def open(self, container: str, *, offered: bytes, properties: bytes) -> None:
        """Open our side.

        Args:
            container: Our container id.
            offered: Offered capabilities, an encoded array of symbols; empty for none.
            properties: An encoded map; empty for none.
        """
        if self.alive:
            lib.pn_connection_set_container(self._connection, container.encode())
            lib.pn_connection_open(self._connection)
            self._incomplete = Incomplete(OpenReply(offered, properties))

    def close(self, problem: Condition | None = None) -> None:
        """Close our side."""
        if self.alive:
            set_condition(lib.pn_connection_condition(self._connection), problem)
            lib.pn_connection_close(self._connection)

    def end(self, frame: bytes) -> None:
        """Append a last frame, a close: the engine closes nothing that the client has not opened."""
        if self.alive:
            self._cut_out += self._pull() + frame

    # --- sessions, and `LinkOwner` for links

    def begin(self, session: EngineSession, capacity: int) -> None:
        """Begin a session on our side; the first may be written with our open.

        Args:
            session: The session.
            capacity: Octets of unread deliveries that it takes: its incoming window, in frames.
        """
        if not session.alive:
            return
        joins = self._incomplete.open is not None and self._beginning is None
        if not joins:
            self._take_out()
        lib.pn_session_set_incoming_capacity(session.pointer, capacity)
        lib.pn_session_open(session.pointer)
        self._beginning = session
        self._incomplete = Incomplete(self._incomplete.open, begins=True)
        if not joins:
            self._take_out()

    def attach(self, link: EngineLink, end: AttachReply) -> None:
        """Attach a link; the first may be written with our open, unless messages may follow at once."""
        joins = self._beginning is link.session and self._attaching is None and not link.is_sender
        if not joins:
            self._take_out()
        lib.pn_link_open(link.pointer)
        self._attaching = link
        self._incomplete = Incomplete(self._incomplete.open, self._incomplete.begins, end)
        if not joins:
            self._take_out()

    def tell(self, link: EngineLink) -> None:
        """Write a flow frame for a link, even if nothing has changed."""
        self._take_out()
        if link.is_sender:
            self._cut_out += flows.of_link(
                self._session_flow(link.session),
                handle=link.handle,
                count=link.sent - link.queued + link.given_back,
                credit=max(0, link.credit + link.queued),
                drain=link.draining,
            )
            return
        lib.pn_link_set_drain(link.pointer, 1)
        self._cut_out += flows.of_receiver(whole(self._pull()))
        lib.pn_link_set_drain(link.pointer, 0)

    def tell_session(self, session: EngineSession) -> None:
        """Write a flow for a session."""
        if session.alive:
            self._take_out()
            self._cut_out += flows.of_session(self._session_flow(session))

    def open_window(self, session: EngineSession) -> int:
        """Open a session's incoming window fully and write a flow. Return its size in transfers."""
        if not session.alive:
            return 0
        self._take_out()
        frames = self._session_flow(session)
        self._cut_out += b"".join(frames)
        return flows.window(frames)

    def _session_flow(self, session: EngineSession) -> list[bytes]:
        """Return the engine's output after the window of a session may have changed."""
        capacity = lib.pn_session_get_incoming_capacity(session.pointer)
        lib.pn_session_set_incoming_capacity(session.pointer, capacity)
        return list(whole(self._pull()))

    def forget_link(self, link: EngineLink) -> None:
        """Forget a link that is detached on both sides."""
        if link is self._attaching:
            self._take_out()  # frames of a freed link would not be written
        self._links.pop(link.pointer, None)

    def free_session(self, session: EngineSession) -> None:
        """Free a session that has ended on both sides, with its links."""
        if session.alive:
            if session is self._beginning:
                self._take_out()  # as in `forget_link`
            for link in [one for one in self._links.values() if one.session is session]:
                link.alive = False
                del self._links[link.pointer]
            session.alive = False
            self._sessions.pop(session.pointer, None)
            lib.pn_session_free(session.pointer)

    def free(self) -> None:
        """Free the engine."""
        if not self.alive:
            return
        self.alive = False
        for session in self._sessions.values():
            session.alive = False
        for link in self._links.values():
            link.alive = False
        self._sessions.clear()
        self._links.clear()
        self._flowed.clear()
        self._nothing_begins()
        lib.pn_transport_unbind(self._transport)
        lib.pn_collector_release(self._collector)
        lib.pn_connection_release(self._connection)
        lib.pn_decref(self._connection)  # the reference of its creation, which a release does not drop
        lib.pn_collector_free(self._collector)
        lib.pn_decref(self._transport)
        del self._events  # without the cycle, memory is freed at once


_HANDLERS: Mapping[int, Callable[[Engine, object], None]] = {
    int(lib.PN_DELIVERY): Engine.on_delivery,
    int(lib.PN_LINK_FLOW): Engine.on_flow,
    int(lib.PN_LINK_REMOTE_OPEN): Engine.on_link_open,
    int(lib.PN_LINK_REMOTE_CLOSE): Engine.on_link_end,
    int(lib.PN_LINK_REMOTE_DETACH): Engine.on_link_end,
    int(lib.PN_SESSION_REMOTE_OPEN): Engine.on_session_open,
    int(lib.PN_SESSION_REMOTE_CLOSE): Engine.on_session_close,
    int(lib.PN_CONNECTION_REMOTE_OPEN): Engine.on_open,
    int(lib.PN_CONNECTION_REMOTE_CLOSE): Engine.on_close,
    int(lib.PN_TRANSPORT_ERROR): Engine.on_error,
}
"""The handlers by event type; other events are ignored."""
