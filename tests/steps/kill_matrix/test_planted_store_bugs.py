"""Tests of bugs planted in the store: scenarios catch each of them, on real files whose flushes are watched."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay_broker.stores import opening
from assay_evidence.verdicts import load_verdicts
from assay_steps.plugin.folder import VERDICTS
from assay_steps.plugin.suite import SuiteOptions, run_suite

pytestmark = pytest.mark.exhaustive


def verdicts(out: Path, defect: str | None = None) -> list[str]:
    """Return the verdicts of PD-20's scenarios on the broker with SQLite."""
    run_suite(SuiteOptions(out=out, backend="reference", store="sqlite", rules=("PD-20",), defect=defect))
    return [scenario.verdict.value for scenario in load_verdicts(out / VERDICTS).scenarios]


def test_without_a_bug_nobody_is_convicted(tmp_path: Path) -> None:
    assert set(verdicts(tmp_path / "out")) == {"pass"}


@pytest.mark.parametrize("defect", ["flush-forgotten", "answers-before-flush", "batches-swapped"])
def test_a_store_that_does_not_flush_in_time_and_in_order_is_convicted(tmp_path: Path, defect: str) -> None:
    assert "fail" in verdicts(tmp_path / "out", defect)


def test_a_database_that_commits_without_a_flush_is_convicted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill alone would not show the bug, because the operating system keeps the written data."""
    monkeypatch.setattr(opening, "_SYNCHRONOUS", "OFF")
    assert "fail" in verdicts(tmp_path / "out")
