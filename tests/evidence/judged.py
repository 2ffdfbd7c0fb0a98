"""Helpers for tests of verdicts: scenarios with claims that pass, fail or are inconclusive."""

from __future__ import annotations

from collections.abc import Callable

from tests.evidence.histories import Memory, Story, begin, plan, planned, refusal

from assay_evidence.events import AnyEvent, PlannedScenario
from assay_evidence.judge import judge
from assay_evidence.lines import JournalDamage
from assay_evidence.verdicts import ScenarioVerdict
from assay_features import load_catalogue

CATALOGUE = load_catalogue()
NAME = "delay/basics.feature::it"
Tell = Callable[[Story], object]


def keeps(story: Story) -> None:
    """Add a claim that passes."""
    story.claim("accepted", {"call": story.asks().ref})


def breaks(story: Story) -> None:
    """Add a claim that fails."""
    story.claim("accepted", {"call": story.asks(refused=refusal(text="why")).ref})


def wonders(story: Story) -> None:
    """Add a claim that is inconclusive."""
    story.claim("accepted", {"call": story.call().ref})


def scenario(
    sink: Memory, *told: Tell, name: str = NAME, rule: str = "DD-02", strength: str = "must", judged: str = "broker"
) -> PlannedScenario:
    """Write the events of a whole scenario, and return its entry in the plan."""
    story = Story(sink, name, rule=rule)
    story.starts(strength=strength, judged=judged)
    for tell in told:
        tell(story)
    story.ends()
    return planned(name, rule, strength=strength, judged=judged)


def verdicts_of(
    *told: Tell,
    strength: str = "must",
    judged: str = "broker",
    ours: tuple[str, ...] = (),
    harm: JournalDamage | None = None,
) -> ScenarioVerdict:
    """Return the verdict of a run of one scenario, all in one journal."""
    sink = Memory()
    begin(sink, ours=ours)
    plan(sink, planned(NAME, strength=strength, judged=judged))
    scenario(sink, *told, strength=strength, judged=judged)
    return judge(sink.events, CATALOGUE, [harm] if harm else []).rules[0].scenarios[0]


def run_of_three() -> list[AnyEvent]:
    sink = Memory()
    begin(sink)
    plan(
        sink,
        scenario(sink, keeps, name="z", rule="DD-03"),
        scenario(sink, breaks, name="y", rule="DD-02"),
        scenario(sink, keeps, name="x", rule="DD-02"),
        scenario(sink, keeps, name="w", rule="PD-11"),
    )
    return sink.events
