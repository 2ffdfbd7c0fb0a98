"""A client's socket: the login, heart-beats and back-pressure of a STOMP session."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from assay_broker.sockets.client_socket import ClientSocket, SocketOwner
from assay_broker.stomp.faults import FaultError
from assay_broker.stomp.interfaces import SessionOwner
from assay_broker.stomp.session import StompSession
from assay_sdk.model.reasons import Mqrc
from assay_sdk.stomp import Pulse
from assay_sdk.time import NS_PER_MS, CancelJob

_LOG = logging.getLogger(__name__)
_REFUSED = "The user is unknown, or its password is wrong"


class StompSocketOwner(SessionOwner, SocketOwner, Protocol):
    """The interface through which a socket and its session use the listener."""


class StompSocket(ClientSocket):
    """The asyncio protocol of a client's socket.

    Args:
        owner: The listener.
    """

    def __init__(self, owner: StompSocketOwner) -> None:
        super().__init__(owner, owner.limits)
        self.user: str | None = None
        self.session: StompSession | None = None
        self._owner = owner
        self._runner = owner.runner
        self._private = False
        self._checking: CancelJob | None = None
        self._pulse: Pulse | None = None
        self._tick: CancelJob | None = None
        self._half_closed = False
        """Whether the client sends no more, and may still read."""

    # --- `ClientSocket`

    def begin(self, transport: asyncio.Transport, host: str) -> None:
        """Create the client's session, and limit the time in which the client must log in."""
        encrypted = transport.get_extra_info("ssl_object") is not None
        security = self._owner.security
        self._private = security.anonymous or security.is_private(host, encrypted=encrypted)
        self.session = StompSession(self, self._owner)
        self._limit_to(self._owner.login, self._too_late)

    def received(self, data: bytes) -> None:
        """Pass octets from the client to the session, and write its output."""
        session = self.session
        if session is None or self._finished:
            return
        if self._pulse is not None:
            self._pulse.heard_ms = self._now_ms()
        session.receive(data)
        self.flush()

    @property
    def _may_read(self) -> bool:
        session = self.session
        return not self._paused and (session is None or not session.blocked)

    def ended(self) -> None:
        """Handle the end of the socket."""
        if self._tick is not None:
            self._tick()
            self._tick = None
        if self._checking is not None:
            self._checking()
            self._checking = None
        session, self.session = self.session, None  # breaks a cycle, so that memory is freed at once
        if session is not None:
            session.gone()

    def expel(self, why: str) -> None:
        """End an open session with an ERROR because the server stops; close the socket of any other session at once."""
        if self.session is None or not self.session.is_open:
            self.drop()
        else:
            self.session.fail(FaultError(why.rstrip("."), Mqrc.CONNECTION_QUIESCING))

    def freed(self) -> None:
        """Continue, because the client has read output or memory is free again."""
        if self.session is not None:
            self.session.go_on()

    def eof_received(self) -> bool:
        """Handle the client's half-close: answer all frames, and then close the socket.

        Returns:
            True if the socket stays open for the answers; False if asyncio closes it at once, as always with TLS.
        """
        session, transport = self.session, self._transport
        if session is None or transport is None or self._finished or not transport.can_write_eof():
            return False
        self._half_closed = True
        if not session.parted():
            return False
        self.flush()
        return True

    def pause_writing(self) -> None:
        """Let messages wait, because the client does not read its output fast enough."""
        if self.session is not None:
            self.session.context.congested = True

    def resume_writing(self) -> None:
        """Write the messages that waited, because the client has read enough output."""
        if self.session is not None:
            self.session.context.congested = False
        super().resume_writing()

    # --- `SocketPort`, for the session

    def flush(self) -> None:
        """Write the session's output, and close the socket if the session has ended."""
        transport, session = self._transport, self.session
        if transport is None or session is None:
            return
        while octets := session.pull():
            if transport.is_closing():
                break
            transport.write(octets)
            if self._pulse is not None:
                self._pulse.written_ms = self._now_ms()
            if session.context.starved and not session.context.congested:
                session.context.resume()
        self._pause_if_stuck(transport)
        if self._pulse is None and session.is_open:
            self._start_pulse(session)
        if session.ended and not self._finished:
            self._forget_tick()
            self._finish(transport, parted=self._half_closed)
        elif session.blocked and not self._paused:
            transport.pause_reading()
        elif not self._paused and not transport.is_reading():
            self._read_on()

    def check_login(self, user: str | None, password: str | None) -> FaultError | bool:
        """Check a login, or start a check whose result comes later."""
        if self._owner.passwords is None:
            return True
        if not self._private:
            return FaultError(
                "The server takes passwords over TLS only, or from its own machine: connect with TLS",
                Mqrc.NOT_AUTHORIZED,
            )
        if not user or password is None:
            return FaultError("The server requires a login: set login and passcode in CONNECT", Mqrc.NOT_AUTHORIZED)
        self._checking = self._owner.passwords.start(user, password, lambda right: self._checked(user, right))
        return False

    def _checked(self, user: str, right: bool) -> None:
        self._checking = None
        if self.session is None:
            return
        if right:
            self.user = user
            self.session.checked(None)
        else:
            _LOG.warning("%s was refused: wrong user or password", self.peer)
            self.session.checked(FaultError(_REFUSED, Mqrc.NOT_AUTHORIZED))

    def _too_late(self) -> None:
        self._limit = None
        session = self.session
        if session is None or session.is_open:
            return
        _LOG.info("%s did not connect within %s ms", self.peer, self._owner.limits.login_ms)
        session.fail(
            FaultError(f"CONNECT did not come within {self._owner.limits.login_ms} ms", Mqrc.CONNECTION_BROKEN)
        )

    # --- heart-beats

    def _now_ms(self) -> int:
        return self._runner.clock.monotonic_ns() // NS_PER_MS

    def _start_pulse(self, session: StompSession) -> None:
        self._forget_limit()
        self._pulse = Pulse(session.beats_ms, session.hears_ms, self._now_ms())
        self._set_tick(self._pulse)

    def _set_tick(self, pulse: Pulse) -> None:
        due_ms = pulse.next_ms()
        if due_ms is not None:
            self._tick = self._runner.call_at(max(due_ms, self._now_ms() + 1) * NS_PER_MS, self._beat)

    def _beat(self) -> None:
        """Write a heart-beat if one is due, and end the session if the client has been silent for too long."""
        self._tick = None
        pulse, session, transport = self._pulse, self.session, self._transport
        if pulse is None or session is None or transport is None or self._finished:
            return
        now_ms = self._now_ms()
        if not self._may_read or not transport.is_reading():
            pulse.heard_ms = now_ms  # the server does not read, so it does not count the client as silent
        if pulse.is_silent(now_ms):
            text = f"The client sent nothing for {now_ms - pulse.heard_ms} ms, and promised a heart-beat every "
            session.fail(FaultError(f"{text}{pulse.hears_ms} ms", Mqrc.CONNECTION_BROKEN))
            return
        if pulse.beat_is_due(now_ms):
            if not transport.get_write_buffer_size():  # output that waits serves as the heart-beat when it is read
                transport.write(b"\n")
            pulse.written_ms = now_ms
        self._set_tick(pulse)

    def _forget_tick(self) -> None:
        if self._tick is not None:
            self._tick()
            self._tick = None
