"""Pending answers: a connection's commands that the driver has not answered yet, by token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from assay_sdk.driver import Done
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")


class RefusedError(Exception):
    """The engine's error for a call that the client or the broker refuses.

    A face raises an error of its own (`JmsError`) in place of this error.
    """

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused


def lost(text: str = "the connection is lost: connect again") -> Refused:
    """Return a refusal of the kind `JmsErrorKind.CONNECTION_LOST`.

    Args:
        text: One sentence that says what was lost, and why.
    """
    return Refused(JmsErrorKind.CONNECTION_LOST, text)


class Pending(Generic[T]):
    """A result that is not known yet: code on the runner sets either its value or its error, once."""

    __slots__ = ("_then", "_value", "done", "error")

    def __init__(self) -> None:
        self.done = False
        self.error: Exception | None = None
        self._value: T | None = None
        self._then: list[Callable[[], None]] = []

    @property
    def is_settled(self) -> bool:
        """Whether the value or the error is set."""
        return self.done

    def resolve(self, value: T) -> None:
        """Set the value; do nothing if the value or the error is set already."""
        if not self.done:
            self._value = value
            self._finish()

    def fail(self, error: Exception) -> None:
        """Set the error; do nothing if the value or the error is set already."""
        if not self.done:
            self.error = error
            self._finish()

    def then(self, job: Callable[[], None]) -> None:
        """Call a job when the value or the error is set; if that has happened already, call the job at once."""
        if self.done:
            job()
        else:
            self._then.append(job)

    def forget(self, job: Callable[[], None]) -> None:
        """Remove a job that `then` has registered, so that it is not called."""
        if job in self._then:
            self._then.remove(job)

    def result(self) -> T:
        """Return the value, or raise the error; one of them must be set.

        Raises:
            RefusedError: The command was refused.  Any other exception is a bug in the engine.
        """
        if self.error is not None:
            raise self.error
        return cast("T", self._value)

    def _finish(self) -> None:
        self.done = True
        jobs, self._then = self._then, []
        for job in jobs:
            job()


class Calls:
    """The commands of one connection that have no answer yet, by token."""

    def __init__(self) -> None:
        self._open: dict[int, Pending[Done]] = {}
        self._token = 0

    def open(self) -> tuple[int, Pending[Done]]:
        """Return a new token and its pending answer."""
        self._token += 1
        pending: Pending[Done] = Pending()
        self._open[self._token] = pending
        return self._token, pending

    def done(self, answer: Done) -> None:
        """Pass an answer to the code that waits for the command with the answer's token."""
        pending = self._open.pop(answer.token, None)
        if pending is not None:
            pending.resolve(answer)

    def failed(self, token: int, refused: Refused) -> None:
        """Pass a refusal to the code that waits for a command, as a `RefusedError`.

        Args:
            token: The command's token.
            refused: The reason.
        """
        pending = self._open.pop(token, None)
        if pending is not None:
            pending.fail(RefusedError(refused))

    def fail_all(self, refused: Refused) -> None:
        """Fail all open commands with a refusal, because the connection has ended."""
        open_calls, self._open = self._open, {}
        for pending in open_calls.values():
            pending.fail(RefusedError(refused))


def describe(error: Exception) -> str:
    """Return the class and text of an application's exception, even if its ``__str__`` raises."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  `__str__` is the application's
        text = "its text cannot be read"
    return f"{type(error).__name__}: {text}"
