"""Open tokens: each command gets one `Done` or `Failed`, at the latest when it times out."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from assay_sdk.driver import Done, DriverCommand, DriverEvent, Failed, PeerProperties
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.time import CancelJob, Runner

GiveUp = Callable[[], str]
"""Ends a request that timed out; returns what to say about it, as the end of a sentence."""

UNKNOWN = "whether it carried the command out is unknown"


class _Owed(Struct):
    """A command without an answer."""

    what: str
    due_ns: int
    give_up: GiveUp | None = None


class Answers:
    """The open tokens of a connection, and the sink for their answers.

    An answer for a token that is not open is ignored: its command was answered when its link or connection ended or it
    timed out, and the broker's later answer does not change that.

    Args:
        sink: Called with the answers.
        runner: Runner with the clock for timeouts.
        limit_ms: Timeout of a command, in milliseconds.
        flush: Called after requests have timed out, so that the broker is told.
    """

    def __init__(
        self, sink: Callable[[DriverEvent], None], runner: Runner, limit_ms: int, flush: Callable[[], None]
    ) -> None:
        self.emit = sink
        self._flush = flush
        self._runner = runner
        self._limit_ms = limit_ms
        self._open: dict[int, _Owed] = {}  # oldest first, so the first one times out first
        self._timer: CancelJob | None = None

    def owe(self, command: DriverCommand) -> None:
        """Add a command."""
        due_ns = self._runner.clock.monotonic_ns() + self._limit_ms * 1_000_000
        words = re.sub("(?<!^)(?=[A-Z])", " ", type(command).__name__).lower()
        self._open[command.token] = _Owed(words, due_ns)
        if self._timer is None:
            self._timer = self._runner.call_at(due_ns, self._look)

    def at_limit(self, token: int, give_up: GiveUp) -> None:
        """Set how to end a request when it times out; without that, only its command fails."""
        if token in self._open:
            self._open[token].give_up = give_up

    def done(
        self,
        token: int,
        value: tuple[bytes, ...] | tuple[Message, ...] | str | None = None,
        properties: PeerProperties | None = None,
    ) -> None:
        """Answer that a command succeeded.

        Args:
            token: Token of the command.
            value: Result of the command.
            properties: Properties of the destination.
        """
        if token in self._open:
            del self._open[token]
            self.emit(Done(token, value, properties or {}))

    def fail(self, token: int, why: Refused) -> None:
        """Answer that a command was refused."""
        if token in self._open:
            del self._open[token]
            self.emit(Failed(token, why))

    def fail_all(self, why: Refused) -> None:
        """Refuse all open commands."""
        if self._timer is not None:
            self._timer()
            self._timer = None
        for token in tuple(self._open):
            self.fail(token, why)

    def _look(self) -> None:
        """Fail the commands that have timed out, and schedule the next check."""
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
