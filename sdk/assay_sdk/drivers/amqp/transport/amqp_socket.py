"""The socket of an AMQP connection: connects, logs in, then copies octets between the network and Proton.

The code runs on the runner's loop, except for look-ups of host names and slow login proofs.  `AmqpSocket` does not
interpret the frames; `AmqpWire` handles Proton's events.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from proton import Transport, TransportException

from assay_sdk.amqp.frames import Splitter
from assay_sdk.driver import Frame, Login, Recording
from assay_sdk.drivers.amqp.transport.attach_fields import AttachFields, with_attach_fields
from assay_sdk.drivers.amqp.transport.link_offers import LinkOffers
from assay_sdk.drivers.amqp.transport.sasl import SaslClient
from assay_sdk.drivers.amqp.transport.tracer import Tracer
from assay_sdk.drivers.answers import lost
from assay_sdk.drivers.host_port import HostPort, is_loopback
from assay_sdk.drivers.tls import TlsClient, hint_at_tls
from assay_sdk.model.reasons import Mqrc, Refused
from assay_sdk.runners.real import READ, WRITE, LoopRunner
from assay_sdk.time import NS_PER_MS, CancelJob

_READ_SIZE = 65_536
_MAX_UNSENT = 1 << 20
"""Limit of the octets that wait for the socket; above it, further output stays in Proton until the broker reads."""


_Addresses = list[tuple[int, tuple[str, int]]]


class SocketOwner(Protocol):
    """The methods of an `AmqpWire` that its socket calls."""

    def line_ready(self) -> None:
        """Start AMQP on the connection, because the login has succeeded."""
        ...

    def line_fed(self) -> None:
        """Handle Proton's events, because the socket has given Proton octets or time has passed."""
        ...

    def line_gone(self, why: Refused | None) -> None:
        """Handle the end of the connection; the socket calls no method of its owner afterwards.

        Args:
            why: The reason; None if the client has closed the connection.
        """
        ...

    def line_frame(self, seen: Frame) -> None:
        """Report a frame that was sent or received; only with tracing."""
        ...


class AmqpSocket:
    """The socket of one connection to a broker.

    Args:
        host_port: Host and port of the broker.
        login: User and password; None for an anonymous login.
        owner: The connection, which the socket calls.
        transport: Proton's transport.
        runner: Runner that watches the socket.
        trace: Whether to report each frame to the owner.
        recording: Records the frames in both directions; None to record none.
        context: TLS context; None for a connection without TLS.
    """

    def __init__(
        self,
        host_port: HostPort,
        login: Login | None,
        owner: SocketOwner,
        transport: Transport,
        runner: LoopRunner,
        *,
        trace: bool,
        recording: Recording | None = None,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.attach_fields: dict[str, AttachFields] = {}
        """Fields to add to outgoing attaches, by the name of the link."""
        self.link_offers: LinkOffers | None = LinkOffers()
        """Reads the capabilities that the broker offers in its attaches; None if the client does not need them."""
        self._host_port = host_port
        self._login = login
        self._owner = owner
        self._transport = transport
        self._runner = runner
        self._sasl: SaslClient | None = None
        self._tls = None if context is None else TlsClient(context, host_port.host, "amqp")
        self._socket: socket.socket | None = None
        self._addresses: _Addresses = []
        self._connecting = True
        self._proving = False
        self._gone = False
        self._heard = False
        self._unsent = bytearray()
        self._watched = 0
        self._flushing = False
        self._tick: CancelJob | None = None
        self._tracer = Tracer(owner.line_frame) if trace else None
        self._recording = recording
        if recording is not None:
            recording.started()
        self._outgoing = Splitter()

    def start(self) -> None:
        """Start to connect; the socket later calls the owner with the result.

        A separate thread looks a host name up, because that may take long.  An IP address needs no thread.
        """
        try:
            ipaddress.ip_address(self._host_port.host)
        except ValueError:
            threading.Thread(target=self._look_up, name="assay-dns", daemon=True).start()
        else:
            self._look_up()

    def flush(self) -> None:
        """Send Proton's output, as far as the socket accepts it."""
        if self._gone or self._connecting or self._flushing or self._sasl is None or not self._sasl.is_done():
            return
        self._flushing = True
        try:
            self._pump()
        except OSError as error:
            self._lose(error)
        finally:
            self._flushing = False

    def drop(self, why: Refused | None) -> None:
        """Close the socket at once and call the owner; a second call does nothing.

        Args:
            why: The reason; None if the client has closed the connection.
        """
        if self._gone:
            return
        self._gone = True
        if self._tick is not None:
            self._tick()
        if self._socket is not None:
            self._runner.unregister(self._socket)
            self._socket.close()
        self._owner.line_gone(why)

    # --- connecting

    def _look_up(self) -> None:
        try:
            found = socket.getaddrinfo(self._host_port.host, self._host_port.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            why = lost(f"the host {self._host_port.host!r} is not known: {error}", Mqrc.Q_MGR_NOT_AVAILABLE)
            self._tell(lambda: self.drop(why))
            return
        addresses: _Addresses = [(family, (str(address[0]), int(address[1]))) for family, _, _, _, address in found]
        self._tell(lambda: self._try_next(addresses, None))

    def _tell(self, job: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # a closed runner runs no jobs, and the owner needs none then
            self._runner.call_soon(job)

    def _try_next(self, addresses: _Addresses, error: int | None) -> None:
        """Connect to the next address of the host; if none is left, report that no broker answers.

        Args:
            addresses: The addresses to try.
            error: The ``errno`` of the last attempt; None before the first attempt.
        """
        if self._gone:
            return
        if not addresses:
            reason = os.strerror(error) if error else "it has no address"
            text = f"no broker answers at {self._host_port} ({reason}): start the broker, or correct the address"
            self.drop(lost(text, Mqrc.Q_MGR_NOT_AVAILABLE))
            return
        (family, address), self._addresses = addresses[0], addresses[1:]
        self._sasl = SaslClient(self._login, private=self._tls is not None or is_loopback(address[0]))
        line = socket.socket(family, socket.SOCK_STREAM)
        line.setblocking(False)  # noqa: FBT003  the standard library takes it by position
        self._socket = line
        code = line.connect_ex(address)
        if code in {0, errno.EINPROGRESS}:
            self._watch(WRITE)
        else:
            line.close()
            self._socket = None
            self._try_next(self._addresses, code)

    def _connected(self, line: socket.socket, sasl: SaslClient) -> None:
        code = line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            self._runner.unregister(line)
            line.close()
            self._socket, self._watched = None, 0
            self._try_next(self._addresses, code)
            return
        self._connecting = False
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls is None:
            self._greet(sasl)
        else:
            self._unsent += self._tls.start()
            self._write()

    def _greet(self, sasl: SaslClient) -> None:
        """Start the login."""
        self._say(sasl.start())
        self._write()

    def _say(self, part: bytes) -> None:
        """Queue octets for the socket, encrypted if the connection uses TLS; first trace and record them if enabled."""
        if self._tracer is not None:
            self._tracer.show("out", part)
        if self._recording is not None and part:
            self._recording.sent(self._runner.clock.monotonic_ns(), part)
        self._unsent += part if self._tls is None else self._tls.send(part)

    # --- reading

    def _ready(self, mask: int) -> None:
        line, sasl = self._socket, self._sasl
        if self._gone or line is None or sasl is None:
            return
        try:
            if self._connecting:
                if mask & WRITE:
                    self._connected(line, sasl)
                return
            if mask & READ:
                self._read(line, sasl)
            if mask & WRITE and not self._gone:
                self._write()
                self.flush()
        except OSError as error:
            self._lose(error)

    def _read(self, line: socket.socket, sasl: SaslClient) -> None:
        try:
            octets = line.recv(_READ_SIZE)
        except BlockingIOError:
            return  # a nested run of the loop has read the octets
        first, self._heard = not self._heard, True
        hint = hint_at_tls(self._host_port, octets, "amqps") if first and self._tls is None else None
        if hint is not None:
            self.drop(hint)
            return
        if not octets:
            self.drop(lost(f"the broker at {self._host_port} closed the connection"))
            return
        if self._tls is not None:
            octets = self._decrypt(self._tls, sasl, octets)
        if octets:
            self._take(sasl, octets)

    def _decrypt(self, tls: TlsClient, sasl: SaslClient, octets: bytes) -> bytes:
        """Decrypt octets, and start the login when the TLS handshake has ended; drop the connection if TLS has failed.

        Returns:
            The decrypted octets.
        """
        agreed = tls.ready
        said, answer = tls.receive(octets)
        self._unsent += answer
        if tls.ready and not agreed:
            self._greet(sasl)
        else:
            self._write()
        if tls.refused is not None:
            self.drop(tls.refused)
            return b""
        return said

    def _take(self, sasl: SaslClient, octets: bytes) -> None:
        if self._recording is not None:
            self._recording.received(self._runner.clock.monotonic_ns(), octets)
        if self._tracer is not None:
            self._tracer.received(octets)
        if sasl.is_done():
            self._feed(octets)
            return
        self._log_in(sasl, sasl.receive(octets))

    def _log_in(self, sasl: SaslClient, answer: bytes) -> None:
        """Send the client's next part of the login, and act on the new state of the login.

        After success, start AMQP; after a refusal, drop the connection; for a slow proof, start a thread.
        """
        if answer:
            self._say(answer)
            self._write()
        if sasl.refused is not None:
            self.drop(sasl.refused)
        elif sasl.is_done():
            self._owner.line_ready()
            self._feed(sasl.rest)
        elif sasl.prove is not None and not self._proving:
            self._proving = True
            threading.Thread(target=self._prove, args=(sasl, sasl.prove), name="assay-login", daemon=True).start()

    def _prove(self, sasl: SaslClient, prove: Callable[[], bytes]) -> None:
        """Compute the login's proof on a separate thread, so that other connections do not wait."""
        proof = prove()
        self._tell(lambda: self._proved(sasl, proof))

    def _proved(self, sasl: SaslClient, proof: bytes) -> None:
        if self._gone:
            return
        try:
            self._log_in(sasl, sasl.proved(proof))
        except OSError as error:
            self._lose(error)

    def _feed(self, octets: bytes) -> None:
        """Pass received octets to Proton."""
        if self.link_offers is not None:
            self.link_offers.feed(octets)
        view = memoryview(octets)
        while view.nbytes and not self._gone:
            room = self._transport.capacity()
            if room <= 0:
                break  # Proton has closed its end of the connection; its events have the reason
            try:
                self._transport.push(bytes(view[:room]))
            except TransportException as error:
                self.drop(lost(f"the broker at {self._host_port} does not speak AMQP 1.0: {error}"))
                return
            view = view[room:]
            self._owner.line_fed()
        self.flush()

    # --- writing

    def _pump(self) -> None:
        """Copy Proton's output to the socket, until Proton has no more or `_MAX_UNSENT` octets wait for the socket.

        After Proton's last output, close the sending direction of the socket.
        """
        while not self._gone and len(self._unsent) < _MAX_UNSENT:
            pending = self._transport.pending()
            if pending <= 0:
                break
            octets = self._transport.peek(pending) or b""
            self._transport.pop(len(octets))
            for part in self._outgoing.feed(octets):
                completed = (
                    part
                    if part.startswith(b"AMQP") or not self.attach_fields
                    else with_attach_fields(part, self.attach_fields)
                )
                self._say(completed)
            self._write()
        if not self._gone and self._transport.pending() < 0 and not self._unsent and self._socket is not None:
            with suppress(OSError):  # the broker may have closed the socket; the next read reports that
                if self._tls is not None:
                    self._socket.send(self._tls.close())
                self._socket.shutdown(socket.SHUT_WR)

    def _write(self) -> None:
        line = self._socket
        while self._unsent and line is not None:
            try:
                sent = line.send(self._unsent)
            except BlockingIOError:
                break
            del self._unsent[:sent]
        self._watch(READ | WRITE if self._unsent else READ)

    def _watch(self, events: int) -> None:
        if self._socket is not None and events != self._watched:
            self._runner.register(self._socket, events, self._ready)
            self._watched = events

    def beat(self) -> None:
        """Let Proton send heartbeats and notice a silent broker, now and at the times that Proton requests.

        Call this method after the broker's open, because the open contains the broker's idle timeout.
        """
        now_ns = self._runner.clock.monotonic_ns()
        due = self._transport.tick(now_ns / 1e9)
        if self._tick is not None:
            self._tick()
            self._tick = None
        if due:
            self._tick = self._runner.call_at(max(int(due * 1e9), now_ns + NS_PER_MS), self._time_passed)

    def _time_passed(self) -> None:
        self._tick = None
        self.beat()
        self._owner.line_fed()
        self.flush()

    def _lose(self, error: OSError) -> None:
        self.drop(lost(f"the connection to {self._host_port} broke: {error.strerror or error}"))
