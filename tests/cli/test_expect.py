"""Tests of untriaged fails: ``assay expect``, and ``--untriaged`` of ``assay report`` and ``assay explain``."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest
from msgspec import structs
from tests.cli.conftest import Assay

from assay.application import ending as command
from assay.commands.expect import VALID, proposals
from assay.exits import Exit
from assay_adapters.known import KnownOutcomesError, read_outcomes
from assay_evidence.verdicts import Verdict
from assay_reports import RunEvidence, read_run

SMALLEST = "delay/early.feature::With the shortest delay, 1 ms, a non-persistent message does not come early"
ENTRY = {
    "scenario": SMALLEST,
    "verdict": "fail",
    "reason": "So.",
    "reference": "r",
    "owner": "o",
    "expires": "2999-01-01",
}


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a run of one scenario that fails."""
    out = tmp_path_factory.mktemp("run") / "out"
    arguments = ["run", "--out", str(out), "--defect", "early-delivery", "--scenario", SMALLEST, "--rule", "DD-02"]
    assert command(arguments) is Exit.NOT_AS_EXPECTED
    return out


@pytest.fixture
def triaged(failed: Path, tmp_path: Path) -> Path:
    """Provide the same run with a known outcome for its fail."""
    shutil.copytree(failed, tmp_path / "out")
    (tmp_path / "out" / "known.json").write_text(json.dumps({"entries": [ENTRY]}))
    return tmp_path / "out"


def test_an_entry_is_proposed_without_a_reason_and_refused_until_it_has_one(
    assay: Assay, failed: Path, tmp_path: Path
) -> None:
    told = assay("expect", failed)
    assert told.code is Exit.AS_EXPECTED
    (entry,) = tomllib.loads(told.out)["outcome"]
    day = read_run(failed).day
    assert day is not None
    assert entry == {
        "scenario": SMALLEST,
        "verdict": "fail",
        "expires": day + VALID,
        "reason": "",
        "reference": "",
        "owner": "",
    }
    assert "# DD-02: The message" in told.out
    file = tmp_path / "known.toml"
    text = told.out
    for name in ("reason", "reference", "owner"):
        file.write_text(text)
        with pytest.raises(KnownOutcomesError, match=f"{name} is empty; fill it in"):
            read_outcomes(file)
        text = text.replace(f'{name} = ""', f'{name} = "x"')
    file.write_text(text)
    assert read_outcomes(file).find(SMALLEST, Verdict.FAIL) is not None


def test_known_fails_are_not_proposed(assay: Assay, triaged: Path) -> None:
    assert assay("expect", triaged).out == "# 1 run on reference: every fail has a known outcome.\n"


def test_a_fail_in_some_of_the_runs_gets_its_frequency(failed: Path) -> None:
    run = read_run(failed)
    (rule,) = run.verdicts.rules
    (scenario,) = rule.scenarios

    def with_verdict(verdict: Verdict) -> RunEvidence:
        rules = (structs.replace(rule, scenarios=(structs.replace(scenario, verdict=verdict),)),)
        return structs.replace(run, verdicts=structs.replace(run.verdicts, rules=rules))

    runs = [with_verdict(one) for one in (Verdict.PASS, Verdict.FAIL, Verdict.PASS, Verdict.INCONCLUSIVE)]
    (proposal,) = proposals(runs)
    assert 'sometimes = "1 of 3"' in list(proposal.lines())
    assert list(proposals(runs[:1])) == []


def test_report_and_explain_tell_the_untriaged_fails_alone(assay: Assay, failed: Path, triaged: Path) -> None:
    told = assay("report", failed, "--untriaged", "--out", triaged.parent / "site")
    assert told.code is Exit.NOT_AS_EXPECTED
    assert told.out.splitlines()[0] == "reference: 1 untriaged fail:"
    assert told.out.splitlines()[1].startswith(f"  DD-02 {SMALLEST}: ")
    explained = assay("explain", "--untriaged", "--run", failed)
    assert explained.out.startswith("DD-02  A delayed message is never early")
    assert "<-- breaks the rule" in explained.out


def test_a_known_fail_is_left_out(assay: Assay, triaged: Path) -> None:
    told = assay("report", triaged, "--untriaged")
    assert (told.code, told.out.splitlines()[0]) == (Exit.AS_EXPECTED, "reference: 0 untriaged fails.")
    assert assay("explain", "--untriaged", "--run", triaged).out == f"Every fail in {triaged} has a known outcome.\n"
    one = assay("explain", "DD-02", "--untriaged", "--run", triaged)
    assert "Every fail of this rule has a known outcome." in one.out
    assert "breaks the rule" not in one.out


@pytest.mark.parametrize("rule", [(), ("DD-02",)])
def test_the_filter_with_an_unknown_scenario_is_a_mistake(assay: Assay, failed: Path, rule: tuple[str, ...]) -> None:
    told = assay("explain", *rule, "--untriaged", "--scenario", "nothing", "--run", failed)
    assert (told.code, "is named 'nothing'" in told.err, told.out) == (Exit.USAGE, True, "")


def test_the_filter_with_a_known_scenario_tells_of_this_scenario_alone(assay: Assay, triaged: Path) -> None:
    chosen = ("--untriaged", "--scenario", SMALLEST, "--run", triaged)
    told = assay("explain", *chosen)
    assert (told.code, told.out) == (Exit.AS_EXPECTED, f"The chosen scenarios in {triaged} have no untriaged fail.\n")
    assert "The chosen scenarios of this rule have no untriaged fail." in assay("explain", "DD-02", *chosen).out


def test_without_a_rule_and_without_the_filter_the_call_is_a_mistake(assay: Assay, failed: Path) -> None:
    told = assay("explain", "--run", failed)
    assert (told.code, "A rule is missing" in told.err) == (Exit.USAGE, True)
