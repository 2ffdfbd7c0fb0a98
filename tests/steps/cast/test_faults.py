"""Tests of a scenario's faults."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from assay_adapters.ports.faults import (
    BlockWrite,
    Cut,
    FaultRequest,
    Kill,
    Pause,
    PowerLoss,
    Restart,
    Slow,
    StoreError,
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
