from __future__ import annotations

from tools.mutation.coverage_map import CoverageMap, Tried
from tools.mutation.nearness import MutantContext, Nearness, words_of

TEXTS = (
    "a receiver is waiting",
    "the producer sends a message with priority 7",
    "a message with a time to live expires",
    "the broker is killed",
    "a receiver is waiting again",
)
LINES = CoverageMap(
    tuple(
        Tried(f"scenario {number}", "pass", 0.01, (rule,), lines)
        for number, (rule, lines) in enumerate(
            [("PD-01", 10), ("PD-03", 20), ("DD-56", 30), ("PD-20", 40), ("PD-01", 50)]
        )
    ),
    {"some.py": {10: "1f", 11: "8", 12: "17", 20: "3"}},
)
NEARNESS = Nearness(LINES, TEXTS)
BODY = (10, 12)


def context(statement: str = "x", text: str = "") -> MutantContext:
    return MutantContext.of("some.py", BODY, statement, "f", text)


def test_words_are_those_of_identifiers_without_their_endings() -> None:
    assert words_of("self._sentPriorities(delivered, time_to_live)") == {
        "self",
        "sent",
        "prioritie",
        "deliver",
        "time",
        "live",
    }


def test_only_passing_scenarios_that_run_a_line_are_asked() -> None:
    assert LINES.running("some.py", 20, 20) == [0, 1]
    assert LINES.running("some.py", 13, 19) == []
    failing = CoverageMap((Tried("scenario 0", "error", 0.01, ()),), {"some.py": {1: "1"}})
    assert failing.running("some.py", 1, 1) == []


def test_a_scenario_that_convicted_a_neighbour_comes_first() -> None:
    assert NEARNESS.sorted(range(5), [4, 2], context())[:2] == [2, 4]


def test_a_scenario_that_says_what_the_statement_says_comes_early() -> None:
    assert NEARNESS.sorted(range(5), (), context("send(priority=priority)"))[0] == 1


def test_the_rarest_way_through_the_function_comes_before_the_usual_ones() -> None:
    assert NEARNESS.sorted(range(5), (), context())[0] == 3


def test_a_rule_that_the_function_names_comes_early() -> None:
    assert 2 in NEARNESS.sorted(range(5), (), context(text="# DD-56: it expires"))[:2]


def test_each_scenario_comes_once() -> None:
    order = NEARNESS.sorted(range(5), [1], context("priority", "PD-20"))
    assert sorted(order) == [0, 1, 2, 3, 4]
