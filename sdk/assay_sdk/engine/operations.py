"""Operations: calls that wait, written as generators that yield what they wait for.

The code between two yields runs as one job on the runner, so the engine needs no locks.  A synchronous face runs other
jobs until the operation has ended (`perform`), work after a listener's call runs in the background (`spawn`), and an
asyncio face can await the same generator.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Generic, Protocol, TypeVar

from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.time import CancelJob, Runner

T = TypeVar("T")


class Awaited(Protocol):
    """Something to wait for: a `Pending` of any type."""

    @property
    def is_settled(self) -> bool:
        """Whether the value or the error is there."""
        ...

    def then(self, job: Callable[[], None]) -> None:
        """Call a job when it is there."""
        ...

    def forget(self, job: Callable[[], None]) -> None:
        """Undo `then`."""
        ...


class Wait:
    """A wait of an operation.

    Args:
        pending: The operation continues when this is settled, and looks at the value or error itself.
        due_ns: The operation continues at this monotonic time at the latest; None waits without limit.
    """

    __slots__ = ("due_ns", "pending")

    def __init__(self, pending: Awaited, due_ns: int | None = None) -> None:
        self.pending = pending
        self.due_ns = due_ns


Operation = Generator[Wait, None, T]


def result_of(pending: Pending[T]) -> Operation[T]:
    """Wait for a pending value.

    Raises:
        RefusedError: The command was refused.
    """
    if not pending.done:
        yield Wait(pending)
    return pending.result()


def all_of(answers: Iterable[Pending[T]], *, lost_is_fine: bool = False) -> Operation[None]:
    """Wait for all answers.

    Args:
        answers: Pending answers.
        lost_is_fine: Whether to ignore a lost connection.

    Raises:
        RefusedError: The first refusal.
    """
    refusal: RefusedError | None = None
    for answer in answers:
        try:
            yield from result_of(answer)
        except RefusedError as error:
            if not (lost_is_fine and error.refused.kind is JmsErrorKind.CONNECTION_LOST):
                refusal = refusal or error
    if refusal is not None:
        raise refusal


class Task(Generic[T]):
    """A running operation.

    Args:
        runner: Runs the steps.
        operation: The generator.
    """

    def __init__(self, runner: Runner, operation: Operation[T]) -> None:
        self.result: Pending[T] = Pending()
        self._runner = runner
        self._operation = operation
        self._waiting: Awaited | None = None
        self._timer: CancelJob | None = None

    def step(self) -> None:
        """Run to the next wait that has not ended; call it on the runner only."""
        self._leave_wait()
        while not self.result.done:
            try:
                wait = next(self._operation)
            except StopIteration as stop:
                self.result.resolve(stop.value)
            except Exception as error:  # noqa: BLE001  it is raised when the result is read
                self.result.fail(error)
            else:
                if not wait.pending.is_settled:
                    self._enter_wait(wait)
                    return

    def abandon(self) -> None:
        """End the operation at its wait, because its caller was interrupted."""
        self._leave_wait()
        self._operation.close()

    def is_over(self) -> bool:
        """Whether the operation has a result."""
        return self.result.done

    def _enter_wait(self, wait: Wait) -> None:
        self._waiting = wait.pending
        wait.pending.then(self._go_on)
        if wait.due_ns is not None:
            self._timer = self._runner.call_at(wait.due_ns, self.step)

    def _leave_wait(self) -> None:
        if self._waiting is not None:
            self._waiting.forget(self._go_on)
            self._waiting = None
        if self._timer is not None:
            self._timer()
            self._timer = None

    def _go_on(self) -> None:
        # In a job of its own, because the code that settles the pending value has not ended.
        self._leave_wait()
        self._runner.call_soon(self.step)


def perform(runner: Runner, operation: Operation[T]) -> T:
    """Run an operation and wait until it has ended.

    Raises:
        RefusedError: The operation was refused.
        StalledError: In virtual time, no scheduled job could end the operation.
    """
    task = Task(runner, operation)
    runner.call_soon(task.step)
    try:
        runner.run_until(task.is_over, None)
    except BaseException:  # Ctrl-C too: nothing waits for the operation any more
        runner.call_soon(task.abandon)
        raise
    return task.result.result()


def spawn(runner: Runner, operation: Operation[T]) -> Pending[T]:
    """Start an operation in the background, in a job of its own.

    The operation handles refusals itself.  Any other error is raised by the job, and so reaches the runner.
    """
    task = Task(runner, operation)
    task.result.then(lambda: _surface(task.result.error))
    runner.call_soon(task.step)
    return task.result


def _surface(error: Exception | None) -> None:
    if error is not None and not isinstance(error, RefusedError):
        raise error
