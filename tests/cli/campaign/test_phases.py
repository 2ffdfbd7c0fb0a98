"""Tests of a broker's phases, which it writes to a shared memory page that survives a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.campaign import phases
from assay.campaign.phases import IDLE_AFTER_NS, Halt, Page, Phase, Progress
from assay_sdk import driver
from assay_sdk.model.message import Message

SEND = driver.Send(1, 1, Message())
COMMIT = driver.Commit(1, 1)


class Watched:
    """A progress record on a page, with a clock that does not run."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.halts = 0
        self.stops: list[int] = []
        monkeypatch.setattr(phases.os, "kill", lambda _, number: self.stops.append(number))
        self.page = Page.make(folder / "page")
        self.progress = Progress(Page(folder / "page"), lambda: 7, self._halted)

    def _halted(self) -> None:
        self.halts += 1

    @property
    def phase(self) -> Phase:
        """Return the phase that the other process reads."""
        return self.page.phase(7)


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(tmp_path, monkeypatch)


def test_a_send_goes_through_all_phases(watched: Watched) -> None:
    seen = [watched.phase]
    progress = watched.progress
    steps = (lambda: progress.asked(SEND), progress.written, progress.flushing, progress.flushed, progress.answered)
    for step in steps:
        step()
        seen.append(watched.phase)
    assert seen == list(Phase)


def test_an_answer_long_ago_is_idle(watched: Watched) -> None:
    watched.progress.answered()
    assert watched.page.phase(7 + IDLE_AFTER_NS) is Phase.ANSWERED
    assert watched.page.phase(8 + IDLE_AFTER_NS) is Phase.IDLE


def test_what_waits_for_the_flush_hides_what_others_do(watched: Watched) -> None:
    watched.progress.written()
    watched.progress.asked(SEND)
    watched.progress.answered()
    assert watched.phase is Phase.WRITTEN


def test_a_command_that_writes_nothing_is_no_phase(watched: Watched) -> None:
    watched.progress.asked(driver.Credit(1, 1, 1))
    assert watched.phase is Phase.IDLE


def test_it_stops_itself_where_it_is_told_to_and_says_so_first(watched: Watched) -> None:
    watched.progress.arm(Halt(Phase.WRITTEN, 2))
    watched.progress.written()
    assert not watched.stops
    watched.progress.flushing()
    watched.progress.written()
    assert (watched.halts, len(watched.stops)) == (1, 1)


def test_it_may_wait_for_a_commit(watched: Watched) -> None:
    watched.progress.arm(Halt(Phase.WRITTEN, 1, commits=True))
    watched.progress.asked(SEND)
    watched.progress.written()
    assert not watched.stops
    watched.progress.flushed()
    watched.progress.asked(COMMIT)
    watched.progress.written()
    assert len(watched.stops) == 1
