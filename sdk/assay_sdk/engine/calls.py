"""Open calls: what the wire still owes an answer for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from assay_sdk.driver import Done
from assay_sdk.model.reasons import JmsErrorKind, Refused

T = TypeVar("T")


class RefusedError(Exception):
    """The engine's only error: a refusal on its way to a face, which raises its own error for it."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.text)
        self.refused = refused


def lost(text: str = "the connection is lost: connect again") -> Refused:
    """The refusal of everything that was open when the connection went."""
    return Refused(JmsErrorKind.CONNECTION_LOST, text)


class Pending(Generic[T]):
    """A value that is not there yet; settled once, on the runner."""

    __slots__ = ("_then", "_value", "done", "error")

    def __init__(self) -> None:
        self.done = False
        self.error: Exception | None = None
        self._value: T | None = None
        self._then: list[Callable[[], None]] = []

    @property
    def is_settled(self) -> bool:
        """Whether it has its value or its error."""
        return self.done

    def resolve(self, value: T) -> None:
        """Give it its value; a second answer is ignored."""
        if not self.done:
            self._value = value
            self._finish()

    def fail(self, error: Exception) -> None:
        """Give it an error; a second answer is ignored."""
        if not self.done:
            self.error = error
            self._finish()

    def then(self, job: Callable[[], None]) -> None:
        """Call this when it is settled; at once when it is already."""
        if self.done:
            job()
        else:
            self._then.append(job)

    def forget(self, job: Callable[[], None]) -> None:
        """Take a `then` back; one that was called is left alone."""
        if job in self._then:
            self._then.remove(job)

    def result(self) -> T:
        """The value.

        Raises:
            RefusedError: The call was refused; any other error is the engine's own fault.
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
    """The open calls of one connection, by token."""

    def __init__(self) -> None:
        self._open: dict[int, Pending[Done]] = {}
        self._token = 0

    def open(self) -> tuple[int, Pending[Done]]:
        """A new token and its pending answer."""
        self._token += 1
        pending: Pending[Done] = Pending()
        self._open[self._token] = pending
        return self._token, pending

    def done(self, answer: Done) -> None:
        """The wire has answered."""
        pending = self._open.pop(answer.token, None)
        if pending is not None:
            pending.resolve(answer)

    def failed(self, token: int, refused: Refused) -> None:
        """The wire has refused."""
        pending = self._open.pop(token, None)
        if pending is not None:
            pending.fail(RefusedError(refused))

    def fail_all(self, refused: Refused) -> None:
        """The connection is gone: nobody will answer any more."""
        open_calls, self._open = self._open, {}
        for pending in open_calls.values():
            pending.fail(RefusedError(refused))
