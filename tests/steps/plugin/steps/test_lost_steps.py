"""Tests that a run stops at a line of a feature that no step executes: the scenario could pass without this line."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

PLUGINS = ("-p", "pytest_bdd.plugin", "-p", "assay_steps.entry", "-p", "no:cacheprovider", "--assert=plain")
WHOLE = """Feature: Own
  Background:
    Given an empty queue

  Scenario: It arrives
    It is sent, and
    when the moon is full it is seen.
    Given a receiver is waiting on the queue
    When message "m1" is sent to the queue
    Then the receiver sees "m1" exactly once
"""


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def run(pytester: pytest.Pytester, feature: str) -> pytest.RunResult:
    pytester.makefile(".feature", own=feature)
    return pytester.runpytest_inprocess(*PLUGINS, "own.feature", "--assay-out=out")


def test_prose_that_begins_with_the_word_of_a_keyword_is_a_description(pytester: pytest.Pytester) -> None:
    run(pytester, WHOLE).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("written", "instead", "place", "keyword"),
    [
        ("Given an empty queue", "given an empty queue", 3, "Given"),
        ("Given a receiver", "given a receiver", 8, "Given"),
        ("Given a receiver", "Gven a receiver", 8, "Given"),
        ("Given a receiver", "AND a receiver", 8, "And"),
    ],
)
def test_a_step_that_gherkin_reads_as_a_description_stops_the_run(
    pytester: pytest.Pytester, written: str, instead: str, place: int, keyword: str
) -> None:
    result = run(pytester, WHOLE.replace(written, instead))
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    told = f"own.feature:{place}: Gherkin reads '{instead}"
    assert told in result.stderr.str()
    assert f"begin the step with {keyword}." in result.stderr.str()


LOST = """  Scenaro: It comes five times
    Given a receiver is waiting on the queue
    When message "m1" is sent to the queue
    Then the receiver sees "m1" exactly 5 times

"""


@pytest.mark.parametrize(
    ("before", "lost", "place", "told"),
    [
        ("Feature: Own\n", LOST, 2, "the steps below it; begin the line with `Scenario:`."),
        ("Feature: Own\n", LOST.replace("Scenaro", "scenario"), 2, "begin the line with `Scenario:`."),
        ("Feature: Own\n  Rule: Orders\n", LOST, 3, "the steps below it; begin the line with `Scenario:`."),
        ("Feature: Own\n", "  Bakground:\n    Given an empty queue\n", 2, "begin the line with `Background:`."),
        ("Feature: Own\n", "  Orders.\n  Given an empty queue\n", 3, "it; write `Scenario:` above the steps."),
    ],
)
def test_steps_in_the_description_of_a_feature_or_rule_stop_the_run(
    pytester: pytest.Pytester, before: str, lost: str, place: int, told: str
) -> None:
    whole = WHOLE.partition("  Scenario:")
    result = run(pytester, before + lost + "".join(whole[1:]))
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    read = (before + lost).splitlines()[place - 1].strip()
    assert f"own.feature:{place}: Gherkin reads {read!r} as a description, so pytest would not run" in (
        result.stderr.str()
    )
    assert told in result.stderr.str()


def test_a_feature_without_a_scenario_is_told_the_line_that_hides_one(pytester: pytest.Pytester) -> None:
    result = run(pytester, "Feature: Own\n" + LOST)
    result.stdout.fnmatch_lines(["*own.feature:2: Gherkin reads 'Scenaro: It comes five times' as a description*"])


def test_prose_before_the_first_scenario_is_a_description(pytester: pytest.Pytester) -> None:
    prose = (
        "Feature: Own\n  Background story: orders get lost.\n  When a shop closes, its orders stay.\n  Rule of thumb:\n"
    )
    run(pytester, prose + WHOLE.partition("\n")[2]).assert_outcomes(passed=1)


def test_a_users_own_step_is_known_too(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("from pytest_bdd import given\n\n@given('the shop is open')\ndef _(): pass\n")
    result = run(pytester, WHOLE.replace("    Given a receiver", "    given the shop is open\n    Given a receiver"))
    assert "own.feature:8: Gherkin reads 'given the shop is open' as a description" in result.stderr.str()


def test_keywords_of_the_features_language_count(pytester: pytest.Pytester) -> None:
    feature = (
        "# language: de\nFunktionalität: Own\n  Szenario: Es kommt an\n    angenommen an empty queue\n"
        "    Angenommen a receiver is waiting on the queue\n"
    )
    told = run(pytester, feature).stderr.str()
    assert "own.feature:4: Gherkin reads 'angenommen an empty queue' as a description" in told
    assert "begin the step with Angenommen." in told


@pytest.mark.parametrize(
    ("under", "kind"),
    [("      | delivery delay | 5 s |\n", "a table"), ('      """\n      later\n      """\n', "a text")],
)
def test_an_argument_under_a_step_that_takes_none_stops_the_run(
    pytester: pytest.Pytester, under: str, kind: str
) -> None:
    line = 'When message "m1" is sent to the queue\n'
    result = run(pytester, WHOLE.replace(line, line + under))
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    told = f"own.feature:5: the step 'message \"m1\" is sent to the queue' has {kind} under it, but takes none"
    assert told in result.stderr.str()
