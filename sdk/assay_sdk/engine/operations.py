"""How a call that waits is written: a generator that yields what it waits for.

Everything between two yields runs as one job on the runner, so the engine needs no lock: a synchronous face turns the
crank until the operation is over (`perform`), a listener's aftermath runs in the background (`spawn`), and an asyncio
face can await the same generator.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Generic, Protocol, TypeVar

from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.time import CancelJob, Runner

T = TypeVar("T")


class Awaited(Protocol):
    """What can be waited for: a `Pending` of whatever type."""

    @property
    def is_settled(self) -> bool:
        """Whether it is there."""
        ...

    def then(self, job: Callable[[], None]) -> None:
        """Call this when it is there."""
        ...

    def forget(self, job: Callable[[], None]) -> None:
        """Take a `then` back."""
        ...


class Wait:
    """What an operation waits for.

    Args:
        pending: Goes on when this is settled; whether by a value or an error is the operation's to look at.
        due_ns: Goes on at this monotonic time at the latest; None waits without a limit.
    """

    __slots__ = ("due_ns", "pending")

    def __init__(self, pending: Awaited, due_ns: int | None = None) -> None:
        self.pending = pending
        self.due_ns = due_ns


Operation = Generator[Wait, None, T]


def result_of(pending: Pending[T]) -> Operation[T]:
    """Wait for a pending value.

    Raises:
        RefusedError: It was refused.
    """
    if not pending.done:
        yield Wait(pending)
    return pending.result()


def all_of(answers: Iterable[Pending[T]], *, lost_is_fine: bool = False) -> Operation[None]:
    """Wait for all answers.

    Args:
        answers: For what.
        lost_is_fine: Whether a lost connection is no reason to raise.

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
    """An operation under way.

    Args:
        runner: Where its steps run.
        operation: The generator.
    """

    def __init__(self, runner: Runner, operation: Operation[T]) -> None:
        self.result: Pending[T] = Pending()
        self._runner = runner
        self._operation = operation
        self._waiting: Awaited | None = None
        self._timer: CancelJob | None = None

    def step(self) -> None:
        """Run to the next wait that is not over already; call it on the runner only."""
        self._leave_wait()
        while not self.result.done:
            try:
                wait = next(self._operation)
            except StopIteration as stop:
                self.result.resolve(stop.value)
            except Exception as error:  # noqa: BLE001  it is raised again for whoever asks for the result
                self.result.fail(error)
            else:
                if not wait.pending.is_settled:
                    self._enter_wait(wait)
                    return

    def abandon(self) -> None:
        """End the operation where it waits: whoever asked for it has gone."""
        self._leave_wait()
        self._operation.close()

    def is_over(self) -> bool:
        """Whether there is a result."""
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
        # A job of its own: whoever settles the pending value is in the middle of something.
        self._leave_wait()
        self._runner.call_soon(self.step)


def perform(runner: Runner, operation: Operation[T]) -> T:
    """Run an operation to its end: the wait of the synchronous faces.

    Raises:
        RefusedError: The operation was refused.
        StalledError: In a virtual world, nothing is left that could end the operation.
    """
    task = Task(runner, operation)
    runner.call_soon(task.step)
    try:
        runner.run_until(task.is_over, None)
    except BaseException:  # Ctrl-C too: nobody waits for it any more
        runner.call_soon(task.abandon)
        raise
    return task.result.result()


def spawn(runner: Runner, operation: Operation[T]) -> Pending[T]:
    """Start an operation in the background, with a job of its own.

    A refusal is the operation's own business; any other error ends the job and so reaches whoever turns the crank.
    """
    task = Task(runner, operation)
    task.result.then(lambda: _surface(task.result.error))
    runner.call_soon(task.step)
    return task.result


def _surface(error: Exception | None) -> None:
    if error is not None and not isinstance(error, RefusedError):
        raise error
