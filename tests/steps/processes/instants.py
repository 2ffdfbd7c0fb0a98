"""Interrupted runs: one collection, and a fork for each of many instants at which the run is interrupted.

Called as ``python -m tests.steps.processes.instants FOLDER COUNT``; prints a line of JSON for each instant.  An instant
is a number of calls and returns since the collection, in functions of the kit, of pytest and of pytest-bdd.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec
import pytest
from msgspec import Struct

from assay_evidence.reader import read_journals
from assay_evidence.verdicts import load_verdicts
from assay_steps.plugin.folder import JOURNALS, VERDICTS
from assay_steps.plugin.suite import SuiteOptions, run_suite

RULES = ("PD-34",)
OURS = ("assay_", "_pytest", "pytest_bdd")
NEVER = -1


class Told(Struct, frozen=True):
    """The result of an interrupted run.

    Args:
        instant: The number of the instant of the interrupt.
        passed: The number of instants until the run's end.
        where: The function at the instant.
        code: The exit code.
        verdicts: The number of scenarios with each verdict.
        damage: The damage of the run's journals.
    """

    instant: int
    passed: int
    where: str
    code: int
    verdicts: dict[str, int]
    damage: tuple[str, ...]


class Instants:
    """A pytest plugin that runs the collected scenarios once for each instant, each time in a fork."""

    def __init__(self, out: Path, count: int) -> None:
        self.instant = NEVER
        self.passed = 0
        self.where = ""
        self.tells = os.dup(1)  # pytest captures descriptor 1 itself
        self._out = out
        self._count = count

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        (journal,) = (self._out / JOURNALS).iterdir()
        begun = journal.stat().st_size
        total = 0
        for number in range(self._count + 1):
            instant = total * number // (self._count + 1) if total else NEVER
            reading, writing = os.pipe()
            child = os.fork()
            if not child:
                self.tells = writing
                self.instant = instant
                sys.setprofile(self._count_down)
                return
            os.close(writing)
            with os.fdopen(reading, "rb") as told:
                line = told.read()
            os.waitpid(child, 0)
            os.write(self.tells, line)
            total = total or msgspec.json.decode(line, type=Told).passed
            os.truncate(journal, begun)
            (self._out / VERDICTS).unlink(missing_ok=True)
        os._exit(0)

    def _count_down(self, frame: FrameType, event: str, _argument: object) -> None:
        if not any(part in frame.f_code.co_filename for part in OURS):
            return
        self.passed += 1
        if self.passed == self.instant:
            sys.setprofile(None)
            self.where = f"{event} {frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
            signal.raise_signal(signal.SIGINT)


def main(out: Path, count: int) -> NoReturn:
    """Run pytest with the plugin, print the results, and exit."""
    instants = Instants(out, count)
    code = run_suite(SuiteOptions(out=out, backend="reference", rules=RULES), plugins=[instants])
    sys.setprofile(None)
    found = load_verdicts(out / VERDICTS).rules
    told = Told(
        instant=instants.instant,
        passed=instants.passed,
        where=instants.where,
        code=code,
        verdicts=Counter(scenario.verdict.value for rule in found for scenario in rule.scenarios),
        damage=tuple(harm.text for harm in read_journals(out / JOURNALS).damage),
    )
    os.write(instants.tells, msgspec.json.encode(told) + b"\n")
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
