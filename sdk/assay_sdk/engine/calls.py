"""Commands that the wire has not answered yet, by token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from assay_sdk.driver import Done
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")


class RefusedError(Exception):
    """A refusal on its way to a face, which raises its own error for it; the engine raises no other error."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused


def lost(text: str = "the connection is lost: connect again") -> Refused:
    """Make the refusal of everything that was open when the connection was lost."""
    return Refused(JmsErrorKind.CONNECTION_LOST, text)


class Pending(Generic[T]):
    """A value that will be there later; it gets a value or an error once, on the runner."""

    __slots__ = ("_then", "_value", "done", "error")

    def __init__(self) -> None:
        self.done = False
        self.error: Exception | None = None
        self._value: T | None = None
        self._then: list[Callable[[], None]] = []

    @property
    def is_settled(self) -> bool:
        """Whether the value or the error is there."""
        return self.done

    def resolve(self, value: T) -> None:
        """Set the value; does nothing if settled."""
        if not self.done:
            self._value = value
            self._finish()

    def fail(self, error: Exception) -> None:
        """Set the error; does nothing if settled."""
        if not self.done:
            self.error = error
            self._finish()

    def then(self, job: Callable[[], None]) -> None:
        """Call a job when this is settled, or at once if it is."""
        if self.done:
            job()
        else:
            self._then.append(job)

    def forget(self, job: Callable[[], None]) -> None:
        """Undo `then`, for a job that has not been called."""
        if job in self._then:
            self._then.remove(job)

    def result(self) -> T:
        """Return the value.

        Raises:
            RefusedError: The command was refused.  Any other exception is an error in the engine.
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
    """Open commands of one connection, by token."""

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
        """Set the answer of a command."""
        pending = self._open.pop(answer.token, None)
        if pending is not None:
            pending.resolve(answer)

    def failed(self, token: int, refused: Refused) -> None:
        """Set the refusal of a command."""
        pending = self._open.pop(token, None)
        if pending is not None:
            pending.fail(RefusedError(refused))

    def fail_all(self, refused: Refused) -> None:
        """Refuse all open commands, because the connection is lost."""
        open_calls, self._open = self._open, {}
        for pending in open_calls.values():
            pending.fail(RefusedError(refused))


def describe(error: Exception) -> str:
    """Return the class and text of an application's exception, whose text may raise itself."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  `__str__` is the application's
        text = "its text cannot be read"
    return f"{type(error).__name__}: {text}"
