"""Tests of the table of defects that the TCK and our scenarios catch; `make tck` makes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.interop.programs import Line
from tests.interop.tck import JAKARTA_TCK, JAR, TABLE, TCK, Caught, table

from assay_broker.defects import DEFECTS
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict, Verdicts

OK, FAILED = (Line("queue.delay", ok=ok, ms=1, detail="") for ok in (True, False))


def verdicts(*of: Verdict) -> Verdicts:
    """Return a run's verdicts on scenarios of one rule."""
    scenarios = tuple(
        ScenarioVerdict(str(number), ("DD-02",), verdict, "must", "broker", "") for number, verdict in enumerate(of)
    )
    rule = RuleVerdict("DD-02", of[0], "must", "broker", "delay", scenarios)
    return Verdicts(2, "run", "reference-server", "classic", (rule,), {})


def test_a_row_counts_the_tests_and_the_scenarios_that_fail() -> None:
    found = verdicts(Verdict.FAIL, Verdict.PASS, Verdict.UNSUPPORTED)
    row = table([Caught("early-delivery", {"topic.delay": OK, "queue.delay": FAILED}, found)]).splitlines()[-1]
    assert row == "| `early-delivery` | 1 of 2: `queue.delay` | DD-02 1 of 2 |"


def test_a_row_names_inconclusive_scenarios() -> None:
    found = verdicts(Verdict.FAIL, Verdict.INCONCLUSIVE)
    row = table([Caught("early-delivery", {"queue.delay": OK}, found)]).splitlines()[-1]
    assert row == "| `early-delivery` | 0 of 1 | DD-02 1 of 2 (1 inconclusive) |"


def test_a_row_without_a_defect_says_so() -> None:
    row = table([Caught("", {"queue.delay": OK}, verdicts(Verdict.PASS))]).splitlines()[-1]
    assert row == "| none | 0 of 1 | DD-02 0 of 1 |"


def test_the_defects_of_the_table_exist() -> None:
    assert set(TABLE) <= set(DEFECTS)


def test_each_check_is_named_once_by_package_and_method() -> None:
    names = [check.name for check in JAKARTA_TCK.checks]
    assert len(set(names)) == len(names)
    assert all(name.count(".") == 1 for name in names)


def test_a_jar_on_this_machine_replaces_the_one_from_maven_central(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(JAR, "/jars/own.jar")
    assert JAKARTA_TCK.command(tmp_path)[4].endswith(":/jars/own.jar")


def test_the_page_names_the_version_of_the_tests() -> None:
    assert TCK in (Path(__file__).parents[2] / "docs" / "other-suites.md").read_text()
