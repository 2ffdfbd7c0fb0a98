"""Tests of the runner on an asyncio loop: any thread can schedule jobs, and no call waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk.runners.asynchronous import AsyncioRunner

MS = 1_000_000
LIMIT_S = 60


def on_loop(story: Callable[[AsyncioRunner], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine with a runner in a new loop."""

    async def told() -> None:
        runner = AsyncioRunner()
        try:
            await asyncio.wait_for(story(runner), LIMIT_S)
        finally:
            runner.close()

    asyncio.run(told())


def reached(runner: AsyncioRunner, due_ns: int) -> Awaitable[None]:
    """Return a future that a job at a due time completes."""
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    runner.call_at(due_ns, lambda: future.set_result(None))
    return future


def in_ms(runner: AsyncioRunner, span: int) -> int:
    return runner.clock.monotonic_ns() + span * MS


def test_jobs_run_in_the_order_of_their_due_times_and_then_of_their_scheduling() -> None:
    async def story(runner: AsyncioRunner) -> None:
        ran: list[str] = []
        due = in_ms(runner, 20)
        runner.call_at(due + MS, lambda: ran.append("late"))
        for number in range(9):  # equal due times, whose order asyncio alone would not keep
            runner.call_at(due, lambda number=number: ran.append(str(number)))  # type: ignore[misc]  # mypy cannot infer it
        runner.call_soon(lambda: ran.append("now"))
        await reached(runner, due + 2 * MS)
        assert ran == ["now", *map(str, range(9)), "late"]

    on_loop(story)


@given(st.lists(st.integers(min_value=-3, max_value=3), max_size=30))
def test_any_due_times_are_kept_in_order_and_none_is_early(spans: list[int]) -> None:
    async def story(runner: AsyncioRunner) -> None:
        ran: list[tuple[int, int]] = []
        base = runner.clock.monotonic_ns()

        def job(due: int, number: int) -> Callable[[], None]:
            def note() -> None:
                assert runner.clock.monotonic_ns() >= due
                ran.append((due, number))

            return note

        for number, span in enumerate(spans):
            runner.call_at(base + span * MS, job(base + span * MS, number))
        await reached(runner, base + 4 * MS)
        assert len(ran) == len(spans)
        later = [one for one in ran if one[0] > base + 2 * MS]  # jobs that were overdue when scheduled run at once
        assert later == sorted(later)

    on_loop(story)


def test_what_is_due_already_runs_before_a_job_that_comes_later() -> None:
    async def story(runner: AsyncioRunner) -> None:
        ran: list[str] = []
        due = in_ms(runner, 5)
        runner.call_at(due, lambda: ran.append("due"))
        await asyncio.sleep(0)
        while runner.clock.monotonic_ns() < due:
            pass  # blocks the loop until after the due time
        runner.call_soon(lambda: ran.append("soon"))
        await reached(runner, 0)
        assert ran == ["due", "soon"]

    on_loop(story)


def test_a_job_taken_back_does_not_run_and_taking_back_twice_does_nothing() -> None:
    async def story(runner: AsyncioRunner) -> None:
        ran: list[str] = []
        cancel = runner.call_at(in_ms(runner, 5), lambda: ran.append("never"))
        cancel()
        cancel()
        await reached(runner, in_ms(runner, 10))
        cancel()
        assert ran == []

    on_loop(story)


def test_many_jobs_taken_back_are_swept_from_the_heap() -> None:
    async def story(runner: AsyncioRunner) -> None:
        entries = [runner.call_at(in_ms(runner, 60_000), lambda: None) for _ in range(5_000)]
        for entry in entries:
            entry()
        assert len(runner._heap) < 2_000

    on_loop(story)


def test_any_thread_may_schedule_and_its_jobs_keep_their_order() -> None:
    async def story(runner: AsyncioRunner) -> None:
        ran: list[tuple[int, int]] = []
        done = asyncio.Event()

        def schedule(who: int) -> None:
            for number in range(100):
                runner.call_soon(lambda number=number: ran.append((who, number)))  # type: ignore[misc]  # mypy cannot infer it
            runner.call_at(runner.clock.monotonic_ns() + MS, lambda: None)

        def all_there() -> None:
            done.set() if len(ran) == 300 else runner.call_soon(all_there)

        threads = [threading.Thread(target=schedule, args=(who,)) for who in range(3)]
        for thread in threads:
            thread.start()
        runner.call_soon(all_there)
        await done.wait()
        for thread in threads:
            thread.join()
        for who in range(3):
            assert [number for one, number in ran if one == who] == list(range(100))

    on_loop(story)


def test_jobs_that_schedule_jobs_do_not_starve_the_loop() -> None:
    async def story(runner: AsyncioRunner) -> None:
        again = True

        def job() -> None:
            if again:
                runner.call_soon(job)

        for _ in range(200):
            runner.call_soon(job)
        await asyncio.sleep(0.01)  # real time, because the loop's own timers could starve
        again = False

    on_loop(story)


def test_an_exception_of_a_job_goes_to_the_loops_handler_and_the_jobs_behind_it_run() -> None:
    async def story(runner: AsyncioRunner) -> None:
        heard: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context["exception"]))
        error = ValueError("broken job")

        def broken() -> None:
            raise error

        runner.call_soon(broken)
        await reached(runner, 0)
        assert heard == [error]

    on_loop(story)


def test_waiting_inside_a_loop_is_refused() -> None:
    async def story(runner: AsyncioRunner) -> None:
        with pytest.raises(RuntimeError, match="cannot wait"):
            runner.run_until(lambda: True, None)
        assert runner.waited_ns == 0

    on_loop(story)


def test_a_closed_runner_drops_its_jobs_and_takes_no_more() -> None:
    async def story(runner: AsyncioRunner) -> None:
        ran: list[str] = []
        runner.call_at(in_ms(runner, 1), lambda: ran.append("timed"))
        runner.call_soon(runner.close)
        runner.call_soon(lambda: ran.append("soon"))
        await asyncio.sleep(0.01)  # real time in which the cancelled job would be due
        runner.close()
        assert ran == []
        with pytest.raises(RuntimeError, match="closed"):
            runner.call_soon(lambda: None)

    on_loop(story)


def test_without_a_loop_there_is_no_runner() -> None:
    with pytest.raises(RuntimeError):
        AsyncioRunner()
