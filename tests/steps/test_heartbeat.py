"""How late the harness itself comes."""

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
from assay_steps.heartbeat import USUAL_NS, Heartbeat
from assay_steps.suite import SuiteOptions, run_suite

HELD_UP = """
import time
from assay_steps.heartbeat import Heartbeat
with Heartbeat() as heartbeat:
    print("begun", flush=True)
    input()
print(heartbeat.late_ns)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be stopped there")
def test_whom_the_machine_has_held_up_has_come_late_by_that() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(  # noqa: S603  ourselves
        [sys.executable, "-c", HELD_UP], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGSTOP)
    time.sleep(0.5)
    process.send_signal(signal.SIGCONT)
    out, _ = process.communicate("\n", timeout=30)
    assert int(out) > 300_000_000


def test_who_waits_for_somebody_else_does_not_come_late() -> None:
    with Heartbeat() as heartbeat:
        time.sleep(0.3)
    assert heartbeat.late_ns is not None
    assert heartbeat.late_ns == 0 or heartbeat.late_ns > USUAL_NS  # what is usual is not counted


def test_in_virtual_time_nothing_comes_late() -> None:
    with Heartbeat(beats=False) as heartbeat:
        pass
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
