"""Tests of the real runner: one loop, on which any thread can schedule and wait."""

from __future__ import annotations

import multiprocessing
import os
import socket
import threading
from collections.abc import Iterator

import pytest

from assay_sdk.faces.caller import shared_runner
from assay_sdk.runners.real import READ, RealRunner

MS = 1_000_000
LIMIT_MS = 10_000


@pytest.fixture
def runner() -> Iterator[RealRunner]:
    runner = RealRunner()
    yield runner
    runner.close()


def in_ms(runner: RealRunner, span: int) -> int:
    return runner.clock.monotonic_ns() + span * MS


def test_jobs_run_in_the_order_of_their_due_times_and_then_of_their_scheduling(runner: RealRunner) -> None:
    ran: list[str] = []
    runner.run_until(lambda: True, None)  # starts the loop's thread
    due = in_ms(runner, 200)
    runner.call_at(due + MS, lambda: ran.append("late"))
    runner.call_at(due, lambda: ran.append("first"))
    runner.call_at(due, lambda: ran.append("second"))
    runner.call_soon(lambda: ran.append("now"))
    assert runner.run_until(lambda: len(ran) == 4, in_ms(runner, 5_000))
    assert ran == ["now", "first", "second", "late"]


def test_a_job_taken_back_does_not_run_and_taking_back_twice_does_nothing(runner: RealRunner) -> None:
    ran: list[str] = []
    runner.run_until(lambda: True, None)  # starts the loop's thread
    due = in_ms(runner, 200)
    cancel = runner.call_at(due, lambda: ran.append("never"))
    runner.call_at(due + MS, lambda: ran.append("last"))
    cancel()
    cancel()
    assert runner.run_until(lambda: "last" in ran, in_ms(runner, 5_000))
    cancel()
    assert ran == ["last"]


def test_many_jobs_taken_back_are_swept_from_the_heap(runner: RealRunner) -> None:
    entries = [runner.call_at(in_ms(runner, 60_000), lambda: None) for _ in range(5_000)]
    for entry in entries:
        entry()
    assert len(runner._heap) < 2_000


@pytest.mark.parametrize("days", [25, 10**12])
def test_a_job_that_is_due_later_than_a_poll_can_wait_stops_nothing(runner: RealRunner, days: int) -> None:
    later = runner.call_at(runner.clock.monotonic_ns() + days * 86_400 * 10**9, lambda: pytest.fail("it is not due"))
    assert not runner.run_until(lambda: False, runner.clock.monotonic_ns() + 20_000_000)
    later()


def test_a_wait_ends_at_its_deadline_and_is_counted(runner: RealRunner) -> None:
    begin = runner.clock.monotonic_ns()
    assert not runner.run_until(lambda: False, begin + 30 * MS)
    assert runner.clock.monotonic_ns() >= begin + 30 * MS
    assert runner.waited_ns >= 10 * MS


def test_what_has_come_by_the_deadline_is_seen_though_the_loop_was_held_up(
    runner: RealRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay_sdk.runners.real._CATCH_UP_S", 30)
    ours, theirs = socket.socketpair()
    came: list[bytes] = []
    begun, free = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        free.wait(10)

    with ours, theirs:
        ours.settimeout(0)
        runner.call_soon(lambda: runner.register(ours, READ, lambda _mask: came.append(ours.recv(10))))
        runner.call_soon(hold)
        assert begun.wait(10)
        theirs.send(b"in time")
        threading.Timer(0.2, free.set).start()
        assert runner.run_until(lambda: bool(came), in_ms(runner, 20))
        runner.call_soon(lambda: runner.unregister(ours))
        runner.run_until(lambda: False, in_ms(runner, 1))
    assert came == [b"in time"]


def test_who_waits_in_vain_on_an_idle_loop_waits_no_longer_than_he_said(
    runner: RealRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay_sdk.runners.real._CATCH_UP_S", 60)
    begin = runner.clock.monotonic_ns()
    for _ in range(10):
        assert not runner.run_until(lambda: False, in_ms(runner, 1))
    assert runner.clock.monotonic_ns() - begin < 30_000 * MS


def test_a_loop_that_waits_for_whoever_waits_for_it_holds_nobody_up_for_ever(
    runner: RealRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay_sdk.runners.real._CATCH_UP_S", 0.05)
    begun, free = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        free.wait(10)

    runner.call_soon(hold)
    assert begun.wait(10)
    assert not runner.run_until(lambda: False, in_ms(runner, 5))
    free.set()


def test_a_condition_that_holds_already_does_not_wait(runner: RealRunner) -> None:
    assert runner.run_until(lambda: True, None)


def test_a_condition_true_for_one_job_only_is_seen(runner: RealRunner) -> None:
    state, asked = {"on": False}, threading.Event()

    def switch(*, on: bool) -> None:
        assert asked.wait(10)
        state["on"] = on

    def is_on() -> bool:
        asked.set()
        return state["on"]

    runner.call_soon(lambda: switch(on=True))
    runner.call_soon(lambda: switch(on=False))
    assert runner.run_until(is_on, in_ms(runner, 5_000))


def test_a_job_may_wait_and_turns_the_same_crank(runner: RealRunner) -> None:
    steps: list[str] = []

    def listener() -> None:
        steps.append("begin")
        runner.call_soon(lambda: steps.append("inner"))
        assert runner.run_until(lambda: "inner" in steps, None)
        steps.append("end")

    runner.call_soon(listener)
    assert runner.run_until(lambda: "end" in steps, in_ms(runner, 5_000))
    assert steps == ["begin", "inner", "end"]


def test_waits_of_jobs_end_with_the_job_they_wait_for_however_many_jobs_ran_since_the_last_poll(
    runner: RealRunner,
) -> None:
    ended: list[int] = []

    def listener() -> None:
        inner: list[int] = []
        runner.call_soon(lambda: inner.append(1))
        assert runner.run_until(lambda: bool(inner), None)
        ended.append(1)
        if len(ended) < 300:
            runner.call_soon(listener)

    runner.call_soon(listener)
    assert runner.run_until(lambda: len(ended) == 300, in_ms(runner, 5_000))


def test_an_exception_in_a_job_reaches_whoever_waits_and_the_loop_goes_on(runner: RealRunner) -> None:
    def broken() -> None:
        raise ValueError("broken job")

    runner.call_at(in_ms(runner, 10), broken)
    with pytest.raises(ValueError, match="broken job"):
        runner.run_until(lambda: False, in_ms(runner, 5_000))
    ran: list[int] = []
    runner.call_soon(lambda: ran.append(1))
    assert runner.run_until(lambda: bool(ran), in_ms(runner, 5_000))


def test_an_exception_nobody_waited_for_is_raised_to_the_next_who_waits_or_at_close() -> None:
    runner = RealRunner()
    gone = threading.Event()

    def broken() -> None:
        gone.set()
        raise ValueError("unheard")

    runner.call_soon(broken)
    assert gone.wait(5)
    with pytest.raises(ValueError, match="unheard"):
        runner.close()


def test_an_error_hook_is_told_instead() -> None:
    heard: list[BaseException] = []
    runner = RealRunner(on_error=heard.append)

    asked = threading.Event()

    def broken() -> None:
        asked.wait(5)
        raise ValueError("hooked")

    def is_heard() -> bool:
        asked.set()
        return bool(heard)

    waits = threading.Thread(target=lambda: runner.run_until(is_heard, None))
    runner.call_soon(broken)
    waits.start()
    waits.join(5)
    ended = not waits.is_alive()
    runner.call_soon(lambda: None)  # ends the wait if the hook has not
    waits.join(5)
    runner.close()
    assert str(heard[0]) == "hooked"
    assert ended, "the hook ends the wait, not the next job"


def test_a_condition_that_raises_is_raised_to_its_waiter(runner: RealRunner) -> None:
    asked: list[int] = []

    def condition() -> bool:
        asked.append(1)
        if len(asked) > 1:
            raise KeyError("condition")
        return False

    runner.call_at(in_ms(runner, 10), lambda: None)
    with pytest.raises(KeyError):
        runner.run_until(condition, in_ms(runner, 5_000))


def test_a_closed_runner_takes_no_jobs_and_wakes_up_who_waits() -> None:
    runner = RealRunner()
    caught: list[BaseException] = []
    waiting = threading.Event()

    def done() -> bool:
        waiting.set()
        return False

    def wait() -> None:
        try:
            runner.run_until(done, None)
        except RuntimeError as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    assert waiting.wait(5)
    runner.close()
    thread.join(5)
    assert "closed" in str(caught[0])
    with pytest.raises(RuntimeError, match="closed"):
        runner.call_soon(lambda: None)
    with pytest.raises(RuntimeError, match="closed"):
        runner.run_until(lambda: True, None)
    runner.close()


def test_a_runner_that_never_ran_closes_cleanly() -> None:
    RealRunner().close()


def test_sockets_are_watched_until_they_are_unregistered(runner: RealRunner) -> None:
    near, far = socket.socketpair()
    near.settimeout(0)
    read: list[bytes] = []
    runner.call_soon(lambda: runner.register(near, READ, lambda _mask: read.append(near.recv(100))))
    far.send(b"one")
    assert runner.run_until(lambda: read == [b"one"], in_ms(runner, 5_000))
    runner.call_soon(lambda: runner.unregister(near))
    runner.call_soon(lambda: runner.unregister(near))
    assert runner.run_until(lambda: near not in runner._selector.get_map(), in_ms(runner, 5_000))
    far.send(b"two")
    assert not runner.run_until(lambda: len(read) > 1, in_ms(runner, 20))
    near.close()
    far.close()


def test_jobs_that_schedule_jobs_do_not_starve_a_socket_or_a_deadline(runner: RealRunner) -> None:
    near, far = socket.socketpair()
    near.settimeout(0)
    read: list[bytes] = []
    spinning = {"on": True}

    def spin() -> None:
        if spinning["on"]:
            runner.call_soon(spin)

    runner.call_soon(lambda: runner.register(near, READ, lambda _mask: read.append(near.recv(100))))
    runner.call_soon(spin)
    assert not runner.run_until(lambda: False, in_ms(runner, 20))
    far.send(b"x")
    assert runner.run_until(lambda: bool(read), in_ms(runner, 5_000))
    spinning["on"] = False
    runner.call_soon(lambda: runner.unregister(near))
    assert runner.run_until(lambda: near not in runner._selector.get_map(), in_ms(runner, 5_000))
    near.close()
    far.close()


def test_clocks_of_one_machine_have_one_name_and_a_small_uncertainty() -> None:
    first, second = RealRunner(), RealRunner()
    assert first.clock.boot == second.clock.boot
    assert 0 < first.clock.uncertainty_ns <= MS
    assert first.clock.wall_ns() > 0
    first.close()
    second.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")
def test_a_forked_process_has_a_loop_of_its_own() -> None:
    mine = shared_runner()
    mine.run_until(lambda: True, None)
    ours, theirs = multiprocessing.get_context("fork").Pipe(duplex=False)

    def work() -> None:
        other = shared_runner()
        done: list[None] = []
        other.call_soon(lambda: done.append(None))
        other.run_until(lambda: bool(done), other.clock.monotonic_ns() + LIMIT_MS * MS)
        theirs.send((other is mine, bool(done)))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    theirs.close()
    assert ours.recv() == (False, True)
    process.join()
    assert shared_runner() is mine
