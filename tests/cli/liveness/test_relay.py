"""Tests of the relay between a client and a broker."""

from __future__ import annotations

import socket
import threading

from assay.liveness.relay import Faithful, Line, Relay, Side

LIMIT_S = 10


class Ending(Faithful):
    """A defect that ends the first connection, while the relay has not forgotten it, and accepts another one."""

    def __init__(self) -> None:
        self.relay: Relay | None = None
        self.later: socket.socket | None = None
        self.ended = threading.Event()

    def passes(self, line: Line, side: Side, octets: bytes) -> tuple[bytes, bytes]:
        """End the first connection; pass on all octets of the second one."""
        if self.later is not None or self.relay is None:
            return super().passes(line, side, octets)
        line.end(side)
        self.later = socket.create_connection(("127.0.0.1", self.relay.port), LIMIT_S)
        self.relay._accept()  # its sockets have the numbers of those that were closed just now
        self.ended.set()
        return b"", b""


def test_a_connection_after_one_that_a_defect_has_ended_is_passed_on() -> None:
    breaker = Ending()
    with socket.create_server(("127.0.0.1", 0)) as broker:
        broker.settimeout(LIMIT_S)
        relay = breaker.relay = Relay("127.0.0.1", broker.getsockname()[1], breaker)
        with socket.create_connection(("127.0.0.1", relay.port), LIMIT_S) as first, broker.accept()[0]:
            first.sendall(b"x")
            assert breaker.ended.wait(LIMIT_S)
            assert breaker.later is not None
            server, _ = broker.accept()
            with server, breaker.later as later:
                server.settimeout(LIMIT_S)
                later.sendall(b"hello")
                assert server.recv(5) == b"hello"
        relay.close()
