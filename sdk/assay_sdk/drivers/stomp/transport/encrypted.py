"""The transport of TLS connections: stomp.py's, on a socket that is connected already.

A TLS connection must not be read and written at the same time, so stomp.py's thread does both.
"""

from __future__ import annotations

import selectors
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from stomp.transport import Transport
from stomp.utils import PollableQueue

from assay_sdk.drivers.place import Place

_READ_SIZE = 65_536


class EncryptedTransport(Transport):  # type: ignore[misc]  # stomp.py has no types
    """stomp.py's transport and thread.

    Args:
        place: The broker.
        line: The socket, after the TLS handshake.
        came: Called on the thread with octets that have arrived.
        ended: Called on the thread when the connection has ended.
    """

    def __init__(
        self, place: Place, line: socket.socket, came: Callable[[bytes], None], ended: Callable[[], None]
    ) -> None:
        super().__init__([(place.host, place.port)], reconnect_attempts_max=1, auto_decode=False)
        self._line = line
        self._came = came
        self._place = place
        self.set_listener("assay", _Listener(ended))

    def attempt_connection(self) -> None:
        """Use the socket, and prepare stomp.py's thread to write, too."""
        self.socket = self._line
        self.current_host_and_port = (self._place.host, self._place.port)
        self.blocking = False
        self.send_queue = PollableQueue()
        self.sel = selectors.DefaultSelector()
        self.sel.register(self.send_queue, selectors.EVENT_READ)
        self.sel.register(self.socket, selectors.EVENT_READ)
        self.socket.setblocking(False)  # noqa: FBT003  the standard library takes it by position

    def receive(self) -> bytes:
        """Pass on all octets that have arrived; return empty octets if the connection has ended.

        stomp.py does not notice the end of a TLS connection, so this method also stops stomp.py's loop.
        """
        while True:
            try:
                octets = self._line.recv(_READ_SIZE)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise  # stomp.py waits for more
            except OSError:
                octets = b""
            if not octets:
                self.running = False
                return b""
            self._came(octets)

    def write(self, octets: bytes) -> None:
        """Let the thread write octets; if it has ended, it has reported that."""
        with suppress(OSError, AttributeError):
            self.send_queue.put(octets)

    def end(self) -> None:
        """Let the thread end."""
        self.running = False
        self.write(b"")


class _Listener:
    """stomp.py's listener, which reports the end of the connection."""

    def __init__(self, ended: Callable[[], None]) -> None:
        self.on_disconnected = ended
