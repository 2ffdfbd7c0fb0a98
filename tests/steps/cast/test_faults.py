"""Tests of a scenario's faults."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, get_args

import pytest

from assay_adapters.ports.faults import (
    NOW,
    AfterAnswer,
    At,
    BeforeAnswer,
    BlockWrite,
    Cut,
    FaultRequest,
    FirstSight,
    Kill,
    Pause,
    PowerLoss,
    Restart,
    Slow,
    StoreError,
    Trigger,
    Unreachable,
    WorkerDies,
)
from assay_sdk.model.capabilities import Capability
from assay_steps.cast.faults import ScenarioFaults
from assay_steps.words.mistakes import MistakeError

FAULTS: list[FaultRequest] = [
    Kill(),
    PowerLoss(),
    Restart(),
    Cut(),
    Unreachable(),
    Pause(),
    Slow(),
    StoreError(1),
    WorkerDies(),
    BlockWrite("Q"),
]


class SharedInstance:
    """A broker that other scenarios share, so it refuses faults."""

    faults = None


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_on_a_shared_broker_is_a_mistake_that_names_the_tag(fault: FaultRequest) -> None:
    instance: Any = SharedInstance()
    journal: Any = None
    faults = ScenarioFaults(instance, journal, lambda _fault: None, lambda _fault: None)
    with pytest.raises(MistakeError, match=r"tag the scenario @needs-(?P<tag>[a-z-]+)$") as mistake:
        faults.arm(fault)
    Capability(str(mistake.value).rpartition("@needs-")[2])


def test_every_fault_is_tried_here() -> None:
    assert {type(fault) for fault in FAULTS} == set(get_args(FaultRequest))


class Injected:
    """A fault that lasted from 1 to 2 ns."""

    def wait(self) -> tuple[int, int]:
        return 1, 2


class Instance:
    """A broker on which every fault works."""

    members = ("QM1",)
    faults: Any = None

    def __init__(self) -> None:
        self.faults = self

    def inject(self, _fault: FaultRequest, _when: Trigger, _member: str | None = None) -> Injected:
        return Injected()


class Journal:
    """A journal that keeps the fields of what is written."""

    scenario = "a.feature::b"

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []

    def at(self, mono_ns: int) -> int:
        return mono_ns

    def write(self, _kind: type, **fields: Any) -> Any:
        self.written.append(fields)
        return SimpleNamespace(ref="w:1")


@pytest.mark.parametrize(
    ("when", "moment"),
    [
        (
            BeforeAnswer("m1"),
            "when the broker's answer to m1 was on its way, so that the client does not get the answer",
        ),
        (AfterAnswer("m1"), "just after the broker's answer to m1 was passed on to the client"),
        (FirstSight("m1"), "just after m1 was passed on to the client"),
        (At(7), ""),
        (NOW, ""),
    ],
)
def test_the_journal_says_at_which_event_a_fault_was_caused(when: Trigger, moment: str) -> None:
    instance: Any = Instance()
    journal: Any = Journal()
    faults = ScenarioFaults(instance, journal, lambda _fault: None, lambda _fault: None)
    faults.arm_for_later(Kill(), when)
    faults.wait_for_armed()
    begin, end = journal.written
    assert (begin["phase"], begin["moment"]) == ("begin", moment)
    assert "moment" not in end
