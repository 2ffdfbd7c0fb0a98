"""Tests that the core does the same as the model, and that the comparison finds cores with mistakes.

``make model``, or ``pytest --hypothesis-profile=thorough tests/broker/model``, tries ten times as many
programs as a normal run, and other programs each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.broker.model.programs.acts import STEPS, Program, programs
from tests.broker.model.programs.machine import Comparison
from tests.broker.model.programs.mutants import MUTANTS, Mutant
from tests.broker.model.programs.shell import Hits
from tests.broker.model.programs.tours import TOURS
from tests.broker.model.words import DifferenceError

from assay_broker.core.states.tables import TABLES

pytestmark = pytest.mark.exhaustive

THOROUGH = settings.get_current_profile_name() == "thorough"
ENOUGH = 2_000 if THOROUGH else 600
"""The number of programs within which the comparison must find a mutant."""

COMPARING = settings(
    max_examples=2_000 if THOROUGH else 200,
    derandomize=not THOROUGH,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
FINDING = settings(
    max_examples=ENOUGH,
    derandomize=not THOROUGH,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def show(line: str) -> None:
    print(line)  # noqa: T201 - figures are asked for


def hit(name: str, table: Mapping[object, object], hits: Mapping[object, int]) -> set[object]:
    """Return the cells of a table that were never looked up, and print the share of the others."""
    missed = {pair for pair in table if pair not in hits}
    refused = len(set(hits) - set(table))
    show(f"{name}: {len(table) - len(missed)} of {len(table)} transitions, and {refused} pairs that are refused")
    return missed


def all_missed(hits: Hits) -> set[object]:
    """Return the transitions of all state tables that were never looked up."""
    missed = hit("units", TABLES.units, hits.units) | hit("links", TABLES.links, hits.links)
    missed |= hit("release", TABLES.release, hits.release)
    for platform, table in TABLES.processor.items():
        missed |= hit(f"processor, {platform}", table, hits.processor[platform])
    return missed


def test_core_and_model_do_the_same() -> None:
    hits, examples = Hits(), count(1)

    @COMPARING
    @given(programs())
    def compare(program: Program) -> None:
        next(examples)
        Comparison(program, hits=hits).run()

    compare()
    show(f"\n{next(examples) - 1} programs of {STEPS} steps")
    all_missed(hits)


def test_every_transition_of_every_table_is_reached() -> None:
    hits = Hits()
    for program in TOURS:
        Comparison(program, hits=hits).run()
    show("")
    assert all_missed(hits) == set()


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_core_with_a_mistake_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = count(1)

    @FINDING
    @given(programs())
    def compare(program: Program) -> None:
        next(examples)
        Comparison(program, mutant.seams).run()

    mutant.patch(monkeypatch)
    with pytest.raises(DifferenceError):
        compare()
    show(f"\n{mutant}: found after {next(examples) - 1} programs")
