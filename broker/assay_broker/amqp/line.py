"""One socket: a login in front, then octets between the socket and the engine.

Knows no link and no message; what its octets mean is the connection's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Protocol, cast

from assay_broker.amqp.attaches import Attach
from assay_broker.amqp.conditions import FORCED, Condition
from assay_broker.amqp.connection import Connection
from assay_broker.amqp.deadlines import Deadline, Deadlines
from assay_broker.amqp.engine import Engine, Events
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.sasl import Phase, SaslServer
from assay_broker.amqp.screen import Screen, ScreenError
from assay_broker.security import PasswordChecks, Security
from assay_broker.shell import QueueManager
from assay_sdk.time import CancelJob, Runner

_LOG = logging.getLogger(__name__)
_NS_PER_MS = 1_000_000

READ = 32_768
"""Octets that are taken from one peer before it is the others' turn: a hundred short messages, a few milliseconds."""


class Owner(Protocol):
    """What a line needs of the listener."""

    queue_manager: QueueManager
    runner: Runner
    security: Security
    passwords: PasswordChecks | None
    """What checks passwords; None where nobody needs to log in."""
    limits: AmqpLimits
    idle_timeout_ms: int
    login: Deadlines
    """By when peers must have opened a connection."""
    closing: Deadlines
    """By when they must be gone."""
    buffer: memoryview
    """Where octets are read to before they are looked at: all lines of a loop do so one after the other.  A view, since
    asyncio's TLS fills it piece by piece, and a slice of anything else would be a copy."""

    def came(self, line: Line, /) -> bool:
        """Somebody has connected; whether there is room for him."""
        ...

    def went(self, line: Line, /) -> None:
        """A line is gone."""
        ...

    def memory_is_short(self) -> bool:
        """Whether messages take so much memory that senders get no new credit."""
        ...

    def twins(self, container: str) -> dict[Line, None]:
        """The lines of one container, for the line to enter itself, and to leave."""
        ...

    def forget_twins(self, container: str) -> None:
        """The last line of a container is gone."""
        ...


class Line(asyncio.BufferedProtocol):
    """One socket.

    Args:
        owner: The listener.
    """

    def __init__(self, owner: Owner) -> None:
        self.peer = "nobody"
        self.user: str | None = None
        self.connection: Connection | None = None
        self._owner = owner
        self._limits = owner.limits
        self._runner = owner.runner
        self._transport: asyncio.Transport | None = None
        self._sasl: SaslServer | None = None
        self._engine: Engine | None = None
        self._screen = Screen(
            max_frame=owner.limits.max_frame,
            channels=owner.limits.sessions,
            max_performative=owner.limits.max_performative,
            session_frames=owner.limits.session_frames,
        )
        self.congested = False
        """Whether more waits for the peer than is good."""
        self._stuck = False
        self._tick: CancelJob | None = None
        self._beats = False
        self._limit: Deadline | None = None
        self._checking: CancelJob | None = None
        self._over = False
        self._answer = b""
        """What the login has to say, for the next write."""
        self._container = ""
        self._twins: dict[Line, None] = {}

    # --- what the connection needs

    @property
    def desired(self) -> tuple[str, ...]:
        """Desired capabilities of the peer's open."""
        return self._screen.desired

    def next_begin(self) -> int:
        """The channel of the next session of which the engine tells."""
        return self._screen.begins.popleft()

    def next_attach(self) -> Attach:
        """What the next attach says of which the engine tells."""
        return self._screen.attaches.popleft()

    def known(self, container: str) -> None:
        """The peer has said what its container is called."""
        self._container = container
        self._twins = self._owner.twins(container)
        self._twins[self] = None

    def twins(self) -> Iterator[Connection]:
        """The other connections of the same container."""
        for line in tuple(self._twins):
            if line is not self and line.connection is not None:
                yield line.connection

    def flush(self) -> None:
        """Send what the engine has to say; when everything is said and the connection has ended, close."""
        transport, connection, engine = self._transport, self.connection, self._engine
        if transport is None or connection is None or engine is None:
            return
        octets = self._answer + engine.pull()
        self._answer = b""
        more = engine.pull() if connection.resumed() else b""
        octets += more
        if octets and not transport.is_closing():
            transport.write(octets)
            self._look_stuck(transport)
        connection.flushed(resumed=bool(more))
        if engine.mute and connection.is_open:
            _LOG.error("the engine of the connection of %s has failed; it is cut off", self.peer)
            transport.abort()
        elif connection.ended and not self._over:
            self._finish(transport, parted=connection.parted)

    def drop(self) -> None:
        """Cut the peer off at once."""
        if self._transport is not None:
            self._transport.abort()

    def _finish(self, transport: asyncio.Transport, *, parted: bool) -> None:
        """Say no more; a peer that does not hang up, or does not read, is cut off, but not before it could read why.

        Args:
            transport: The line.
            parted: Whether the peer says nothing more either: what it said and nobody read would reset the line.
        """
        self._over = True
        if transport.is_closing():
            return
        if parted or not transport.can_write_eof():
            transport.close()
            if transport.get_write_buffer_size():
                self._limit_to(self._owner.closing, self.drop)
            return
        try:
            transport.write_eof()
        except OSError:  # the peer has reset the line, and asyncio has not noticed yet
            transport.abort()
        else:
            self._limit_to(self._owner.closing, self.drop)

    # --- asyncio's protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody has connected."""
        line = cast("asyncio.Transport", transport)
        self._transport = line
        place = cast("tuple[object, ...] | str | None", line.get_extra_info("peername"))
        host = str(place[0]) if isinstance(place, tuple) else ""
        self.peer = f"{host}:{place[1]}" if isinstance(place, tuple) else "somebody"
        if not self._owner.came(self):
            _LOG.warning("%s was turned away: there are too many connections", self.peer)
            line.abort()
            return
        line.set_write_buffer_limits(high=self._limits.unsent)
        encrypted = line.get_extra_info("ssl_object") is not None
        security = self._owner.security
        private = security.anonymous or security.is_private(host, encrypted=encrypted)
        self._sasl = SaslServer(security, private=private)
        self._limit_to(self._owner.login, self._too_late)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed."""
        del exc
        self._owner.went(self)
        if self._twins.pop(self, self) is None and not self._twins:
            self._owner.forget_twins(self._container)
        for job in (self._tick, self._limit):
            if job is not None:
                job()
        self._tick = self._limit = None
        self._forget_check()
        connection, self.connection = self.connection, None  # what is over must not wait for the collector of cycles
        if connection is not None:
            connection.gone()

    def eof_received(self) -> bool:
        """The peer says nothing more: neither do we."""
        return False

    def pause_writing(self) -> None:
        """The peer does not read."""
        self.congested = True

    def resume_writing(self) -> None:
        """The peer has read."""
        self.congested = False
        if self._stuck:
            self._stuck = False
            self._read_on()
        if self.connection is not None:
            self.connection.freed()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where octets are to be read to: no more at a time than others can wait for (`READ`)."""
        del sizehint
        return self._owner.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """So many octets have come from the peer."""
        self.received(bytes(self._owner.buffer[:nbytes]))
        transport = self._transport
        if nbytes == READ and transport is not None and not self._stuck and not transport.is_closing():
            transport.pause_reading()  # uvloop would read on, and nobody else would have a turn
            self._runner.call_soon(self._read_on)

    def _read_on(self) -> None:
        transport = self._transport
        if transport is not None and not self._stuck and not transport.is_closing():
            transport.resume_reading()

    def received(self, data: bytes) -> None:
        """Octets from the peer."""
        sasl = self._sasl
        if self._over or sasl is None:
            return
        if self.connection is not None:
            self._feed(data)
            return
        self._log_in(sasl, sasl.receive(data))

    def _log_in(self, sasl: SaslServer, answer: bytes) -> None:
        """Go on as the login's phase says."""
        if sasl.phase is Phase.DONE:
            self._answer = answer  # it goes with our header
            self.user = sasl.user
            self._begin()
            self._feed(sasl.rest)
            return
        if answer and self._transport is not None:
            self._transport.write(answer)
        if sasl.phase is Phase.REFUSED:
            self._forget_check()
            _LOG.warning("%s was not let in: %s", self.peer, sasl.refusal)
            if self._transport is not None:
                self._finish(self._transport, parted=False)
        elif sasl.asked is not None and self._checking is None and self._owner.passwords is not None:
            self._checking = self._owner.passwords.start(sasl.asked.user, sasl.asked.password, self._checked)

    def _checked(self, right: bool) -> None:
        """The password has been checked."""
        self._checking = None
        if self._sasl is not None and self._transport is not None and not self._transport.is_closing():
            self._log_in(self._sasl, self._sasl.checked(right))

    def _forget_check(self) -> None:
        if self._checking is not None:
            self._checking()
            self._checking = None

    # --- AMQP

    def _begin(self) -> None:
        owner = self._owner

        def engine(events: Events) -> Engine:
            made = self._engine = Engine(
                events,
                max_frame=self._limits.max_frame,
                channels=self._limits.sessions,
                idle_timeout_ms=owner.idle_timeout_ms,
            )
            return made

        self.connection = Connection(
            self, engine, owner.queue_manager, self._runner, self._limits, owner.memory_is_short
        )

    def _feed(self, data: bytes) -> None:
        connection, engine = self.connection, self._engine
        if connection is None or engine is None:
            return
        if self._screen.crowds(data):
            self._screen.limit(connection.windows())
        try:
            octets = self._screen.feed(data)
        except ScreenError as error:
            connection.broken(Condition(error.condition, f"The connection cannot go on: {error.text}."))
            self.flush()
            return
        if octets:
            engine.push(octets)
            connection.fed()
        while self._screen.faults:
            connection.fault(self._screen.faults.popleft())
        while self._screen.echoes:
            connection.echo(self._screen.echoes.popleft())
        if not self._beats and connection.is_open:
            self._beats = True  # only now is it known how long the peer bears silence; there is a limit until then
            self._beat()
        self.flush()

    def _beat(self) -> None:
        """Let the engine send heartbeats and notice a silent peer, now and whenever it says."""
        if self._tick is not None:
            self._tick()
            self._tick = None
        engine, connection = self._engine, self.connection
        if engine is None or connection is None or self._over:
            return
        now_ns = self._runner.clock.monotonic_ns()
        due_ns = engine.tick(now_ns // _NS_PER_MS) * _NS_PER_MS
        if self._limit is not None and connection.is_open:
            if not 0 < due_ns < self._limit.due_ns:
                return  # the login's limit comes first, and asks again: most connections see neither
            self._forget_limit()
        if due_ns:
            self._tick = self._runner.call_at(max(due_ns, now_ns + _NS_PER_MS), self._time_passed)

    def _time_passed(self) -> None:
        self._beat()
        if self.connection is not None:
            self.connection.fed()
            self.flush()

    def _look_stuck(self, transport: asyncio.Transport) -> None:
        """A peer that lets too much wait is not read from until it has read itself."""
        if not self._stuck and transport.get_write_buffer_size() > self._limits.stuck:
            self._stuck = True
            transport.pause_reading()

    def _too_late(self) -> None:
        self._limit = None
        if self._beats:
            self._time_passed()
            return
        _LOG.info("%s did not open a connection within %s ms", self.peer, self._limits.login_ms)
        if self.connection is None:
            self.drop()
        else:
            self.connection.broken(Condition(FORCED, "The connection was not opened in time."))

    def _limit_to(self, deadlines: Deadlines, job: Callable[[], None]) -> None:
        self._forget_limit()
        self._limit = deadlines.set(job)

    def _forget_limit(self) -> None:
        if self._limit is not None:
            self._limit()
            self._limit = None

    def ending(self) -> None:
        """We have closed: a peer that does not answer is cut off after a while."""
        self._screen.await_close()
        self._limit_to(self._owner.closing, self.drop)
