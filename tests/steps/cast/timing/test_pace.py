"""Tests of the pace of a run: times of scenarios are multiplied for a pair that answers slowly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from assay_adapters.ports.backend import Instance
from assay_adapters.ports.client import Client, ClientSession, Endpoint
from assay_adapters.ports.outcome import JmsErrorKind, Mqrc, Ok, Outcome, Stalled, refused
from assay_evidence.events import PACE, Begin
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict, load_verdicts
from assay_sdk.model.durations import parse_duration
from assay_steps.cast.timing.limits import TimeLimits
from assay_steps.cast.timing.pace import LARGEST, measured_pace
from assay_steps.kill_matrix.trials import DONE
from assay_steps.plugin.suite import SuiteOptions, run_suite
from assay_steps.words.spans import read_span, set_pace


@pytest.fixture(autouse=True)
def as_written() -> Iterator[None]:
    yield
    set_pace(1)


@pytest.mark.parametrize(
    ("text", "multiplied_ms"),
    [("5 s", 100_000), ("500 ms", 10_000), ("0 ms", 0), ("180 s", 3_600_000), ("181 s", 181_000), ("1 h", 3_600_000)],
)
def test_a_duration_of_a_step_is_multiplied_unless_it_is_long(text: str, multiplied_ms: int) -> None:
    set_pace(LARGEST)
    assert read_span(text) == multiplied_ms
    set_pace(1)
    assert read_span(text) == parse_duration(text)


def test_waiting_and_silence_are_multiplied_and_lateness_is_not() -> None:
    limits = TimeLimits(expected_ms=60_000, quiet_ms=5_000, late_ms=4_000).at_pace(3)
    assert limits == TimeLimits(expected_ms=180_000, quiet_ms=15_000, late_ms=4_000, at_once_ms=3_000)


@pytest.mark.parametrize(
    ("variant", "pace"),
    [(None, set()), ("answers-slowly", {"20"}), ("delivers-slowly", {"20"}), ("loss-noticed-late", set())],
)
def test_the_pace_is_measured_and_recorded(variant: str | None, pace: set[str], tmp_path: Path) -> None:
    assert run_suite(SuiteOptions(out=tmp_path, rules=("DD-03",), variant=variant, probes=False)) in DONE
    assert {rule.verdict for rule in load_verdicts(tmp_path / "verdicts.json").rules} == {Verdict.PASS}
    begins = [event for event in read_journals(tmp_path / "journals").events if isinstance(event, Begin)]
    assert begins
    assert {event.environment[PACE] for event in begins if PACE in event.environment} == pace
    assert read_span("5 s") == 5_000, "the next run of this process reads durations as they are written"


NO_END = Stalled(JmsErrorKind.MESSAGING, "nothing could end the wait")


class Silent:
    """A connection whose sessions, producers and consumers never answer."""

    closed = False

    def session(self, _ack: object) -> Outcome[ClientSession]:
        return NO_END

    def close(self) -> Outcome[None]:
        self.closed = True
        return NO_END


class Answering:
    """A client that gives this answer to each attempt to connect."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def connect(self, _to: object) -> object:
        return self._answer


class Anywhere:
    """An instance with an endpoint."""

    protocol = "amqp"

    def endpoint(self, _protocol: str) -> Endpoint:
        return Endpoint(url="memory:")


def test_a_pair_that_refuses_or_never_answers_is_tried_at_the_pace_as_written() -> None:
    instance = cast("Instance", Anywhere())
    refusing = Answering(refused(Mqrc.NOT_AUTHORIZED, "no"))
    assert measured_pace(instance, cast("Client", refusing), "pace") == 1
    silent = Silent()
    assert measured_pace(instance, cast("Client", Answering(Ok(silent))), "pace") == 1
    assert silent.closed
