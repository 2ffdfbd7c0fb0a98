"""A session: a client's connection, from CONNECT to its end.

`assay_broker.stomp.states.TABLE` is the session's state machine.  All code runs on the runner's loop.  The socket
passes input to the session, and fetches its output.  The queue manager may answer a command at any time, even during
the call that sends the command.  After input or answers the socket writes all output at once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from assay_broker.bug_text import BUG
from assay_broker.core import commands
from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.stomp.context import SessionContext
from assay_broker.stomp.faults import FaultError, error_frame, of_content, of_protocol, of_refusal
from assay_broker.stomp.frames import HANDLERS, end_all, link_closed
from assay_broker.stomp.interfaces import SessionOwner, SocketPort
from assay_broker.stomp.states import TABLE, SessionAction, SessionInput, SessionState
from assay_broker.wire import product_version
from assay_sdk.model.reasons import Mqrc, Refused
from assay_sdk.model.stepper import Stepper
from assay_sdk.stomp import (
    VERSIONS,
    ContentError,
    Frame,
    HeartBeat,
    RemoteError,
    Role,
    StompConnection,
    Version,
    agreed,
    check_frame,
    parse_heart_beat,
)
from assay_sdk.stomp.extensions import EXTENSIONS, OPEN_ERRORS, OURS
from assay_sdk.time import NS_PER_MS

_LOG = logging.getLogger(__name__)
_OPEN = SessionState.OPEN
_PARTING = frozenset((SessionState.LEAVING, SessionState.PARTING, SessionState.ENDED))
_OVER = frozenset((SessionState.ENDED, SessionState.GONE))
_FREQUENT = frozenset(("SEND", "ACK"))
"""The commands that need no check before their handlers, because the handlers read all mandatory headers."""


class StompSession(Stepper[SessionState, SessionInput, SessionAction]):
    """A session of one client.

    Args:
        socket: The client's socket.
        owner: The listener.
    """

    def __init__(self, socket: SocketPort, owner: SessionOwner) -> None:
        super().__init__(TABLE, SessionState.WAITING)
        self.since_ns = owner.runner.clock.wall_ns()
        self.connection = StompConnection(Role.SERVER, owner.limits.frames)
        self.context = SessionContext(owner.queue_manager, owner.runner.clock, owner.limits, owner.memory_is_short)
        self.beats_ms = self.hears_ms = 0
        """The times between heart-beats that the server sends, and that it receives, in milliseconds; 0 for none."""
        self._socket = socket
        self._queue_manager = owner.queue_manager
        self._runner = owner.runner
        self._limits = owner.limits
        self._asked: Frame = Frame("CONNECT")
        self._left: str | None = None
        """The receipt that the client's DISCONNECT asks for; None if it asks for none."""
        self._fault = FaultError(BUG, Mqrc.UNEXPECTED_ERROR)
        self._sent: list[Callable[[], None]] = []
        self._working = False
        """Whether input is being handled; the socket flushes the output afterwards."""
        self._flush_due = False
        self._owner = owner
        self._kept = 0
        """The part of `SessionOwner.partial` that belongs to this session."""

    # --- for the socket

    def receive(self, octets: bytes) -> None:
        """Handle octets from the client."""
        try:
            self.connection.receive(octets)
        except RemoteError as error:
            self.fail(of_protocol(error))
            return
        self.work()
        kept = self.connection.kept
        if kept != self._kept:
            self._count(kept)
            if self._owner.partial > self._limits.partial:
                text = (
                    f"Frames that have arrived in part take more than {self._limits.partial} octets: send again later"
                )
                self.fail(FaultError(text, Mqrc.RESOURCE_PROBLEM))

    def _count(self, kept: int) -> None:
        """Note the octets of this session's incomplete and waiting frames, and correct the total of all connections."""
        self._owner.partial += kept - self._kept
        self._kept = kept

    @property
    def blocked(self) -> bool:
        """Whether the session handles no further frame now: too little memory, or too many unanswered frames."""
        return self.context.choked or len(self.context.expected) >= self._limits.unanswered

    def work(self) -> None:
        """Handle the frames that have arrived, until the session must wait."""
        if self._working:
            return
        self._working = True
        self.context.instant_ms = self.context.now_ms()
        self.context.short = self.context.memory_is_short()
        try:
            self._handle_frames()
            self.context.catch_up()
        except FaultError as fault:  # the queue manager refused a command while this method ran
            self.fail(fault)
        except Exception:  # noqa: BLE001  an error of the server ends this connection only
            self._bug("a frame")
        finally:
            self.context.instant_ms = 0
            self._working = False

    def _handle_frames(self) -> None:
        next_frame = self.connection.next_frame
        while not self.blocked:
            try:
                frame = next_frame()
            except RemoteError as error:
                self.fail(of_protocol(error))
                return
            if frame is None:
                return
            try:
                self._handle(frame)
            except FaultError as fault:
                fault.receipt = fault.receipt or frame.headers.get("receipt")
                self.fail(fault)
                return
            except ContentError as error:
                self.fail(of_content(error, frame.headers.get("receipt")))
                return
            except RemoteError as error:
                self.fail(of_protocol(error))
                return

    def _handle(self, frame: Frame) -> None:
        command = frame.command
        handler = HANDLERS.get(command)
        if handler is not None:
            if command not in _FREQUENT:
                check_frame(frame, self.context.version)
            try:
                handler(self.context, frame)
            except KeyError:
                check_frame(frame, self.context.version)  # names the header that is missing
                raise
        elif command == "DISCONNECT":
            self._left = frame.headers.get("receipt")
            self._step(SessionInput.LEFT)
        else:
            self._connect(frame)

    def pull(self) -> bytes:
        """Return the output for the client, which the socket then writes."""
        context = self.context
        octets = b"".join(context.output)
        context.output.clear()
        context.unsent = 0
        if self._sent:
            sent, self._sent = self._sent, []
            for told in sent:
                self._runner.call_soon(told)  # later, because some loops write the output only after all due jobs
        return octets

    def go_on(self) -> None:
        """Continue after the socket has written output, or after memory is free."""
        context = self.context
        if context.choked and not context.memory_is_short():
            context.choked = False
        if context.starved:
            context.resume()
        if self.state is _OPEN and self.connection.kept and not self.blocked:
            self.work()
        self._wake()

    @property
    def is_open(self) -> bool:
        """Whether the client has connected, and neither side has ended the session."""
        return self.state is _OPEN

    @property
    def ended(self) -> bool:
        """Whether the socket must close after it has written the remaining output."""
        return self.state in _OVER

    def fail(self, fault: FaultError) -> None:
        """End the session with an ERROR."""
        if self.state not in _OVER:
            self._fault = fault
            self._step(SessionInput.FAILED)
            self._wake()

    def parted(self) -> bool:
        """Treat the client's half-close as a DISCONNECT without receipt.

        Returns:
            True if the session has begun to end, so that the socket must write its last output; False if the client has
            not connected yet.
        """
        if self.state is _OPEN:
            self._step(SessionInput.LEFT)
            self._wake()
        return self.state in _PARTING

    def gone(self) -> None:
        """Handle the end of the socket."""
        self._step(SessionInput.LOST)

    def checked(self, fault: FaultError | None) -> None:
        """Handle the result of the password check: a fault, or None if the password is right."""
        if self.state is not SessionState.CHECKING:
            return
        if fault is not None:
            self.fail(fault)
        else:
            self._step(SessionInput.ASKED)
            self._wake()

    def _bug(self, doing: str) -> None:
        _LOG.exception("%s of the connection of %s failed; the server closes the connection", doing, self._socket.peer)
        self.fail(FaultError(BUG, Mqrc.UNEXPECTED_ERROR))

    # --- `shared_resources.Peer`, for the queue manager

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Handle the queue manager's answer to a command; call `sent`, if given, once the socket has the output."""
        answered = self.context.expected.pop(answer.token, None)
        if answered is None:
            return
        if sent is not None:
            self._sent.append(sent)
        try:
            answered(answer)
        except FaultError as fault:
            self.fail(fault)
        except Exception:  # noqa: BLE001  another connection's command may have caused this call, and must not fail
            self._bug("an answer")
        if not self.context.expected and self.state is SessionState.LEAVING:
            self._runner.call_soon(partial(self._step, SessionInput.ANSWERED))
        self._wake()

    def deliver(self, delivery: Deliver) -> None:
        """Write a MESSAGE, or keep the message until the client has read output; ignore it if the session is ending."""
        if self.state is not _OPEN:
            return
        try:
            self.context.deliver(delivery)
        except Exception:  # noqa: BLE001  another connection's command may have caused this call, and must not fail
            self._bug("a delivery")
        self._wake()

    def close_link(self, closed: CloseLink) -> None:
        """Report that a subscription has ended; for a client with plain STOMP, the report ends the whole session."""
        try:
            link_closed(self.context, closed.link, closed.refused)
        except FaultError as fault:
            self.fail(fault)
        self._wake()

    def lost(self, why: Refused) -> None:
        """End the session, because the queue manager has cut it or has stopped."""
        self.context.number = 0
        self.fail(of_refusal(why))

    def _wake(self) -> None:
        if not self._flush_due and not self._working and self.state is not SessionState.GONE:
            self._flush_due = True
            self._runner.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_due = False
        try:
            self.context.catch_up()
        except Exception:  # noqa: BLE001  an error of the server ends this connection only
            self._bug("catching up")
        self._socket.flush()
        if self.state is _OPEN and self.connection.kept and not self.blocked:
            self.work()
            self._socket.flush()

    # --- the table

    def _step(self, what: SessionInput) -> None:
        act = self.step(what)
        if act is not SessionAction.NOTHING:
            self._DOES[act](self)

    def _connect(self, frame: Frame) -> None:
        """Handle CONNECT (STOMP 1.2, Connecting)."""
        version = self.connection.version
        if version is None:
            known = ",".join(VERSIONS)
            raise FaultError(f"The server knows STOMP {known}", headers={"version": known})
        self.context.version = version
        self._asked = frame
        self.context.open_errors = OPEN_ERRORS in frame.headers.get(EXTENSIONS, "").split(",")
        if version is not Version.V1_0:
            asked = parse_heart_beat(frame.headers.get("heart-beat"))
            own = self._heart_beat
            self.beats_ms, self.hears_ms = agreed(own, asked), agreed(asked, own)
        self._step(SessionInput.LOGIN)

    @property
    def _heart_beat(self) -> HeartBeat:
        return HeartBeat(self._limits.heart_beat_ms, self._limits.heart_beat_ms)

    def _check(self) -> None:
        headers = self._asked.headers
        result = self._socket.check_login(headers.get("login"), headers.get("passcode"))
        if isinstance(result, FaultError):
            raise result
        if result:
            self._step(SessionInput.ASKED)

    def _ask(self) -> None:
        context = self.context
        context.client_id = self._asked.headers.get("client-id") or None
        token = context.expect(self._admitted)
        number = self._queue_manager.connect(self, token, context.client_id, self._socket.user)
        if self.state is SessionState.ASKING:  # not answered yet
            context.number = number

    def _admitted(self, answer: Answer) -> None:
        if answer.refused is not None:
            raise of_refusal(answer.refused)
        self.context.number = answer.connection
        self._step(SessionInput.ADMITTED)
        if not self._working:  # otherwise `work` is running, and handles the rest of the input itself
            self._runner.call_soon(self.go_on)

    def _open(self) -> None:
        context = self.context
        number = context.number
        context.id = f"{self.since_ns // NS_PER_MS:x}.{number:x}"
        context.destinations.prefix = str(number)
        headers = {"version": context.version.value, "session": context.id, "server": f"assay/{product_version()}"}
        if context.version is not Version.V1_0:
            headers["heart-beat"] = str(self._heart_beat)
        headers[EXTENSIONS] = OURS
        headers |= {name: str(value) for name, value in self._queue_manager.properties.items()}
        context.write(self.connection.send(Frame("CONNECTED", headers)))
        _LOG.debug("%s has connected with STOMP %s", self._socket.peer, context.version)

    def _wait(self) -> None:
        """End the subscriptions, so that no message arrives at a session that ends, and wait for all answers."""
        end_all(self.context)
        if not self.context.expected:
            self._step(SessionInput.ANSWERED)

    def _part(self) -> None:
        self.context.ask(self._released, commands.Disconnect, clean=True)

    def _released(self, answer: Answer) -> None:
        del answer
        self._queue_manager.forget(self.context.number)
        self.context.number = 0
        self._step(SessionInput.RELEASED)

    def _confirm(self) -> None:
        self.context.receipt(self._left)
        self._let_go()
        self._wake()

    def _report(self) -> None:
        self._let_go()
        fault = self._fault
        _LOG.info("the connection of %s is closed: %s", self._socket.peer, fault.text)
        try:
            self.context.write(self.connection.send(error_frame(fault, self.connection.version)))
        except Exception:  # noqa: BLE001  the connection ends in any case
            _LOG.exception("an ERROR could not be written")

    def _let_go(self) -> None:
        """Tell the queue manager that the connection has ended; a second call does nothing."""
        context = self.context
        number, context.number = context.number, 0
        if number:
            context.pass_on()
            self._queue_manager.handle(commands.Disconnect(number, None, clean=False))
            self._queue_manager.forget(number)
        context.let_go()
        self._count(0)
        self.connection.drop()

    _DOES: ClassVar[Mapping[SessionAction, Callable[[Any], None]]] = {
        SessionAction.CHECK: _check,
        SessionAction.ASK: _ask,
        SessionAction.OPEN: _open,
        SessionAction.WAIT: _wait,
        SessionAction.PART: _part,
        SessionAction.CONFIRM: _confirm,
        SessionAction.REPORT: _report,
        SessionAction.FORGET: _let_go,
    }
    """The method that carries out each action of the state machine."""
