"""Tests of runs with a user's own tests: every failure is reported, and no user's file is removed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.exits import Exit
from assay_evidence.verdicts import Verdict, load_verdicts
from assay_reports.site import MANIFEST
from assay_steps.plugin.folder import SITE

FEATURE = """\
Feature: Single
  Scenario: One claim
    Given an empty queue
    And a receiver is waiting on the queue
    When message "m1" is sent to the queue
    {more}
    Then the receiver sees "m1" exactly once
"""
OWN_STEPS = """\
Feature: Ours
  Scenario: Own steps only
    Given something of ours
    Then our own check fails
"""
MODULE = """\
from pytest_bdd import given, scenarios, then

scenarios("single.feature")
scenarios("ours.feature")

@given("something of ours")
def something() -> None:
    pass

@then("our own check fails")
def check() -> None:
    assert False, "our own check"

def test_plain() -> None:
    assert False
"""


@pytest.fixture
def single(tmp_path: Path) -> Path:
    path = tmp_path / "single.feature"
    path.write_text(FEATURE.format(more=""))
    return path


def test_a_failed_test_that_no_scenario_of_the_kit_makes_is_not_as_expected(
    assay: Assay, single: Path, tmp_path: Path
) -> None:
    (tmp_path / "ours.feature").write_text(OWN_STEPS)
    module = tmp_path / "test_ours.py"
    module.write_text(MODULE)
    ended = assay("run", "--out", tmp_path / "out", "--", module)
    assert ended.code is Exit.NOT_AS_EXPECTED
    assert "2 tests failed that the kit does not judge" in ended.out
    assert "it judges only scenarios with a step of the vocabulary" in " ".join(ended.out.split())
    (tmp_path / "out" / "pytest.log").unlink()  # a run of plain pytest has no such file
    again = assay("report", tmp_path / "out")
    assert again.code is Exit.NOT_AS_EXPECTED
    (told,) = [line for line in again.out.splitlines() if "not as expected" in line]
    assert "2 tests failed that the kit does not judge (" in told
    assert "test_ours.py::test_plain" in told
    assert "pytest.log" not in told
    assert assay("run", "--out", tmp_path / "alone", "--", single).code is Exit.AS_EXPECTED


def test_tests_without_a_scenario_of_the_kit_are_no_run_and_the_sentence_says_so(assay: Assay, tmp_path: Path) -> None:
    module = tmp_path / "test_plain.py"
    module.write_text("def test_one() -> None:\n    assert False\n\n\ndef test_two() -> None:\n    pass\n")
    ended = assay("run", "--out", tmp_path / "out", "--", module)
    assert ended.code is Exit.USAGE
    assert "2 tests ran (1 failed), but none is a scenario with steps of the kit" in ended.err
    assert "assay_features" not in ended.err


def test_a_selection_of_own_features_that_leaves_none_names_no_folder_of_the_kit(
    assay: Assay, single: Path, tmp_path: Path
) -> None:
    ended = assay("run", "--out", tmp_path / "out", "--", single, "-k", "nothing_of_this_name")
    assert ended.code is Exit.USAGE
    assert "No scenario was selected" in ended.err
    assert "assay_features" not in ended.err


@pytest.mark.parametrize("name", ["single.feature.txt", "single.FEATURE"])
def test_a_file_that_is_no_feature_is_refused_and_nothing_else_is_run(assay: Assay, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(FEATURE.format(more=""))
    ended = assay("run", "--out", tmp_path / "out", "--", path)
    assert ended.code is Exit.USAGE
    assert "the name of a feature ends with .feature" in ended.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["journals/diary.txt", "report/thesis.html", "artemis/journals/diary.txt"])
def test_files_of_others_in_the_folders_of_a_run_are_left_alone(
    assay: Assay, single: Path, tmp_path: Path, place: str
) -> None:
    theirs = tmp_path / "out" / place
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    ended = assay("run", "--out", tmp_path / "out", "--", single)
    assert ended.code is Exit.USAGE
    assert place in ended.err
    assert theirs.read_text() == "theirs"


def test_the_folder_of_an_earlier_run_is_used_again(assay: Assay, single: Path, tmp_path: Path) -> None:
    assert SITE == MANIFEST
    for _ in range(2):
        assert assay("run", "--out", tmp_path / "out", "--", single).code is Exit.AS_EXPECTED


def test_the_report_of_a_run_without_workers_says_how_long_it_took(assay: Assay, single: Path, tmp_path: Path) -> None:
    assay("run", "--out", tmp_path / "out", "--", single)
    (page,) = (tmp_path / "out" / "report" / "backends").glob("*.html")
    took = re.search(r"<dt>Run</dt><dd>([^<]*) <", page.read_text())
    assert took is not None
    assert took[1].endswith((" ms", " s"))


@pytest.mark.parametrize("kind", ["seen", "claim", "scenario", "plan"])
def test_a_damaged_line_leaves_no_other_verdict_than_inconclusive(
    assay: Assay, single: Path, tmp_path: Path, kind: str
) -> None:
    assay("run", "--out", tmp_path / "out", "--", single)
    journal = tmp_path / "out" / "journals" / "main.jsonl"
    journal.write_text(journal.read_text().replace(f'"kind":"{kind}"', f'"kind":"{kind[:-1]}"', 1))
    ended = assay("report", tmp_path / "out")
    assert ended.code is Exit.INCONCLUSIVE
    (scenario,) = load_verdicts(tmp_path / "out" / "verdicts.json").foreign
    assert scenario.verdict is Verdict.INCONCLUSIVE
    assert "damaged" in scenario.reason


def test_damage_leaves_no_verdict_unsupported(assay: Assay, single: Path, tmp_path: Path) -> None:
    single.write_text(single.read_text().replace("  Scenario", "  @needs-cancel\n  Scenario"))
    assay("run", "--out", tmp_path / "out", "--", single)
    journal = tmp_path / "out" / "journals" / "main.jsonl"
    journal.write_text(journal.read_text().replace('"kind":"plan"', '"kind":"plxn"', 1))
    assert assay("report", tmp_path / "out").code is Exit.INCONCLUSIVE


@pytest.mark.parametrize("names", ['"m5" to "m2"', '"a1" to "b3"'])
def test_a_range_that_names_no_message_is_refused(assay: Assay, tmp_path: Path, names: str) -> None:
    path = tmp_path / "range.feature"
    path.write_text(FEATURE.format(more=f"And messages {names} are sent to the queue"))
    ended = assay("run", "--out", tmp_path / "out", "--", path)
    assert ended.code is not Exit.AS_EXPECTED
    assert "a range of messages goes from a lower number to a higher one" in ended.out + ended.err


WARNS = """\
import warnings
from pytest_bdd import then
from beside import STAMP

@then("the order is dated")
def _() -> None:
    warnings.warn("stamp is deprecated", DeprecationWarning)
    open(__file__)
    assert STAMP
"""


def test_own_steps_may_warn_and_import_what_lies_beside_them(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(WARNS)
    (tmp_path / "beside.py").write_text("STAMP = 1\n")
    feature = tmp_path / "dated.feature"
    feature.write_text(FEATURE.format(more="").replace("Then the", "Then the order is dated\n    And the"))
    ended = assay("run", "--out", tmp_path / "out", "--", feature)
    assert (ended.code, "1 scenario of your own (1 pass)" in ended.out) == (Exit.AS_EXPECTED, True)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("import not_beside", r"conftest\.py:1: ModuleNotFoundError: No module named 'not_beside'; .* set PYTHONPATH"),
        ("1 / 0", r"conftest\.py:1: ZeroDivisionError: division by zero\.$"),
        ("def step(:", r"conftest\.py:1: SyntaxError: invalid syntax\.$"),
    ],
)
def test_an_error_in_a_conftest_file_is_named_with_its_place(
    assay: Assay, single: Path, tmp_path: Path, line: str, says: str
) -> None:
    (tmp_path / "conftest.py").write_text(f"{line}\n")
    ended = assay("run", "--out", tmp_path / "out", "--", single)
    assert ended.code is Exit.USAGE
    assert re.search(says, ended.err.strip())
