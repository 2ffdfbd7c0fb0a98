"""Tests of Ctrl-C at any instant: the run is interrupted, no scenario fails by it, and the journals are complete."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.cli.conftest import environment
from tests.steps.processes.instants import NEVER, Told

from assay_evidence.reader import read_journals
from assay_evidence.verdicts import load_verdicts
from assay_steps.plugin.folder import JOURNALS, VERDICTS
from assay_steps.plugin.suite import SuiteOptions, run_suite

INSTANTS = 24


def test_at_whatever_instant_it_comes_nothing_fails_and_the_run_is_interrupted(tmp_path: Path) -> None:
    called = [sys.executable, "-m", "tests.steps.processes.instants", str(tmp_path), str(INSTANTS)]
    told = subprocess.run(  # noqa: S603 - our own module
        called, env=environment(), cwd=Path(__file__).parents[3], capture_output=True, check=True
    )
    unbroken, *interrupted = (msgspec.json.decode(line, type=Told) for line in told.stdout.splitlines())
    assert unbroken.instant == NEVER
    assert (unbroken.code, set(unbroken.verdicts)) == (pytest.ExitCode.OK, {"pass"})
    assert len(interrupted) == INSTANTS
    for run in interrupted:
        assert run.passed >= run.instant, run
        assert run.code == pytest.ExitCode.INTERRUPTED, run
        assert set(run.verdicts) <= {"pass", "error"}, run
        assert sum(run.verdicts.values()) == sum(unbroken.verdicts.values()), run
        assert run.damage == (), run
    assert len({tuple(sorted(run.verdicts.items())) for run in interrupted}) > 1


class Dropped:
    """An object whose finalizer's exceptions Python drops."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def dropped() -> None:
    Dropped()


def turned() -> None:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as interrupt:
        raise RuntimeError("cleaning up went wrong") from interrupt


class Strikes:
    """A pytest plugin that acts before each step of the run, or at its end."""

    def __init__(self, strike: Callable[[], None], when: str) -> None:
        self._strike = strike
        self._when = when

    def pytest_bdd_before_step_call(self) -> None:
        if self._when == "step":
            self._strike()

    def pytest_sessionfinish(self) -> None:
        if self._when == "end":
            self._strike()


@pytest.mark.parametrize(
    ("strike", "when", "found"),
    [
        (dropped, "step", {"error"}),
        (turned, "step", {"error"}),
        (dropped, "end", {"pass"}),
        (lambda: signal.raise_signal(signal.SIGINT), "end", {"pass"}),
    ],
    ids=["dropped by Python", "turned into another error", "dropped at the end", "at the end"],
)
def test_ctrl_c_counts_though_its_exception_is_lost(
    tmp_path: Path, strike: Callable[[], None], when: str, found: set[str]
) -> None:
    options = SuiteOptions(out=tmp_path, backend="reference", rules=("PD-34",))
    assert run_suite(options, plugins=[Strikes(strike, when)]) is pytest.ExitCode.INTERRUPTED
    rules = load_verdicts(tmp_path / VERDICTS).rules
    assert {scenario.verdict.value for rule in rules for scenario in rule.scenarios} == found
    assert read_journals(tmp_path / JOURNALS).damage == ()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
