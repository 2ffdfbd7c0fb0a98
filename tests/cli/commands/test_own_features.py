"""Tests of ``assay run`` with features of a user."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tests.cli.conftest import Assay

from assay.exits import Exit
from assay_evidence.verdicts import load_verdicts


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
        'inspecting or browsing the staging queue does not show "m2"',
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


TO_ITS_PRODUCER = """\
Feature: Own
  Scenario: Of an earlier step
    Given an empty queue
    And a receiver is waiting on the queue
    And a producer on the queue
    And producer "p" on the queue
    And a classic producer without a destination
    And a classic and a simplified producer on the queue
    When {step}
    Then the receiver sees "m" exactly once
"""


@pytest.mark.parametrize(
    ("step", "what", "instead"),
    [
        (
            'producer "p" sends message "m" with a delivery delay of 2 s',
            'the delivery delay is a setting of producer "p"',
            'write `the delivery delay of producer "p" is set to 2000 ms` before it',
        ),
        (
            'producer "p" sends message "m" to the queue with correlation id "c" and priority 9',
            'the priority is a setting of producer "p"',
            'write `the priority of producer "p" is set to 9` before it, or add `for this send only` to the priority',
        ),
        (
            'the producer sends message "m" with a time to live of 1 s',
            "the time to live is a setting of the producer",
            (
                "write `the producer's time to live is set to 1000 ms` before it, "
                "or add `for this send only` to the time to live"
            ),
        ),
        (
            'the producer sends message "m" to the queue with delivery mode non-persistent',
            "the delivery mode is a setting of the producer",
            (
                "write `the producer's delivery mode is set to non-persistent` before it, "
                "or add `for this send only` to the delivery mode"
            ),
        ),
        (
            'the producer sends message "m" with priority as the destination defines',
            "the priority is a setting of the producer",
            "write `the producer's priority is set to -1` before it",
        ),
        (
            "both producers send a message with a delivery delay of 2 s",
            'the delivery delay is a setting of producer "classic"',
            'write `the delivery delay of producer "classic" is set to 2000 ms` before it',
        ),
    ],
)
def test_a_send_that_would_change_a_setting_of_its_producer_is_a_mistake(
    assay: Assay, tmp_path: Path, step: str, what: str, instead: str
) -> None:
    (tmp_path / "own.feature").write_text(TO_ITS_PRODUCER.format(step=step), encoding="utf-8")
    ended = assay("run", "--out", tmp_path / "out", "--", tmp_path / "own.feature")
    assert ended.code is Exit.INCONCLUSIVE
    told = f"own.feature:9: {what}, which this step does not change: {instead}"
    assert f"{told} report: " in " ".join(ended.out.split())


@pytest.mark.parametrize("option", ["quality of service at-most-once", "no durable header"])
def test_a_send_that_would_need_another_producer_is_a_mistake(assay: Assay, tmp_path: Path, option: str) -> None:
    step = f'producer "p" sends message "m" with {option}'
    (tmp_path / "own.feature").write_text(TO_ITS_PRODUCER.format(step=step), encoding="utf-8")
    ended = assay("run", "--out", tmp_path / "out", "--", tmp_path / "own.feature")
    assert ended.code is Exit.INCONCLUSIVE
    assert (
        'own.feature:9: the producer that sends "m" exists, so this step cannot choose its quality of service or its '
        'durable header: write `message "m" is sent to ... with ...`, which creates a producer'
    ) in " ".join(ended.out.split())
