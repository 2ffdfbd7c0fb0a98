"""Tolerated variants: they pass every scenario of the suite, and differ from the reference broker where one looks."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_broker.variants import VARIANTS
from assay_evidence.events import Seen
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict, Verdicts, load_verdicts
from assay_features import Strength
from assay_steps.kill_matrix.failure_share import Outcome, Outcomes
from assay_steps.kill_matrix.matrix import DONE, KillMatrix, TriedVariant, _convicted, kill_matrix
from assay_steps.plugin.suite import SuiteOptions, run_suite


def run(out: Path, variant: str | None, rules: tuple[str, ...] = ()) -> Verdicts:
    assert run_suite(SuiteOptions(out=out, rules=rules, variant=variant)) in DONE
    return load_verdicts(out / "verdicts.json")


def asked_of(foreign: Verdicts) -> set[Verdict]:
    """The verdicts of the scenarios that are asked of foreign brokers, too."""
    return {scenario.verdict for scenario in foreign.scenarios if scenario.strength != Strength.KIT}


def told(verdicts: Verdicts) -> dict[str, tuple[Verdict, str, str]]:
    """What the verdict of each scenario tells of the broker."""
    return {one.scenario: (one.verdict, one.disclosed, one.observed) for one in verdicts.scenarios}


def marks(out: Path) -> int:
    """How many messages of a run came marked as redelivered."""
    events = read_journals(out / "journals").events
    return sum(event.redelivered for event in events if isinstance(event, Seen))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_passes_and_is_seen_to_differ(name: str, tmp_path: Path) -> None:
    ours = run(tmp_path / "ours", None, VARIANTS[name].rules)
    theirs = run(tmp_path / "theirs", name, VARIANTS[name].rules)
    assert asked_of(theirs) == {Verdict.PASS}
    assert told(theirs) != told(ours) or marks(tmp_path / "theirs") != marks(tmp_path / "ours")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_passes_the_whole_suite(name: str, tmp_path: Path) -> None:
    assert asked_of(run(tmp_path, name)) == {Verdict.PASS}


def test_a_scenario_that_a_variant_does_not_pass_convicts_it() -> None:
    unbroken: Outcomes = {
        name: Outcome(verdict, ("DD-56",)) for name, verdict in {"a": "pass", "b": "pass", "c": "error"}.items()
    }
    (variant,) = _convicted(unbroken, {"other": {**unbroken, "b": Outcome("fail", ("DD-56",))}})
    assert variant == TriedVariant("other", ("b",))
    matrix = KillMatrix(rules=(), alarms=(), unkilled=(), too_broad={}, variants=(variant,))
    assert not matrix.sound
    assert KillMatrix(rules=(), alarms=(), unkilled=(), too_broad={}).sound


def test_the_kill_matrix_tries_the_variants_of_its_rules() -> None:
    matrix = kill_matrix(rules=("DD-56",))
    assert matrix.variants == (TriedVariant("delivered-at-expiry", ()),)
    assert matrix.sound
