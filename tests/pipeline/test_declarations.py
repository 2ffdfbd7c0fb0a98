"""Tests of the declarations of each invariant's module."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from assay.rule_guide import guide_to
from assay_evidence.subjects import LIMITS
from assay_features import UnknownRuleError, load_catalogue
from assay_pipeline import rules
from assay_pipeline.errors import NoInvariantError
from assay_pipeline.invariant import Invariant
from assay_pipeline.rules import INVARIANTS, invariants_of

CATALOGUE = load_catalogue()


def test_each_invariant_is_of_another_rule() -> None:
    root = Path(rules.__path__[0])
    files = (path.relative_to(root).with_suffix("") for path in root.rglob("*.py") if path.name != "__init__.py")
    modules = [".".join(path.parts) for path in files]
    declared = {module: declared_in(module) for module in modules}
    assert all(declared.values()), "each module of the folder must declare an invariant"
    assert sorted(INVARIANTS) == sorted(rule for declarations in declared.values() for rule in declarations)


def declared_in(module: str) -> list[str]:
    constants = vars(import_module(f"{rules.__name__}.{module}")).values()
    return [constant.rule for constant in constants if isinstance(constant, Invariant)]


def test_invariants_come_in_the_catalogues_order() -> None:
    assert list(INVARIANTS) == [rule.id for rule in CATALOGUE.rules if rule.id in INVARIANTS]


def test_a_user_chooses_invariants_by_their_rules() -> None:
    assert list(invariants_of(("DD-39", "DD-02"))) == ["DD-02", "DD-39"]
    assert invariants_of(()) == INVARIANTS
    with pytest.raises(NoInvariantError, match="`assay rules DD-42` tells why"):
        invariants_of(("DD-02", "DD-42"))
    with pytest.raises(UnknownRuleError, match="DD-02"):
        invariants_of(("DD-2",))


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
