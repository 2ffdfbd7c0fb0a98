"""Operations: calls that wait, written as generators that yield what they wait for.

The code between two yields runs as one job on the runner, so the engine needs no locks.  A synchronous face runs other
jobs until the operation has ended (`perform`), work after a listener's call runs in the background (`spawn`), and an
asyncio face can await the same generator.

A signal's handler, such as that of Ctrl-C, may raise on the thread that waits, whatever the operation is doing then:

| state of the operation | what follows for an exception of the waiting thread |
|---|---|
| it waits, or has chosen a message and sent nothing | it ends at its wait, a chosen message goes back to the buffer |
| it waits for the answer to an acknowledgement, a commit or a close (`unbroken`) | the caller waits for the answer |
| it has received a message | the call returns it; the thread's next call raises (`receive`) |
| any other end | the call raises the exception |

A second exception during these steps is raised at once; a message that was received already is put aside for the next
receive call.  So the application has each message, or the broker does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable
from typing import Any, Generic, Protocol, TypeVar, cast

from assay_sdk.engine.calls import Pending, RefusedError
from assay_sdk.model.reasons import JmsErrorKind
from assay_sdk.time import CancelJob, Runner

T = TypeVar("T")
CameT = TypeVar("CameT")


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

    __slots__ = ("due_ns", "pending", "unbroken")

    def __init__(self, pending: Awaited, due_ns: int | None = None) -> None:
        self.pending = pending
        self.due_ns = due_ns
        self.unbroken = False
        """Whether an interrupted caller waits for the end, as for the answer to an acknowledgement."""


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


def closed(answer: Awaited) -> Operation[None]:
    """Wait for the answer to a close, whether it is a refusal or not; a caller that is interrupted waits, too."""
    if not answer.is_settled:
        wait = Wait(answer)
        wait.unbroken = True
        yield wait


def unbroken(operation: Operation[T]) -> Operation[T]:
    """Run a part of an operation to its end even if the caller is interrupted; only a second interrupt ends it."""
    try:
        wait = next(operation)
        while True:
            wait.unbroken = True
            yield wait
            wait = next(operation)
    except StopIteration as stop:
        return cast("T", stop.value)
    finally:
        operation.close()


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
        self._unbroken = False
        self._timer: CancelJob | None = None

    def step(self) -> None:
        """Run to the next wait that has not ended; call it on the runner only."""
        self._leave_wait()
        self._unbroken = False
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

    def give_up(self) -> bool:
        """End the operation for a caller that was interrupted; call it on the runner only.

        Returns:
            Whether it ended so.  Otherwise it has a result, or is about to have one (`unbroken`).
        """
        if self.result.done or self._unbroken:
            return False
        self.abandon()
        return True

    def abandon(self) -> None:
        """End the operation at its wait."""
        self._leave_wait()
        self._operation.close()

    def is_over(self) -> bool:
        """Whether the operation has a result."""
        return self.result.done

    def _enter_wait(self, wait: Wait) -> None:
        self._waiting = wait.pending
        self._unbroken = wait.unbroken
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


class _Kept(threading.local):
    """The exception that interrupted a thread in a call which returned a message all the same."""

    error: BaseException | None = None

    def take(self) -> BaseException | None:
        """Return the exception once."""
        error, self.error = self.error, None
        return error


_kept = _Kept()


def perform(runner: Runner, operation: Operation[T]) -> T:
    """Run an operation and wait until it has ended.

    Raises:
        RefusedError: The operation was refused.
        StalledError: In virtual time, no scheduled job could end the operation.
        BaseException: What a signal's handler raised during this call, or during an earlier `receive` that returned.
    """
    task = Task(runner, operation)
    try:
        runner.call_soon(task.step)
        runner.run_until(task.is_over, None)
    except BaseException:
        _end_interrupted(runner, task, task.abandon)
        raise
    value = task.result.result()
    if (kept := _kept.take()) is not None:
        raise kept
    return value


def receive(
    runner: Runner,
    operation: Operation[CameT | None],
    shape: Callable[[CameT], T],
    aside: Callable[[CameT], None],
) -> T | None:
    """Run an operation that receives a message; no interrupt loses the message.

    Args:
        runner: Runner of the operation.
        operation: Returns what came; None for nothing.
        shape: Converts what came for the application; called on the runner.
        aside: Keeps what came for the next call, after a second interrupt; called on the runner.

    Raises:
        RefusedError: The operation was refused.
        StalledError: In virtual time, no scheduled job could end the operation.
        BaseException: What a signal's handler raised during this call, or during an earlier one that returned.
    """
    if (kept := _kept.take()) is not None:
        operation.close()
        raise kept
    receipt = _Receipt(operation, shape, aside)
    task = receipt.task = Task(runner, receipt.run())
    try:
        runner.call_soon(task.step)
        runner.run_until(task.is_over, None)
    except BaseException as interruption:
        _end_interrupted(runner, task, receipt.put_aside)
        if receipt.shaped is None:
            raise
        _kept.error = interruption
    # Handlers of signals run at the call of a function or after it.  Nothing is called from here to the application.
    if task.result.error is not None:
        raise task.result.error
    return receipt.shaped


class _Receipt(Generic[CameT, T]):
    """Keeps the message that a call has received, until its caller has it."""

    task: Task[None]

    def __init__(
        self, operation: Operation[CameT | None], shape: Callable[[CameT], T], aside: Callable[[CameT], None]
    ) -> None:
        self.shaped: T | None = None
        self._operation = operation
        self._shape = shape
        self._aside = aside
        self._came: CameT | None = None

    def run(self) -> Operation[None]:
        """Receive, and convert what came."""
        came = yield from self._operation
        if came is not None:
            self._came = came
            self.shaped = self._shape(came)

    def put_aside(self) -> None:
        """Keep what came, because its caller has gone."""
        self.task.abandon()
        if self._came is not None:
            self._aside(self._came)


def _end_interrupted(runner: Runner, task: Task[Any], leave: Callable[[], None]) -> None:
    """End the operation of a caller that was interrupted.

    Args:
        runner: Runner of the operation.
        task: The operation.
        leave: Ends it after a second interrupt; called on the runner.

    Raises:
        BaseException: The second interrupt.
    """
    answers: list[bool] = []
    try:
        runner.call_soon(lambda: answers.append(task.give_up()))
        runner.run_until(lambda: bool(answers), None)
        if not answers[0]:
            runner.run_until(task.is_over, None)
    except BaseException:
        runner.call_soon(leave)
        raise


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
