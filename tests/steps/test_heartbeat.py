"""How late the harness itself comes."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from assay_evidence.events import ScenarioEnd
from assay_evidence.reader import read_journals
from assay_sdk.runners.real import RealRunner
from assay_steps.heartbeat import BEAT_NS, Heartbeat
from assay_steps.suite import SuiteOptions, run_suite

SECOND = 1_000_000_000
BUSY_NS = 4 * BEAT_NS


def test_who_is_held_up_comes_late_by_that() -> None:
    runner = RealRunner()
    try:
        with Heartbeat(runner) as heartbeat:
            runner.call_soon(lambda: busy(BUSY_NS))
            runner.run_until(lambda: False, time.monotonic_ns() + BUSY_NS + 2 * BEAT_NS)
    finally:
        runner.close()
    assert heartbeat.late_ns is not None
    assert heartbeat.late_ns >= BUSY_NS - BEAT_NS


def test_who_is_still_held_up_at_the_end_is_counted_too() -> None:
    runner = RealRunner()
    begun, free = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        free.wait(10)

    try:
        with Heartbeat(runner) as heartbeat:
            runner.call_soon(hold)
            assert begun.wait(10)
            busy(BUSY_NS)
        assert heartbeat.late_ns is not None
        assert heartbeat.late_ns >= BUSY_NS - 2 * BEAT_NS
    finally:
        free.set()
        runner.close()


def test_it_ends_with_the_block() -> None:
    runner = RealRunner()
    try:
        with Heartbeat(runner) as heartbeat:
            pass
        before = heartbeat.late_ns
        runner.call_soon(lambda: busy(BUSY_NS))
        runner.run_until(lambda: False, time.monotonic_ns() + BUSY_NS + 2 * BEAT_NS)
        assert heartbeat.late_ns == before
    finally:
        runner.close()


def test_in_virtual_time_nothing_comes_late() -> None:
    with Heartbeat(None) as heartbeat:
        busy(BEAT_NS)
    assert heartbeat.late_ns is None


@pytest.mark.parametrize(("backend", "real"), [("reference", False), ("reference-server", True)])
def test_a_scenarios_journal_says_how_late_the_harness_came(tmp_path: Path, backend: str, *, real: bool) -> None:
    if real:
        pytest.importorskip("cproton")
    options = SuiteOptions(out=tmp_path / "out", backend=backend, rules=("DD-14",), workers=0)
    assert run_suite(options) is pytest.ExitCode.OK, (tmp_path / "out" / "pytest.log").read_text()
    ends = [one for one in read_journals(tmp_path / "out" / "journals").events if isinstance(one, ScenarioEnd)]
    assert ends
    assert all((one.late_ns is not None) is real for one in ends)


def busy(span_ns: int) -> None:
    """Compute for so long."""
    until = time.monotonic_ns() + span_ns
    while time.monotonic_ns() < until:
        pass
