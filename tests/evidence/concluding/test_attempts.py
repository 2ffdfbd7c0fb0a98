"""Tests of the attempts at a scenario; each case is a row of the table in `assay_evidence.concluding.attempts`."""

from __future__ import annotations

import pytest
from tests.evidence.histories import Memory, Story, begin, plan, planned, refusal
from tests.evidence.judged import CATALOGUE, NAME, Tell, breaks, keeps, wonders

from assay_evidence.concluding.attempts import SLOW_RETURN_NS, UNANSWERED_NS, attempt_id
from assay_evidence.events import ScenarioBegin, Step
from assay_evidence.judge import judge
from assay_evidence.lines import JournalDamage
from assay_evidence.verdicts import ScenarioVerdict, Verdict, Verdicts

BUSY_NS = 1_600_000_000
SLOW_MS = SLOW_RETURN_NS // 1_000_000 + 1


def attempts(*told: tuple[Tell, int], foreign: bool = False) -> Verdicts:
    """Return the verdicts of attempts at one scenario, each with its events and the harness's delay in nanoseconds."""
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME))
    for number, (tell, late_ns) in enumerate(told, 1):
        story = Story(sink, attempt_id(NAME, number), rule="DD-02")
        repeats = NAME if number > 1 else ""
        story.tell(
            ScenarioBegin,
            rules=("DD-02",),
            judged="broker",
            strength="must",
            foreign=foreign,
            attempt=number,
            repeats=repeats,
        )
        tell(story)
        story.ends(late_ns)
    return judge(sink.events, CATALOGUE)


def verdict(*told: tuple[Tell, int]) -> ScenarioVerdict:
    ((found,),) = (rule.scenarios for rule in attempts(*told).rules)
    return found


@pytest.mark.parametrize(
    ("told", "expected", "attempt"),
    [
        ([(breaks, BUSY_NS), (keeps, 0)], Verdict.PASS, 2),
        ([(breaks, BUSY_NS), (breaks, 0)], Verdict.FAIL, 2),
        ([(breaks, BUSY_NS), (breaks, BUSY_NS), (keeps, 0)], Verdict.PASS, 3),
        ([(breaks, BUSY_NS), (breaks, BUSY_NS)], Verdict.INCONCLUSIVE, 2),
        ([(breaks, 0), (keeps, 0)], Verdict.FAIL, 1),
        ([(keeps, 0), (breaks, 0)], Verdict.PASS, 1),
        ([(wonders, 0), (keeps, 0)], Verdict.INCONCLUSIVE, 1),
        ([(wonders, BUSY_NS), (keeps, 0)], Verdict.PASS, 2),
    ],
    ids=[
        "kept the second time",
        "broken the second time",
        "kept the third time",
        "busy to the end",
        "a fail stays",
        "a pass stays",
        "inconclusive for another reason",
        "inconclusive for another reason on a busy machine",
    ],
)
def test_the_first_attempt_that_no_busy_machine_delayed_decides(
    told: list[tuple[Tell, int]], expected: Verdict, attempt: int
) -> None:
    found = verdict(*told)
    assert (found.verdict, found.attempt, found.scenario) == (expected, attempt, NAME)
    assert found.trace == attempt_id(NAME, attempt)


def slow(tell: Tell | None, *, ms: int = SLOW_MS) -> Tell:
    """Return a scenario with a kill after which the broker needs some time, and then perhaps a claim."""

    def told(story: Story) -> None:
        story.fault("begin")
        story.at(story.now_ns // 1_000_000 + ms)
        story.fault("end")
        if tell is not None:
            tell(story)

    return told


def misses(story: Story) -> None:
    """Add a step that breaks because a shared fault failed."""
    story.tell(Step, keyword="When", text="it", outcome="broken", detail="no answer", shared_fault=True)


def falls_silent(story: Story) -> None:
    """Add the step that notes the silence of the scenario's own broker."""
    story.tell(Step, keyword="*", text="the broker at the end", outcome="refused", detail="no answer", silent=True)


def breaks_down(story: Story) -> None:
    """Add a step that breaks for another reason."""
    story.step("broken", "no answer")


@pytest.mark.parametrize(
    ("told", "expected", "attempt"),
    [
        ([slow(wonders), keeps], Verdict.PASS, 2),
        ([slow(None), keeps], Verdict.PASS, 2),
        ([slow(None), slow(None), breaks], Verdict.FAIL, 3),
        ([slow(None, ms=SLOW_MS - 2), keeps], Verdict.NOT_DEMONSTRATED, 1),
        ([slow(breaks), keeps], Verdict.FAIL, 1),
        ([slow(keeps), breaks], Verdict.PASS, 1),
        ([misses, keeps], Verdict.PASS, 2),
        ([misses, breaks], Verdict.FAIL, 2),
        ([misses, breaks_down, keeps], Verdict.ERROR, 2),
        ([breaks_down, keeps], Verdict.ERROR, 1),
    ],
    ids=[
        "a slow return left it inconclusive",
        "a slow return left it not-demonstrated",
        "two slow returns",
        "a return that was not slow",
        "a fail after a slow return stays",
        "a pass after a slow return stays",
        "a failed shared fault",
        "a failed shared fault, and then a fail",
        "another error after a failed shared fault",
        "another error",
    ],
)
def test_a_slow_or_failed_fault_replaces_no_pass_and_no_fail(told: list[Tell], expected: Verdict, attempt: int) -> None:
    found = verdict(*[(tell, 0) for tell in told])
    assert (found.verdict, found.attempt) == (expected, attempt)


@pytest.mark.parametrize(
    ("waited_ns", "expected", "attempt"),
    [(UNANSWERED_NS + 1, Verdict.PASS, 2), (UNANSWERED_NS, Verdict.INCONCLUSIVE, 1)],
    ids=["an unanswered call", "an answered call"],
)
def test_a_scenario_is_tried_again_if_the_broker_left_a_call_unanswered(
    waited_ns: int, expected: Verdict, attempt: int
) -> None:
    def gives_up(story: Story) -> None:
        call = story.call("consumer")
        story.now_ns += waited_ns
        story.answer(call, refusal(text="no answer"))
        story.step("refused", "no answer")

    found = verdict((gives_up, 0), (keeps, 0))
    assert (found.verdict, found.attempt) == (expected, attempt)


@pytest.mark.parametrize("late_ns", [0, BUSY_NS])
def test_a_scenario_is_not_repeated_after_the_silence_of_its_own_broker(late_ns: int) -> None:
    found = verdict((falls_silent, late_ns), (keeps, 0))
    assert (found.verdict, found.attempt) == (Verdict.INCONCLUSIVE, 1)


def test_an_attempt_whose_journal_is_damaged_is_never_replaced() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME))
    for number, late_ns in ((1, BUSY_NS), (2, 0)):
        story = Story(sink, attempt_id(NAME, number), rule="DD-02")
        repeats = NAME if number > 1 else ""
        story.tell(ScenarioBegin, rules=("DD-02",), judged="broker", strength="must", attempt=number, repeats=repeats)
        keeps(story)
        story.ends(late_ns)
    damage = JournalDamage("gap", "w", "w.jsonl", 3, "A line is missing.")
    ((found,),) = (rule.scenarios for rule in judge(sink.events, CATALOGUE, [damage]).rules)
    assert (found.verdict, found.attempt) == (Verdict.INCONCLUSIVE, 1)


def test_an_attempt_of_a_scenario_that_the_journals_lack_is_judged_by_itself() -> None:
    sink = Memory()
    begin(sink)
    plan(sink)
    story = Story(sink, attempt_id(NAME, 2), rule="DD-02")
    story.tell(ScenarioBegin, rules=("DD-02",), judged="broker", strength="must", attempt=2, repeats=NAME)
    keeps(story)
    story.ends()
    ((found,),) = (rule.scenarios for rule in judge(sink.events, CATALOGUE).rules)
    assert (found.scenario, found.verdict) == (attempt_id(NAME, 2), Verdict.PASS)


def test_an_attempt_alone_never_replaces_a_planned_scenario_that_did_not_run() -> None:
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME))
    story = Story(sink, attempt_id(NAME, 2), rule="DD-02")
    story.tell(ScenarioBegin, rules=("DD-02",), judged="broker", strength="must", attempt=2, repeats=NAME)
    keeps(story)
    story.ends()
    ((found,),) = (rule.scenarios for rule in judge(sink.events, CATALOGUE).rules)
    assert (found.scenario, found.verdict) == (NAME, Verdict.ERROR)


def test_a_users_own_scenario_is_decided_in_the_same_way() -> None:
    (found,) = attempts((breaks, BUSY_NS), (keeps, 0), foreign=True).foreign
    assert (found.verdict, found.attempt) == (Verdict.PASS, 2)
