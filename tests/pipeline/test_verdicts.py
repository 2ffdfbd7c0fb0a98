"""Tests of the pipeline's verdicts, without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from assay_evidence.subjects import LIMITS, Limit, Limits, Outcome, Subject
from assay_evidence.verdicts import RuleVerdict, Verdict
from assay_features import load_catalogue
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.job import Disagreement, Judged, Result
from assay_pipeline.verdicts import Remark, RunOf, Tally, conclude

CATALOGUE = load_catalogue()
KIT_RULE = next(rule for rule in CATALOGUE.rules if rule.strength == "kit" and rule.judged == ("broker",))
LIMIT = Limit("limit_ms", 250, "How late it may be.")
FOREIGN = RunOf("runs", "run-1", "artemis", "assay 1", ("client",))
OURS = RunOf("runs", "run-1", "reference", "assay 1", ("broker", "client"))
BUSY = Remark("s", ("DD-02",), "broker", "must", late_ns=1_600_000_000, elapsed_ns=2_000_000_000)


def invariant(rule: str = "DD-02", *, certain: bool = False) -> Invariant:
    def unused(*_: object) -> None:
        raise NotImplementedError

    return Invariant(
        rule=rule,
        text="nothing is late.",
        wording=Wording("nothing later than {limit_ms} ms", "seen {0} after it was due"),
        on_spark=unused,  # type: ignore[arg-type]  # subjects are given
        in_python=unused,  # type: ignore[arg-type]  # subjects are given
        limits=(LIMIT,),
        certain=certain,
    )


def judged(
    counts: Mapping[Outcome, int],
    *remarks: Remark,
    of: Invariant | None = None,
    run: RunOf = FOREIGN,
    damage: tuple[str, ...] = (),
    limits: Limits = LIMITS,
) -> RuleVerdict:
    of = of or invariant()
    shown = tuple(
        Subject(of.rule, "run-1", "s", "m", outcome, -5_000_000, "w:1")
        for outcome in counts
        if outcome is not Outcome.KEPT
    )
    tallies = [Tally(of.rule, "s", counts, shown)] if counts else []
    (rule,) = conclude(run, [of], tallies, remarks, damage, catalogue=CATALOGUE, limits=limits).rules
    return rule


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({Outcome.KEPT: 2}, Verdict.PASS),
        ({Outcome.KEPT: 2, Outcome.UNDECIDED: 1}, Verdict.INCONCLUSIVE),
        ({Outcome.KEPT: 2, Outcome.UNDECIDED: 1, Outcome.BROKEN: 1}, Verdict.FAIL),
        ({}, Verdict.NOT_DEMONSTRATED),
    ],
)
def test_the_worst_subject_decides(counts: Mapping[Outcome, int], verdict: Verdict) -> None:
    assert judged(counts).verdict is verdict


@pytest.mark.parametrize("counts", [{Outcome.KEPT: 1}, {Outcome.BROKEN: 1}, {}])
def test_damage_makes_every_rule_inconclusive(counts: Mapping[Outcome, int]) -> None:
    broken_step = Remark("t", ("DD-02",), "broker", "must", Verdict.ERROR, "A step was broken: no")
    rule = judged(counts, broken_step, damage=("A line is missing.",))
    assert rule.verdict is Verdict.INCONCLUSIVE
    assert {scenario.verdict for scenario in rule.scenarios} == {Verdict.INCONCLUSIVE}
    assert {scenario.reason for scenario in rule.scenarios} == {"A line is missing."}


@pytest.mark.parametrize(("certain", "verdict"), [(False, Verdict.INCONCLUSIVE), (True, Verdict.FAIL)])
def test_a_busy_machine_leaves_only_what_no_delay_can_cause(*, certain: bool, verdict: Verdict) -> None:
    rule = judged({Outcome.BROKEN: 1}, BUSY, of=invariant(certain=certain))
    assert (rule.verdict, rule.scenarios[0].findings[0].verdict) == (verdict, verdict)
    assert judged({Outcome.KEPT: 1}, BUSY).verdict is Verdict.INCONCLUSIVE


def test_an_attempt_on_a_busy_machine_counts_only_if_it_breaks_the_rule() -> None:
    later = Remark("s (attempt 2)", ("DD-02",), "broker", "must", attempt=2, repeats="s")
    assert judged({Outcome.KEPT: 1}, BUSY, later).scenarios == ()
    broken = judged({Outcome.BROKEN: 1}, BUSY, later, of=invariant(certain=True))
    assert [scenario.verdict for scenario in broken.scenarios] == [Verdict.FAIL]


@pytest.mark.parametrize(
    ("earlier", "why"),
    [
        (Verdict.INCONCLUSIVE, "A step was refused: slow."),
        (Verdict.ERROR, "A step was broken: the shared fault failed."),
    ],
)
def test_only_the_last_of_three_attempts_counts_if_the_others_decided_nothing(earlier: Verdict, why: str) -> None:
    ids = ("s", "s (attempt 2)", "s (attempt 3)")

    def tried(number: int, verdict: Verdict) -> Remark:
        repeats = "s" if number > 1 else ""
        reason = "" if verdict is Verdict.PASS else why
        return Remark(ids[number - 1], ("DD-02",), "broker", "must", verdict, reason, attempt=number, repeats=repeats)

    def rule(last: Verdict) -> RuleVerdict:
        remarks = [tried(1, earlier), tried(2, earlier), tried(3, last)]
        tallies = [Tally("DD-02", ids[2], {Outcome.KEPT: 1})]
        return conclude(FOREIGN, [invariant()], tallies, remarks, (), catalogue=CATALOGUE, limits=LIMITS).rules[0]

    passed, open_still = rule(Verdict.PASS), rule(earlier)
    assert (passed.verdict, [one.scenario for one in passed.scenarios]) == (Verdict.PASS, [ids[2]])
    assert (open_still.verdict, [one.scenario for one in open_still.scenarios]) == (earlier, [ids[2]])


@pytest.mark.parametrize(("run", "verdict"), [(FOREIGN, Verdict.UNSUPPORTED), (OURS, Verdict.FAIL)])
def test_a_rule_of_the_kit_fails_our_own_broker_only(run: RunOf, verdict: Verdict) -> None:
    rule = judged({Outcome.BROKEN: 1}, of=invariant(KIT_RULE.id), run=run)
    assert rule.verdict is verdict


def test_the_strength_of_the_rule_counts_and_not_that_of_the_scenario() -> None:
    assert judged({Outcome.BROKEN: 1}, Remark("s", (KIT_RULE.id,), "broker", "kit")).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("rule", "run", "error", "verdict"),
    [
        ("BT-04", FOREIGN, "a bug (amqp:internal-error)", Verdict.INCONCLUSIVE),
        ("BT-04", FOREIGN, None, Verdict.FAIL),
        ("BT-04", OURS, "a bug (amqp:internal-error)", Verdict.FAIL),
        ("DD-02", FOREIGN, "a bug (amqp:internal-error)", Verdict.FAIL),
    ],
)
def test_a_session_that_a_foreign_broker_ended_leaves_a_fail_of_the_client_open(
    rule: str, run: RunOf, error: str | None, verdict: Verdict
) -> None:
    found = judged(
        {Outcome.BROKEN: 1}, Remark("s", (rule,), "client", "must", session_error=error), of=invariant(rule), run=run
    )
    assert found.verdict is verdict
    assert ("a bug" in found.scenarios[0].reason) is (verdict is Verdict.INCONCLUSIVE)


def test_a_scenario_of_the_rule_that_could_not_run_counts() -> None:
    lacking = Remark("t", ("DD-02",), "broker", "must", Verdict.UNSUPPORTED, "browse is missing: no browser.")
    rule = judged({Outcome.KEPT: 1}, lacking)
    assert [(one.scenario, one.verdict) for one in rule.scenarios] == [("s", Verdict.PASS), ("t", Verdict.UNSUPPORTED)]
    assert rule.verdict is Verdict.UNSUPPORTED
    assert rule.scenarios[1].reason == "browse is missing: no browser."


def test_a_finding_names_figure_and_limit() -> None:
    scenario = judged({Outcome.BROKEN: 1}, limits=Limits({LIMIT: 300})).scenarios[0]
    assert scenario.observed == "0 of 1 examined were kept; m: seen 5 ms before it was due"
    assert scenario.expected == "nothing later than 300 ms"
    assert scenario.findings[0].claim == "w:1"


KEPT, BROKEN, UNDECIDED = {Outcome.KEPT: 1}, {Outcome.BROKEN: 1}, {Outcome.UNDECIDED: 1}


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        ([KEPT], 0),
        ([KEPT, KEPT], 0),
        ([UNDECIDED], 2),
        ([BROKEN, UNDECIDED], 1),
        ([{}], 2),
        ([KEPT, {}], 2),
        ([], 2),
    ],
)
def test_the_exit_code_is_that_of_a_report_and_never_0_for_a_run_of_which_nothing_was_examined(
    runs: list[Mapping[Outcome, int]], code: int
) -> None:
    assert Result(Path("out"), tuple(map(judged_run, runs))).exit_code == code


def test_an_oracle_that_disagrees_leaves_nothing_decided() -> None:
    subject = Subject("DD-02", "run-1", "s", "m", Outcome.BROKEN, -1, "w:1")
    assert Result(Path("out"), (judged_run(BROKEN),), (Disagreement("spark", subject),)).exit_code == 2


def judged_run(counts: Mapping[Outcome, int]) -> Judged:
    tallies = [Tally("DD-02", "s", counts, ())] if counts else []
    verdicts = conclude(FOREIGN, [invariant()], tallies, (), (), catalogue=CATALOGUE, limits=LIMITS)
    return Judged("runs", "verdicts.json", verdicts)


@pytest.mark.parametrize(
    ("busy", "calm", "verdict"),
    [
        ({Outcome.KEPT: 2}, {Outcome.KEPT: 1}, Verdict.PASS),
        ({Outcome.KEPT: 2}, {}, Verdict.INCONCLUSIVE),
        ({Outcome.KEPT: 2}, {Outcome.BROKEN: 1}, Verdict.FAIL),
        ({Outcome.KEPT: 2}, {Outcome.UNDECIDED: 1}, Verdict.INCONCLUSIVE),
        ({Outcome.KEPT: 2, Outcome.UNDECIDED: 1}, {Outcome.KEPT: 1}, Verdict.INCONCLUSIVE),
        ({Outcome.KEPT: 2, Outcome.BROKEN: 1}, {Outcome.KEPT: 1}, Verdict.INCONCLUSIVE),
    ],
)
def test_a_delayed_scenario_with_kept_subjects_only_does_not_decide_beside_a_pass(
    busy: Mapping[Outcome, int], calm: Mapping[Outcome, int], verdict: Verdict
) -> None:
    tallies = [Tally("DD-02", name, counts) for name, counts in (("s", busy), ("t", calm)) if counts]
    (rule,) = conclude(FOREIGN, [invariant()], tallies, [BUSY], (), catalogue=CATALOGUE, limits=LIMITS).rules
    assert rule.verdict is verdict
    assert next(one for one in rule.scenarios if one.scenario == "s").verdict is Verdict.INCONCLUSIVE
