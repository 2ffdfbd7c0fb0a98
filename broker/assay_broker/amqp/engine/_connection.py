"""The engine of one connection: its input, output, events and frames."""

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
    """The receiver of events about a connection and its sessions; events about a link go to its `EngineLink.end`."""

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
        """Handle the client's end, which ends a session."""
        ...

    def link_opened(self, link: EngineLink) -> None:
        """Handle the client's attach."""
        ...

    def broken(self, why: Condition) -> None:
        """Handle a protocol error of the client, for which the engine closes the connection."""
        ...


_STANDARD = {"amqp:session:invalid-field": BAD_FIELD, "amqp:not allowed": NOT_ALLOWED}
"""The standard error condition (AMQP 1.0, 2.8.15 to 2.8.18) for each non-standard condition of proton's engine."""

_ANY_FRAME = 1 << 32
"""The limit on the length of frames to a client that names no limit, in octets."""
_LOG = logging.getLogger(__name__)


def _hear(_transport: object, said: object) -> None:
    """Log a message of the engine at debug level.

    Without this callback the engine writes to standard error, so a client could fill the log with its mistakes.
    """
    _LOG.debug("the engine says: %s", text(said))


_TRACER: object = ffi.callback("void(pn_transport_t *, const char *)", _hear)


class Engine:
    """The engine of one connection, on the server's side.

    Args:
        events: The receiver of events about the connection and its sessions.
        max_frame: The most octets of a frame from the client.
        channels: The most sessions at a time.
        idle_timeout_ms: The time after which the engine closes the connection of a silent client, in milliseconds; 0
            for no limit.
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
        """The frames in the engine's next output to which the server must add fields."""
        self._beginning: EngineSession | None = None
        self._attaching: EngineLink | None = None
        """`_beginning` and `_attaching` are the session of the begin and the link of the attach in `_incomplete`.

        Each is None if `_incomplete` has no such frame.
        """
        self.mute = False
        """Whether the engine writes no more output, because it has sent its close or has failed."""
        self.alive = True

    @property
    def max_frame(self) -> int:
        """The most octets of a frame to the client."""
        return int(lib.pn_transport_get_remote_max_frame(self._transport)) or _ANY_FRAME

    # --- octets

    def push(self, octets: bytes) -> None:
        """Pass octets from the client to the engine; `dispatch` then reports their events.

        After the engine has closed its side, it ignores input.
        """
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
        """Move the present output out of the engine, so that the engine cannot put later frames before this output."""
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
        """Let the engine send a heartbeat and detect a silent client.

        Args:
            now_ms: The time, on the monotonic clock, in milliseconds.

        Returns:
            The time of the next call, in milliseconds; 0 if none is needed.
        """
        return int(lib.pn_transport_tick(self._transport, now_ms)) if self.alive else 0

    # --- events

    def dispatch(self) -> None:
        """Report all events, including those that their handlers cause.

        The engine stores only the latest credit, so the event of a flow may show the credit of a later flow.  Flows are
        therefore reported last: messages that the client released before its last flow are then available again.
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
            handler = _HANDLERS.get(lib.pn_event_type(event))
            if handler is None:  # the server does not use two thirds of the events
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
        delivery: Delivery = lib.pn_event_delivery(event)
        link = self._links.get(lib.pn_delivery_link(delivery))
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
            link.end.detached(closed=lib.pn_event_type(event) == lib.PN_LINK_REMOTE_CLOSE)

    def on_session_open(self, event: object) -> None:
        pointer = lib.pn_event_session(event)
        session = self._sessions[pointer] = EngineSession(pointer)
        self._events.session_opened(session)

    def on_session_close(self, event: object) -> None:
        session = self._sessions.get(lib.pn_event_session(event))
        if session is not None:
            self._events.session_closed(session)

    def on_error(self, _event: object) -> None:
        """Report a protocol error, for which the engine closes the connection.

        The next `pull` returns the engine's close.  No more fields are added to frames.
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
        """Send the server's open.

        Args:
            container: The server's container id.
            offered: The offered capabilities, as an encoded array of symbols; empty for none.
            properties: The properties, as an encoded map; empty for none.
        """
        if self.alive:
            lib.pn_connection_set_container(self._connection, container.encode())
            lib.pn_connection_open(self._connection)
            self._incomplete = Incomplete(OpenReply(offered, properties))

    def close(self, problem: Condition | None = None) -> None:
        """Send the server's close, with an error if one is given."""
        if self.alive:
            set_condition(lib.pn_connection_condition(self._connection), problem)
            lib.pn_connection_close(self._connection)

    def end(self, frame: bytes) -> None:
        """Append a close frame to the output, because the engine sends no close before the client's open."""
        if self.alive:
            self._cut_out += self._pull() + frame

    # --- sessions, and `LinkOwner` for links

    def begin(self, session: EngineSession, capacity: int) -> None:
        """Send the server's begin for a session; the first begin may leave together with the server's open.

        Args:
            session: The session.
            capacity: The most octets of unread deliveries, from which the engine computes the incoming window.
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
        """Send the server's attach; the first attach of a session may leave together with the session's begin.

        The attach of a sending link is sent in an output of its own, because messages may follow at once.
        """
        joins = self._beginning is link.session and self._attaching is None and not link.is_sender
        if not joins:
            self._take_out()
        lib.pn_link_open(link.pointer)
        self._attaching = link
        self._incomplete = Incomplete(self._incomplete.open, self._incomplete.begins, end)
        if not joins:
            self._take_out()

    def tell(self, link: EngineLink) -> None:
        """Write a flow for a link, even if its state has not changed."""
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
        """Write a flow for a session, without a link."""
        if session.alive:
            self._take_out()
            self._cut_out += flows.of_session(self._session_flow(session))

    def open_window(self, session: EngineSession) -> int:
        """Open a session's incoming window fully, write a flow, and return the window in transfers."""
        if not session.alive:
            return 0
        self._take_out()
        frames = self._session_flow(session)
        self._cut_out += b"".join(frames)
        return flows.window(frames)

    def _session_flow(self, session: EngineSession) -> list[bytes]:
        """Make the engine write a flow for a session; return the frames of its output."""
        capacity = lib.pn_session_get_incoming_capacity(session.pointer)
        lib.pn_session_set_incoming_capacity(session.pointer, capacity)
        return list(whole(self._pull()))

    def forget_link(self, link: EngineLink) -> None:
        """Forget a link that client and server have detached."""
        if link is self._attaching:
            self._take_out()  # because the engine drops frames of a freed link
        self._links.pop(link.pointer, None)

    def free_session(self, session: EngineSession) -> None:
        """Free a session that client and server have ended, and its links."""
        if session.alive:
            if session is self._beginning:
                self._take_out()  # because the engine drops frames of a freed session
            for link in [one for one in self._links.values() if one.session is session]:
                link.alive = False
                del self._links[link.pointer]
            session.alive = False
            self._sessions.pop(session.pointer, None)
            lib.pn_session_free(session.pointer)

    def free(self) -> None:
        """Free the C engine's memory; further calls do nothing."""
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
        lib.pn_decref(self._connection)  # drops the first reference, because pn_connection_release does not drop it
        lib.pn_collector_free(self._collector)
        lib.pn_decref(self._transport)
        del self._events  # breaks a cycle, so that memory is freed at once


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
"""The handlers by type of event; events of other types are ignored."""
