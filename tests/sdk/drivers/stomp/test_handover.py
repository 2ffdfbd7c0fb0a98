"""Tests of the bounded queue between stomp.py's thread and the runner."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from tests.waiting import until

from assay_sdk.drivers.stomp.transport.handover import HandOver
from assay_sdk.runners.real import RealRunner

LIMIT_S = 10.0


@pytest.fixture
def runner() -> Iterator[RealRunner]:
    """Provide a runner."""
    found = RealRunner()
    yield found
    found.close()


def test_a_full_queue_makes_the_thread_wait_and_keeps_the_order(runner: RealRunner) -> None:
    taken: list[int] = []
    free = threading.Event()
    runner.call_soon(lambda: free.wait(LIMIT_S) and None)
    queue = HandOver(runner, taken.append, most=2)
    thread = threading.Thread(target=lambda: [queue.put(number) for number in range(200)])
    thread.start()
    until(lambda: queue.full, "the thread waits")
    assert not taken
    free.set()
    assert runner.run_until(lambda: len(taken) == 200, runner.clock.monotonic_ns() + int(LIMIT_S * 1e9))
    thread.join(LIMIT_S)
    assert taken == list(range(200))
    assert not queue.full


def test_a_closed_queue_lets_the_thread_go_and_drops(runner: RealRunner) -> None:
    taken: list[int] = []
    free = threading.Event()
    runner.call_soon(lambda: free.wait(LIMIT_S) and None)
    queue = HandOver(runner, taken.append, most=1)
    thread = threading.Thread(target=lambda: [queue.put(number) for number in range(3)])
    thread.start()
    until(lambda: queue.full, "the thread waits")
    queue.close()
    thread.join(LIMIT_S)
    assert not thread.is_alive()
    free.set()
    assert not runner.run_until(lambda: bool(taken), runner.clock.monotonic_ns() + 50_000_000)


def test_an_item_that_raises_does_not_hold_up_the_next_ones() -> None:
    errors: list[BaseException] = []
    runner, taken = RealRunner(on_error=errors.append), list[int]()

    def take(number: int) -> None:
        taken.append(number)
        if number == 1:
            raise ValueError("no such thing")

    queue = HandOver(runner, take)
    for number in range(4):
        queue.put(number)
    assert runner.run_until(lambda: len(taken) == 4, runner.clock.monotonic_ns() + int(LIMIT_S * 1e9))
    runner.close()
    assert len(errors) == 1
