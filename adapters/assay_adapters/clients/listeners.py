"""A message listener that follows a script; a script is data, so it has the same meaning for all clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NoReturn, TypeVar

from assay_adapters.ports.client import Script
from assay_sdk.errors import MessageFormatError
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.time import NS_PER_MS, Runner

T = TypeVar("T")


class ScriptedFailureError(RuntimeError):
    """The exception of a callback whose script demands a failure."""


class ScriptedListener(Generic[T]):
    """A listener that carries out a script in each callback.

    A callback can have these steps, in this order: wait, acknowledge, commit, roll back, set the listener on its
    consumer again, close the consumer, raise an exception. The script says which steps a callback has.

    Args:
        script: The script.
        runner: The runner that waits.
        acknowledge: Acknowledges the message that it is given.
        commit: Commits the session.
        rollback: Rolls the session back.
        again: Sets the listener on its consumer again.
        close: Closes the consumer.
    """

    def __init__(
        self,
        script: Script,
        runner: Runner,
        *,
        acknowledge: Callable[[T], None],
        commit: Callable[[], None],
        rollback: Callable[[], None],
        again: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        self._script = script
        self._runner = runner
        self._acknowledge = acknowledge
        self._commit = commit
        self._rollback = rollback
        self._again = again
        self._close = close
        self._callbacks = 0
        self._came: list[T] = []

    def __call__(self, messages: Sequence[T]) -> None:
        """Carry out the script for one callback.

        A failing callback waits, acknowledges and closes its consumer as the script says, and then raises the
        exception. It omits all other steps: commit, rollback and setting the listener again.

        Args:
            messages: The messages of the callback: one, or a batch.

        Raises:
            ScriptedFailureError: The script demands that this callback fails.
            MessageFormatError: The script demands that this callback fails because it cannot decode a message.
        """
        script = self._script
        self._callbacks += 1
        before = len(self._came)
        self._came.extend(messages)
        if script.take_ms:
            due_ns = self._runner.clock.monotonic_ns() + script.take_ms * NS_PER_MS
            self._runner.run_until(lambda: False, due_ns)
        fails = self._fails()
        self._acknowledge_some(messages, before)
        if not fails:
            self._act(before)
        if self._reached(script.close_after, before):
            self._close()
        if fails:
            self._fail()

    def _acknowledge_some(self, messages: Sequence[T], before: int) -> None:
        """Acknowledge the messages that the script names for a callback.

        Args:
            messages: The messages of the callback.
            before: The number of messages of all earlier callbacks.
        """
        script = self._script
        if script.acknowledge_each:
            for message in messages:
                self._acknowledge(message)
        if self._reached(script.acknowledge_after, before):
            self._acknowledge(self._came[script.acknowledge_index])

    def _act(self, before: int) -> None:
        """Carry out the script's other steps for a callback that does not fail, except the closing of the consumer.

        Args:
            before: The number of messages of all earlier callbacks.
        """
        script = self._script
        if self._reached(script.commit_after, before):
            self._commit()
        if self._reached(script.rollback_after, before):
            self._rollback()
        if self._reached(script.again_after, before):
            self._again()

    def _fail(self) -> NoReturn:
        why = f"callback {self._callbacks} fails, as its script says"
        if self._script.undecodable:
            raise MessageFormatError(Refused(JmsErrorKind.MESSAGE_FORMAT, why))
        raise ScriptedFailureError(why)

    def _fails(self) -> bool:
        """Return whether this callback fails."""
        first = self._script.fail_at
        return first is not None and first <= self._callbacks < first + self._script.fail_times

    def _reached(self, after: int | None, before: int) -> bool:
        """Return whether the number of received messages has reached a limit (`after`) in this callback."""
        return after is not None and before < after <= len(self._came)
