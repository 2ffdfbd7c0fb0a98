"""Tests of scenarios whose broker does not come back from a fault: by its own fault, or because of the machine."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from assay_broker.shell import QueueManager
from assay_broker.stores.errors import FullError
from assay_evidence.verdicts import Verdict, load_verdicts
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
    options = SuiteOptions(out=tmp_path / "out", scenarios=(SCENARIO,), workers=0, probes=False)
    run_suite(options)
    killed = [one for one in load_verdicts(tmp_path / "out" / "verdicts.json").scenarios if "kill" in one.scenario]
    assert {one.verdict for one in killed} == {verdict}
