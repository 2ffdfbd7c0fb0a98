from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import Runner, StalledError


def never() -> bool:
    return False


def test_jobs_of_one_moment_run_in_the_order_of_their_scheduling() -> None:
    runner = VirtualRunner()
    ran: list[int] = []
    for number in range(5):
        runner.call_soon(lambda number=number: ran.append(number))  # type: ignore[misc]  # mypy cannot infer it
    runner.run_until(lambda: len(ran) == 5, None)
    assert ran == [0, 1, 2, 3, 4]


@given(st.lists(st.integers(0, 20)))
def test_jobs_run_by_due_time_then_by_scheduling(dues: list[int]) -> None:
    runner = VirtualRunner()
    ran: list[tuple[int, int]] = []

    def job(due: int, seq: int) -> None:
        assert runner.clock.monotonic_ns() == due
        ran.append((due, seq))

    for seq, due in enumerate(dues):
        runner.call_at(due, lambda due=due, seq=seq: job(due, seq))  # type: ignore[misc]  # mypy cannot infer it
    runner.run_until(never, 20)
    assert ran == sorted(ran)
    assert len(ran) == len(dues)


def test_the_clock_moves_to_the_deadline_and_counts_what_was_waited() -> None:
    runner = VirtualRunner(start_wall_ns=100)
    assert not runner.run_until(never, 7)
    assert runner.clock.monotonic_ns() == 7
    assert runner.clock.wall_ns() == 107
    assert runner.waited_ns == 7
    assert runner.clock.uncertainty_ns == 0


def test_a_job_due_at_the_deadline_still_runs() -> None:
    runner = VirtualRunner()
    ran: list[int] = []
    runner.call_at(10, lambda: ran.append(10))
    runner.call_at(11, lambda: ran.append(11))
    assert runner.run_until(lambda: bool(ran), 10)
    assert ran == [10]


def test_done_is_asked_before_the_first_job() -> None:
    runner = VirtualRunner()
    runner.call_soon(lambda: pytest.fail("nobody waits for this"))
    assert runner.run_until(lambda: True, None)


def test_a_job_may_wait_and_turns_the_same_crank() -> None:
    runner = VirtualRunner()
    ran: list[str] = []

    def outer() -> None:
        runner.call_at(50, lambda: ran.append("inner"))
        runner.run_until(lambda: "inner" in ran, None)
        ran.append("outer")

    runner.call_soon(outer)
    runner.run_until(lambda: "outer" in ran, None)
    assert ran == ["inner", "outer"]
    assert runner.waited_ns == 50


def test_waiting_without_limit_for_nothing_is_an_error() -> None:
    with pytest.raises(StalledError, match="this wait would never end"):
        VirtualRunner().run_until(never, None)


def test_a_loop_that_does_not_wait_lasts_so_that_a_deadline_comes() -> None:
    runner = VirtualRunner()

    def again() -> None:
        runner.call_soon(again)

    again()
    assert not runner.run_until(never, 5_000_000_000)
    assert runner.clock.monotonic_ns() > 5_000_000_000


def test_many_jobs_of_one_moment_take_no_time() -> None:
    runner = VirtualRunner()
    ran: list[int] = []
    for number in range(20_000):
        runner.call_soon(lambda number=number: ran.append(number))  # type: ignore[misc]  # mypy cannot infer it
    assert runner.run_until(lambda: len(ran) == 20_000, None)
    assert runner.clock.monotonic_ns() == 0


def test_a_job_taken_back_does_not_run_and_does_not_hold_the_world_up() -> None:
    runner = VirtualRunner()
    cancel = runner.call_at(5, lambda: pytest.fail("taken back"))
    cancel()
    cancel()
    with pytest.raises(StalledError):
        runner.run_until(never, None)
    assert runner.clock.monotonic_ns() == 0


def test_taking_a_job_back_after_it_ran_does_nothing() -> None:
    runner = VirtualRunner()
    ran: list[int] = []
    cancel = runner.call_at(5, lambda: ran.append(5))
    runner.run_until(lambda: bool(ran), None)
    cancel()
    assert ran == [5]


def test_many_jobs_taken_back_are_swept_before_their_time() -> None:
    runner = VirtualRunner()
    kept: list[int] = []
    runner.call_at(3, lambda: kept.append(3))
    for _ in range(10_000):
        runner.call_at(10**12, lambda: None)()
    assert len(runner._heap) < 3_000
    runner.run_until(lambda: bool(kept), None)
    assert kept == [3]


def test_an_exception_of_a_job_reaches_who_turned_the_crank_and_the_world_goes_on() -> None:
    runner = VirtualRunner()
    ran: list[int] = []

    def broken() -> None:
        raise ValueError("broken")

    runner.call_soon(broken)
    runner.call_soon(lambda: ran.append(1))
    with pytest.raises(ValueError, match="broken"):
        runner.run_until(never, 1)
    assert runner.run_until(lambda: bool(ran), None)


def test_it_is_a_runner() -> None:
    runner: Runner = VirtualRunner()
    assert runner.clock.boot == "virtual:0"


USES: dict[str, Callable[[VirtualRunner], object]] = {
    "call_soon": lambda runner: runner.call_soon(lambda: None),
    "call_at": lambda runner: runner.call_at(5, lambda: None),
    "run_until": lambda runner: runner.run_until(never, 5),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_second_thread_is_refused_while_the_first_waits(use: Callable[[VirtualRunner], object]) -> None:
    runner = VirtualRunner()
    errors: list[str] = []

    def beside() -> None:
        with pytest.raises(RuntimeError) as caught:
            use(runner)
        errors.append(str(caught.value))

    def job() -> None:
        runner.run_until(never, 3)  # an inner wait; its end does not end the outer wait
        thread = threading.Thread(target=beside, name="second")
        thread.start()
        thread.join()

    runner.call_soon(job)
    runner.run_until(lambda: bool(errors), 10)
    first = threading.current_thread().name
    assert errors == [
        f"thread 'second' uses an in-process broker in which thread '{first}' is waiting: use it from one thread only"
    ]


def test_another_thread_can_go_on_when_no_wait_is_left() -> None:
    runner = VirtualRunner()
    runner.run_until(never, 3)
    thread = threading.Thread(target=lambda: runner.run_until(never, 5))
    thread.start()
    thread.join()
    assert runner.clock.monotonic_ns() == 5
