"""Who is owed an answer: every command's token, until its one `Done` or `Failed`, or until its time is over."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from assay_sdk.driver import Done, DriverCommand, DriverEvent, Failed, PeerProperties
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.time import CancelJob, Runner

GiveUp = Callable[[], str]
"""Lets go of a request whose time is over; what there is to say of it, as the end of a sentence."""

UNKNOWN = "nobody knows whether it did what it was asked for"


class _Owed(Struct):
    """A command that waits for its answer."""

    what: str
    due_ns: int
    give_up: GiveUp | None = None


class Answers:
    """The tokens that are open, and the sink that is told.

    An answer to a token that is not open any more is dropped: the command has had its answer when its link or
    connection went or its time was over, and what the broker says later changes nothing for it.

    Args:
        sink: The engine's.
        runner: Whose clock counts.
        limit_ms: How long a command waits for its answer, in milliseconds.
        flush: Called after requests were let go of, which the broker has to be told.
    """

    def __init__(
        self, sink: Callable[[DriverEvent], None], runner: Runner, limit_ms: int, flush: Callable[[], None]
    ) -> None:
        self.emit = sink
        self._flush = flush
        self._runner = runner
        self._limit_ms = limit_ms
        self._open: dict[int, _Owed] = {}  # the oldest first, and so the first due
        self._timer: CancelJob | None = None

    def owe(self, command: DriverCommand) -> None:
        """A command has come."""
        due_ns = self._runner.clock.monotonic_ns() + self._limit_ms * 1_000_000
        words = re.sub("(?<!^)(?=[A-Z])", " ", type(command).__name__).lower()
        self._open[command.token] = _Owed(words, due_ns)
        if self._timer is None:
            self._timer = self._runner.call_at(due_ns, self._look)

    def at_limit(self, token: int, give_up: GiveUp) -> None:
        """Say how to let go of a request when its time is over; without that, nothing has to be done."""
        if token in self._open:
            self._open[token].give_up = give_up

    def done(
        self,
        token: int,
        value: tuple[bytes, ...] | tuple[Message, ...] | str | None = None,
        properties: PeerProperties | None = None,
    ) -> None:
        """It has succeeded.

        Args:
            token: Whose answer it is.
            value: What it was asked for.
            properties: What the peer said of the destination.
        """
        if token in self._open:
            del self._open[token]
            self.emit(Done(token, value, properties or {}))

    def fail(self, token: int, why: Refused) -> None:
        """It was refused."""
        if token in self._open:
            del self._open[token]
            self.emit(Failed(token, why))

    def fail_all(self, why: Refused) -> None:
        """Nothing that is open will succeed any more."""
        if self._timer is not None:
            self._timer()
            self._timer = None
        for token in tuple(self._open):
            self.fail(token, why)

    def _look(self) -> None:
        """Fail what has waited for too long; look again when the next would have."""
        self._timer = None
        now_ns = self._runner.clock.monotonic_ns()
        for token, owed in tuple(self._open.items()):
            if owed.due_ns > now_ns:
                self._timer = self._runner.call_at(owed.due_ns, self._look)
                break
            because = owed.give_up() if owed.give_up is not None else UNKNOWN
            text = f"the broker did not answer ({owed.what}) within {self._limit_ms} ms: {because}"
            self.fail(token, Refused(JmsErrorKind.MESSAGING, text))
        self._flush()
