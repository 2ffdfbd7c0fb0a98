"""Tests of the declarations of each invariant's module."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from assay.rule_guide import guide_to
from assay_evidence.subjects import LIMITS
from assay_features import load_catalogue
from assay_pipeline import rules
from assay_pipeline.invariant import Invariant
from assay_pipeline.rules import INVARIANTS

CATALOGUE = load_catalogue()


def test_each_invariant_is_of_another_rule() -> None:
    modules = [path.stem for path in Path(rules.__path__[0]).glob("*.py") if path.name != "__init__.py"]
    declared = {module: invariants_of(module) for module in modules}
    assert all(declared.values()), "each module of the folder must declare an invariant"
    assert sorted(INVARIANTS) == sorted(rule for declarations in declared.values() for rule in declarations)


def invariants_of(module: str) -> list[str]:
    constants = vars(import_module(f"{rules.__name__}.{module}")).values()
    return [constant.rule for constant in constants if isinstance(constant, Invariant)]


def test_invariants_come_in_the_catalogues_order() -> None:
    assert list(INVARIANTS) == [rule.id for rule in CATALOGUE.rules if rule.id in INVARIANTS]


@pytest.mark.parametrize("invariant", INVARIANTS.values(), ids=lambda invariant: invariant.rule)
def test_an_invariant_is_whole(invariant: Invariant) -> None:
    rule = CATALOGUE.rule(invariant.rule)
    assert rule.history, "the catalogue says that no history shows a breach of this rule"
    assert "{" not in invariant.demands(LIMITS)
    told = guide_to(rule).invariant
    assert told is not None
    assert told.text == invariant.text


def test_the_invariants_that_use_a_limit_agree_on_its_default() -> None:
    limits = {limit for invariant in INVARIANTS.values() for limit in invariant.limits}
    assert len({limit.name for limit in limits}) == len(limits)
