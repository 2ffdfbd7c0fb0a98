"""Tests of the check whether a shared broker still answers, by the table of `assay_adapters.brokers.amqp.revival`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from assay_adapters.brokers.amqp.revival import SharedBroker
from assay_adapters.ports.backend import BrokerOwner, Silence
from assay_sdk.runners.virtual import VirtualRunner


class Box:
    """A container whose broker answers from its next start on."""

    def __init__(self) -> None:
        self.answers = True
        self.ended = False
        self.done: list[str] = []

    def exit_code(self) -> int | None:
        return 1 if self.ended else None

    def kill(self) -> None:
        self.done.append("kill")

    def resume(self) -> None:
        self.done.append("resume")
        self.answers = True


@pytest.fixture
def box() -> Box:
    return Box()


@pytest.fixture
def process(box: Box, tmp_path: Path) -> Callable[[], SharedBroker]:
    def made() -> SharedBroker:
        return SharedBroker(
            "Acme MQ", tmp_path / "starts", lambda: box.answers, lambda: cast("Any", box), VirtualRunner()
        )

    return made


def test_a_broker_that_answers_stays_as_it_is(box: Box, process: Callable[[], SharedBroker]) -> None:
    broker = process()
    assert broker.check(broker.starts()) is None
    assert box.done == []


def test_a_silent_broker_is_started_again_once_for_all_processes(box: Box, process: Callable[[], SharedBroker]) -> None:
    first, second = process(), process()
    begun = first.starts(), second.starts()
    box.answers = False
    found = first.check(begun[0])
    assert found is not None
    assert "Acme MQ did not answer within 30 s" in found.text
    assert second.check(begun[1]) == Silence(
        "Acme MQ stopped answering during the scenario, and the kit has started it again", BrokerOwner.SHARED
    )
    assert box.done == ["kill", "resume"]
    assert first.check(first.starts()) is None


def test_a_scenario_that_begins_or_ends_during_the_new_start_is_told_of_it(
    box: Box, process: Callable[[], SharedBroker], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, before, within = process(), process(), process()
    begun = first.starts(), before.starts()
    counts: list[int] = []
    found: list[Silence | None] = []

    def resume() -> None:
        box.answers = True
        counts.append(within.starts())  # a scenario begins, and one that began before ends
        found.append(before.check(begun[1]))

    monkeypatch.setattr(box, "resume", resume)
    box.answers = False
    first.check(begun[0])
    assert found[0] is not None
    assert within.check(counts[0]) is not None
    assert within.check(within.starts()) is None


def test_a_broker_that_has_ended_is_only_started_again(box: Box, process: Callable[[], SharedBroker]) -> None:
    broker = process()
    box.answers, box.ended = False, True
    assert broker.check(broker.starts()) is not None
    assert box.done == ["resume"]


def test_a_process_that_waited_for_the_lock_does_not_start_the_broker_again(
    box: Box, process: Callable[[], SharedBroker]
) -> None:
    first, second = process(), process()
    begun = first.starts()
    box.answers = False

    def answers() -> bool:
        if not box.done:
            first.check(begun)  # the other process is faster
            box.answers = False
        return False

    second._answers = answers
    found = second.check(begun)
    assert found is not None
    assert box.done == ["kill", "resume"]


def test_a_broker_that_is_only_slow_is_not_started_again(box: Box, process: Callable[[], SharedBroker]) -> None:
    broker = process()
    asked: list[int] = []

    def answers() -> bool:
        asked.append(1)
        return len(asked) > 20

    broker._answers = answers
    assert broker.check(broker.starts()) is None
    assert box.done == []
