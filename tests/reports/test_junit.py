from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from assay_evidence.verdicts import RuleVerdict, ScenarioVerdict, Verdict, Verdicts
from assay_reports import RunEvidence, junit_xml

EXPECTED = {
    Verdict.PASS: None,
    Verdict.FAIL: "failure",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "error",
    Verdict.NOT_DEMONSTRATED: "skipped",
    Verdict.PARTIAL: "skipped",
    Verdict.UNSUPPORTED: "skipped",
}


def document_of(*verdicts: Verdict) -> ET.Element:
    scenarios = tuple(
        ScenarioVerdict(f"a/b.feature::s{place}", ("DD-02",), verdict, "must", "broker", "because", "x", "y")
        for place, verdict in enumerate(verdicts)
    )
    rule = RuleVerdict("DD-02", Verdict.PASS, "must", "broker", "delay", scenarios)
    return ET.fromstring(junit_xml([Verdicts(1, "run", "broker", "client", (rule,), {})]))  # noqa: S314 - our own


@pytest.mark.parametrize("verdict", Verdict)
def test_each_verdict_has_its_element_and_stands_in_it(verdict: Verdict) -> None:
    case = document_of(verdict).find("testsuite/testcase")
    assert case is not None
    outcomes = [child for child in case if child.tag != "properties"]
    assert [child.tag for child in outcomes] == ([EXPECTED[verdict]] if EXPECTED[verdict] else [])
    for outcome in outcomes:
        assert outcome.attrib == {"type": verdict.value, "message": f"{verdict.value}: because"}
        assert outcome.text == "expected: x\nobserved: y"


def test_the_counts_are_those_of_the_elements() -> None:
    root = document_of(*Verdict)
    for element in (root, root[0]):
        counts = {name: element.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
        assert counts == {"tests": "7", "failures": "1", "errors": "2", "skipped": "3"}


def test_a_scenario_of_two_rules_is_one_case() -> None:
    scenario = ScenarioVerdict("a/b.feature::s", ("DD-02", "DD-03"), Verdict.PASS, "must", "broker")
    rules = tuple(RuleVerdict(rule, Verdict.PASS, "must", "broker", "delay", (scenario,)) for rule in scenario.rules)
    root = ET.fromstring(junit_xml([Verdicts(1, "run", "broker", "client", rules, {})]))  # noqa: S314 - our own
    assert root.attrib["tests"] == "1"


def test_a_case_says_which_client_ran_it_where_the_journal_tells() -> None:
    told = ScenarioVerdict("a/b.feature::s", ("DD-02",), Verdict.PASS, "must", "broker", client="It 1 (mqlight)")
    untold = ScenarioVerdict("a/b.feature::t", ("DD-02",), Verdict.PASS, "must", "broker")
    rule = RuleVerdict("DD-02", Verdict.PASS, "must", "broker", "delay", (told, untold))
    root = ET.fromstring(junit_xml([Verdicts(1, "run", "broker", "client", (rule,), {})]))  # noqa: S314 - our own
    shown = [
        [one.attrib["value"] for one in case.iter("property") if one.attrib["name"] == "client"]
        for case in root.iter("testcase")
    ]
    assert shown == [["It 1 (mqlight)"], []]


def test_there_is_a_suite_for_each_feature_on_each_pair(runs: tuple[RunEvidence, RunEvidence]) -> None:
    root = ET.fromstring(junit_xml([run.verdicts for run in runs]))  # noqa: S314 - our own
    names = [suite.attrib["name"] for suite in root]
    assert "artemis: persistence/matrix.feature" in names
    assert "reference: batch/shape.feature" in names
    assert len(names) == len(set(names)) == 12
