"""Tests of scenarios whose broker does not know a queue any more after a kill, although the queue held a message."""

from __future__ import annotations

from pathlib import Path

from assay_evidence.verdicts import ScenarioVerdict, Verdict, load_verdicts
from assay_steps.plugin.suite import SuiteOptions, run_suite

SCENARIO = "persistence/matrix_queue.feature::Of two messages without properties, only the unreceived message is there*"


def scenarios_of(out: Path, defect: str | None) -> dict[str, ScenarioVerdict]:
    run_suite(SuiteOptions(out=out, scenarios=(SCENARIO,), workers=0, probes=False, defect=defect))
    found = load_verdicts(out / "verdicts.json").scenarios
    return {one.scenario.rpartition("[")[2].rstrip("]"): one for one in found}


def test_a_broker_that_lost_a_queue_with_its_message_fails_and_the_reason_names_both(tmp_path: Path) -> None:
    found = scenarios_of(tmp_path / "out", "queue-lost-at-restart")
    assert {one.verdict for one in found.values()} == {Verdict.FAIL}
    killed = found["is killed and comes back"]
    assert killed.reason.startswith("The broker lost the queue with the persistent message ")
    assert killed.reason.endswith("/kept in the kill.")


def test_a_broker_that_keeps_the_queue_passes_without_a_second_attach(tmp_path: Path) -> None:
    found = scenarios_of(tmp_path / "out", None)
    assert {one.verdict for one in found.values()} == {Verdict.PASS}
    assert not any("queue" in finding.reason for one in found.values() for finding in one.findings)
