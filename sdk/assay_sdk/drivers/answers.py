"""The tokens of unanswered commands: each command gets one `Done` or `Failed`, at its timeout at the latest."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from assay_sdk.driver import Done, DriverCommand, DriverEvent, Failed, PeerProperties
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused, refused
from assay_sdk.time import NS_PER_MS, CancelJob, Runner


class GivenUp(Struct, frozen=True):
    """The possible effect of a command that has timed out.

    Args:
        words: The end of the error's text, which says what the client has done, or what it does not know.
        certain: Whether the command has no effect; False if the broker may have carried it out, or may still do so.
    """

    words: str
    certain: bool = True


GiveUp = Callable[[], GivenUp]
"""A function that ends the request of a command that has timed out."""
UNKNOWN = GivenUp("the client does not know whether the broker carried the command out", certain=False)


def lost(text: str, mqrc: Mqrc = Mqrc.CONNECTION_BROKEN) -> Refused:
    """Return the refusal for the unanswered commands of a lost connection.

    Args:
        text: The error's text.
        mqrc: The reason code.
    """
    return refused(mqrc, text)


class _Owed(Struct):
    """A command that has no answer yet."""

    kind: type[DriverCommand]
    due_ns: int
    give_up: GiveUp | None = None

    @property
    def words(self) -> str:
        """The command's name as separate words, such as "open sender"."""
        return re.sub("(?<!^)(?=[A-Z])", " ", self.kind.__name__).lower()


class Answers:
    """The open tokens of a connection (those of commands without an answer), and the answers to them.

    Only the first answer for a token counts.  After a timeout, or the end of the link or connection, the broker's later
    answer is therefore ignored.

    Args:
        sink: Called with each event of the connection, such as an answer.
        runner: Runner with the clock for timeouts.
        limit_ms: Timeout of a command, in milliseconds.
        flush: Called after each check for timeouts, to send the frames that end the requests of timed-out commands.
    """

    def __init__(
        self, sink: Callable[[DriverEvent], None], runner: Runner, limit_ms: int, flush: Callable[[], None]
    ) -> None:
        self.emit = sink
        self._flush = flush
        self._runner = runner
        self._limit_ms = limit_ms
        self._open: dict[int, _Owed] = {}  # in the order of the commands, so that the first command times out first
        self._timer: CancelJob | None = None

    def owe(self, command: DriverCommand) -> None:
        """Note that a command needs an answer, and start its timeout."""
        due_ns = self._runner.clock.monotonic_ns() + self._limit_ms * NS_PER_MS
        self._open[command.token] = _Owed(type(command), due_ns)
        if self._timer is None:
            self._timer = self._runner.call_at(due_ns, self._time_out)

    def at_limit(self, token: int, give_up: GiveUp) -> None:
        """Set the function that ends the request of a command when the command times out."""
        if token in self._open:
            self._open[token].give_up = give_up

    def done(
        self,
        token: int,
        value: tuple[bytes, ...] | tuple[Message, ...] | str | None = None,
        properties: PeerProperties | None = None,
        capabilities: frozenset[Capability] = frozenset(),
    ) -> None:
        """Answer `Done`: the command succeeded.

        Args:
            token: Token of the command.
            value: Result of the command; None if it has none.
            properties: Properties of the destination; None if the broker sent none.
            capabilities: Capabilities that a sender has in addition to the connection's capabilities.
        """
        if token in self._open:
            del self._open[token]
            self.emit(Done(token, value, properties or {}, capabilities))

    def fail(self, token: int, why: Refused) -> None:
        """Answer `Failed`: the command was refused.

        Args:
            token: Token of the command.
            why: The refusal.
        """
        if token in self._open:
            del self._open[token]
            self.emit(Failed(token, why))

    def fail_all(self, why: Refused) -> None:
        """Answer `Failed` for all unanswered commands.

        Args:
            why: The refusal.
        """
        if self._timer is not None:
            self._timer()
            self._timer = None
        for token in tuple(self._open):
            self.fail(token, why)

    def _time_out(self) -> None:
        """Answer `Failed` for the commands that have timed out, and schedule the next check."""
        self._timer = None
        now_ns = self._runner.clock.monotonic_ns()
        for token, owed in tuple(self._open.items()):
            if owed.due_ns > now_ns:
                self._timer = self._runner.call_at(owed.due_ns, self._time_out)
                break
            given_up = owed.give_up() if owed.give_up is not None else UNKNOWN
            text = f"the broker did not answer ({owed.words}) within {self._limit_ms} ms: {given_up.words}"
            no_effect = Refused(JmsErrorKind.MESSAGING, text)
            self.fail(token, no_effect if given_up.certain else refused(Mqrc.CALL_INTERRUPTED, text))
        self._flush()
