"""One end of a STOMP connection."""

from __future__ import annotations

from assay_sdk.model.stepper import Stepper, words
from assay_sdk.stomp.errors import LocalError, RemoteError
from assay_sdk.stomp.frames import CLIENT_COMMANDS, SERVER_COMMANDS, Frame
from assay_sdk.stomp.limits import DEFAULT_LIMITS, FrameLimits
from assay_sdk.stomp.reader import FrameReader
from assay_sdk.stomp.states import INPUTS, TABLES, Role, StompAction, StompInput, StompState
from assay_sdk.stomp.versions import Version, common_version
from assay_sdk.stomp.writer import encode_frame

_OPEN, _START, _ASKED = StompState.OPEN, StompState.START, StompState.ASKED
_DROP, _REQUEST, _NEWS = StompAction.DROP, StompInput.REQUEST, StompInput.NEWS
"""Cached at import: an `Enum` lookup takes 0.06 us (2026-11-28), and each frame of `bench/broker.py stomp` needs 3 of
them."""

_SHOWN = 40


class StompConnection(Stepper[StompState, StompInput, StompAction]):
    """One end of a STOMP connection, without I/O.

    Pass all octets from the peer to `receive`, and then call `next_frame` until it returns None.  Write the octets that
    `send` returns to the transport.  When the transport ends, call `end`.

    A server may set `version` after CONNECT; otherwise `version` is the highest common version.  Between a CONNECT and
    the server's answer, the server's `next_frame` returns None, because the answer decides the version, and the version
    decides the rules for the next frame.

    Args:
        role: The role of this end.
        limits: The limits of the frames that this end reads.
    """

    def __init__(self, role: Role, limits: FrameLimits = DEFAULT_LIMITS) -> None:
        super().__init__(TABLES[role], StompState.START)
        self.role = role
        self._limits = limits
        self._server = role is Role.SERVER
        self._reader = FrameReader(CLIENT_COMMANDS if self._server else SERVER_COMMANDS, limits)
        self._writing = False
        self._taken = 0

    @property
    def version(self) -> Version | None:
        """The negotiated version; None before it is known."""
        return self._reader.version

    @version.setter
    def version(self, version: Version | None) -> None:
        self._reader.version = version

    @property
    def kept(self) -> int:
        """The number of octets that wait for the rest of their frame, or for the next call of `next_frame`."""
        return self._reader.kept

    def receive(self, octets: bytes) -> None:
        """Add octets that have arrived from the peer.

        Raises:
            RemoteError: The server has not accepted the client yet, and the client has sent more octets than the limit
                `before_login`.
        """
        if self._server and (self.state is _START or self.state is _ASKED):
            self._taken += len(octets)
            if self._taken > self._limits.before_login:
                text = f"A client may send {self._limits.before_login} octets before the server has accepted it"
                raise RemoteError(text, is_limit=True)
        self._reader.feed(octets)

    def next_frame(self) -> Frame | None:
        """Return the next frame for the program; None if none has arrived completely.

        Raises:
            RemoteError: The input is not a frame, exceeds a limit, or comes in the wrong order.
        """
        while True:
            if self._server and self.state is _ASKED:
                return None
            frame = self._reader.next()
            if frame is None:
                return None
            what = INPUTS[frame.command]
            if self.state is _OPEN and (what is _REQUEST or what is _NEWS):
                return frame  # the usual case; the table has the same result
            if self._step(what, frame) is not _DROP:
                return frame

    def send(self, frame: Frame) -> bytes:
        """Encode a frame for the peer.

        Raises:
            LocalError: The role has no such command, the program must not send the frame now, or the version cannot
                express it.
        """
        if frame.command not in (SERVER_COMMANDS if self._server else CLIENT_COMMANDS):
            raise LocalError(f"A {self.role.value} sends no {frame.command[:_SHOWN]!r}")
        octets = encode_frame(frame, self.version)
        self._writing = True
        try:
            self.step(INPUTS[frame.command])
        finally:
            self._writing = False
        return octets

    def drop(self) -> None:
        """Discard the input that was not handled, to free its memory; the connection then reads no more frames."""
        self._reader = FrameReader(frozenset(), self._limits, self.version)

    def end(self) -> None:
        """Note that the transport has ended."""
        self.step(StompInput.END)

    def impossible(self, happened: StompInput) -> Exception:
        """Return the error for a frame in the wrong order, which this program or the peer has sent."""
        when = {
            StompState.START: "before CONNECT",
            StompState.ASKED: "before the answer to CONNECT",
            StompState.OPEN: "on an open connection",
            StompState.LEAVING: "after DISCONNECT",
        }.get(self.state, "at the end of a connection")
        text = f"The frame ({words(happened)}) is not allowed {when}"
        return LocalError(text) if self._writing else RemoteError(text)

    def _step(self, what: StompInput, frame: Frame) -> StompAction:
        try:
            action = self.step(what)
        except RemoteError as error:
            text = error.text.replace(f"The frame ({words(what)})", frame.command)
            raise RemoteError(text, frame.receipt) from None
        if what is StompInput.CONNECT:
            self.version = common_version(frame.headers.get("accept-version"))
        elif what is StompInput.CONNECTED and action is not _DROP:
            self._agree(frame)
        return action

    def _agree(self, frame: Frame) -> None:
        version = frame.headers.get("version", Version.V1_0.value)
        if version not in {known.value for known in Version}:
            raise RemoteError(f"The server chose the version {version[:20]!r}, which this client does not know")
        self.version = Version(version)
