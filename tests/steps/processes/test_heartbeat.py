"""Tests of the measurement of the harness's own lateness."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay_evidence.events import ScenarioEnd
from assay_evidence.reader import read_journals
from assay_evidence.verdicts import Verdict, load_verdicts
from assay_steps.plugin.suite import SuiteOptions, run_suite
from assay_steps.processes.heartbeat import LONG_NS, USUAL_NS, Heartbeat

HELD_UP = """
import time
from assay_steps.processes.heartbeat import Heartbeat
with Heartbeat() as heartbeat:
    print("begun", flush=True)
    input()
print(heartbeat.late_ns)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be stopped there")
def test_whom_the_machine_has_held_up_has_come_late_by_that() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(  # noqa: S603  a command of this project
        [sys.executable, "-c", HELD_UP], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.5)  # real time in which the process does not run
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate("\n", timeout=30)
    assert int(out) > 300_000_000


def test_what_is_late_on_any_machine_is_not_counted_and_the_rest_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int, int]] = []
    heartbeat = Heartbeat(tell=lambda *delay: told.append(delay))
    clock = Clock((0, USUAL_NS, USUAL_NS + 1, LONG_NS, 300_000_000))
    monkeypatch.setattr("assay_steps.processes.heartbeat.time", clock)
    monkeypatch.setattr(heartbeat, "_over", clock)
    heartbeat._live()
    assert heartbeat.late_ns == USUAL_NS + 1 + LONG_NS + 300_000_000
    assert heartbeat.longest_ns == 300_000_000
    assert told == [(clock.monotonic_ns(), 350_000_000, 300_000_000)]


class Clock:
    """A clock with an event: each wait for the event takes too long, and the last wait ends the heartbeat.

    Args:
        late_ns: The lateness of each wait in nanoseconds.
    """

    def __init__(self, late_ns: tuple[int, ...]) -> None:
        self._late_ns = list(late_ns)
        self._now_ns = 0

    def monotonic_ns(self) -> int:
        return self._now_ns

    def wait(self, span_s: float) -> bool:
        self._now_ns += round(span_s * 1e9) + self._late_ns.pop(0)
        return not self._late_ns


def test_in_virtual_time_nothing_comes_late() -> None:
    with Heartbeat(beats=False) as heartbeat:
        pass
    assert heartbeat.late_ns is None


@pytest.mark.parametrize(("backend", "real"), [("reference", False), ("reference-server", True)])
def test_a_scenarios_journal_says_how_late_the_harness_came(tmp_path: Path, backend: str, *, real: bool) -> None:
    if real:
        pytest.importorskip("cproton", reason="proton's C library is not installed")
    options = SuiteOptions(out=tmp_path / "out", backend=backend, rules=("DD-14",), workers=0)
    code = run_suite(options)
    log = (tmp_path / "out" / "pytest.log").read_text()
    assert code is pytest.ExitCode.OK or (real and code is pytest.ExitCode.TESTS_FAILED), log
    verdicts = {one.verdict for one in load_verdicts(tmp_path / "out" / "verdicts.json").scenarios}
    assert not verdicts & {Verdict.FAIL, Verdict.ERROR}, log  # on a busy machine, some are inconclusive
    ends = [one for one in read_journals(tmp_path / "out" / "journals").events if isinstance(one, ScenarioEnd)]
    assert ends
    assert all((one.late_ns is not None) is real for one in ends)
