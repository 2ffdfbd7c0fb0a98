"""Tests of ``assay run``: output, files, repetition, and verdicts from the journals alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest
from rich.console import Console
from tests.cli.conftest import Assay

from assay.application import ending as command
from assay.commands.run import CORES, FEW_WORKERS, OWN_WORKERS, REAL_WORKERS, default_workers, how_many
from assay.exits import Exit
from assay.outcome import ending
from assay.tables import rules_table
from assay_adapters.known import Surprise
from assay_evidence.events import LATENESS, Begin, Claim, Step
from assay_evidence.lines import decode_line, encode_line
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict, Verdicts, load_verdicts
from assay_features import feature_root, load_catalogue
from assay_steps.plugin.checks import rule_counts

RULES = ("--rule", "DD-02", "--rule", "PD-22", "--rule", "PD-17")
"""Delays, restarts and both faces."""
OWN_TO_A_RUN = {"run", "seconds"}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a run of some rules."""
    out = tmp_path_factory.mktemp("run") / "out"
    assert command(["run", "--out", str(out), "--seed", "7", *RULES]) is Exit.AS_EXPECTED
    return out


def content(out: Path) -> Any:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(inner) for name, inner in value.items() if name not in OWN_TO_A_RUN}
        return [without(inner) for inner in value] if isinstance(value, list) else value

    return without(json.loads((out / "verdicts.json").read_text()))


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
        ("reference", None, 64, CORES),
        ("reference", None, 1, 0),
        ("reference", None, None, 0),
        ("reference", 500, 8, 0),
        ("artemis", None, 2, REAL_WORKERS),
        ("artemis", 500, 1, REAL_WORKERS),
        ("artemis", 20, 2, 5),
        ("artemis", 3, 2, 0),
        ("reference-server", None, 2, OWN_WORKERS),
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
    assert how_many(None, ()) is None
    assert how_many(None, ("DD-02", "PD-34")) == counts["DD-02"] + counts["PD-34"]
    assert how_many("qos", ()) == sum(counts[one.id] for one in load_catalogue().rules if one.profile.value == "qos")


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


def test_a_report_shows_the_table_and_ends_as_its_run(assay: Assay, tmp_path: Path) -> None:
    ran = assay("run", "--out", tmp_path, "--rule", "PD-34", "--defect", "unclaimed-publication-kept")
    told = assay("report", tmp_path)
    assert ran.code is told.code is Exit.NOT_AS_EXPECTED
    assert [line for line in ran.out.splitlines() if "not as expected" in line or line.startswith("PD-34")] == [
        line for line in told.out.splitlines() if "not as expected" in line or line.startswith("PD-34")
    ]


@pytest.mark.parametrize("order", ["{a} {b} --out {out}", "--out {out} {a} {b}", "{a} --out {out} {b}"])
def test_a_report_on_two_runs_goes_where_out_says_wherever_that_stands(
    assay: Assay, done: Path, tmp_path: Path, order: str
) -> None:
    runs = [Path(shutil.copytree(done, tmp_path / name)) for name in ("a", "b")]
    for run in runs:
        shutil.rmtree(run / "report")
    ended = assay("report", *order.format(a=runs[0], b=runs[1], out=tmp_path / "out").split())
    assert ended.code is Exit.AS_EXPECTED
    assert len(list((tmp_path / "out" / "report" / "backends").iterdir())) == 2
    assert not any((run / "report").exists() for run in runs)


def test_a_report_on_journals_without_scenarios_says_that_they_tell_nothing(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    (tmp_path / "journals" / "main.jsonl").touch()
    ended = assay("report", tmp_path)
    assert ended.code is Exit.INCONCLUSIVE
    assert "unknown backend: the journals hold no scenario" in ended.out
    assert "0 rules" not in ended.out


def test_a_report_on_damaged_journals_is_inconclusive(assay: Assay, done: Path, tmp_path: Path) -> None:
    shutil.copytree(done / "journals", tmp_path / "journals")
    for journal in (tmp_path / "journals").iterdir():
        journal.write_bytes(journal.read_bytes().rpartition(b"\n")[0].rpartition(b"\n")[0] + b"\n")
    ended = assay("report", tmp_path)
    assert ended.code is Exit.INCONCLUSIVE
    assert "not as expected: " in ended.out


def test_what_a_run_knew_is_known_to_its_report(assay: Assay, tmp_path: Path) -> None:
    assay("run", "--out", tmp_path, "--rule", "PD-34", "--defect", "unclaimed-publication-kept")
    entry = {
        "scenario": "*",
        "verdict": "fail",
        "reason": "It drops.",
        "reference": "manual",
        "owner": "kit",
        "expires": "9999-12-31",
    }
    failed = [
        scenario.scenario
        for rule in load_verdicts(tmp_path / "verdicts.json").rules
        for scenario in rule.scenarios
        if scenario.verdict is Verdict.FAIL
    ]
    entries = [entry | {"scenario": name} for name in failed]
    (tmp_path / "known.json").write_text(json.dumps({"entries": entries}))
    assert assay("report", tmp_path).code is Exit.AS_EXPECTED
    (tmp_path / "known.json").write_text(json.dumps({"entries": [entry | {"expires": "soon"}]}))
    ended = assay("report", tmp_path)
    assert ended.code is Exit.USAGE
    assert "known.json: it is malformed" in ended.err


def test_a_narrowed_run_says_how_many_scenarios_of_a_rule_were_run(assay: Assay, tmp_path: Path) -> None:
    whole = rule_counts(feature_root().rglob("*.feature"))["PD-34"]
    kept = "later_durable"
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


def test_no_line_of_a_table_ends_in_blanks_elsewhere_than_on_a_terminal(assay: Assay) -> None:
    for line in assay("rules").out.splitlines():
        assert line == line.rstrip()


def test_a_rule_asked_for_by_its_id_is_shown_with_its_sentence(assay: Assay) -> None:
    rule = load_catalogue().rule("DD-02")
    assert rule.rule not in assay("rules").out
    assert rule.rule in " ".join(assay("rules", "--rule", "DD-02").out.split())  # the output breaks it into lines


def test_rules_say_how_many_scenarios_try_them(assay: Assay, done: Path) -> None:
    ran = {rule.id: len(rule.scenarios) for rule in load_verdicts(done / "verdicts.json").rules}
    counts = rule_counts(feature_root().rglob("*.feature"))
    assert {rule: counts[rule] for rule in ran} == ran
    row = next(line.split() for line in assay("rules").out.splitlines() if line.startswith("DD-02"))
    assert str(counts["DD-02"]) in row


def test_a_kill_matrix_goes_into_a_runs_folder_and_its_report(assay: Assay, tmp_path: Path) -> None:
    assert assay("run", "--out", tmp_path, "--rule", "PD-34").code is Exit.AS_EXPECTED
    ended = assay("defects", "--rule", "PD-34", "--out", tmp_path)
    assert ended.code is Exit.AS_EXPECTED
    assert "unclaimed-publication-kept" in next(line for line in ended.out.splitlines() if line.startswith("caught: "))
    assert "missed: none" in ended.out
    assert "defects: " in ended.err
    assert f"`assay report {tmp_path}`" in ended.out
    assert assay("report", tmp_path).code is Exit.AS_EXPECTED
    assert "<code>unclaimed-publication-kept</code>" in (tmp_path / "report" / "rules" / "PD-34.html").read_text()


def events(out: Path) -> Iterator[tuple[Path, list[Any]]]:
    for journal in sorted((out / "journals").iterdir()):
        yield journal, [decode_line(line) for line in journal.read_bytes().splitlines()]


def test_no_claim_carries_a_result(done: Path) -> None:
    claims = [event for _, lines in events(done) for event in lines if isinstance(event, Claim)]
    assert claims
    fields = set(Claim.__struct_fields__)
    assert fields.isdisjoint({"verdict", "result", "outcome", "finding", "passed", "reason", "observed"})
    values = {value for claim in claims for value in (*claim.of.values(), claim.predicate)}
    assert values.isdisjoint({verdict.value for verdict in Verdict})


def test_the_journal_alone_decides(assay: Assay, done: Path, tmp_path: Path) -> None:
    shutil.copytree(done / "journals", tmp_path / "journals")
    ended = assay("report", tmp_path)
    assert ended.code is Exit.AS_EXPECTED
    assert (tmp_path / "verdicts.json").read_bytes() == (done / "verdicts.json").read_bytes()
    assert (tmp_path / "junit.xml").read_bytes() == (done / "junit.xml").read_bytes()


def test_what_a_step_said_of_its_own_outcome_makes_no_pass(assay: Assay, done: Path, tmp_path: Path) -> None:
    shutil.copytree(done / "journals", tmp_path / "journals")
    for journal, lines in events(tmp_path):
        told = [
            msgspec.structs.replace(event, detail="", text="any") if isinstance(event, Step) else event
            for event in lines[:-1]
        ]
        octets = b"".join(map(encode_line, told))
        end = msgspec.structs.replace(lines[-1], sha256=hashlib.sha256(octets).hexdigest())
        journal.write_bytes(octets + encode_line(end))
    assert assay("report", tmp_path).code is Exit.AS_EXPECTED
    assert content(tmp_path) == content(done)


def verdicts(*found: Verdict) -> Verdicts:
    scenarios = tuple(
        ScenarioVerdict(
            f"delay/early.feature::{verdict}", ("DD-02",), verdict, "must", "broker", reason="because " * 20
        )
        for verdict in found
    )
    rule = RuleVerdict("DD-02", max(found, key=lambda verdict: verdict.badness), "must", "broker", "delay", scenarios)
    return Verdicts(1, "run", "reference", "sdk", (rule,), {})


@pytest.mark.parametrize("verdict", Verdict)
def test_the_table_fits_a_terminal_of_80_columns(verdict: Verdict) -> None:
    console = Console(width=80, force_terminal=False)
    with console.capture() as shown:
        console.print(rules_table(verdicts(verdict), load_catalogue()))
    lines = shown.get().splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("DD-02  ") and verdict.value in line for line in lines)


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


STALE = None
"""The verdict of a surprise that no verdict is: an entry that no longer holds."""


@pytest.mark.parametrize(
    ("found", "surprises", "code"),
    [
        ((Verdict.PASS,), [], Exit.AS_EXPECTED),
        ((Verdict.FAIL,), [], Exit.AS_EXPECTED),
        ((Verdict.FAIL, Verdict.ERROR), [Verdict.FAIL, Verdict.ERROR], Exit.NOT_AS_EXPECTED),
        ((Verdict.FAIL, Verdict.ERROR), [Verdict.ERROR], Exit.INCONCLUSIVE),  # the fail is a known outcome
        ((Verdict.PASS,), [STALE], Exit.NOT_AS_EXPECTED),
        ((Verdict.PASS, Verdict.ERROR), [STALE], Exit.NOT_AS_EXPECTED),
        ((Verdict.PASS, Verdict.ERROR), [STALE, Verdict.ERROR], Exit.NOT_AS_EXPECTED),
        ((Verdict.PASS, Verdict.ERROR), [Verdict.ERROR], Exit.INCONCLUSIVE),
        ((Verdict.INCONCLUSIVE,), [Verdict.INCONCLUSIVE], Exit.INCONCLUSIVE),
        ((Verdict.NOT_DEMONSTRATED,), [Verdict.NOT_DEMONSTRATED], Exit.INCONCLUSIVE),
    ],
)
def test_the_exit_code_follows_from_verdicts_and_surprises(
    found: tuple[Verdict, ...], surprises: list[Verdict | None], code: Exit
) -> None:
    told = [Surprise("it says so", one) for one in surprises]
    assert ending(verdicts(*found), told) is code


def test_a_scenario_that_sleeps_is_an_error(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "own.feature").write_text(
        "Feature: Own\n  @PD-34\n  Rule: Own\n    Scenario: It sleeps\n      When somebody sleeps\n"
    )
    (tmp_path / "test_own.py").write_text(
        "import time\nfrom pytest_bdd import scenarios, when\nscenarios('own.feature')\n"
        "@when('somebody sleeps')\ndef _(world):\n    time.sleep(0.001)\n"
    )
    ended = assay("run", "--out", tmp_path / "out", "--rule", "PD-34", "--", tmp_path / "test_own.py")
    assert ended.code is Exit.INCONCLUSIVE
    assert "A step called a real sleep" in ended.out
    assert "own.feature" in ended.out


def test_a_feature_behind_the_dashes_takes_the_suites_place_and_decides_no_rule(assay: Assay, tmp_path: Path) -> None:
    feature = Path(__file__).parents[2] / "steps" / "vocabulary" / "samples" / "orders.feature"
    done = assay("run", "--out", str(tmp_path / "out"), "--", str(feature))
    assert done.code == Exit.AS_EXPECTED
    verdicts = load_verdicts(tmp_path / "out" / "verdicts.json")
    assert verdicts.rules == ()
    assert [scenario.scenario.rpartition("/")[2].partition("::")[0] for scenario in verdicts.foreign] == [
        "orders.feature"
    ]
    assert "they decide no rule of the kit" in done.out
    assert "reference: 1 scenario of your own (1 pass), " in done.out
    index = (tmp_path / "out" / "report" / "index.html").read_text(encoding="utf-8")
    assert "An order that comes" in index


OWN = """\
Feature: Own
  Scenario: It {what}
    Given an empty queue
    And a receiver is waiting on the queue
    When message "m" is sent to the queue
    Then the receiver {sees}
"""


@pytest.mark.parametrize(
    "claim",
    [
        'the queue does not hold "m2"',
        'the queue holds "m2"',
        'the receiver sees "m" and "m2" exactly once',
        '"m2" on the queue is persistent',
        'browsing the queue does not show "m2"',
        'the staging queue does not show "m2"',
        'the receiver sees "m2" exactly once',
    ],
)
def test_a_message_that_no_step_has_sent_is_a_mistake_and_no_verdict(assay: Assay, tmp_path: Path, claim: str) -> None:
    text = OWN.replace("the receiver {sees}", claim).format(what="is mistyped")
    (tmp_path / "own.feature").write_text(text, encoding="utf-8")
    done = assay("run", "--out", str(tmp_path / "out"), "--", str(tmp_path / "own.feature"))
    assert done.code == Exit.INCONCLUSIVE
    assert "no message in this scenario is called m2; the scenario has m" in done.out
    assert "1 scenario of your own (1 error)" in done.out


def test_a_folder_of_features_is_tried_and_a_failure_is_in_table_report_junit_and_exit_code(
    assay: Assay, tmp_path: Path
) -> None:
    features = tmp_path / "features"
    (features / "deep").mkdir(parents=True)
    (features / ".venv").mkdir()
    (features / "kept.feature").write_text(OWN.format(what="arrives", sees='sees "m" exactly once'))
    (features / "deep" / "broken.feature").write_text(OWN.format(what="is lost", sees='never sees "m"'))
    (features / ".venv" / "other.feature").write_text("no feature at all")
    ended = assay("run", "--out", tmp_path / "out", "--", features)
    assert ended.code is Exit.NOT_AS_EXPECTED
    assert "reference: 2 scenarios of your own (1 pass, 1 fail), " in ended.out
    verdicts = load_verdicts(tmp_path / "out" / "verdicts.json")
    assert {verdict: count for verdict, count in verdicts.foreign_totals.items() if count} == {"pass": 1, "fail": 1}
    index = (tmp_path / "out" / "report" / "index.html").read_text(encoding="utf-8")
    assert "2 scenarios of your own tried on 1 pair of client and broker: 1 pass, 1 fail." in index
    assert "No rule was broken" not in index
    junit = ET.parse(tmp_path / "out" / "junit.xml").getroot()  # noqa: S314 - the file that was just written
    assert (junit.get("tests"), junit.get("failures")) == ("2", "1")
    again = assay("report", tmp_path / "out")
    assert again.code is Exit.NOT_AS_EXPECTED
    assert "reference: 2 scenarios of your own (1 pass, 1 fail)" in again.out


def test_an_own_scenario_that_claims_nothing_is_no_pass(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "own.feature").write_text("Feature: Own\n  Scenario: Only given\n    Given an empty queue\n")
    ended = assay("run", "--out", tmp_path / "out", "--", tmp_path / "own.feature")
    assert ended.code is Exit.INCONCLUSIVE
    assert "1 scenario of your own (1 not-demonstrated)" in ended.out


def test_a_claim_about_a_message_that_is_due_much_later_is_refused(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "own.feature").write_text(
        "Feature: Own\n  Scenario: Late\n    Given an empty queue\n    And a receiver is waiting on the queue\n"
        '    When message "o" is sent to the queue with a delivery delay of 2 m\n'
        '    Then the receiver sees "o" exactly once\n'
    )
    ended = assay("run", "--out", tmp_path / "out", "--", tmp_path / "own.feature")
    assert ended.code is Exit.INCONCLUSIVE
    assert 'own.feature:6: "o" is due in 120 s, and this step waits 60 s: write `"o" is overdue` before it' in ended.out


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
    ("late", "verdict", "code"), [("1s", "fail", Exit.NOT_AS_EXPECTED), ("4s", "pass", Exit.AS_EXPECTED)]
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


@pytest.mark.parametrize(("late", "told"), [("0", "no broker delivers at once"), ("soon", "'soon' is no duration")])
def test_a_senseless_limit_for_lateness_is_refused(late: str, told: str, tmp_path: Path, assay: Assay) -> None:
    ended = assay("run", "--out", tmp_path / "out", "--late", late)
    assert ended.code is Exit.USAGE
    assert told in ended.err
    assert not (tmp_path / "out").exists()
