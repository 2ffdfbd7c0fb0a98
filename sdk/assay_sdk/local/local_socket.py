"""The socket of a local connection, for the client and the broker: frames over a stream socket on a runner's loop."""

from __future__ import annotations

import socket
from collections import deque
from typing import Protocol

from assay_sdk.local.frames import MAX_FRAME, FrameError, LocalFrameSplitter
from assay_sdk.runners.real import READ, WRITE, LoopRunner

MAX_UNSENT = 2 * MAX_FRAME
"""Limit of the octets that wait for a peer that does not read; with more octets, the socket is closed."""

_READ_SIZE = 1 << 18


class LocalSocketOwner(Protocol):
    """The owner of a socket, with the methods that the socket calls."""

    def line_heard(self, body: bytes) -> None:
        """Handle the body of a frame from the peer.

        Raises:
            FrameError: The body does not belong to this protocol; the socket is then closed.
        """
        ...

    def line_gone(self, why: str) -> None:
        """Handle the end of the connection; the socket calls no method of its owner afterwards.

        Args:
            why: The reason, as the end of a sentence.
        """
        ...


class LocalSocket:
    """A connected socket that carries frames.

    Args:
        end: The socket; this object makes it non-blocking, and closes it.
        owner: Owner of the socket.
        runner: Runner that watches the socket.
        max_unsent: Limit of the octets that wait for a peer that does not read.
    """

    def __init__(
        self, end: socket.socket, owner: LocalSocketOwner, runner: LoopRunner, max_unsent: int = MAX_UNSENT
    ) -> None:
        end.setblocking(False)  # noqa: FBT003  the standard library takes it by position
        self._end = end
        self._owner = owner
        self._runner = runner
        self._max_unsent = max_unsent
        self._splitter = LocalFrameSplitter()
        # The bodies are queued: while the owner handles a body, it may run the loop, and more bodies may arrive.
        self._bodies: deque[bytes] = deque()
        self._unsent = bytearray()
        self._watched = 0
        self._finishing = False
        self._gone = False
        self._watch(READ)

    def send(self, frame: bytes) -> None:
        """Send a frame; octets that the socket does not accept now are sent later."""
        if self._gone or self._finishing:
            return
        self._unsent += frame
        self._write()
        if len(self._unsent) > self._max_unsent:
            self.drop(f"the peer does not read: more than {self._max_unsent} octets wait for it")

    def finish(self) -> None:
        """Read no more frames, and close the socket when all octets are sent."""
        self._finishing = True
        self._close_if_done()

    def drop(self, why: str) -> None:
        """Close the socket at once and call the owner; a second call does nothing.

        Args:
            why: The reason, as the end of a sentence.
        """
        if self._gone:
            return
        self._gone = True
        self._runner.unregister(self._end)
        self._end.close()
        self._owner.line_gone(why)

    def _ready(self, mask: int) -> None:
        try:
            if mask & READ and not self._gone:
                self._read()
            if mask & WRITE and not self._gone:
                self._write()
        except FrameError as error:
            self.drop(str(error).removesuffix("."))

    def _read(self) -> None:
        try:
            octets = self._end.recv(_READ_SIZE)
        except BlockingIOError:
            return  # a nested run of the loop has read the octets
        except OSError as error:
            self.drop(error.strerror or "the connection broke")
            return
        if not octets:
            self.drop("the peer closed the connection")
            return
        self._bodies.extend(self._splitter.feed(octets))
        while self._bodies and not (self._gone or self._finishing):
            self._owner.line_heard(self._bodies.popleft())

    def _write(self) -> None:
        while self._unsent:
            try:
                sent = self._end.send(self._unsent)
            except BlockingIOError:
                break
            except OSError as error:
                self.drop(error.strerror or "the connection broke")
                return
            del self._unsent[:sent]
        self._watch(READ | WRITE if self._unsent else READ)
        self._close_if_done()

    def _close_if_done(self) -> None:
        if self._finishing and not self._unsent:
            self.drop("the connection is closed")

    def _watch(self, events: int) -> None:
        if events != self._watched:
            self._watched = events
            self._runner.register(self._end, events, self._ready)
