"""One end of a local connection: frames in and out of a stream socket, on a runner's loop."""

from __future__ import annotations

import socket
from collections import deque
from typing import Protocol

from assay_sdk.local.frames import MAX_FRAME, FrameError, LocalFrameSplitter
from assay_sdk.runners.real import READ, WRITE, LoopRunner

MAX_UNSENT = 2 * MAX_FRAME
"""Octets that may wait for a peer who does not read; beyond that, the connection is lost."""

_READ_SIZE = 1 << 18


class LocalSocketOwner(Protocol):
    """Whom a line belongs to."""

    def line_heard(self, body: bytes) -> None:
        """A frame's body has come.

        Raises:
            FrameError: It is none of this protocol's; the line is dropped.
        """
        ...

    def line_gone(self, why: str) -> None:
        """There is no line any more; called once, and nothing after it."""
        ...


class LocalSocket:
    """A connected socket.

    Args:
        end: The socket; the line sets it non-blocking and closes it.
        owner: Who is told.
        runner: The loop.
        max_unsent: Octets that may wait for a peer who does not read.
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
        self._bodies: deque[bytes] = deque()  # whoever is told of one may turn the crank, and so have the rest told
        self._unsent = bytearray()
        self._watched = 0
        self._finishing = False
        self._gone = False
        self._watch(READ)

    def send(self, frame: bytes) -> None:
        """Send a frame, as far as the socket takes it now; the rest follows."""
        if self._gone or self._finishing:
            return
        self._unsent += frame
        self._write()
        if len(self._unsent) > self._max_unsent:
            self.drop("the peer does not read what it is sent")

    def finish(self) -> None:
        """Close once everything is sent; nothing is heard any more."""
        self._finishing = True
        self._close_if_done()

    def drop(self, why: str) -> None:
        """Close at once, and tell the owner; does nothing the second time.

        Args:
            why: What happened, as the end of a sentence.
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
            return  # somebody who turned the crank meanwhile has read it
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
