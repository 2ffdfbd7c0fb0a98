"""Tests of the kill matrix: caught and uncaught defects, and runs that prove nothing."""

from __future__ import annotations

import gc
from collections.abc import Callable
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from unittest.mock import Mock

import pytest
from msgspec import structs

from assay_broker.core.commands import Put
from assay_broker.defects import DEFECTS as DEFECTS_OF_THE_BROKER
from assay_broker.defects.model import Defect as BrokerDefect
from assay_broker.defects.shapes import Commands, puts
from assay_broker.defects.view import View
from assay_sdk.model.message import Address
from assay_steps.defects import all_defects, find_defect
from assay_steps.defects.model import Defect
from assay_steps.defects.virtual_time_only import VIRTUAL_TIME_ONLY
from assay_steps.kill_matrix.failure_share import Outcome, Outcomes, share_of
from assay_steps.kill_matrix.matrix import _longest_first, _matrix, kill_matrix
from assay_steps.kill_matrix.trials import Trial, TrialError, UntriedError, chosen_rules, outcomes_of, tried
from assay_steps.plugin import checks, suite
from assay_steps.plugin.run import Run

DEFECTS = [
    Defect(name="early", rules=("DD-02",), text="It comes early."),
    Defect(name="late", rules=("DD-02",), text="It comes late."),
]


def outcomes(**verdicts: str) -> Outcomes:
    return {name: Outcome(verdict, ("DD-02",)) for name, verdict in verdicts.items()}


def test_a_scenario_that_fails_has_caught_the_defect_and_one_in_error_has_not() -> None:
    unbroken = outcomes(a="pass", b="pass")
    matrix = _matrix(
        unbroken, {"early": outcomes(a="fail", b="error"), "late": outcomes(a="pass", b="pass")}, DEFECTS, {}
    )
    (rule,) = matrix.rules
    assert [(defect.name, defect.caught_by) for defect in rule.defects] == [("early", ("a",)), ("late", ())]
    assert rule.proven
    assert matrix.unkilled == ("b",)
    assert matrix.wrong


def test_in_real_time_every_defect_is_to_be_caught_though_not_by_every_scenario() -> None:
    unbroken = outcomes(a="pass", b="pass")
    caught = {"early": outcomes(a="fail", b="pass"), "late": outcomes(a="fail", b="pass")}
    matrix = structs.replace(_matrix(unbroken, caught, DEFECTS, {}), real_time=True)
    assert matrix.unkilled == ("b",)
    assert (matrix.wrong, matrix.errors) == (False, ())
    missed = {**caught, "late": outcomes(a="pass", b="pass")}
    matrix = structs.replace(_matrix(unbroken, missed, DEFECTS, {}), real_time=True)
    assert (matrix.caught, matrix.missed) == ({"early"}, {"late"})
    assert matrix.wrong


def test_a_scenario_that_does_not_pass_unbroken_is_an_alarm() -> None:
    broken = {"early": outcomes(a="fail", b="fail"), "late": outcomes(a="pass", b="pass")}
    matrix = _matrix(outcomes(a="inconclusive", b="pass"), broken, DEFECTS, {})
    assert matrix.alarms == ("a",)
    assert matrix.wrong


def test_a_rule_without_a_defect_that_is_caught_is_not_proven() -> None:
    silent = outcomes(a="pass")
    matrix = _matrix(outcomes(a="pass"), {"early": silent, "late": silent}, DEFECTS, {})
    assert [rule.proven for rule in matrix.rules] == [False]


def test_a_defect_that_breaks_everything_counts_for_nothing() -> None:
    many = {f"s{number}": "fail" for number in range(10_000)}
    unbroken = outcomes(**dict.fromkeys(many, "pass"))
    matrix = _matrix(unbroken, {"early": outcomes(**many), "late": outcomes(s0="pass")}, DEFECTS, {})
    assert set(matrix.too_broad) == {"early"}
    assert [defect.name for defect in matrix.rules[0].defects] == ["late"]


def test_a_defect_that_was_measured_to_be_broad_counts_for_nothing() -> None:
    broken = {"early": outcomes(a="fail"), "late": outcomes(a="fail")}
    matrix = _matrix(outcomes(a="pass"), broken, DEFECTS, {"early": 0.15, "late": 0.149})
    assert matrix.too_broad == {"early": 0.15}
    assert [defect.name for defect in matrix.rules[0].defects] == ["late"]


def test_the_share_of_a_sample_is_what_fails_of_it() -> None:
    assert share_of(outcomes(a="fail", b="pass", c="error", d="fail")) == 0.5
    assert share_of({}) == 0.0


def test_a_sample_is_every_so_many_th_scenario_and_all_of_them_are_judged() -> None:
    everything = outcomes_of(Trial("reference", None, ("PD-21", "PD-34")))
    sampled = outcomes_of(Trial("reference", None, ("PD-21", "PD-34"), every=3))
    assert 0 < len(sampled) == -(-len(everything) // 3)
    assert sampled.keys() <= everything.keys()
    assert {outcome.verdict for outcome in sampled.values()} == {"pass"}


def test_a_scenario_that_the_backend_cannot_run_is_neither_an_alarm_nor_unkilled() -> None:
    broken = {"early": outcomes(a="fail", b="unsupported"), "late": outcomes(a="fail", b="unsupported")}
    matrix = _matrix(outcomes(a="pass", b="unsupported"), broken, DEFECTS, {})
    assert (matrix.alarms, matrix.unkilled, matrix.unsupported) == ((), (), ("b",))
    assert (matrix.wrong, matrix.errors) == (False, ())


def test_rules_are_chosen_by_id_and_by_any_of_several_profiles() -> None:
    assert chosen_rules(("DD-02", "PD-21", "QS-02"), ("delay", "qos")) == {"DD-02", "QS-02"}
    assert chosen_rules(("DD-02",), ()) == {"DD-02"}
    with pytest.raises(UntriedError, match="none of these rules is in these profiles"):
        kill_matrix(rules=("DD-02",), profiles=("qos",))


def test_trials_with_many_scenarios_begin_first() -> None:
    unbroken: Outcomes = {
        "a": Outcome("pass", ("DD-02",)),
        "b": Outcome("pass", ("DD-02", "PD-21")),
        "c": Outcome("pass", ("QS-02",)),
    }
    trials = {
        name: Trial("reference", name, (rule,)) for name, rule in {"x": "QS-02", "y": "PD-21", "z": "DD-02"}.items()
    }
    assert list(_longest_first(trials, unbroken)) == ["z", "x", "y"]


def test_every_defect_that_no_wire_shows_is_there_and_has_its_reason() -> None:
    assert VIRTUAL_TIME_ONLY.keys() <= all_defects().keys()
    assert all(reason.endswith(".") for reason in VIRTUAL_TIME_ONLY.values())


def raising_defect(monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    """Add a defect of the broker for DD-37 whose code raises a `RuntimeError`, and return the defect's name."""

    def rewrite(put: Put, _target: Address, _now_ms: int, _view: View) -> Commands | None:
        if put.message.delivery_time_ms:
            raise RuntimeError(text)
        return None

    raising = BrokerDefect(name="raises", rules=("DD-37",), text="It raises.", apply=lambda: puts(rewrite))
    more = {**DEFECTS_OF_THE_BROKER, raising.name: raising}
    monkeypatch.setattr("assay_steps.defects.BROKER_DEFECTS", more)
    monkeypatch.setattr("assay_adapters.brokers.reference.inprocess.backend.DEFECTS", more)
    return raising.name


def test_a_defect_whose_own_code_raises_is_in_error_and_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    name = raising_defect(monkeypatch, "no such field")
    unbroken, broken = (outcomes_of(Trial("reference", defect, ("DD-37",))) for defect in (None, name))
    matrix = _matrix(unbroken, {name: broken}, [find_defect(name)], {})
    (error,) = matrix.errors
    assert error.name == name
    assert broken[error.scenario].verdict == "error"
    assert "RuntimeError: no such field" in error.reason
    assert (matrix.caught, matrix.missed) == (frozenset(), frozenset())
    assert not matrix.wrong


def test_an_error_that_a_scenario_has_without_the_defect_too_is_none_of_the_defect() -> None:
    unbroken = outcomes(a="error", b="pass")
    matrix = _matrix(unbroken, dict.fromkeys(("early", "late"), unbroken), DEFECTS, {})
    assert matrix.errors == ()
    assert matrix.missed == {"early", "late"}


def test_an_error_of_one_defect_hides_no_other_that_is_missed() -> None:
    broken = {"early": outcomes(a="error"), "late": outcomes(a="pass")}
    matrix = _matrix(outcomes(a="pass"), broken, DEFECTS, {})
    assert [error.name for error in matrix.errors] == ["early"]
    assert matrix.missed == {"late"}
    assert matrix.wrong


def test_everything_sound_says_so() -> None:
    matrix = _matrix(outcomes(a="pass"), {"early": outcomes(a="fail"), "late": outcomes(a="fail")}, DEFECTS, {})
    assert (matrix.wrong, matrix.errors) == (False, ())


@pytest.mark.parametrize("name", all_defects())
def test_every_defect_says_in_a_sentence_what_it_does_wrong_to_which_rules(name: str) -> None:
    defect = find_defect(name)
    assert defect.rules
    assert defect.text.endswith(".")
    assert any((defect.broker, defect.wire, defect.port))


TRIAL = Trial("reference", "early-delivery", ("PD-34",))


def unreadable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make the import of the suite's scenarios fail."""
    (tmp_path / "test_unreadable.py").write_text("raise RuntimeError('the feature is gone')\n")
    monkeypatch.setattr(suite, "SUITE", tmp_path)


def crashing(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    """Make a hook of pytest or of the plugin raise."""

    def crash(*_: object) -> None:
        raise OSError("no room for the plan")

    monkeypatch.setattr(Run, "plan", crash)


def missing_scenarios(monkeypatch: pytest.MonkeyPatch, _: Path) -> None:
    """Make the plugin's check for missing scenarios stop the run."""
    monkeypatch.setattr(checks, "missing_scenarios", lambda *_: ["'It' is written 2 times and was collected 1 times"])


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (unreadable, "RuntimeError: the feature is gone"),
        (crashing, "OSError: no room for the plan"),
        (missing_scenarios, "'It' is written 2 times"),
    ],
)
def test_a_trial_that_pytest_could_not_do_is_an_error_and_no_defect_that_nothing_caught(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    broken: Callable[[pytest.MonkeyPatch, Path], None],
    why: str,
) -> None:
    broken(monkeypatch, tmp_path)
    with pytest.raises(TrialError, match="'early-delivery' did not run to its end") as caught:
        outcomes_of(TRIAL)
    assert why in str(caught.value)
    assert caught.value.trial == TRIAL.subject


def test_a_trial_that_is_done_tells_every_scenarios_verdict() -> None:
    assert {outcome.verdict for outcome in outcomes_of(TRIAL).values()} == {"pass"}


def test_trials_in_one_process_do_not_fill_its_memory() -> None:
    counts: list[int] = []
    for _ in range(3):
        outcomes_of(Trial("reference", None, ("PD-21",)))
        counts.append(len(gc.get_objects()))
    assert counts[2] - counts[1] < 1_000


@pytest.mark.parametrize(
    ("trial", "subject"),
    [
        (Trial("reference", "early"), "with defect 'early'"),
        (Trial("reference", None), "without a defect"),
        (Trial("reference", None, variant="retries-later"), "of variant 'retries-later'"),
    ],
)
def test_a_killed_process_of_the_pool_is_told_in_one_sentence(trial: Trial, subject: str) -> None:
    killed: Future[Outcomes] = Future()
    killed.set_exception(BrokenProcessPool("A process in the process pool was terminated abruptly."))
    pool = Mock(spec=Executor)
    pool.submit.return_value = killed
    with pytest.raises(TrialError, match=rf"The trial {subject} did .*a process of the command was killed"):
        tried(pool, {"early": trial}, lambda *_: None)
