"""Tests that an exception inside the broker or client fails the claims it affects, and is no error of the kit."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from assay_broker.core import handlers
from assay_evidence.verdicts import Verdict, load_verdicts
from assay_sdk.engine.sessions.session import EngineSession
from assay_steps.plugin.suite import SuiteOptions, run_suite


@pytest.mark.parametrize(
    ("rule", "owner", "function"),
    [("DD-06", handlers, "release_due"), ("BT-12", EngineSession, "_use_unit")],
)
def test_it_fails_the_rule(
    rule: str, owner: ModuleType | type, function: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, function, None)  # a call of None raises a TypeError
    run_suite(SuiteOptions(out=tmp_path, rules=(rule,), probes=False))
    verdicts = load_verdicts(tmp_path / "verdicts.json")
    assert [one.verdict for one in verdicts.rules] == [Verdict.FAIL]
    assert Verdict.ERROR not in {one.verdict for one in verdicts.scenarios}
