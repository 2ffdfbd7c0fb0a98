"""`assay watch` on journals that grow."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.pipeline.live.test_examination import early
from tests.pipeline.tales import Tale, write_run

from assay_pipeline import NoInvariantError, NoJournalError
from assay_pipeline.live import Alarm, watch_run

pytestmark = pytest.mark.spark


def in_time(tale: Tale) -> None:
    tale.starts()
    tale.listens()
    tale.sends(delay_ms=1000)
    tale.at(1200).handed()


def test_breaches_in_a_growing_journal_are_alarms_and_a_kept_rule_is_none(tmp_path: Path) -> None:
    source = write_run(tmp_path / "aside", [early, in_time, early]).read_bytes().splitlines(keepends=True)
    journal = tmp_path / "run" / "main.jsonl"
    journal.parent.mkdir()
    journal.write_bytes(b"".join(line for line in source if b'"scenario-0"' in line))
    told: list[Alarm] = []
    stop = threading.Event()

    def tell(alarm: Alarm) -> None:
        """Let the journal grow after the first alarm, and stop after the second."""
        told.append(alarm)
        with journal.open("ab") as file:
            file.writelines(line for line in source if b'"scenario-0"' not in line)
        if len(told) > 1:
            stop.set()

    assert watch_run(tmp_path / "run", tell, rules=("DD-02",), idle_s=300, stop=stop) == 2
    assert [(alarm.rule, alarm.scenario) for alarm in told] == [("DD-02", "scenario-0"), ("DD-02", "scenario-2")]
    assert "before it was due" in told[0].text


def test_a_folder_without_journals_and_a_rule_without_an_invariant_are_errors(tmp_path: Path) -> None:
    with pytest.raises(NoJournalError):
        watch_run(tmp_path / "nowhere", lambda _alarm: None)
    with pytest.raises(NoInvariantError):
        watch_run(tmp_path, lambda _alarm: None, rules=("DD-42",))
