from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.pipeline.cases import CASES, Case
from tests.pipeline.random_tales import tellings
from tests.pipeline.tales import Telling, write_run

from assay_evidence.oracle import LIMITS, Outcome, examine
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict
from assay_pipeline.job import Result, judge_with
from assay_pipeline.journals import find_journals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def folder_of(case: Case) -> str:
    return f"{case.rule} {case.name}"


@pytest.fixture(scope="module")
def judgement(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Every miniature in a run of its own, judged in one job, with the oracle beside it."""
    root = tmp_path_factory.mktemp("runs [all]")
    for case in CASES:
        write_run(root / folder_of(case), [case.telling])
    files = find_journals(root / folder_of(case) for case in CASES)
    place = tmp_path_factory.mktemp("out")
    return judge_with(spark, files, place, place, oracle=True)


def expected(case: Case) -> Verdict:
    outcomes = set(case.subjects.values())
    if Outcome.BROKEN in outcomes:
        return Verdict.FAIL
    if Outcome.UNDECIDED in outcomes:
        return Verdict.INCONCLUSIVE
    return Verdict.PASS if outcomes else Verdict.NOT_DEMONSTRATED


@pytest.mark.parametrize("case", CASES, ids=folder_of)
def test_a_run_is_judged_as_its_miniature_was_made(case: Case, judgement: Result) -> None:
    run = next(run for run in judgement.runs if Path(run.folder).name == folder_of(case))
    rule = next(rule for rule in run.verdicts.rules if rule.id == case.rule)
    assert run.damage == ()
    assert rule.verdict is expected(case)
    offending = {
        finding.reason for scenario in rule.scenarios for finding in scenario.findings if "broken" in finding.reason
    }
    assert offending == {f"{name} is broken." for name, found in case.subjects.items() if found is Outcome.BROKEN}


def test_the_oracle_agrees_on_every_miniature(judgement: Result) -> None:
    assert judgement.disagreements == ()


def test_the_tables_hold_what_was_examined(judgement: Result, spark: SparkSession) -> None:
    examined = spark.read.parquet(str(judgement.out / "examined"))
    offending = spark.read.parquet(str(judgement.out / "offending"))
    for case in CASES:
        rows = examined.where((examined.folder.endswith(folder_of(case))) & (examined.rule == case.rule)).count()
        assert rows == len(case.subjects)
        break
    assert offending.count() == examined.where(examined.outcome == Outcome.BROKEN.value).count() > 0


@seed(20)
@settings(max_examples=1, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(scenarios=st.lists(tellings(), min_size=150, max_size=150))
def test_spark_and_the_oracle_agree_on_any_history(
    scenarios: list[Telling], spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run = tmp_path_factory.mktemp("random") / "run"
    write_run(run, scenarios)
    place = tmp_path_factory.mktemp("out")
    result = judge_with(spark, find_journals([run]), place, place, oracle=True)
    assert result.disagreements == ()
    examined = examine(read_journals(run).events, LIMITS)
    # Histories that none of the rules could examine would agree on nothing.
    assert {(subject.rule, subject.outcome) for subject in examined} >= {
        (rule, outcome)
        for rule in ("DD-02", "DD-56", "PD-11", "PD-20", "BT-04")
        for outcome in (Outcome.KEPT, Outcome.BROKEN)
    }
