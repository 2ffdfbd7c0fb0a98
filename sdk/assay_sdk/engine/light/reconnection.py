"""Reconnection: after the loss of its connection, an MQ Light client makes a new connection, unless it has stopped.

Each attempt has an `EngineConnection` of its own.  Before calls may use a new connection, the client attaches its
subscriptions to it (`prepare`).
"""

from __future__ import annotations

import math
import random
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from assay_sdk.engine.calls import Pending, RefusedError, lost
from assay_sdk.engine.connection import EngineConnection, ExceptionListener
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.operations import Operation, Wait, spawn
from assay_sdk.engine.states import SERVICE, Act, Life, Machine, Service, ServiceEvent
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import ConnectionLost, Observer, Reconnected, SdkEvent
from assay_sdk.time import NS_PER_MS, Runner

UNWANTED = frozenset({JmsErrorKind.SECURITY, JmsErrorKind.UNSUPPORTED})
"""Kinds of refusal after which the client does not try again, because the broker would also refuse the next attempt."""

TAKEN = frozenset({JmsErrorKind.INVALID_CLIENT_ID})
"""The kind of refusal with which the broker ends an open connection after another client has taken over the client id.
The client then stops.  If the broker refuses an *attempt* with this kind, the client tries again, because the broker
may not have noticed yet that the client's earlier connection is lost."""


class Backoff(Struct, frozen=True, kw_only=True):
    """Waits between attempts to connect: each wait is twice as long as the last, up to a limit, and randomly shortened.

    The default waits are those of IBM's MQ Light clients (``client.js``, ``__process_queued_action``): 1 s, 2 s, 4 s
    and so on up to a minute.  Each wait is shortened by up to a quarter, so that clients that lost their connections at
    the same time reconnect at different times.

    Args:
        first_ms: First wait, in milliseconds; at least 1.
        longest_ms: Longest wait, in milliseconds.
        jitter: The largest fraction, from 0 to 1, by which a wait is shortened at random.
        give_up_ms: How long the client tries to reconnect after the loss of a connection, in milliseconds; None for no
            limit.  After this time the client stops, and waiting calls raise the error of the last attempt.  If a new
            connection is lost within `first_ms` of its opening, the time still counts from the earlier loss.
    """

    first_ms: int = 1_000
    longest_ms: int = 60_000
    jitter: float = 0.25
    give_up_ms: int | None = None

    def wait_ns(self, failures: int, chance: random.Random) -> int:
        """Return the wait before the next attempt, in nanoseconds.

        Args:
            failures: How many times in a row the client has tried all URLs without success.
            chance: Source of random numbers.
        """
        whole_ms = min(self.longest_ms, self.first_ms << min(failures, 32))
        return int(whole_ms * NS_PER_MS * (1 - self.jitter * chance.random()))

    def end_ns(self, lost_ns: int) -> float:
        """Return the monotonic time at which a client stops trying, in nanoseconds; infinity for never.

        Args:
            lost_ns: Monotonic time at which the client lost its connection, in nanoseconds.
        """
        return math.inf if self.give_up_ms is None else lost_ns + self.give_up_ms * NS_PER_MS


class ConnectionAttempt:
    """One connection of an MQ Light client, with its only session.

    A delivery can be settled only on the connection over which it came.

    Args:
        connection: The connection.
        session: Number of the session on the connection.
    """

    def __init__(self, connection: EngineConnection, session: int) -> None:
        self.connection = connection
        self.session = session
        self.senders: dict[object, Pending[int]] = {}
        """Pending numbers of the senders' links, by topic and quality of service."""

    @property
    def alive(self) -> bool:
        """Whether the connection is open, as far as the client knows."""
        return self.connection.state is Life.OPEN


class ConnectionMaker(Protocol):
    """A function that returns the connection of an attempt."""

    def __call__(self, url: str, observer: Observer, /) -> EngineConnection:
        """Return a new connection to a URL, not yet opened."""
        ...


class Reconnecting:
    """The connections of an MQ Light client, one after the other.

    Args:
        services: URLs of the services; each time the client connects, it tries them in this order.
        make_connection: Returns a new connection to one of the URLs.
        runner: Runs the operations.
        observer: Called with each event of each connection.
        backoff: How long to wait between attempts.
        chance: Source of random numbers for the waits.
        prepare: Operation that runs on each new connection before calls may use the connection.  The attempt fails if
            the operation is refused, or if the connection is lost meanwhile.
    """

    def __init__(
        self,
        services: Sequence[str],
        make_connection: ConnectionMaker,
        runner: Runner,
        *,
        observer: Observer,
        backoff: Backoff,
        chance: random.Random,
        prepare: Callable[[ConnectionAttempt], Operation[None]],
    ) -> None:
        self.runner = runner
        self.attempts = 0
        """Number of attempts to connect."""
        self.on_change: Callable[[Service, Refused | None], None] = lambda _state, _why: None
        self.on_trouble: ExceptionListener = lambda _why, _cause: None
        """The exception listener of each connection."""
        self._services = tuple(services)
        self._make_connection = make_connection
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
        """Monotonic time at which the last connection was opened, in nanoseconds."""
        self._lost_ns: int | None = None
        """Monotonic time from which `Backoff.give_up_ms` counts, in nanoseconds: the loss of the last connection that
        lasted at least `Backoff.first_ms`, or the first loss.  None before the first loss."""

    @property
    def state(self) -> Service:
        """State of the client."""
        return self._life.state

    # -- operations ------------------------------------------------------------------------------------------------

    def start(self) -> Operation[None]:
        """Connect for the first time, with at most one attempt for each URL; if no attempt succeeds, the client stops.

        Raises:
            RefusedError: No service is reachable, or a service refuses the client.
        """
        try:
            yield from self._connect()
        except RefusedError as error:
            self._stop_for(error.refused)
            raise

    def ready(self) -> Operation[ConnectionAttempt]:
        """Wait until the client has an open connection, and return its attempt.

        Raises:
            RefusedError: The client is stopped.  The error is the refusal or loss that stopped it, if there was one.
        """
        while True:
            attempt = self._attempt
            if self.check() is Act.GO and attempt is not None and attempt.alive:
                return attempt
            yield Wait(self._changed)

    def check(self) -> Act:
        """Return whether the client is connected (`Act.GO`) or tries to connect (`Act.WAIT`).

        Raises:
            RefusedError: The client is stopped.  The error is the refusal or loss that stopped it, if there was one.
        """
        if self._why is not None:
            raise RefusedError(self._why)
        return self._life.take(ServiceEvent.USE)

    def stop(self) -> Operation[None]:
        """Close the connection, and do not reconnect; waiting calls are refused."""
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
        """Drop the connection without closing it at the broker, and do not reconnect."""
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
        """Try each URL once, until an attempt succeeds, is refused with a kind in `UNWANTED`, or the client stops.

        Raises:
            RefusedError: No attempt succeeded; the error is that of the last attempt.
        """
        reason = lost("no URL of a service is given: give at least one")
        for service in self._services:
            self.attempts += 1
            connection = self._make_connection(service, self._observe)
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
                yield from connection.close(threading.get_ident())  # the client was stopped during the attempt
            return
        raise RefusedError(reason)

    def _observe(self, event: SdkEvent) -> None:
        self._observer(event)
        if isinstance(event, ConnectionLost) and self._attempt is not None and not self._attempt.alive:
            self._lose(event.refused)

    @staticmethod
    def _check(attempt: ConnectionAttempt) -> None:
        """Check that the connection was not lost while the client attached its subscriptions.

        Raises:
            RefusedError: The connection is lost.
        """
        if not attempt.alive:
            raise RefusedError(lost())

    def _lose(self, why: Refused) -> None:
        self._attempt = None
        if why.kind in UNWANTED | TAKEN:
            self._stop_for(why)
        elif self._life.take(ServiceEvent.LOSE) is Act.GO:
            self._tell(why)
            now_ns = self.runner.clock.monotonic_ns()
            if self._lost_ns is None or now_ns - self._found_ns >= self._backoff.first_ms * NS_PER_MS:
                self._lost_ns = now_ns
            spawn(self.runner, self._come_back(why, self._lost_ns))

    def _come_back(self, why: Refused, lost_ns: int) -> Operation[None]:
        failures, end_ns = 0, self._backoff.end_ns(lost_ns)
        while self.state is Service.RETRYING:
            now_ns = self.runner.clock.monotonic_ns()
            if now_ns >= end_ns:
                self._stop_for(why)
                return
            due_ns = min(now_ns + self._backoff.wait_ns(failures, self._chance), end_ns)
            yield Wait(self._changed, int(due_ns))
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
        """Wake waiting calls, and report the new state to the application."""
        changed, self._changed = self._changed, Pending()
        changed.resolve(None)
        self.on_change(self.state, why)
