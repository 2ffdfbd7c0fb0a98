"""The connection to a broker by stomp.py's transport.

stomp.py has a thread that reads frames and calls listeners.  This module connects the socket itself, because stomp.py
hides the reason of a failure and tries again.  Frames are encoded by `assay_sdk.stomp`, because stomp.py's transport
does not escape headers.

Without TLS, the runner writes without blocking, while stomp.py's thread reads.  With TLS, stomp.py's thread reads and
writes, because a TLS connection must not read and write at the same time.
"""

from __future__ import annotations

import os
import selectors
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from stomp.transport import Transport
from stomp.utils import PollableQueue

from assay_sdk.driver import Login
from assay_sdk.drivers.answers import lost
from assay_sdk.drivers.certificates import refusal_of
from assay_sdk.drivers.place import Place, is_loopback
from assay_sdk.drivers.stomp.transport.beats import Beats
from assay_sdk.drivers.stomp.transport.handover import HandOver
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.runners.real import WRITE, LoopRunner
from assay_sdk.stomp import Frame

_READ_SIZE = 65_536
_MAX_UNSENT = 1 << 20
"""The octets that may wait for the socket before settled sends wait, too."""


class LineOwner(Protocol):
    """The methods of a `StompWire` that its line calls, on the runner."""

    def line_ready(self) -> None:
        """Send CONNECT, because the socket is connected."""
        ...

    def line_frame(self, frame: Frame) -> None:
        """Handle a frame of the broker."""
        ...

    def line_gone(self, why: Refused | None) -> None:
        """Handle the end of the connection; the line calls no method of its owner afterwards.

        Args:
            why: The reason; None if the client has closed the connection.
        """
        ...


class _Transport(Transport):  # type: ignore[misc]  # stomp.py has no types
    """stomp.py's transport on a socket that is connected already.

    Args:
        place: The broker.
        line: The socket.
        heard: Called on stomp.py's thread whenever octets have arrived.
    """

    def __init__(self, place: Place, line: socket.socket, heard: Callable[[], None]) -> None:
        super().__init__([(place.host, place.port)], reconnect_attempts_max=1, auto_decode=False)
        self._line = line
        self._heard = heard
        self._place = place

    def attempt_connection(self) -> None:
        """Use the socket; with TLS, prepare stomp.py's thread to write, too."""
        self.socket = self._line
        self.current_host_and_port = (self._place.host, self._place.port)
        self.blocking = not self._place.tls
        if self._place.tls:
            self.send_queue = PollableQueue()
            self.sel = selectors.DefaultSelector()
            self.sel.register(self.send_queue, selectors.EVENT_READ)
            self.sel.register(self.socket, selectors.EVENT_READ)
        self.socket.setblocking(self.blocking)

    def receive(self) -> bytes:
        """Return the next octets; empty if the connection has ended.

        Over TLS, stomp.py does not notice the end of a connection, so this method also stops stomp.py's loop.
        """
        try:
            octets: bytes = self._line.recv(_READ_SIZE)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except OSError:
            octets = b""
        if octets:
            self._heard()
        else:
            self.running = False
        return octets


class _Listener:
    """stomp.py's listener, which puts every frame into the hand-over queue."""

    def __init__(self, put: Callable[[Frame | None], None]) -> None:
        self._put = put
        self.on_connected = self.on_message = self.on_receipt = self.on_error = self._frame

    def _frame(self, frame: Any) -> None:
        self._put(Frame(frame.cmd, frame.headers, frame.body or b""))

    def on_disconnected(self) -> None:
        """Report the end of the connection behind the last frame."""
        self._put(None)


class StompLine:
    """One connection to a broker.

    Args:
        place: Host and port of the broker.
        login: User and password; None for an anonymous login.
        owner: The connection, which the line calls on the runner.
        runner: Runner that watches the socket.
        context: TLS context; None for a connection without TLS.
        open_timeout_ms: How long connecting may take, in milliseconds.
    """

    def __init__(
        self,
        place: Place,
        login: Login | None,
        owner: LineOwner,
        runner: LoopRunner,
        *,
        context: ssl.SSLContext | None,
        open_timeout_ms: int,
    ) -> None:
        self._place = place
        self._login = login
        self._owner = owner
        self._runner = runner
        self._context = context
        self._timeout_s = open_timeout_ms / 1_000
        self._lock = threading.Lock()
        self._unsent = bytearray()
        self._writer: socket.socket | None = None
        self._transport: _Transport | None = None
        self._hand_over: HandOver[Frame | None] = HandOver(runner, self._take)
        self._beats: Beats | None = None
        self._watching = False
        self._waiting: deque[Callable[[], None]] = deque()
        self._gone = False

    def start(self) -> None:
        """Start to connect, on a thread, because looking a host up and the TLS handshake may take long."""
        threading.Thread(target=self._connect, name="assay-stomp", daemon=True).start()

    def write(self, octets: bytes) -> None:
        """Write octets as soon as the socket accepts them; any thread may call this."""
        with self._lock:
            self._unsent += octets
            self._flush()

    def when_room(self, job: Callable[[], None]) -> None:
        """Run a job as soon as less than `_MAX_UNSENT` octets wait for the socket, perhaps at once."""
        if len(self._unsent) < _MAX_UNSENT:
            job()
        else:
            self._waiting.append(job)

    def keep_alive(self, beats_ms: int, hears_ms: int) -> None:
        """Start heart-beats.

        Args:
            beats_ms: The time between heart-beats to the broker, in milliseconds; 0 for none.
            hears_ms: The time between heart-beats from the broker, in milliseconds; 0 for none.
        """
        self._beats = Beats(self, self._runner.clock, beats_ms, hears_ms)
        self._beats.start()

    def drop(self, why: Refused | None) -> None:
        """Close the socket at once and call the owner; a second call does nothing.

        Args:
            why: The reason; None if the client has closed the connection.
        """
        if self._gone:
            return
        self._gone = True
        if self._beats is not None:
            self._beats.stop()
        self._hand_over.close()
        transport, writer = self._transport, self._writer
        if writer is not None:
            self._runner.unregister(writer)
            with suppress(OSError):
                writer.shutdown(socket.SHUT_RDWR)  # wakes stomp.py's thread, which closes its socket
            writer.close()
        elif transport is not None:
            transport.running = False
            with suppress(OSError, AttributeError):  # the thread may have ended
                transport.send_queue.put(b"")
        self._owner.line_gone(why)

    # --- `Beating`, on the thread of the heart-beats

    def beat(self) -> None:
        """Send a heart-beat (an end of line), unless other output already waits to be sent."""
        with self._lock:
            if not self._unsent:
                self._unsent += b"\n"
            self._flush()

    @property
    def is_reading(self) -> bool:
        """Whether stomp.py's thread reads; it does not while the hand-over queue is full."""
        return not self._hand_over.full

    def silent(self, heard_ms: int) -> None:
        """End the connection, because the broker has sent no heart-beats."""
        text = f"the broker at {self._place} promised a heart-beat every {heard_ms} ms and was silent for twice as long"
        self._tell(lambda: self.drop(lost(text)))

    # --- connecting

    def _connect(self) -> None:
        try:
            line = socket.create_connection((self._place.host, self._place.port), self._timeout_s)
        except (OSError, UnicodeError) as error:
            number = getattr(error, "errno", None)
            reason = os.strerror(number) if isinstance(number, int) and number > 0 else str(error)
            text = f"no broker answers at {self._place} ({reason}): start the broker, or correct the address"
            why = lost(text, Mqrc.Q_MGR_NOT_AVAILABLE)
            self._tell(lambda: self.drop(why))
            return
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        private = self._context is not None or is_loopback(str(line.getpeername()[0]))
        if self._login is not None and not private:
            line.close()
            hint = "connect with stomps://, because STOMP sends the password as clear text"
            refusal = refused(Mqrc.NOT_AUTHORIZED, f"a password is given for {self._place}, but no TLS: {hint}")
            self._tell(lambda: self.drop(refusal))
            return
        try:
            if self._context is not None:
                line = self._context.wrap_socket(line, server_hostname=self._place.host)
        except (OSError, ValueError) as error:
            line.close()
            why = refusal_of(error, "stomp") if isinstance(error, ssl.SSLError) else lost(f"TLS failed: {error}")
            self._tell(lambda: self.drop(why))
            return
        self._tell(lambda: self._connected(line), otherwise=line.close)

    def _connected(self, line: socket.socket) -> None:
        if self._gone:
            line.close()
            return
        line.settimeout(None)
        if self._context is None:
            self._writer = line.dup()
        self._transport = transport = _Transport(self._place, line, self._heard)
        transport.set_listener("assay", _Listener(self._hand_over.put))
        transport.start()
        self._owner.line_ready()

    def _tell(self, job: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        try:
            self._runner.call_soon(job)
        except RuntimeError:  # a closed runner runs no jobs, and the owner needs none then
            if otherwise is not None:
                otherwise()

    # --- reading

    def _heard(self) -> None:
        if self._beats is not None:
            self._beats.heard()

    def _take(self, frame: Frame | None) -> None:
        if self._gone:
            return
        if frame is None:
            self.drop(lost(f"the broker at {self._place} closed the connection"))
        else:
            self._owner.line_frame(frame)

    # --- writing

    def _flush(self) -> None:
        """Pass waiting octets to the socket; the caller holds the lock."""
        if self._beats is not None:
            self._beats.written()
        if self._writer is None:
            transport = self._transport
            if transport is not None and self._unsent:
                with suppress(OSError, AttributeError):  # the thread may have ended; it reports that
                    transport.send_queue.put(bytes(self._unsent))
                self._unsent.clear()
            return
        try:
            while self._unsent:
                sent = self._writer.send(self._unsent, socket.MSG_DONTWAIT)
                del self._unsent[:sent]
        except BlockingIOError:
            if not self._watching:
                self._watching = True
                self._tell(self._watch)
        except OSError:
            self._unsent.clear()  # stomp.py's thread reports the end of the connection

    def _watch(self) -> None:
        if self._writer is not None and not self._gone:
            self._runner.register(self._writer, WRITE, self._writable)

    def _writable(self, _mask: int) -> None:
        writer = self._writer
        if writer is None or self._gone:
            return
        with self._lock:
            self._flush()
            if not self._unsent:
                self._watching = False
                self._runner.unregister(writer)
        while self._waiting and len(self._unsent) < _MAX_UNSENT:
            self._waiting.popleft()()
