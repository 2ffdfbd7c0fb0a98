"""The core does what the model says, whatever is asked of it; and the comparison finds cores that do not.

``make model``, or ``pytest --hypothesis-profile=thorough tests/broker/model``, tries ten times as much, and other
things each time.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.broker.model.machine import BrokerMachine
from tests.broker.model.mutants import MUTANTS, Mutant
from tests.broker.model.words import Difference

pytestmark = pytest.mark.exhaustive

THOROUGH = settings.get_current_profile_name() == "thorough"
STEPS = 50
ENOUGH = 600
"""Examples in which a mutant must be found."""

FINDING = settings(
    max_examples=ENOUGH,
    stateful_step_count=STEPS,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)

TestBroker = BrokerMachine.TestCase
TestBroker.settings = settings(
    max_examples=2_000 if THOROUGH else 200,
    stateful_step_count=STEPS,
    deadline=None,
    derandomize=not THOROUGH,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_core_with_a_mistake_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = 0

    class Mutated(BrokerMachine):
        seams = mutant.seams

        def __init__(self) -> None:
            nonlocal examples
            examples += 1
            super().__init__()

    mutant.patch(monkeypatch)
    with pytest.raises(Difference):
        run_state_machine_as_test(Mutated, settings=FINDING)
    print(f"\n{mutant}: found after {examples} examples")  # noqa: T201 - the count is asked for
