"""The kill matrix: what catches what, what nothing catches, and what proves nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay_steps import guards, suite
from assay_steps.defects import all_defects, find_defect
from assay_steps.defects.model import Defect
from assay_steps.killing import Outcomes, Trial, TrialError, _matrix, outcomes_of
from assay_steps.run import Run

DEFECTS = [
    Defect(name="early", rules=("DD-02",), text="It comes early."),
    Defect(name="late", rules=("DD-02",), text="It comes late."),
]


def outcomes(**verdicts: str) -> Outcomes:
    return {name: (verdict, ("DD-02",)) for name, verdict in verdicts.items()}


def test_a_scenario_that_fails_has_caught_the_defect_and_one_in_error_has_not() -> None:
    unbroken = outcomes(a="pass", b="pass")
    matrix = _matrix(unbroken, {"early": outcomes(a="fail", b="error"), "late": outcomes(a="pass", b="pass")}, DEFECTS)
    (rule,) = matrix.rules
    assert [(defect.name, defect.caught_by) for defect in rule.defects] == [("early", ("a",)), ("late", ())]
    assert rule.proven
    assert matrix.unkilled == ("b",)
    assert not matrix.sound


def test_a_scenario_that_does_not_pass_unbroken_is_an_alarm() -> None:
    broken = {"early": outcomes(a="fail", b="fail"), "late": outcomes(a="pass", b="pass")}
    matrix = _matrix(outcomes(a="inconclusive", b="pass"), broken, DEFECTS)
    assert matrix.alarms == ("a",)
    assert not matrix.sound


def test_a_rule_without_a_defect_that_is_caught_is_not_proven() -> None:
    silent = outcomes(a="pass")
    matrix = _matrix(outcomes(a="pass"), {"early": silent, "late": silent}, DEFECTS)
    assert [rule.proven for rule in matrix.rules] == [False]


def test_a_defect_that_breaks_everything_counts_for_nothing() -> None:
    many = {f"s{number}": "fail" for number in range(10_000)}
    unbroken = outcomes(**dict.fromkeys(many, "pass"))
    matrix = _matrix(unbroken, {"early": outcomes(**many), "late": outcomes(s0="pass")}, DEFECTS)
    assert set(matrix.too_broad) == {"early"}
    assert [defect.name for defect in matrix.rules[0].defects] == ["late"]


def test_everything_sound_says_so() -> None:
    matrix = _matrix(outcomes(a="pass"), {"early": outcomes(a="fail"), "late": outcomes(a="fail")}, DEFECTS)
    assert matrix.sound


@pytest.mark.parametrize("name", all_defects())
def test_every_defect_says_in_a_sentence_what_it_does_wrong_to_which_rules(name: str) -> None:
    defect = find_defect(name)
    assert defect.rules
    assert defect.text.endswith(".")
    assert any((defect.broker, defect.wire, defect.port))


TRIAL = Trial("reference", "early-delivery", ("PD-34",))


def unreadable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The suite's scenarios cannot be imported."""
    (tmp_path / "test_unreadable.py").write_text("raise RuntimeError('the feature is gone')\n")
    monkeypatch.setattr(suite, "SUITE", tmp_path)


def crashing(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    """Something in pytest, or in the plugin, breaks."""

    def crash(*_: object) -> None:
        raise OSError("no room for the plan")

    monkeypatch.setattr(Run, "plan", crash)


def uncollected(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    """The plugin's own guard stops the run."""
    monkeypatch.setattr(guards, "uncollected", lambda *_: ["'It' is written 2 times and was collected 1 times"])


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (unreadable, "RuntimeError: the feature is gone"),
        (crashing, "OSError: no room for the plan"),
        (uncollected, "'It' is written 2 times"),
    ],
)
def test_a_trial_that_pytest_could_not_do_is_an_error_and_no_defect_that_nothing_caught(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    broken: Callable[[pytest.MonkeyPatch, Path], None],
    why: str,
) -> None:
    broken(monkeypatch, tmp_path)
    with pytest.raises(TrialError, match="'early-delivery' was not done to its end") as caught:
        outcomes_of(TRIAL)
    assert why in str(caught.value)
    assert caught.value.defect == TRIAL.defect


def test_a_trial_that_is_done_tells_every_scenarios_verdict() -> None:
    assert {verdict for verdict, _ in outcomes_of(TRIAL).values()} == {"pass"}
