"""The socket of a STOMP connection: TLS, reading, writing and heart-beats; it does not interpret frames.

The runner's thread reads and writes, because the hand-over to another thread would take a third of the time of a
confirmed send.  The only other thread that writes is the thread of the heart-beats.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from assay_sdk.driver import Login
from assay_sdk.drivers.answers import lost
from assay_sdk.drivers.host_port import HostPort, is_loopback
from assay_sdk.drivers.stomp.transport.beats import Beats
from assay_sdk.drivers.stomp.transport.intake import Intake, Item
from assay_sdk.drivers.tls import TlsClient, hint_at_tls
from assay_sdk.model.reasons import Mqrc, Refused, refused
from assay_sdk.runners.real import READ, WRITE, LoopRunner
from assay_sdk.stomp import Frame, RemoteError

_READ_SIZE = 65_536
_MAX_UNSENT = 1 << 20
"""If at least this many octets wait for the socket, the driver delays its answers to sends without a receipt."""
_TOGETHER = 64
"""The most frames that one job handles, so that timers and other connections are served in between."""


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


class StompLine:
    """The socket of one connection to a broker, with its TLS and heart-beats.

    Args:
        host_port: Host and port of the broker.
        login: User and password; None for an anonymous login.
        owner: The connection, which the line calls on the runner.
        runner: Runner that watches the socket.
        context: TLS context; None for a connection without TLS.
        open_timeout_ms: How long connecting may take, in milliseconds.
    """

    def __init__(
        self,
        host_port: HostPort,
        login: Login | None,
        owner: LineOwner,
        runner: LoopRunner,
        *,
        context: ssl.SSLContext | None,
        open_timeout_ms: int,
    ) -> None:
        self._host_port = host_port
        self._login = login
        self._owner = owner
        self._runner = runner
        self._context = context
        self._timeout_s = open_timeout_ms / 1_000
        self._lock = threading.Lock()
        """Held while a thread uses TLS or the socket's descriptor, because another socket may get the same descriptor
        once this socket is closed."""
        self._unsent = bytearray()
        self._intake = Intake()
        self._pending: deque[Item] = deque()
        """The frames that the runner has read and not handled yet."""
        self._socket: socket.socket | None = None
        self._tls: TlsClient | None = None
        self._heard = False
        self._beats: Beats | None = None
        self._watching = False
        """Whether the runner watches for room in the socket's buffer."""
        self._held = False
        """Whether the client has stopped reading, so that TCP makes the broker wait."""
        self._waiting: deque[Callable[[], None]] = deque()
        self._gone = False

    def start(self) -> None:
        """Start to connect, on a thread, because looking a host up may take long."""
        threading.Thread(target=self._connect, name="assay-stomp", daemon=True).start()

    def write(self, octets: bytes) -> None:
        """Write octets as soon as the socket accepts them; any thread may call this.

        After the end of the connection, the method does nothing.
        """
        with self._lock:
            if self._gone:
                return
            self._say(octets)
            self._flush()

    def when_room(self, job: Callable[[], None]) -> None:
        """Run a job as soon as less than `_MAX_UNSENT` octets of output wait for the socket, perhaps at once."""
        if len(self._unsent) < _MAX_UNSENT:
            job()
        else:
            self._waiting.append(job)

    def hold(self, held: bool) -> None:
        """Stop reading, so that TCP makes the broker wait; or start reading again.

        Args:
            held: Whether to stop reading.
        """
        if held is not self._held:
            self._held = held
            self._watch()

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
        self._pending.clear()
        line = self._socket
        if line is not None:
            self._runner.unregister(line)
        with self._lock:  # the thread of the heart-beats may be sending
            self._socket = None
            if line is not None:
                if self._tls is not None and self._tls.ready and not self._unsent:
                    with suppress(OSError):
                        line.send(self._tls.close())
                line.close()
            self._unsent.clear()
            self._waiting.clear()
        self._owner.line_gone(why)

    # --- `Beating`, on the thread of the heart-beats

    def beat(self) -> None:
        """Send a heart-beat (an end of line), unless other output already waits to be sent."""
        with self._lock:
            if self._gone:
                return
            if not self._unsent:
                self._say(b"\n")
            self._flush()

    @property
    def is_reading(self) -> bool:
        """Whether the client reads, and has read and handled all octets that have arrived."""
        with self._lock:
            if self._socket is None or self._held:
                return False
            waiting = select.poll()
            waiting.register(self._socket, select.POLLIN)
            return not waiting.poll(0) and not self._pending

    def silent(self, times: int) -> None:
        """Schedule the end of the connection, because the broker is silent; octets that arrive first prevent the end.

        Args:
            times: How often octets had arrived before the silence (`Beats.times`).
        """
        self._tell(lambda: self._drop_silent(times))

    def _drop_silent(self, times: int) -> None:
        beats = self._beats
        if beats is None or beats.times != times or not self.is_reading:
            return
        promise = f"promised a heart-beat every {beats.hears_ms} ms"
        self.drop(lost(f"the broker at {self._host_port} {promise} and was silent for twice as long"))

    # --- connecting

    def _connect(self) -> None:
        try:
            line = socket.create_connection((self._host_port.host, self._host_port.port), self._timeout_s)
        except (OSError, UnicodeError) as error:
            number = getattr(error, "errno", None)
            reason = os.strerror(number) if isinstance(number, int) and number > 0 else str(error)
            text = f"no broker answers at {self._host_port} ({reason}): start the broker, or correct the address"
            why = lost(text, Mqrc.Q_MGR_NOT_AVAILABLE)
            self._tell(lambda: self.drop(why))
            return
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        private = self._context is not None or is_loopback(str(line.getpeername()[0]))
        if self._login is not None and not private:
            line.close()
            hint = "connect with stomps://, because STOMP sends the password as clear text"
            refusal = refused(Mqrc.NOT_AUTHORIZED, f"a password is given for {self._host_port}, but no TLS: {hint}")
            self._tell(lambda: self.drop(refusal))
            return
        self._tell(lambda: self._connected(line), otherwise=line.close)

    def _connected(self, line: socket.socket) -> None:
        if self._gone:
            line.close()
            return
        line.setblocking(False)  # noqa: FBT003  the standard library takes it by position
        self._socket = line
        self._runner.register(line, READ, self._ready)
        if self._context is None:
            self._owner.line_ready()
            return
        try:
            self._tls = TlsClient(self._context, self._host_port.host, "stomp")
        except ValueError as error:
            self.drop(lost(f"TLS failed: {error}"))
            return
        with self._lock:
            self._unsent += self._tls.start()
            self._flush()

    def _tell(self, job: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        try:
            self._runner.call_soon(job)
        except RuntimeError:  # a closed runner runs no jobs, and the owner needs none then
            if otherwise is not None:
                otherwise()

    # --- reading

    def _ready(self, mask: int) -> None:
        """Read and write, as the socket permits.

        The handler of a frame may itself run the loop, which then calls this method again.
        """
        line = self._socket
        if line is None:
            return
        if mask & WRITE:
            self._writable()
        if mask & READ and not (self._held or self._pending):  # earlier frames must be handled before later ones
            self._read(line)
        self._handle_pending()

    def _read(self, line: socket.socket) -> None:
        try:
            octets = line.recv(_READ_SIZE)
        except BlockingIOError:
            return  # a nested run of the loop has read the octets
        except OSError:
            octets = b""
        first, self._heard = not self._heard, True
        hint = hint_at_tls(self._host_port, octets, "stomps") if first and self._tls is None else None
        if hint is not None:
            self.drop(hint)
            return
        if not octets:
            self._pending.append(None)
            return
        if self._beats is not None:
            self._beats.heard()
        if self._tls is not None:
            octets = self._decrypt(self._tls, octets)
        self._pending.extend(self._intake.frames(octets))

    def _decrypt(self, tls: TlsClient, octets: bytes) -> bytes:
        """Decrypt octets, and tell the owner when the TLS handshake has ended; drop the connection if TLS has failed.

        Returns:
            The decrypted octets.
        """
        with self._lock:
            agreed = tls.ready
            said, answer = tls.receive(octets)
            self._unsent += answer
            self._flush()
        if tls.refused is not None:
            self.drop(tls.refused)
            return b""
        if tls.ready and not agreed:
            self._owner.line_ready()
        return said

    def _handle_pending(self) -> None:
        pending = self._pending
        try:
            for _ in range(_TOGETHER):
                if not pending:
                    return
                self._take(pending.popleft())
        finally:  # even if a handler raises: the other frames must not wait for the next octets
            if pending:
                self._tell(self._handle_pending)

    def _take(self, item: Item) -> None:
        if self._gone:
            return
        if isinstance(item, Frame):
            self._owner.line_frame(item)
        elif isinstance(item, RemoteError):
            self.drop(lost(f"the broker at {self._host_port} sent octets that are no STOMP frame: {item}"))
        else:
            self.drop(lost(f"the broker at {self._host_port} closed the connection"))

    # --- writing

    def _say(self, octets: bytes) -> None:
        """Append octets to the output, encrypted if the connection uses TLS; the caller holds the lock."""
        if self._tls is None:
            self._unsent += octets
            return
        with suppress(ssl.SSLError):  # the next read reports the end of the connection
            self._unsent += self._tls.send(octets)

    def _flush(self) -> None:
        """Pass waiting octets to the socket; the caller holds the lock."""
        if self._unsent and self._beats is not None:
            self._beats.written()
        try:
            while self._unsent and self._socket is not None:
                sent = self._socket.send(self._unsent)
                del self._unsent[:sent]
        except BlockingIOError:
            if not self._watching:
                self._watching = True
                self._tell(self._watch)
        except OSError:
            self._unsent.clear()  # the next read reports the end of the connection

    def _watch(self) -> None:
        """Register the socket with the runner for the events that the client waits for now."""
        line = self._socket
        events = (0 if self._held else READ) | (WRITE if self._watching else 0)
        if line is not None and events:
            self._runner.register(line, events, self._ready)
        elif line is not None:
            self._runner.unregister(line)

    def _writable(self) -> None:
        with self._lock:
            self._flush()
            if not self._unsent:
                self._watching = False
                self._watch()
        while self._waiting and len(self._unsent) < _MAX_UNSENT:
            self._waiting.popleft()()
