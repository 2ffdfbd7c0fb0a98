"""Tests of the plugin in pytest runs: it does nothing without its options, and handles broken scenarios."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from tests.steps.plugin.runs import KEPT, judged, own, run

from assay_adapters.known import KnownOutcome, KnownOutcomes
from assay_evidence.events import ScenarioBegin, Step
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_without_an_option_nothing_of_the_kit_is_there(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(request):\n    assert not request.config.pluginmanager.has_plugin('assay-run')")
    run(pytester).assert_outcomes(passed=1)
    assert not (pytester.path / "assay-out").exists()


def test_without_an_option_a_feature_has_no_steps_of_the_kit(pytester: pytest.Pytester) -> None:
    own(pytester, KEPT)
    result = run(pytester, "-W", "ignore::pytest.PytestUnknownMarkWarning")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*StepDefinitionNotFoundError*"])


def test_a_team_s_own_feature_is_judged_with_the_kits_steps(pytester: pytest.Pytester) -> None:
    own(pytester, KEPT)
    run(pytester, "--assay-out=out", "--strict-markers").assert_outcomes(passed=1)
    assert judged(pytester)["It arrives"]["verdict"] == "pass"
    assert judged(pytester)["It arrives"]["scenario"] == "own.feature::It arrives"


def test_the_journal_has_the_feature_s_line_of_a_scenario_and_of_its_steps(pytester: pytest.Pytester) -> None:
    own(pytester, KEPT)
    run(pytester, "--assay-out=out").assert_outcomes(passed=1)
    told = read_journals(pytester.path / "out" / "journals").events
    lines = [event.line for event in told if isinstance(event, ScenarioBegin | Step)]
    assert lines == [4, 5, 6, 7, 8]


def test_tests_that_are_no_scenarios_run_beside_them(pytester: pytest.Pytester) -> None:
    own(pytester, KEPT)
    pytester.makepyfile(test_plain="def test_it():\n    pass")
    run(pytester, "--assay-out=out").assert_outcomes(passed=2)


def test_steps_of_a_background_are_not_a_scenarios_own(pytester: pytest.Pytester) -> None:
    own(pytester, "Feature: Own\n  Background:\n    Given an empty queue\n  Scenario: Nothing\n")
    result = run(pytester, "own.feature", "--assay-out=out")
    result.stderr.fnmatch_lines(["*own.feature:4: scenario 'Nothing' has no steps of its own*"])


def test_a_known_outcome_is_never_about_a_teams_scenario(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = KnownOutcome("own.feature::*", Verdict.FAIL, "It is so.", "ISSUE-1", "us", date(2999, 1, 1))
    monkeypatch.setattr("assay_steps.plugin.run.known_outcomes", lambda _: KnownOutcomes((entry,)))
    pytester.makefile(".feature", own=KEPT.replace("sees", "never sees").replace(" exactly once", ""))
    run(pytester, "own.feature", "--assay-out=out").assert_outcomes(failed=1)


def test_a_scenario_that_says_nothing_in_the_kits_words_needs_no_rule(pytester: pytest.Pytester) -> None:
    own(pytester, BROKEN.replace("  @PD-34\n", ""), "@when('somebody acts')\ndef _():\n    pass\n")
    run(pytester, "--assay-out=out").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("instead", "says"),
    [
        ('"ghost" sees "m" exactly once', "no receiver or subscriber * is called ghost; the scenario has receiver"),
        ('sending "ghost" is accepted', "no message in this scenario is called ghost; the scenario has m"),
        (
            "the receiver sees it no earlier than 1 s after the send",
            "'it' and 'the message' stand for 'a message', which no earlier step has sent; the scenario has m",
        ),
        (
            'sending "m" is refused with MQRC_NO_SUCH_THING',
            "there is no reason code MQRC_NO_SUCH_THING; *see docs/reasons.md",
        ),
        ("everybody is happy", "the vocabulary has no such step; *`assay steps WORD` finds steps by their words"),
        ("an empty queue", "the vocabulary has it as a Given only; *"),
        (
            'message "m" is sent to the queue with a delay of 2 s',
            "the vocabulary has no such step; *",
        ),
    ],
)
def test_a_step_that_names_nothing_is_told_in_a_sentence_with_its_place(
    pytester: pytest.Pytester, instead: str, says: str
) -> None:
    own(pytester, KEPT.replace('the receiver sees "m" exactly once', instead))
    result = run(pytester, "--assay-out=out")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["own.feature:8", f"step: Then {instead}", says])
    result.stdout.no_fnmatch_line("*Error*")
    assert judged(pytester)["It arrives"]["verdict"] == "error"
    assert "own.feature:8: " in judged(pytester)["It arrives"]["reason"]


def test_a_wrong_option_of_a_step_is_named_with_the_closest(pytester: pytest.Pytester) -> None:
    own(pytester, KEPT.replace("is sent to the queue", "is sent to the queue with a delay of 2 s"))
    run(pytester, "--assay-out=out").assert_outcomes(failed=1)
    reason = judged(pytester)["It arrives"]["reason"]
    told = "'a delay of 2 s' is not a valid option of a send; did you mean 'a delivery delay of 2 s'?"
    assert f"own.feature:7: {told}" in reason


def test_a_failure_names_feature_line_and_step(pytester: pytest.Pytester) -> None:
    own(
        pytester,
        KEPT.replace('sees "m" exactly once', 'never sees "m"') + '      And the receiver sees "m" exactly once\n',
    )
    result = run(pytester, "--assay-out=out")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["own.feature:8", 'step: Then the receiver never sees "m"', "fail: *", "expected: *"])


def test_a_run_ends_with_the_place_of_its_evidence(pytester: pytest.Pytester) -> None:
    own(pytester, KEPT)
    assert run(pytester, "--assay-out=out").outlines[-1] == f"evidence: {pytester.path / 'out'}"


def test_a_teams_own_feature_runs_without_a_module_and_decides_no_rule_of_the_kit(pytester: pytest.Pytester) -> None:
    pytester.makefile(".feature", own=KEPT.replace("sees", "never sees").replace(" exactly once", ""))
    run(pytester, "own.feature", "--assay-out=out", "--strict-markers").assert_outcomes(failed=1)
    assert judged(pytester)["It arrives"]["verdict"] == "fail"
    verdicts = json.loads((pytester.path / "out" / "verdicts.json").read_text())
    assert verdicts["rules"] == []
    assert not any(verdicts["totals"].values())


MISSED = """\
Feature: Own
  @PD-34
  Rule: Own
    Scenario: It comes after the first receiver has gone
      Given an empty queue
      And receiver "first" is waiting on the queue
      When message "m" is sent to the queue with a delivery delay of 1 hour
      And "first" has seen "m"
      And "first" is closed
      And "m" is overdue
      And receiver "after" starts to wait on the queue
      Then "after" never sees "m"
"""


def test_what_an_earlier_step_awaited_in_vain_breaks_no_rule_later(pytester: pytest.Pytester) -> None:
    own(pytester, MISSED)
    run(pytester, "--assay-out=out").assert_outcomes(failed=1)
    (judgement,) = judged(pytester).values()
    assert judgement["verdict"] == "inconclusive"
    assert "waited in vain" in judgement["reason"]


BROKEN = "Feature: Own\n  @PD-34\n  Rule: Own\n    Scenario: It\n      When somebody acts\n"


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("async def _():\n    pass", "a coroutine, and pytest-bdd does not await it"),
        ("def _():\n    raise OSError('no room')", "no room"),
        ("def _():\n    async def later():\n        pass\n    later()", "was never awaited"),
        ("def _(world):\n    import time\n    time.sleep(0)", "called a real sleep"),
        ("def _(nobody):\n    pass", "nobody"),
        ("def _(world):\n    world.consumers['nobody']", "nobody"),
    ],
)
def test_a_step_that_breaks_is_an_error_in_the_journal_too(pytester: pytest.Pytester, step: str, reason: str) -> None:
    own(pytester, BROKEN, f"@when('somebody acts')\n{step}\n")
    run(pytester, "--assay-out=out").assert_outcomes(failed=1)
    assert judged(pytester)["It"]["verdict"] == "error"
    assert reason in judged(pytester)["It"]["reason"]


def test_a_step_that_nobody_defined_is_an_error(pytester: pytest.Pytester) -> None:
    own(pytester, BROKEN)
    run(pytester, "--assay-out=out").assert_outcomes(failed=1)
    assert judged(pytester)["It"]["verdict"] == "error"


def test_a_setup_that_the_pair_refuses_is_inconclusive(pytester: pytest.Pytester) -> None:
    refused = KEPT.replace("is waiting on the queue", 'is waiting on the queue for messages with "= ="').replace(
        "And a receiver", 'And receiver "receiver"'
    )
    own(pytester, refused)
    run(pytester, "--assay-out=out").assert_outcomes(failed=1)
    assert judged(pytester)["It arrives"]["verdict"] == "inconclusive"


@pytest.mark.parametrize(("tag", "verdict"), [("@judges-client", "fail"), ("@judges-broker", "inconclusive")])
def test_a_client_that_raises_an_error_of_its_own_in_a_set_up_fails_where_it_is_judged(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tag: str, verdict: str
) -> None:
    monkeypatch.delattr("assay_sdk.engine.sessions.session.EngineSession.create_consumer")
    own(pytester, KEPT.replace("    Scenario:", f"    {tag}\n    Scenario:"))
    run(pytester, "--assay-out=out").assert_outcomes(failed=1)
    told = judged(pytester)["It arrives"]
    assert told["verdict"] == verdict
    assert "The client raised AttributeError" in f"{told['reason']} {told['observed']}"


def test_a_scenario_without_a_claim_is_not_demonstrated(pytester: pytest.Pytester) -> None:
    own(pytester, BROKEN, "@when('somebody acts')\ndef _():\n    pass\n")
    result = run(pytester, "--assay-out=out")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["not-demonstrated: *", "Only a Then-step makes claims: add one*"])
    result.stdout.no_fnmatch_line("expected:*")
    assert judged(pytester)["It"]["verdict"] == "not-demonstrated"


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--assay-backend=refrence", "did you mean 'reference'"),
        ("--assay-rule=DD-2", "did you mean DD-02"),
        ("--assay-profile=delya", "did you mean delay"),
        ("--assay-face=clasic", "did you mean 'classic'"),
        ("--assay-store=memry", "did you mean 'memory'"),
        ("--assay-defect=early-delivry", "did you mean 'early-delivery'"),
        ("--assay-out=own.feature", "it is a file"),
    ],
)
def test_an_option_that_names_nothing_stops_the_run_with_a_sentence(
    pytester: pytest.Pytester, option: str, says: str
) -> None:
    own(pytester, KEPT)
    result = run(pytester, *([] if option.startswith("--assay-out") else ["--assay-out=out"]), option)
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    assert says in result.stderr.str()
    assert not Path("out").exists()


def test_a_folder_with_something_foreign_in_it_is_refused_by_the_plugins_own_option(pytester: pytest.Pytester) -> None:
    own(pytester, KEPT)
    (pytester.path / "out").mkdir()
    (pytester.path / "out" / "thesis.tex").write_text("mine")
    result = run(pytester, "--assay-out=out")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*it holds 'thesis.tex', which no run wrote*folder with --assay-out."])


LOST = """\
Feature: Own
  Scenario: What a lost receiver had comes again, marked
    Given an empty queue
    And receiver "receiver" is waiting on the queue in client mode
    When message "m" is sent to the queue
    And "receiver" has seen "m"
    And "receiver"'s connection is lost
    And receiver "after" starts to wait on the queue
    Then "after" sees "m" exactly once
    And every redelivery of "m" that "after" sees is marked as redelivered

  @needs-topic
  Scenario: Another subscriber's copy needs no mark
    Given a topic
    And a non-durable subscriber "one" on the topic
    And a non-durable subscriber "two" on the topic
    When message "m" is sent to the topic
    Then "one" sees "m" exactly once
    And "two" sees "m" exactly once
    And every redelivery of "m" that "two" sees is marked as redelivered

  Scenario: What nobody had before needs no mark
    Given an empty queue
    And receiver "first" is waiting on the queue
    When message "m" is sent to the queue
    And "first" has seen "m"
    And "first"'s connection is closed
    And message "n" is sent to the queue
    And receiver "after" starts to wait on the queue
    Then "after" sees "n" exactly once
    And every redelivery of "m" and "n" that "after" sees is marked as redelivered
"""


@pytest.mark.parametrize(("defect", "found"), [(None, "pass"), ("redelivered-unmarked", "fail")])
def test_a_redelivery_without_its_mark_is_found_though_its_earlier_receiver_is_not_named(
    pytester: pytest.Pytester, defect: str | None, found: str
) -> None:
    pytester.makefile(".feature", own=LOST)
    run(pytester, "own.feature", "--assay-out=out", *([f"--assay-defect={defect}"] if defect else []))
    assert {name: one["verdict"] for name, one in judged(pytester).items()} == {
        "What a lost receiver had comes again, marked": found,
        "Another subscriber's copy needs no mark": "not-demonstrated",
        "What nobody had before needs no mark": "not-demonstrated",
    }
