"""Tests of ``assay run``: output, files, repetition, workers and faces."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from tests.cli.commands.conftest import RULES, content, events
from tests.cli.conftest import Assay

from assay.exits import Exit
from assay.workers import FEW_WORKERS, REAL_WORKERS, REFERENCE_WORKERS, count_scenarios, default_workers
from assay_evidence.events import LATENESS, Begin, Claim
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict, load_verdicts
from assay_features import feature_root, load_catalogue
from assay_steps.plugin.checks import rule_counts


def test_a_run_writes_journals_verdicts_junit_and_a_report(done: Path) -> None:
    names = {path.name for path in done.iterdir()}
    assert names == {"journals", "verdicts.json", "junit.xml", "report", "known.json", "pytest.log"}
    assert (done / "report" / "index.html").is_file()


def test_the_same_seed_gives_the_same_verdicts_but_for_run_id_and_seconds(
    assay: Assay, done: Path, tmp_path: Path
) -> None:
    assert assay("run", "--out", tmp_path / "again", "--seed", 7, *RULES).code is Exit.AS_EXPECTED
    assert content(tmp_path / "again") == content(done)
    assert load_verdicts(tmp_path / "again" / "verdicts.json").run != load_verdicts(done / "verdicts.json").run


def test_workers_of_the_reference_broker_say_what_one_process_says(assay: Assay, done: Path, tmp_path: Path) -> None:
    assert assay("run", "--out", tmp_path / "out", "--seed", 7, "--workers", 2, *RULES).code is Exit.AS_EXPECTED
    alone, shared = load_verdicts(done / "verdicts.json"), load_verdicts(tmp_path / "out" / "verdicts.json")
    said = [
        {
            scenario.scenario: (scenario.verdict, scenario.reason)
            for rule in verdicts.rules
            for scenario in rule.scenarios
        }
        for verdicts in (alone, shared)
    ]
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("backend", "scenarios", "cores", "workers"),
    [
        ("reference", None, 2, 2),
        ("reference", None, 64, REFERENCE_WORKERS),
        ("reference", None, 1, 0),
        ("reference", None, None, 0),
        ("reference", 500, 8, 0),
        ("artemis", None, 2, REAL_WORKERS),
        ("artemis", 500, 1, REAL_WORKERS),
        ("artemis", 20, 2, 5),
        ("artemis", 3, 2, 0),
        ("reference-server", None, 2, REAL_WORKERS),
    ],
)
def test_a_whole_run_has_a_process_a_core_and_one_that_waits_has_many(
    monkeypatch: pytest.MonkeyPatch, backend: str, scenarios: int | None, cores: int | None, workers: int
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert default_workers(backend, scenarios=scenarios) == workers


@pytest.mark.parametrize(("backend", "workers"), [("reference", 0), ("artemis", FEW_WORKERS)])
def test_a_run_of_what_pytest_is_told_has_few_processes(backend: str, workers: int) -> None:
    assert default_workers(backend, by_pytest=True) == workers


def test_how_many_scenarios_are_asked_for_is_known_before_any_process_is_started() -> None:
    counts = rule_counts(feature_root().rglob("*.feature"))
    assert count_scenarios(None, ()) is None
    assert count_scenarios(None, ("DD-02", "PD-34")) == counts["DD-02"] + counts["PD-34"]
    of_qos = [one.id for one in load_catalogue().rules if one.profile.value == "qos"]
    assert count_scenarios("qos", ()) == sum(map(counts.__getitem__, of_qos))


def test_a_run_can_be_done_again_in_its_folder(assay: Assay, tmp_path: Path) -> None:
    for _ in range(2):
        assert assay("run", "--out", tmp_path, "--rule", "PD-34").code is Exit.AS_EXPECTED
    assert len(list((tmp_path / "journals").iterdir())) == 1


def test_what_several_backends_left_gives_way_to_the_next_run(assay: Assay, tmp_path: Path) -> None:
    assert assay("run", "--out", tmp_path, "--rule", "PD-34").code is Exit.AS_EXPECTED
    (tmp_path / "artemis").mkdir()
    shutil.copytree(tmp_path / "journals", tmp_path / "artemis" / "journals")
    assert assay("run", "--out", tmp_path, "--rule", "PD-34").code is Exit.AS_EXPECTED
    assert not (tmp_path / "artemis").exists()


def test_a_rule_that_was_asked_for_and_has_no_scenario_is_told(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--out", tmp_path, "--rule", "PD-34", "--rule", "DD-42")
    assert ended.code is Exit.INCONCLUSIVE
    assert "DD-42 has no scenario yet" in ended.out


def test_a_defect_is_a_fail_and_not_as_expected(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--out", tmp_path, "--rule", "DD-02", "--defect", "early-delivery")
    assert ended.code is Exit.NOT_AS_EXPECTED
    assert "not as expected: delay/" in ended.out


def test_a_defect_is_named_below_the_table_and_on_the_pages(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--out", tmp_path, "--rule", "PD-34", "--defect", "early-delivery")
    assert "with defect early-delivery switched on" in ended.out
    for page in ("index.html", "rules/PD-34.html"):
        text = (tmp_path / "report" / page).read_text()
        assert "<code>early-delivery</code> switched on" in text


def test_a_narrowed_run_says_how_many_scenarios_of_a_rule_were_run(assay: Assay, tmp_path: Path) -> None:
    whole = rule_counts(feature_root().rglob("*.feature"))["PD-34"]
    kept = "topic_pattern"
    ended = assay("run", "--out", tmp_path, "--rule", "PD-34", "--", "-k", kept)
    (rule,) = load_verdicts(tmp_path / "verdicts.json").rules
    assert rule.left_out == whole - len(rule.scenarios) > 0
    assert f"{len(rule.scenarios)} of {whole} run" in ended.out
    index = (tmp_path / "report" / "index.html").read_text()
    assert f"{len(rule.scenarios)} of {whole} run" in index
    assert "narrowed by its call" in index
    assert (
        f"{len(rule.scenarios)} of {whole} scenarios of this rule"
        in (tmp_path / "report" / "rules" / "PD-34.html").read_text()
    )


def test_a_whole_run_leaves_nothing_out(done: Path) -> None:
    assert all(rule.left_out == 0 for rule in load_verdicts(done / "verdicts.json").rules)
    assert "narrowed" not in (done / "report" / "index.html").read_text()


def test_no_claim_carries_a_result(done: Path) -> None:
    claims = [event for _, lines in events(done) for event in lines if isinstance(event, Claim)]
    assert claims
    fields = set(Claim.__struct_fields__)
    assert fields.isdisjoint({"verdict", "result", "outcome", "finding", "passed", "reason", "observed"})
    values = {value for claim in claims for value in (*claim.of.values(), claim.predicate)}
    assert values.isdisjoint({verdict.value for verdict in Verdict})


def test_without_a_terminal_titles_are_not_folded(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    ended = assay("run", "--out", tmp_path, "--rule", "PD-26")
    assert load_catalogue().rule("PD-26").title in ended.out


def test_elsewhere_than_on_a_terminal_progress_is_plain_lines(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--out", tmp_path, "--rule", "PD-34")
    assert re.match(r"reference: (\d+) of \1 scenarios: ", ended.err.splitlines()[-1])
    assert "\x1b" not in ended.err + ended.out


@pytest.mark.parametrize("rule", ["DD-56", "PD-01", "PD-12", "PD-18", "PD-20", "PD-26", "PD-27"])
def test_what_mq_light_cannot_do_is_tried_in_a_face_that_can(assay: Assay, tmp_path: Path, rule: str) -> None:
    ended = assay("run", "--face", "mqlight", "--rule", rule, "--out", tmp_path)
    assert ended.code is Exit.AS_EXPECTED
    (found,) = load_verdicts(tmp_path / "verdicts.json").rules
    assert {scenario.verdict for scenario in found.scenarios} == {Verdict.PASS}
    assert any("mqlight" not in scenario.client for scenario in found.scenarios)


def test_a_run_in_two_faces_counts_them_in_summary_verdicts_and_report(assay: Assay, tmp_path: Path) -> None:
    ended = assay("run", "--face", "mqlight", "--rule", "PD-20", "--rule", "QS-03", "--out", tmp_path)
    verdicts = load_verdicts(tmp_path / "verdicts.json")
    ran = Counter(scenario.client.partition("(")[2].rstrip(")") for scenario in verdicts.scenarios)
    assert min(ran["mqlight"], ran["simplified"]) > 0
    assert [count for _, count in verdicts.clients.items()] == [ran["mqlight"], ran["simplified"]]
    told = (
        f"face mqlight ({ran['mqlight']} scenarios), simplified ({ran['simplified']} scenarios that mqlight cannot run)"
    )
    assert told in ended.out
    assert f"Run in {told};" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    rule = (tmp_path / "report" / "rules" / "QS-03.html").read_text(encoding="utf-8")
    assert "(mqlight)" in rule
    assert "simplified" not in rule


@pytest.mark.parametrize(
    ("late", "verdict", "code"), [("1s", "fail", Exit.NOT_AS_EXPECTED), ("6s", "pass", Exit.AS_EXPECTED)]
)
def test_how_late_a_message_may_come_is_the_runs_choice_and_is_recorded(
    late: str, verdict: str, code: Exit, tmp_path: Path, assay: Assay
) -> None:
    ended = assay("run", "--out", tmp_path, "--variant", "released-late", "--late", late, "--rule", "DD-03")
    assert ended.code is code
    verdicts = load_verdicts(tmp_path / "verdicts.json")
    assert [rule.verdict for rule in verdicts.rules] == [verdict]
    events = read_journals(tmp_path / "journals").events
    recorded = {event.environment[LATENESS] for event in events if isinstance(event, Begin)}
    assert recorded == {late.replace("s", " s")}
    report = (tmp_path / "report" / "index.html").read_text()
    assert f"the tolerated variant released-late is switched on. A message may be late by {late[0]} s." in report


def test_scenarios_about_times_to_live_and_commits_hold_however_late_a_message_may_come(
    tmp_path: Path, assay: Assay
) -> None:
    assert (
        assay("run", "--out", tmp_path, "--late", "30s", "--rule", "DD-27", "--rule", "DD-57").code is Exit.AS_EXPECTED
    )


def test_a_late_broker_does_not_fail_the_client_that_takes_batches(tmp_path: Path, assay: Assay) -> None:
    ended = assay("run", "--out", tmp_path, "--variant", "released-late", "--rule", "BT-15")
    assert ended.code is Exit.AS_EXPECTED


@pytest.mark.parametrize(("late", "told"), [("0", "no broker delivers at once"), ("soon", "'soon' is no duration")])
def test_a_senseless_limit_for_lateness_is_refused(late: str, told: str, tmp_path: Path, assay: Assay) -> None:
    ended = assay("run", "--out", tmp_path / "out", "--late", late)
    assert ended.code is Exit.USAGE
    assert told in ended.err
    assert not (tmp_path / "out").exists()


def test_a_run_that_ends_because_no_message_is_delivered_says_what_to_do(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay_steps.cast.sightings.Sightings._handed", lambda *_: None)
    ended = assay("run", "--out", tmp_path / "out", "--workers", 0, "--rule", "PD-21")
    assert ended.code is Exit.INCONCLUSIVE
    told = " ".join(ended.out.split())
    assert "stopped: the pair delivers no message (the probe of queue failed)" in told
    assert "check the broker, and the address and conventions of its adapter" in told
    assert "the verdict of scenarios that did not run is error" in told
