"""Tests of operations whose caller is interrupted at every possible time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay_sdk.engine.calls import Pending
from assay_sdk.engine.operations import Operation, closed, perform, receive, result_of, unbroken
from assay_sdk.runners.virtual import VirtualRunner


class FirstError(Exception):
    """The first interrupt."""


class SecondError(Exception):
    """The second interrupt."""


class StrikingRunner(VirtualRunner):
    """A runner that raises given exceptions at the ends of waits, like a signal at that time."""

    def __init__(self) -> None:
        super().__init__()
        self.strikes: list[Exception] = []

    def run_until(self, done: Callable[[], bool], deadline_ns: int | None) -> bool:
        """Wait, and raise the next exception."""
        ended = super().run_until(done, deadline_ns)
        if self.strikes:
            raise self.strikes.pop(0)
        return ended

    def strike(self, error: Exception) -> None:
        """Make the next wait raise an exception."""

        def job() -> None:
            raise error

        self.call_at(self.clock.monotonic_ns() + 1, job)

    def settle(self) -> None:
        """Run the jobs that are due."""
        self.run_until(lambda: False, self.clock.monotonic_ns() + 10)


class Receiving:
    """An operation that waits for a message, and then for the answer to its acknowledgement."""

    def __init__(self) -> None:
        self.came: Pending[str] = Pending()
        self.answer: Pending[None] = Pending()
        self.steps: list[str] = []
        self.aside: list[str] = []

    def run(self) -> Operation[str | None]:
        """Return the operation."""
        self.steps.append("begun")
        try:
            message = yield from result_of(self.came)
            self.steps.append("chosen")
            yield from unbroken(result_of(self.answer))
        except GeneratorExit:
            self.steps.append("ended")
            raise
        return message

    def receive(self, runner: VirtualRunner) -> str | None:
        """Run the operation as a receive call."""
        return receive(runner, self.run(), str.upper, self.aside.append)


def nothing() -> Operation[None]:
    yield from ()


def test_an_interrupted_wait_ends_the_operation() -> None:
    runner, one = StrikingRunner(), Receiving()
    runner.strike(FirstError())
    with pytest.raises(FirstError):
        one.receive(runner)
    assert one.steps == ["begun", "ended"]


@pytest.mark.parametrize("next_call", ["receive", "perform"])
def test_an_interrupt_during_the_acknowledgement_is_raised_by_the_next_call(next_call: str) -> None:
    runner, one, other = StrikingRunner(), Receiving(), Receiving()
    one.came.resolve("a")
    runner.strike(FirstError())
    runner.call_at(100, lambda: one.answer.resolve(None))
    assert one.receive(runner) == "A"
    with pytest.raises(FirstError):
        _ = other.receive(runner) if next_call == "receive" else perform(runner, nothing())
    assert other.steps == []
    perform(runner, nothing())


def test_an_interrupt_after_the_end_is_raised_by_the_next_call() -> None:
    runner, one = StrikingRunner(), Receiving()
    one.came.resolve("a")
    one.answer.resolve(None)
    runner.strikes = [FirstError()]
    assert one.receive(runner) == "A"
    with pytest.raises(FirstError):
        perform(runner, nothing())


def test_a_second_interrupt_is_raised_at_once_and_ends_the_operation() -> None:
    runner, one = StrikingRunner(), Receiving()
    one.came.resolve("a")
    runner.strike(FirstError())
    runner.call_at(100, lambda: runner.strike(SecondError()))
    with pytest.raises(SecondError):
        one.receive(runner)
    runner.settle()
    assert one.steps == ["begun", "chosen", "ended"]
    perform(runner, nothing())  # the first exception is not raised later


def test_a_second_interrupt_puts_a_message_aside_that_is_there() -> None:
    runner, one = StrikingRunner(), Receiving()
    one.came.resolve("a")
    one.answer.resolve(None)
    runner.strikes = [FirstError(), SecondError()]
    with pytest.raises(SecondError):
        one.receive(runner)
    runner.settle()
    assert one.aside == ["a"]


def test_an_interrupt_of_a_call_that_receives_nothing_is_raised() -> None:
    runner = StrikingRunner()
    runner.strikes = [FirstError()]
    with pytest.raises(FirstError):
        receive(runner, nothing(), str, pytest.fail)


def test_an_interrupted_close_is_completed() -> None:
    runner = StrikingRunner()
    answer: Pending[None] = Pending()
    ended: list[bool] = []

    def close() -> Operation[None]:
        yield from closed(answer)
        ended.append(True)

    runner.strike(FirstError())
    runner.call_at(100, lambda: answer.resolve(None))
    with pytest.raises(FirstError):
        perform(runner, close())
    assert ended == [True]
