"""Tests of the broker's log and past with a failed scenario, on a real server: journal, explanation, report."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Assay

from assay.application import ending as command
from assay.exits import Exit
from assay_evidence.events import Log, Past
from assay_evidence.judge import judge
from assay_evidence.reader import read_journals
from assay_features import load_catalogue

KILLED = (
    "delay/early.feature::If the broker <event> during a message's delay of an hour, the message does not come early"
    "[is killed and comes back]"
)


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a run of one scenario with a kill, which fails on the reference server."""
    out = tmp_path_factory.mktemp("run") / "out"
    chosen = [
        "--backend",
        "reference-server",
        "--defect",
        "early-after-restart",
        "--scenario",
        KILLED,
        "--workers",
        "0",
    ]
    assert command(["run", "--out", str(out), *chosen]) is Exit.NOT_AS_EXPECTED
    return out


def test_the_journal_has_the_brokers_log_and_past_and_the_verdict_does_not_need_them(failed: Path) -> None:
    journals = read_journals(failed / "journals")
    assert journals.damage == ()
    log = [event for event in journals.events if isinstance(event, Log)]
    past = [event for event in journals.events if isinstance(event, Past)]
    assert [event.what for event in past] == ["started", "killed", "started again", "answers again"]
    assert {event.during for event in past} == {KILLED}
    assert all(event.source.startswith("server process ") for event in (*log, *past))
    assert any("ready" in event.text for event in log)  # the server that was started again
    assert not any(event.untimed for event in log)
    others = [event for event in journals.events if not isinstance(event, Log | Past)]
    assert judge(others, load_catalogue()) == judge(journals.events, load_catalogue())


def test_explain_and_the_rules_page_show_both(assay: Assay, failed: Path) -> None:
    told = assay("explain", "DD-02", "--run", failed, "--log")
    assert "  the broker: server process " in told.out
    assert "  killed  (this scenario)" in told.out
    assert "  its log during the scenario" in told.out
    page = (failed / "report" / "rules" / "DD-02.html").read_text(encoding="utf-8")
    assert "log during the scenario (" in page
    assert "Earlier starts and faults of the broker (4)" in page
