"""Tests of scenarios whose broker does not come back from a fault: by its own fault, or because of the machine."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from assay_broker.shell import QueueManager
from assay_broker.stores.errors import FullError
from assay_evidence.verdicts import ScenarioVerdict, Verdict, load_verdicts
from assay_steps.plugin.suite import SuiteOptions, run_suite

SCENARIO = "persistence/matrix_queue.feature::*kill*"


@pytest.mark.parametrize(
    ("raised", "verdict"),
    [
        (KeyError(7), Verdict.FAIL),
        (OSError(errno.ENOSPC, "no space left on device"), Verdict.ERROR),
        (FullError(Path("store")), Verdict.ERROR),
    ],
    ids=["the broker's own error", "the machine's disk is full", "the store finds the disk full"],
)
def test_only_a_brokers_own_error_after_a_kill_breaks_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception, verdict: Verdict
) -> None:
    def broken(_manager: QueueManager) -> None:
        raise raised

    monkeypatch.setattr(QueueManager, "kill", broken)
    assert {one.verdict for one in _killed(tmp_path / "out")} == {verdict}


def test_a_broker_that_does_not_run_after_a_kill_breaks_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QueueManager, "kill", QueueManager.stop)
    killed = _killed(tmp_path / "out")
    assert {one.verdict for one in killed} == {Verdict.FAIL}
    assert killed[0].reason == "The broker did not come back: the queue manager ASSAY does not run after its start"


def _killed(out: Path) -> list[ScenarioVerdict]:
    """Run scenarios with a kill, and return their verdicts."""
    run_suite(SuiteOptions(out=out, scenarios=(SCENARIO,), workers=0, probes=False))
    return [
        one
        for one in load_verdicts(out / "verdicts.json").scenarios
        if "kill" in one.scenario and "is restarted]" not in one.scenario
    ]
