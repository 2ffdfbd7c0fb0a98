"""Reconnection: a new connection each time that the last one is lost, until the client stops.

Each attempt has its own `EngineConnection` on its own wire, and is never used again.  `prepare` is what the client does
on each connection before other calls may use it: it attaches its subscriptions.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from assay_sdk.engine.calls import Pending, RefusedError, lost
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.operations import Operation, Wait, spawn
from assay_sdk.engine.states import SERVICE, Act, Life, Machine, Service, ServiceEvent
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import ConnectionLost, Observer, Reconnected, SdkEvent
from assay_sdk.time import Runner

_NS_PER_MS = 1_000_000

UNWANTED = frozenset({JmsErrorKind.SECURITY, JmsErrorKind.UNSUPPORTED})
"""What a broker refuses with when trying again would change nothing."""

TAKEN = frozenset({JmsErrorKind.INVALID_CLIENT_ID})
"""What an open connection is ended with when another client has taken its id over.  The same answer to an attempt is no
reason to stop: the broker may not have noticed yet that the earlier connection of this very client is gone."""


class Backoff(Struct, frozen=True, kw_only=True):
    """How long a client waits before it tries again: twice as long each time, less a random part.

    The factors are those of the public MQ Light clients (``client.js``, ``__process_queued_action``): 1 s, 2 s, 4 s and
    so on up to a minute, each shortened by up to a quarter so that clients that were lost together come back apart.

    Args:
        first_ms: The first wait, in milliseconds; at least 1.
        longest_ms: The longest wait, in milliseconds.
        jitter: The random part, from 0 to 1.
        give_up_ms: How long after a loss the client stops for good, in milliseconds; None never.  A connection that
            does not even last for `first_ms` is none.  What waits is then refused with what was wrong last.
    """

    first_ms: int = 1_000
    longest_ms: int = 60_000
    jitter: float = 0.25
    give_up_ms: int | None = None

    def wait_ns(self, failures: int, chance: random.Random) -> int:
        """Nanoseconds to wait after so many attempts in a row have failed."""
        whole_ms = min(self.longest_ms, self.first_ms << min(failures, 32))
        return int(whole_ms * _NS_PER_MS * (1 - self.jitter * chance.random()))

    def is_enough(self, waited_ns: int) -> bool:
        """Whether a client that has been without a connection for so many nanoseconds gives up."""
        return self.give_up_ms is not None and waited_ns >= self.give_up_ms * _NS_PER_MS


class ConnectionAttempt:
    """One connection with its one session; deliveries of one attempt mean nothing on another.

    Args:
        connection: The connection.
        session: The session's number on it.
    """

    def __init__(self, connection: EngineConnection, session: int) -> None:
        self.connection = connection
        self.session = session
        self.senders: dict[object, Pending[int]] = {}
        """Links of senders, attached or being attached."""

    @property
    def alive(self) -> bool:
        """Whether it has not been lost, as far as this side knows."""
        return self.connection.state is Life.OPEN


class Dialler(Protocol):
    """Makes the connection of an attempt, not opened yet."""

    def __call__(self, url: str, observer: Observer, /) -> EngineConnection:
        """A connection to this service."""
        ...


class Reconnecting:
    """Keeps a connection.

    Args:
        services: URLs, tried in turn at each attempt.
        dial: Makes a connection to one of them.
        runner: The crank.
        observer: Told every event of every connection.
        backoff: How long to wait between attempts.
        chance: Where the random part of a wait comes from.
        prepare: Makes a new connection ready; what it refuses as lost ends the attempt.
    """

    def __init__(
        self,
        services: Sequence[str],
        dial: Dialler,
        runner: Runner,
        *,
        observer: Observer,
        backoff: Backoff,
        chance: random.Random,
        prepare: Callable[[ConnectionAttempt], Operation[None]],
    ) -> None:
        self.runner = runner
        self.attempts = 0
        """How many connections were tried."""
        self.on_change: Callable[[Service, Refused | None], None] = lambda _state, _why: None
        self.on_trouble: Callable[[Refused], None] = lambda _why: None
        """Told what a connection has to complain of."""
        self._services = tuple(services)
        self._dial = dial
        self._observer = observer
        self._backoff = backoff
        self._chance = chance
        self._prepare = prepare
        self._life: Machine[Service, ServiceEvent] = Machine(SERVICE, Service.STARTING, "the client")
        self._attempt: ConnectionAttempt | None = None
        self._trying: EngineConnection | None = None
        self._changed: Pending[None] = Pending()
        self._why: Refused | None = None
        self._found_ns = 0
        """When the last connection was had."""
        self._lost_ns: int | None = None
        """When the last connection that lasted was lost, or the first one at all."""

    @property
    def state(self) -> Service:
        """Its state."""
        return self._life.state

    @property
    def current(self) -> ConnectionAttempt | None:
        """The attempt in use; None while there is none."""
        return self._attempt if self.state is Service.STARTED else None

    # -- operations ------------------------------------------------------------------------------------------------

    def start(self) -> Operation[None]:
        """Connect; an application whose first attempt fails is told so, and may try again itself.

        Raises:
            RefusedError: No service could be reached, or one has refused.
        """
        try:
            yield from self._connect()
        except RefusedError as error:
            self._stop_for(error.refused)
            raise

    def ready(self) -> Operation[ConnectionAttempt]:
        """Wait for a connection that can be used.

        Raises:
            RefusedError: The client is stopped; with the reason, where it was stopped for one.
        """
        while True:
            attempt = self._attempt
            if self.check() is Act.GO and attempt is not None and attempt.alive:
                return attempt
            yield Wait(self._changed)

    def check(self) -> Act:
        """Whether it can be used now (`Act.GO`) or later (`Act.WAIT`).

        Raises:
            RefusedError: It is stopped; with the reason, where it was stopped for one.
        """
        if self._why is not None:
            raise RefusedError(self._why)
        return self._life.take(ServiceEvent.USE)

    def stop(self) -> Operation[None]:
        """Close the connection in order, and have no other; what waits for one is refused."""
        if self._life.take(ServiceEvent.STOP) is not Act.GO:
            return
        self._tell(None)
        attempt, self._attempt = self._attempt, None
        if self._trying is not None:
            yield from self._trying.abort()
        if attempt is not None:
            yield from attempt.connection.close(threading.get_ident())
        self._life.take(ServiceEvent.STOPPED)
        self._tell(None)

    def abandon(self) -> Operation[None]:
        """Lose the connection as if the client's process had ended: nothing is said, and no other is had."""
        if self._life.take(ServiceEvent.STOP) is not Act.GO:
            return
        attempt, self._attempt = self._attempt, None
        for connection in (self._trying, attempt.connection if attempt else None):
            if connection is not None:
                yield from connection.abort()
        self._life.take(ServiceEvent.STOPPED)
        self._tell(None)

    # -- inside ----------------------------------------------------------------------------------------------------

    def _connect(self) -> Operation[None]:
        """Try each service once.

        Raises:
            RefusedError: None could be had; with the last one's reason.
        """
        reason = lost("there is no service to connect to: name one")
        for service in self._services:
            self.attempts += 1
            connection = self._dial(service, self._observe)
            connection.on_exception = self.on_trouble
            self._trying = connection
            try:
                yield from connection.open()
                session = yield from connection.session(AckMode.CLIENT)
                attempt = ConnectionAttempt(connection, session.number)
                yield from self._prepare(attempt)
                self._check(attempt)
            except RefusedError as error:
                reason = error.refused
                yield from connection.close(threading.get_ident())
                if reason.kind in UNWANTED or self.state in {Service.STOPPING, Service.STOPPED}:
                    break
                continue
            finally:
                self._trying = None
            again = self.state is Service.RETRYING
            if self._life.take(ServiceEvent.CONNECTED) is Act.GO:
                self._attempt = attempt
                self._found_ns = self.runner.clock.monotonic_ns()
                if again:
                    self._observer(Reconnected())
                self._tell(None)
            else:
                yield from connection.close(threading.get_ident())  # stopped meanwhile
            return
        raise RefusedError(reason)

    def _observe(self, event: SdkEvent) -> None:
        self._observer(event)
        if isinstance(event, ConnectionLost) and self._attempt is not None and not self._attempt.alive:
            self._lose(event.refused)

    @staticmethod
    def _check(attempt: ConnectionAttempt) -> None:
        """Whether the line still stands: its loss may have been noticed while the attempt was being made ready."""
        if not attempt.alive:
            raise RefusedError(lost())

    def _lose(self, why: Refused) -> None:
        self._attempt = None
        if why.kind in UNWANTED | TAKEN:
            self._stop_for(why)
        elif self._life.take(ServiceEvent.LOSE) is Act.GO:
            self._tell(why)
            now_ns = self.runner.clock.monotonic_ns()
            if self._lost_ns is None or now_ns - self._found_ns >= self._backoff.first_ms * _NS_PER_MS:
                self._lost_ns = now_ns
            spawn(self.runner, self._come_back(why, self._lost_ns))

    def _come_back(self, why: Refused, lost_ns: int) -> Operation[None]:
        failures = 0
        while self.state is Service.RETRYING:
            now_ns = self.runner.clock.monotonic_ns()
            if self._backoff.is_enough(now_ns - lost_ns):
                self._stop_for(why)
                return
            due_ns = now_ns + self._backoff.wait_ns(failures, self._chance)
            yield Wait(self._changed, due_ns)
            if self.state is not Service.RETRYING:
                return
            try:
                yield from self._connect()
            except RefusedError as error:
                failures, why = failures + 1, error.refused
                if why.kind in UNWANTED:
                    self._stop_for(why)

    def _stop_for(self, why: Refused) -> None:
        if self._life.take(ServiceEvent.REFUSE) is Act.END:
            self._attempt = None
            self._why = why
            self._tell(why)

    def _tell(self, why: Refused | None) -> None:
        """Wake who waits for a change, and tell the application."""
        changed, self._changed = self._changed, Pending()
        changed.resolve(None)
        self.on_change(self.state, why)
