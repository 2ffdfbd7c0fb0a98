"""Tests of the verdicts on rules: their order, their parts, their levels, and scenarios that were not run (apart)."""

from __future__ import annotations

from tests.evidence.histories import Memory, Story, begin, plan, planned
from tests.evidence.judged import CATALOGUE, NAME, breaks, keeps, run_of_three, scenario

from assay_evidence.events import Unsupported
from assay_evidence.judge import judge
from assay_evidence.verdicts import Verdict


def test_rules_come_in_the_catalogues_order_and_scenarios_by_id() -> None:
    verdicts = judge(run_of_three(), CATALOGUE)
    assert [(rule.id, [one.scenario for one in rule.scenarios]) for rule in verdicts.rules] == [
        ("DD-02", ["x", "y"]),
        ("DD-03", ["z"]),
        ("PD-11", ["w"]),
    ]
    assert (verdicts.schema, verdicts.run, verdicts.backend, verdicts.client) == (
        2,
        "run-1",
        "reference",
        "assay 1 (classic)",
    )
    assert verdicts.rules[0].profile == "delay"
    assert verdicts.rules[0].judged == "broker"


def test_totals_count_rules_by_verdict_with_all_seven() -> None:
    assert judge(run_of_three(), CATALOGUE).totals == {
        "pass": 2,
        "partial": 0,
        "unsupported": 0,
        "not-demonstrated": 0,
        "inconclusive": 0,
        "error": 0,
        "fail": 1,
    }


def lacking(sink: Memory, name: str, *, apart: bool = False) -> None:
    scenario(
        sink,
        lambda story: story.tell(Unsupported, capability="virtual-time", reason="It has none.", apart=apart),
        name=name,
    )


def test_a_scenario_that_stands_apart_decides_its_rule_only_where_no_other_does() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME), planned("to the millisecond"))
    scenario(sink, keeps)
    lacking(sink, "to the millisecond", apart=True)
    verdicts = judge(sink.events, CATALOGUE)
    assert [(rule.verdict, len(rule.scenarios)) for rule in verdicts.rules] == [(Verdict.PASS, 2)]
    assert [one.verdict for one in verdicts.scenarios if one.apart] == [Verdict.UNSUPPORTED]


def test_what_stands_apart_decides_its_rule_where_it_is_alone() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME))
    lacking(sink, NAME, apart=True)
    assert [rule.verdict for rule in judge(sink.events, CATALOGUE).rules] == [Verdict.UNSUPPORTED]


def test_what_the_pair_lacks_leaves_a_part_of_a_rule_shown() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME), planned("another"))
    lacking(sink, NAME)
    scenario(sink, keeps, name="another")
    (rule,) = judge(sink.events, CATALOGUE).rules
    assert (rule.verdict, rule.passed, rule.asked) == (Verdict.PARTIAL, 1, 2)
    assert rule.reason == next(one.reason for one in rule.scenarios if one.scenario == NAME)


def test_a_rule_of_both_parts_has_a_verdict_for_each() -> None:
    sink = Memory()
    begin(sink)
    plan(
        sink,
        scenario(sink, breaks, name="x", rule="DD-11", judged="client"),
        scenario(sink, keeps, name="y", rule="DD-11", judged="broker"),
    )
    (rule,) = judge(sink.events, CATALOGUE).rules
    assert (rule.verdict, rule.parts) == (Verdict.FAIL, {"client": Verdict.FAIL, "broker": Verdict.PASS})


def test_a_scenario_that_judges_both_parts_counts_for_both() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, scenario(sink, breaks, name="x", rule="DD-11", judged="client+broker"))
    (rule,) = judge(sink.events, CATALOGUE).rules
    assert rule.parts == {"client": Verdict.FAIL, "broker": Verdict.FAIL}


def test_a_rule_states_the_level_of_what_passed_and_what_was_not_seen() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME), planned("another"))
    scenario(sink, keeps)

    def lacks_the_flush(story: Story) -> None:
        story.tell(Unsupported, capability="flush-trace", reason="It has none.")

    scenario(sink, lacks_the_flush, name="another")
    (rule,) = judge(sink.events, CATALOGUE).rules
    assert rule.evidence == "by clients alone; flush not seen"
