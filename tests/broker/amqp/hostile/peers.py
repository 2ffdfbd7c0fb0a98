"""Helpers for tests of hostile peers: a probe that the server must serve, and the server's last frames to a peer."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.broker.amqp.serving import (
    ATTACH,
    CLOSE,
    DETACH,
    DISPOSITION,
    END,
    LIMIT_S,
    RECEIVER,
    SENDER,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    message,
    serving,
    source,
    target,
)
from tests.waiting import until

from assay_broker.amqp.connections.connection import AmqpConnection
from assay_broker.amqp.connections.sockets import AmqpSocket
from assay_broker.amqp.engine import Engine, EngineLink, EngineSession
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links.link import LinkEnd
from assay_broker.security import Security
from assay_sdk.amqp.frames import PROTOCOL_HEADER
from assay_sdk.amqp.types import DecodeError

SLOW_S = 5.0
"""The largest number of seconds of one round trip of the probe on a busy machine; an unserved probe waits `LIMIT_S`."""

_KEPT = (AmqpConnection, Engine, EngineLink, EngineSession, AmqpSocket, LinkEnd)


class Probe:
    """A client with a queue of its own that sends and receives one message after the other until it is stopped."""

    def __init__(self, port: int, *, header: bytes = PROTOCOL_HEADER) -> None:
        self._client = Raw(port, header=header)
        self._stopping = threading.Event()
        self.trips = 0
        self.slowest_s = 0.0
        self.failure: BaseException | None = None
        self._client.open("probe")
        self._client.begin()
        self._client.attach("probe-out", SENDER, 0, target=target("PROBE"))
        self._client.wait(0x13)
        self._client.attach("probe-in", RECEIVER, 1, source=source("PROBE"))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _trip(self) -> None:
        began = time.monotonic()
        number = self.trips
        self._client.credit(1, 1, count=number)
        self._client.transfer(number, message(f"probe {number}"), 0)
        sent = received = False
        while not (sent and received):
            seen = self._client.read()
            assert seen is not None, "the server hung up on the probe"
            assert seen.code not in {CLOSE, END, DETACH}, seen
            sent |= seen.code == DISPOSITION
            if seen.code == TRANSFER:
                self._client.settle(seen.at(1))
                received = True
        self.trips += 1  # the test's thread reads the count
        self.slowest_s = max(self.slowest_s, time.monotonic() - began)

    def _run(self) -> None:
        try:
            while not self._stopping.wait(0.005):
                self._trip()
        except BaseException as error:  # noqa: BLE001  told in the test's own thread, by `stop`
            self.failure = error

    def stop(self) -> None:
        """Stop the probe, and check that the server has served it and completes at least one more round trip."""
        so_far = self.trips
        until(lambda: self.trips > so_far + 1 or not self._thread.is_alive(), "the probe has been served again")
        self.close()
        if self.failure is not None:
            raise AssertionError("the probe was not served") from self.failure
        assert self.slowest_s < SLOW_S, f"the probe waited {self.slowest_s:.1f} s"

    def close(self) -> None:
        """Stop the probe without checks."""
        self._stopping.set()
        self._thread.join(LIMIT_S * 2)
        self._client.socket.close()


def kept() -> int:
    """Return the number of objects of the server's connections."""
    gc.collect()
    return sum(isinstance(one, _KEPT) for one in gc.get_objects())


@contextmanager
def besieged(
    *,
    limits: AmqpLimits = AmqpLimits(),  # noqa: B008  a frozen value
    security: Security = Security(),  # noqa: B008  a frozen value
    idle_timeout_ms: int = 60_000,
) -> Iterator[Serving]:
    """Run a server during the block; check that it serves the probe, and keeps no objects of the other peers."""
    with serving(limits=limits, security=security, idle_timeout_ms=idle_timeout_ms) as server:
        before = kept()  # counting blocks the server, so it must not happen during the probe's trips
        probe = Probe(server.port)
        try:
            yield server
            until(lambda: server.do(lambda: len(server.listener.connections)) <= 1, "the others' connections are gone")
            probe.stop()
            until(lambda: kept() <= before, "everybody's objects are gone")
        finally:
            probe.close()


def last_words(client: Raw) -> Seen | None:
    """Return the server's Close, or None if it sends none; check that the server ends the connection."""
    said: Seen | None = None
    while True:
        try:
            seen = client.read()
        except DecodeError as error:
            raise AssertionError("the server says what is no AMQP") from error
        if seen is None:
            return said
        if seen.code == CLOSE:
            said = seen


def closed_with(client: Raw) -> str:
    """Return the error condition of the server's Close; check that the server ends the connection."""
    said = last_words(client)
    assert said is not None, "the server hung up without a close"
    return said.error()[0]


def ended_with(client: Raw, code: int) -> str:
    """Return the error condition of the server's next Detach or End."""
    said = client.wait(code)
    return said.error(2 if code == DETACH else 0)[0]


__all__ = ["ATTACH", "Probe", "besieged", "closed_with", "ended_with", "kept", "last_words"]
