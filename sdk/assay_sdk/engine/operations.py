"""Operations: calls that wait, written as generators.  An operation yields a `Wait` each time that it must wait.

The code between two yields runs as one job on the runner, so the engine needs no locks.  The faces run an operation
with `perform` or `receive`, which run other jobs until the operation has ended.  `spawn` runs an operation in the
background, for example to settle messages after a listener has returned.

A signal's handler, such as that of Ctrl-C, may raise on the thread that waits for an operation.  The state of the
operation decides what happens then:

| state of the operation | effect of an exception of the waiting thread |
|---|---|
| waits, or has chosen a message and sent nothing | the operation ends; a chosen message goes back to the buffer |
| waits for the answer to an acknowledgement, a commit or a close (`unbroken`) | the call waits for it; then see below |
| has received a message | the call returns the message, and the thread's next call raises (`receive`) |
| has ended in another way | the call raises the exception |

If the handler raises a second time during these steps, the call raises this exception at once.  If the operation has
received a message already, the consumer then stores the message for the next receive call, so no message is lost.
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
    """A future value or error that an operation can wait for: a `Pending` of any type."""

    @property
    def is_settled(self) -> bool:
        """Whether the value or the error is set."""
        ...

    def then(self, job: Callable[[], None]) -> None:
        """Call a job when the value or the error is set; if that has happened already, call the job at once."""
        ...

    def forget(self, job: Callable[[], None]) -> None:
        """Remove a job that `then` has registered, so that it is not called."""
        ...


class Wait:
    """A wait that an operation yields: for a value or an error, and at most until a given time.

    Args:
        pending: The operation continues when this value or error is set.
        due_ns: The operation continues at this monotonic time in nanoseconds at the latest; None waits without limit.
    """

    __slots__ = ("due_ns", "pending", "unbroken")

    def __init__(self, pending: Awaited, due_ns: int | None = None) -> None:
        self.pending = pending
        self.due_ns = due_ns
        self.unbroken = False
        """Whether a caller that is interrupted still waits for the end of the operation, for example for the answer to
        an acknowledgement."""


Operation = Generator[Wait, None, T]


def result_of(pending: Pending[T]) -> Operation[T]:
    """Wait for a pending value and return it.

    Raises:
        RefusedError: The command that `pending` answers was refused.
    """
    if not pending.done:
        yield Wait(pending)
    return pending.result()


def all_of(answers: Iterable[Pending[T]], *, lost_is_fine: bool = False) -> Operation[None]:
    """Wait for all answers of a group of commands.

    Args:
        answers: Pending answers.
        lost_is_fine: Whether to ignore a refusal whose reason is the loss of the connection.

    Raises:
        RefusedError: A command was refused; the error is the first refusal.
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
    """Wait for the answer to a close, even after the caller was interrupted; ignore a refusal."""
    if not answer.is_settled:
        wait = Wait(answer)
        wait.unbroken = True
        yield wait


def unbroken(operation: Operation[T]) -> Operation[T]:
    """Run a part of an operation so that the first interrupt of the caller does not end it; a second interrupt does."""
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
    """An operation that a runner executes.

    Args:
        runner: Runs the operation's steps as jobs.
        operation: The operation.
    """

    def __init__(self, runner: Runner, operation: Operation[T]) -> None:
        self.result: Pending[T] = Pending()
        self._runner = runner
        self._operation = operation
        self._waiting: Awaited | None = None
        self._unbroken = False
        self._timer: CancelJob | None = None

    def step(self) -> None:
        """Run the operation to its next wait; must be called on the runner."""
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
        """End the operation for a caller that was interrupted; must be called on the runner.

        Returns:
            True if this ended the operation.  False if the operation has a result, or soon has one (`unbroken`).
        """
        if self.result.done or self._unbroken:
            return False
        self.abandon()
        return True

    def abandon(self) -> None:
        """End the operation at the point where it waits."""
        self._leave_wait()
        self._operation.close()

    def is_over(self) -> bool:
        """Return whether the operation has a result: a value or an error."""
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
        # The step runs in a separate job, because the code that sets the pending value is still running.
        self._leave_wait()
        self._runner.call_soon(self.step)


class _Kept(threading.local):
    """The exception that interrupted a thread's earlier call, if that call still returned a message.

    The thread's next call raises this exception.
    """

    error: BaseException | None = None

    def take(self) -> BaseException | None:
        """Return the stored exception and remove it; None if no exception is stored."""
        error, self.error = self.error, None
        return error


_kept = _Kept()


def perform(runner: Runner, operation: Operation[T]) -> T:
    """Run an operation, wait until it has ended, and return its result.

    Raises:
        RefusedError: The operation was refused.
        StalledError: In virtual time, no scheduled job could end the operation.
        BaseException: A signal's handler raised it during this call, or during an earlier `receive` that returned its
            message, and so left the exception to this call.
    """
    task = Task(runner, operation)
    try:
        runner.call_soon(task.step)
        runner.run_until(task.is_over, None)
    except BaseException:  # also Ctrl-C: without its caller the operation must still end
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
    """Run an operation that receives a message, so that no interrupt loses the message.

    Args:
        runner: Runner of the operation.
        operation: Returns the engine's message; None if no message came.
        shape: Makes the application's message from the engine's message; called on the runner.
        aside: Stores the engine's message for the next call, after a second interrupt; called on the runner.

    Returns:
        The application's message; None if no message came.

    Raises:
        RefusedError: The operation was refused.
        StalledError: In virtual time, no scheduled job could end the operation.
        BaseException: A signal's handler raised it during this call, or during an earlier call that returned a message.
    """
    if (kept := _kept.take()) is not None:
        operation.close()
        raise kept
    receipt = _Receipt(operation, shape, aside)
    task = receipt.task = Task(runner, receipt.run())
    try:
        runner.call_soon(task.step)
        runner.run_until(task.is_over, None)
    except BaseException as interruption:  # also Ctrl-C: a message that arrived must not be lost
        _end_interrupted(runner, task, receipt.put_aside)
        if receipt.shaped is None:
            raise
        _kept.error = interruption
    # Python runs a signal's handler only at calls and at the jumps of loops.  The path from here to the return has
    # neither, so no handler can raise here and lose the message.
    if task.result.error is not None:
        raise task.result.error
    return receipt.shaped


class _Receipt(Generic[CameT, T]):
    """A receive call: the operation, and the received message until the call returns it."""

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
        """Receive a message, and make the application's message from it."""
        came = yield from self._operation
        if came is not None:
            self._came = came
            self.shaped = self._shape(came)

    def put_aside(self) -> None:
        """End the operation of a call that was interrupted twice, and store a received message for the next call."""
        self.task.abandon()
        if self._came is not None:
            self._aside(self._came)


def _end_interrupted(runner: Runner, task: Task[Any], leave: Callable[[], None]) -> None:
    """End the operation of a caller that was interrupted.

    Args:
        runner: Runner of the operation.
        task: The operation.
        leave: Ends the operation after a second interrupt; called on the runner.

    Raises:
        BaseException: A signal's handler raised a second time.
    """
    answers: list[bool] = []
    try:
        runner.call_soon(lambda: answers.append(task.give_up()))
        runner.run_until(lambda: bool(answers), None)
        if not answers[0]:
            runner.run_until(task.is_over, None)
    except BaseException:  # a second Ctrl-C: the operation ends without an answer
        runner.call_soon(leave)
        raise


def spawn(runner: Runner, operation: Operation[T]) -> Pending[T]:
    """Start an operation in the background, in a separate job.

    A refusal becomes the error of the result, and is not raised.  So an operation whose result is not read must report
    its refusals itself (`ConnectionPort.complain`).  The job raises any other error, so that the runner gets the error.

    Returns:
        The pending result of the operation.
    """
    task = Task(runner, operation)
    task.result.then(lambda: _surface(task.result.error))
    runner.call_soon(task.step)
    return task.result


def _surface(error: Exception | None) -> None:
    if error is not None and not isinstance(error, RefusedError):
        raise error
