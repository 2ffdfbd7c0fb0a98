"""Tests of jobs with the same deadline."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay_broker.sockets.deadlines import Deadline, Deadlines
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import CancelJob

_MS = 1_000_000


class Row:
    """A `Deadlines` of 100 ms, and a record of the missed deadlines with their times."""

    def __init__(self) -> None:
        self.runner = VirtualRunner()
        self.deadlines = Deadlines(self.runner, 100)
        self.missed: list[tuple[str, int]] = []

    def now_ms(self) -> int:
        return self.runner.clock.monotonic_ns() // _MS

    def wait(self, until_ms: int) -> None:
        self.runner.run_until(lambda: False, until_ms * _MS)

    def miss(self, name: str) -> None:
        self.missed.append((name, self.now_ms()))


@pytest.fixture
def row() -> Row:
    return Row()


def test_each_is_due_when_its_own_time_is_over(row: Row) -> None:
    for name, given_ms in (("a", 0), ("b", 30), ("c", 30), ("d", 250)):
        row.wait(given_ms)
        row.deadlines.set(lambda name=name: row.miss(name))  # type: ignore[misc]  # a default binds it
    row.wait(1000)
    assert row.missed == [("a", 100), ("b", 130), ("c", 130), ("d", 350)]


def test_a_cancelled_deadline_is_not_missed(row: Row) -> None:
    first = row.deadlines.set(lambda: row.miss("first"))
    row.wait(40)
    row.deadlines.set(lambda: row.miss("second"))
    first()
    first()
    row.wait(1000)
    assert row.missed == [("second", 140)]


def test_one_that_is_set_anew_has_all_of_its_time(row: Row) -> None:
    row.deadlines.set(lambda: row.deadlines.set(lambda: row.miss("again")) and None)
    row.wait(1000)
    assert row.missed == [("again", 200)]


def test_one_may_take_another_back_that_is_due_with_it(row: Row) -> None:
    others: list[Deadline] = []

    def take_back() -> None:
        others[0]()

    row.deadlines.set(take_back)
    others.append(row.deadlines.set(lambda: row.miss("other")))
    row.wait(1000)
    assert row.missed == []


def test_a_job_that_fails_does_not_stop_the_others(row: Row) -> None:
    def fail() -> None:
        raise ValueError("its own affair")

    row.deadlines.set(fail)
    row.deadlines.set(lambda: row.miss("other"))
    with pytest.raises(ValueError, match="its own affair"):
        row.wait(1000)
    row.wait(1000)
    assert row.missed == [("other", 100)]


def test_many_that_are_due_together_are_done_in_a_row(row: Row) -> None:
    alarms = []

    def call_at(due_ns: int, job: Callable[[], None]) -> CancelJob:
        alarms.append(due_ns)
        return call(due_ns, job)

    call, row.runner.call_at = row.runner.call_at, call_at  # type: ignore[method-assign]  # the test counts the calls
    for _ in range(200):
        row.deadlines.set(lambda: row.miss("one"))
    row.wait(1000)
    assert row.missed == [("one", 100)] * 200
    assert len(alarms) == 4  # the first alarm, and one for each portion except the last


def test_a_deadline_says_when_it_is_due(row: Row) -> None:
    row.wait(7)
    assert row.deadlines.set(lambda: None).due_ns == 107 * _MS
