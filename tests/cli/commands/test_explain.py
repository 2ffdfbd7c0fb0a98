"""Tests of ``assay explain``, and of the options that run one scenario again."""

from __future__ import annotations

import re
import shlex
import shutil
import unicodedata
from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.application import ending as command
from assay.exits import Exit
from assay_evidence.verdicts import load_verdicts
from assay_reports.sources import VERDICTS_FILE

SMALLEST = "delay/early.feature::With the shortest delay, 1 ms, a non-persistent message does not come early"


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a run of two scenarios with a defect; both fail for one cause."""
    out = tmp_path_factory.mktemp("run") / "out"
    name = "The receiver of a temporary queue does not see the message before its delay is over"
    chosen = [SMALLEST, f"delay/early.feature::{name}"]
    named = [word for scenario in chosen for word in ("--scenario", scenario)]
    arguments = ["run", "--out", str(out), "--defect", "early-delivery", *named, "--rule", "DD-02"]
    assert command(arguments) is Exit.NOT_AS_EXPECTED
    return out


def test_the_story_marks_the_event_that_breaks_the_rule(assay: Assay, failed: Path) -> None:
    told = assay("explain", "DD-02", "--run", failed)
    assert told.code is Exit.AS_EXPECTED
    lines = told.out.splitlines()
    assert lines[0] == "DD-02  A delayed message is never early"
    assert any(line.startswith("  source: DELAY line 3 ") for line in lines)
    assert "  judges: broker (must: A breach is a failure.)" in lines
    broken = [line for line in lines if line.endswith("<-- breaks the rule")]
    assert len(broken) == 1
    assert re.fullmatch(r"  ✕ +1.8 s  reader  sees slow from .*, 200 ms before slow is due   <-- .*", broken[0])
    assert any(line.startswith("  evidence: clients alone") for line in lines)
    assert "The same cause in 1 more scenario (--all tells them):" in told.out


def test_the_last_line_runs_the_scenario_again(assay: Assay, failed: Path, tmp_path: Path) -> None:
    told = assay("explain", "DD-02", "--run", failed, "--scenario", SMALLEST)
    line = next(line for line in told.out.splitlines() if line.startswith("  run it again: "))
    words = shlex.split(line.partition(": ")[2])
    assert words[:2] == ["assay", "run"]
    again = assay(*words[1:-1], tmp_path / "again", "--times", 2)
    assert again.code is Exit.NOT_AS_EXPECTED
    assert f"reference: {SMALLEST}: 2 fail in 2 runs" in again.out
    for number in (1, 2):
        found = load_verdicts(tmp_path / "again" / f"reference-{number}" / VERDICTS_FILE)
        assert [scenario.scenario for scenario in found.scenarios] == [SMALLEST]
        assert found.rules[0].left_out > 0


def test_all_tells_every_scenario_in_full(assay: Assay, failed: Path) -> None:
    told = assay("explain", "DD-02", "--run", failed, "--all")
    assert told.out.count("<-- breaks the rule") == 2


def test_a_passed_scenario_is_told_when_it_is_asked_for(assay: Assay, tmp_path: Path) -> None:
    assert assay("run", "--out", tmp_path / "out", "--scenario", SMALLEST).code is Exit.AS_EXPECTED
    silent = assay("explain", "DD-02", "--run", tmp_path / "out")
    assert "No scenario of this rule failed or was undecided" in silent.out
    told = assay("explain", "DD-02", "--run", tmp_path / "out", "--scenario", "*shortest*")
    assert "sees message" in told.out
    assert "breaks" not in told.out.replace("breaks rules on purpose", "")


def test_what_kept_scenarios_from_running_is_told(assay: Assay, tmp_path: Path) -> None:
    scenario = "batch/branches.feature::Prepare and commit acknowledge three batches"
    assay("run", "--backend", "reference-server", "--out", tmp_path / "out", "--rule", "BT-13", "--scenario", scenario)
    told = assay("explain", "BT-13", "--run", tmp_path / "out")
    assert re.search(r"could not run: 1 scenario, because the pair lacks xa: \w", told.out)


def test_a_scenario_needs_no_rule_beside_it(assay: Assay, failed: Path) -> None:
    alone = assay("explain", "--run", failed, "--scenario", SMALLEST)
    assert alone.code is Exit.AS_EXPECTED
    assert alone.out == assay("explain", "DD-02", "--run", failed, "--scenario", SMALLEST).out
    unknown = assay("explain", "--run", failed, "--scenario", "nothing like this")
    assert unknown.code is Exit.USAGE
    assert "No scenario of a rule in" in unknown.err
    one_unknown = assay("explain", "--run", failed, "--scenario", "*", "--scenario", "nothing like this")
    assert one_unknown.code is Exit.USAGE
    assert "is named 'nothing like this'" in one_unknown.err


def test_a_mistake_in_the_call_is_one_sentence_and_exit_code_3(assay: Assay, failed: Path, tmp_path: Path) -> None:
    for arguments, sentence in (
        (("DD-999",), "DD-999"),
        (("PD-01", "--run", failed), "has no scenario of PD-01"),
        (("DD-02", "--run", tmp_path), "holds no run"),
        (("DD-02", "--run", failed, "--backend", "artemis"), "holds no run on artemis, but on reference"),
        (("DD-02", "--run", failed, "--scenario", "nothing"), "is named 'nothing'"),
    ):
        told = assay("explain", *arguments)
        assert told.code is Exit.USAGE
        assert sentence in told.err


def test_no_text_of_a_journal_controls_the_terminal(assay: Assay, failed: Path, tmp_path: Path) -> None:
    shutil.copytree(failed, tmp_path / "out")
    verdicts = tmp_path / "out" / VERDICTS_FILE
    text = verdicts.read_text(encoding="utf-8")
    hostile = r"\u001b[2J\u202e[bold]The message"
    verdicts.write_text(text.replace("The message", hostile), encoding="utf-8")
    told = assay("explain", "DD-02", "--run", tmp_path / "out")
    assert r"\x1b[2J\u202e[bold]The message" in told.out
    assert {char for char in told.out if unicodedata.category(char) in {"Cc", "Cf"}} <= {"\n"}
