"""Tests of the early end of a run in which the probes show that the pair delivers no message."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from assay_adapters.ports.client import ClientEvent, Seen
from assay_evidence.verdicts import ScenarioVerdict, Verdict, load_verdicts
from assay_sdk.model.capabilities import Capability
from assay_steps.cast.sightings import Sightings
from assay_steps.plugin.probes import CARRIERS, TOLD, EarlyEnd
from assay_steps.plugin.run_result import RunResult
from assay_steps.plugin.suite import SuiteOptions, run_suite


@pytest.fixture
def deaf(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Provide a function that hides all messages of queues or topics from the steps, as if the broker sent none."""
    told = Sightings._handed

    def hide(kind: str) -> None:
        def handed(self: Sightings, event: ClientEvent, seen: Seen) -> None:
            if not event.destination.startswith(kind):
                told(self, event, seen)

        monkeypatch.setattr(Sightings, "_handed", handed)

    return hide


def ran(out: Path, *rules: str, workers: int = 0) -> tuple[RunResult, list[ScenarioVerdict], dict[str, Verdict]]:
    result = RunResult()
    run_suite(SuiteOptions(out=out, rules=rules, workers=workers), plugins=[result])
    verdicts = load_verdicts(out / "verdicts.json")
    return result, list(verdicts.scenarios), {one.probe: one.verdict for one in verdicts.probes}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_ends_if_no_queue_delivers_and_all_its_scenarios_need_one(
    tmp_path: Path, deaf: Callable[[str], None], workers: int
) -> None:
    deaf("queue://")
    result, scenarios, probes = ran(tmp_path / "out", "PD-21", workers=workers)
    assert result.ended.startswith("the pair delivers no message (the probe of queue failed)")
    assert "`assay adapter check FILE`" in result.ended
    assert probes["queue"] is Verdict.FAIL
    unrun = [one for one in scenarios if one.reason == "The scenario was planned and was not run."]
    assert unrun
    assert {one.verdict for one in unrun} == {Verdict.ERROR}


def test_a_run_goes_on_if_some_of_its_scenarios_need_no_queue(tmp_path: Path, deaf: Callable[[str], None]) -> None:
    deaf("queue://")
    result, scenarios, probes = ran(tmp_path / "out", "PD-21", "PD-34")
    assert result.ended == ""
    assert probes["queue"] is Verdict.FAIL
    assert not [one for one in scenarios if one.verdict is Verdict.ERROR]


QUEUES, TOPICS, BOTH, NEITHER = {Capability.QUEUE}, {Capability.TOPIC}, {*CARRIERS}, set[Capability]()


@pytest.mark.parametrize(
    ("needs", "told", "ends"),
    [
        ([QUEUES, BOTH], ["queue fail"], True),
        ([QUEUES, TOPICS], ["queue fail"], False),
        ([QUEUES, TOPICS], ["queue fail", "topic fail"], True),
        ([QUEUES, TOPICS], ["queue fail", "topic unsupported"], True),
        ([QUEUES, TOPICS], ["queue unsupported", "topic unsupported"], False),
        ([QUEUES, TOPICS], ["queue fail", "topic pass"], False),
        ([QUEUES, TOPICS], ["queue fail", "topic inconclusive"], False),
        ([QUEUES], ["queue error"], False),
        ([QUEUES], ["selector fail"], False),
        ([QUEUES, NEITHER], ["queue fail"], False),
        ([QUEUES, NEITHER], ["queue fail", "topic fail"], True),
    ],
)
def test_a_run_ends_only_if_each_scenario_needs_what_has_failed_or_is_not_there(
    needs: list[set[Capability]], told: list[str], *, ends: bool
) -> None:
    plugin = EarlyEnd([frozenset(of) for of in needs])
    reports = [report_of(words) for words in told]
    for report in reports[:-1]:
        plugin.pytest_runtest_logreport(report)
    with pytest.raises(pytest.exit.Exception) if ends else nullcontext():
        plugin.pytest_runtest_logreport(reports[-1])


def report_of(told: str) -> pytest.TestReport:
    report = pytest.TestReport("probe", ("", 0, ""), {}, "passed", None, "call")
    setattr(report, TOLD, told)
    return report
