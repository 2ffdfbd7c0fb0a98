"""Tests of the time at which signal handlers are called in virtual time."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.signals import SignalHold, hold


class StruckError(Exception):
    """The exception that the signal handler raises."""


@pytest.fixture(autouse=True)
def handler() -> Iterator[object]:
    def raise_it(*_: object) -> None:
        raise StruckError

    before = signal.signal(signal.SIGALRM, raise_it)
    yield raise_it
    signal.signal(signal.SIGALRM, before)


def strike() -> None:
    signal.raise_signal(signal.SIGALRM)


def test_a_job_is_not_interrupted_and_the_jobs_behind_it_stay() -> None:
    runner = VirtualRunner()
    ran: list[str] = []

    def job() -> None:
        strike()
        ran.append("job")

    runner.call_soon(job)
    runner.call_soon(lambda: ran.append("next"))
    with pytest.raises(StruckError):
        runner.run_until(lambda: len(ran) == 2, None)
    assert ran == ["job"]
    assert runner.run_until(lambda: len(ran) == 2, None)


def test_a_listener_is_interrupted() -> None:
    runner = VirtualRunner()
    ran: list[str] = []

    def listener() -> None:
        strike()
        ran.append("not reached")

    runner.call_soon(lambda: hold.application(listener))
    with pytest.raises(StruckError):
        runner.run_until(lambda: False, None)
    assert ran == []


def test_a_listener_that_calls_the_sdk_is_interrupted_behind_the_call() -> None:
    runner = VirtualRunner()
    ran: list[str] = []

    def listener() -> None:
        runner.call_soon(strike)
        runner.call_soon(lambda: ran.append("inner"))
        runner.run_until(lambda: bool(ran), None)

    runner.call_soon(lambda: hold.application(listener))
    with pytest.raises(StruckError):
        runner.run_until(lambda: False, None)


def test_the_handlers_are_there_again_afterwards(handler: object) -> None:
    with SignalHold():
        assert signal.getsignal(signal.SIGALRM) != handler
    assert signal.getsignal(signal.SIGALRM) is handler


def test_a_handler_that_the_application_sets_meanwhile_stays() -> None:
    with SignalHold():
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN


def test_an_ignored_signal_stays_ignored() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    with SignalHold() as held:
        strike()
        assert not held.came
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_IGN
