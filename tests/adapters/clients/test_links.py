"""Tests of calls of the SDK: results, refusals, and exceptions."""

from __future__ import annotations

import pytest

from assay_adapters.clients.links import attempt
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Refused, Stalled
from assay_sdk.faces.message import Message
from assay_sdk.model.durations import DurationError, parse_duration
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import StalledError


def test_a_result_is_passed_on() -> None:
    assert attempt(lambda: parse_duration("2 s")) == Ok(2000)


def test_an_exception_that_the_sdk_raised_refuses_the_call() -> None:
    with pytest.raises(DurationError):
        parse_duration("2 x")
    refusal = attempt(lambda: parse_duration("2 x"))
    assert isinstance(refusal, Refused)
    assert (refusal.kind, refusal.mqrc) == (JmsErrorKind.MESSAGING, Mqrc.UNEXPECTED_ERROR)
    assert refusal.text.startswith("The client raised DurationError: '2 x' is no duration")


def test_an_exception_of_the_adapter_is_raised() -> None:
    def action() -> Message[str]:
        raise KeyError("adapter")

    with pytest.raises(KeyError, match="adapter"):
        attempt(action)


def test_an_exception_that_the_runner_met_in_a_job_of_another_part_is_raised() -> None:
    runner = VirtualRunner()

    def job() -> None:
        raise KeyError("job")

    runner.call_soon(job)
    with pytest.raises(KeyError, match="job"):
        attempt(lambda: runner.run_until(lambda: False, None))


def test_a_call_that_nothing_can_end_is_stalled() -> None:
    stalled = attempt(lambda: VirtualRunner().run_until(lambda: False, None))
    assert stalled == Stalled(JmsErrorKind.MESSAGING, "Nothing that is scheduled can end this call.")


def test_a_wait_of_a_job_that_nothing_can_end_is_raised() -> None:
    runner = VirtualRunner()
    runner.call_soon(lambda: runner.run_until(lambda: False, None))
    with pytest.raises(StalledError, match="would never end"):
        attempt(lambda: runner.run_until(lambda: False, None))
