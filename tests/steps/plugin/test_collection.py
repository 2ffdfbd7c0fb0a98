"""Tests of the collection of scenarios: tags, outlines, names, and mistakes that stop the run."""

from __future__ import annotations

import json

import pytest
from tests.steps.plugin.runs import KEPT, judged, own, run

from assay_adapters.ports.capabilities import Needs
from assay_features import Role
from assay_steps.plugin.cases import Case

pytest_plugins = ["pytester"]


@pytest.fixture(autouse=True)
def _no_other_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_strength_judged_and_needs_come_from_a_scenarios_own_tags(pytester: pytest.Pytester) -> None:
    tagged = KEPT.replace("    Scenario:", "    @may @evidence @judges-client @needs-cancel\n    Scenario:")
    plain = "    Scenario: It arrives too\n" + "".join(KEPT.splitlines(keepends=True)[4:])
    own(pytester, tagged + plain)
    run(pytester, "--assay-out=out", "--strict-markers").assert_outcomes(passed=1, skipped=1)
    first, second = judged(pytester)["It arrives"], judged(pytester)["It arrives too"]
    assert (first["strength"], first["judged"], first["verdict"]) == ("may", "client", "unsupported")
    assert "no call that cancels a delayed message" in first["reason"]
    assert (first["role"], second["role"]) == ("evidence", "core")
    assert (second["strength"], second["judged"], second["verdict"]) == ("must", "broker", "pass")


@pytest.mark.parametrize(
    ("role", "judged_part", "foreign", "counts"),
    [
        (Role.KIT, "broker", False, False),
        (Role.KIT, "client+broker", False, False),
        (Role.KIT, "client", False, True),
        (Role.KIT, "broker", True, True),
        (Role.CORE, "broker", False, True),
    ],
)
def test_a_scenario_of_the_kits_own_demands_counts_for_the_kits_parts_only(
    role: Role, judged_part: str, foreign: bool, counts: bool
) -> None:
    case = Case("id", "feature", "name", (), "must", judged_part, "", Needs(), foreign=foreign, role=role)
    assert case.can_count(["client"]) is counts
    assert case.can_count(["client", "broker"])


def test_a_row_of_an_outline_is_a_scenario_of_its_own(pytester: pytest.Pytester) -> None:
    outline = KEPT.replace("Scenario: It", 'Scenario Outline: "<m>"').replace('"m"', '"<m>"')
    own(pytester, outline + "      Examples:\n        | m |\n        | a |\n        | b |\n")
    run(pytester, "--assay-out=out").assert_outcomes(passed=2)
    assert set(judged(pytester)) == {'"<m>" arrives[a]', '"<m>" arrives[b]'}


@pytest.mark.parametrize("strict", [(), ("--strict-markers",)])
@pytest.mark.parametrize(
    ("tag", "line", "says"),
    [
        ("@DD-999", 5, "is tagged @DD-999, which is no rule of the catalogue; "),
        ("@needs-telport", 5, "there is no capability telport; "),
        ("@needs-restat", 5, "there is no capability restat; the nearest is restart; docs/vocabulary.md lists them"),
        ("@judges-nobody", 5, "is tagged @judges-nobody, which the kit does not know; it knows @judges-client"),
        ("@evidence @control", 5, "is tagged @control and @evidence; a scenario has one role, so keep one."),
        ("@level-1.0", 5, "@level-1.0 is unknown; 'level-' knows 7.0"),
    ],
)
def test_a_tag_that_names_nothing_stops_the_run_with_a_sentence(
    pytester: pytest.Pytester, tag: str, line: int, says: str, strict: tuple[str, ...]
) -> None:
    own(pytester, KEPT.replace("    Scenario:", f"    {tag}\n    Scenario:"))
    result = run(pytester, "--assay-out=out", *strict)
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    assert f"own.feature:{line}: " in result.stderr.str()
    assert says in result.stderr.str()
    assert "Traceback" not in result.stderr.str()


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("@own-instnce", "@own-instance"),
        ("@own_instance", "@own-instance"),
        ("@needs_kill", "@needs-kill"),
        ("@need-kill", "@needs-kill"),
        ("@platform_zos", "@platform-zos"),
        ("@topology_cluster", "@topology-cluster"),
        ("@Control", "@control"),
        ("@controll", "@control"),
        ("@DD_02", "@DD-02"),
        ("@dd2", "@DD-02"),
        ("@PD10", "@PD-10"),
    ],
)
def test_a_misspelt_tag_of_the_kit_is_no_tag_of_a_teams_own(pytester: pytest.Pytester, tag: str, meant: str) -> None:
    pytester.makefile(".feature", own=KEPT.replace("@PD-34", tag))
    result = run(pytester, "own.feature", "--assay-out=out")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    assert f"own.feature:4: scenario 'It arrives' is tagged {tag}, which the kit does not know; " in result.stderr.str()
    assert f"did you mean {meant}? A tag of your own needs another name." in result.stderr.str()


def test_tags_that_only_resemble_the_kits_are_a_teams_own(pytester: pytest.Pytester) -> None:
    theirs = ("OR-12", "OR12", "cores", "kits", "queue", "score", "session", "control-flow", "need-coffee", "wip")
    pytester.makefile(".feature", own=KEPT.replace("@PD-34", " ".join(f"@{tag}" for tag in theirs)))
    run(pytester, "own.feature", "--assay-out=out", "--strict-markers").assert_outcomes(passed=1)
    assert judged(pytester)["It arrives"]["tags"] == sorted(theirs)


PLACES = """Feature: Places
  Scenario: It arrives
    Given {}
    When message "m" is sent to queue "orders"
    Then {} holds "m"
"""


@pytest.mark.parametrize(
    ("begun", "place", "told"),
    [
        ('an empty queue "orders"', "the queue", "'the queue' in 'the queue holds \"m\"' is another one"),
        ('a non-durable subscriber "s" on topic "t"', "the queue of the subscription to the topic", "'the topic' in"),
        ('an empty queue "orders"', 'queue "orders"', ""),
    ],
)
def test_a_place_without_a_name_beside_named_ones_stops_the_run(
    pytester: pytest.Pytester, begun: str, place: str, told: str
) -> None:
    pytester.makefile(".feature", own=PLACES.format(begun, place))
    result = run(pytester, "own.feature", "--assay-out=out")
    assert (result.ret is pytest.ExitCode.USAGE_ERROR) is bool(told)
    assert told in result.stderr.str()


OUTLINE = KEPT.replace("Scenario: It", "Scenario Outline: It").replace('"m"', '"<m>"')


@pytest.mark.parametrize(
    ("examples", "says"),
    [
        ("", "has <m> in its steps and no Examples; add a table with this column."),
        ("| n |\n| a |\n", "has <m> in a step, and its Examples have no such column; the columns are n."),
        ("| m |\n| a |\n| b |\n| a |\n", "has the row [a] 2 times in its Examples; "),
    ],
)
def test_an_outline_whose_rows_do_not_fit_its_steps_stops_the_run(
    pytester: pytest.Pytester, examples: str, says: str
) -> None:
    pytester.makefile(".feature", own=OUTLINE + (f"Examples:\n{examples}" if examples else ""))
    result = run(pytester, "own.feature", "--assay-out=out")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    assert f"own.feature:4: scenario 'It arrives' {says}" in result.stderr.str()


def test_a_teams_scenario_needs_no_rule_and_may_bear_ids_of_the_teams_own(pytester: pytest.Pytester) -> None:
    pytester.makefile(".feature", own=KEPT.replace("@PD-34", "@OR-12 @smoke"))
    run(pytester, "own.feature", "--assay-out=out", "--strict-markers").assert_outcomes(passed=1)
    told = judged(pytester)["It arrives"]
    assert (told["verdict"], told["rules"], told["tags"]) == ("pass", [], ["OR-12", "smoke"])
    assert (told["strength"], told["judged"]) == ("must", "client+broker")
    totals = json.loads((pytester.path / "out" / "verdicts.json").read_text())["foreign_totals"]
    assert totals == {**dict.fromkeys(totals, 0), "pass": 1}


@pytest.mark.parametrize("narrowed", ["--assay-rule=PD-34", "--assay-profile=delay"])
def test_a_scenario_without_a_rule_is_left_out_where_rules_are_asked_for(
    pytester: pytest.Pytester, narrowed: str
) -> None:
    own(pytester, KEPT.replace("  @PD-34\n", ""))
    run(pytester, "--assay-out=out", narrowed).assert_outcomes(deselected=1)


@pytest.mark.parametrize("bound", ["own.feature", "test_own.py"])
def test_a_scenario_without_steps_stops_the_run_with_its_place(pytester: pytest.Pytester, bound: str) -> None:
    own(pytester, KEPT.replace("  @PD-34\n", "") + "    Scenario: Nothing\n      # to be written\n")
    result = run(pytester, bound, "--assay-out=out")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*own.feature:8: scenario 'Nothing' has no steps of its own, so it tests nothing; *"])


def test_an_outline_without_a_row_stops_the_run(pytester: pytest.Pytester) -> None:
    outline = KEPT.replace("Scenario: It", 'Scenario Outline: "<m>"').replace('"m"', '"<m>"')
    pytester.makefile(".feature", own=outline + "      Examples:\n        | m |\n")
    result = run(pytester, "own.feature", "--assay-out=out")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*has no row in its Examples, so it would test nothing*"])


def test_features_of_one_name_in_several_folders_are_told_apart(pytester: pytest.Pytester) -> None:
    for folder in ("a", "b"):
        (pytester.path / folder).mkdir()
        (pytester.path / folder / "own.feature").write_text(KEPT)
    (pytester.path / "root").mkdir()
    run(
        pytester, "a/own.feature", "b/own.feature", "--rootdir=root", "--assay-out=out", "-p", "xdist.plugin", "-n2"
    ).assert_outcomes(passed=2)
    verdicts = json.loads((pytester.path / "out" / "verdicts.json").read_text())
    assert [(one["scenario"], one["verdict"]) for one in verdicts["foreign"]] == [
        ("a/own.feature::It arrives", "pass"),
        ("b/own.feature::It arrives", "pass"),
    ]


def test_features_that_would_have_one_name_in_the_verdicts_are_refused(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("a", "b", "elsewhere"):
        (pytester.path / folder).mkdir()
        (pytester.path / folder / "own.feature").write_text(KEPT)
    monkeypatch.chdir(pytester.path / "elsewhere")
    result = run(pytester, "../a/own.feature", "../b/own.feature", "--assay-out=out")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*are both called own.feature in the verdicts: *"])


def test_two_scenarios_of_one_name_stop_the_run(pytester: pytest.Pytester) -> None:
    scenario = "".join(KEPT.splitlines(keepends=True)[3:])
    own(pytester, KEPT + scenario)
    result = run(pytester, "--assay-out=out")
    assert result.ret is pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*'It arrives' is written 2 times and was collected 1 time*"])
