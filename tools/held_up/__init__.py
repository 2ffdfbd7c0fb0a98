"""Holds up the harness in the middle of scenarios, and looks for wrong verdicts.

A try runs a few scenarios against the reference broker's server, in real time.  While each of them runs, the process of
the harness is stopped (SIGSTOP) and goes on five seconds later; the server is another process and is not stopped.  Half
of the tries have a named defect.  A verdict is wrong if

- a scenario fails on the broker without a defect, or
- a scenario passes that fails under the same defect in virtual time, in which nothing is held up.

``python -m tools.held_up --tries 20 --out held-up-out`` prints each try and what was wrong.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from assay_evidence.errors import LineError
from assay_evidence.events import ScenarioBegin, ScenarioEnd
from assay_evidence.lines import decode_line
from assay_evidence.verdicts import Verdict, load_verdicts

HELD_S = 5.0
"""How long the harness is stopped."""
LONGEST_S = 300.0
"""How long a try may take before it is given up."""
LOOK_S = 0.01


class Case(Struct, frozen=True):
    """What a try runs.

    Args:
        rule: The rule whose scenarios are run.
        select: Which of them, as pytest's ``-k``.
        defect: The defect; empty for none.
        within_s: The stop begins within this time after a scenario's begin.
    """

    rule: str
    select: str
    defect: str = ""
    within_s: float = 3.0


EXPIRED = "start_anew_when_the_delay or 500_ms_too_late"
CASES = (
    Case("DD-02", "waiting_subscriber_sees_it_no_earlier", "early-for-live-subscribers"),
    Case("DD-02", "waiting_subscriber_sees_it_no_earlier or receiver_that_selects or browser_does_not"),
    Case("DD-03", "publication_comes_in_time", "publications-late", within_s=10.0),
    Case("DD-03", "publication_comes_in_time or receiver_that_waits_all_along"),
    Case("DD-56", EXPIRED, "ttl-from-release", within_s=5.0),
    Case("DD-56", "between_the_delay_and_the_time or waits_all_along"),
    Case("DD-03", "waits_all_along_sees_it_exactly_once", "released-twice"),
    Case("DD-03", "waits_all_along_sees_it_exactly_once or several_delayed_messages"),
    Case("DD-02", "receiver_that_selects", "early-for-selectors"),
    Case("DD-56", EXPIRED, within_s=5.0),
    Case("DD-03", "many_delayed", "staging-overflows"),
    Case("DD-02", "interleave or overtakes"),
    Case("DD-56", "non_persistent_message_expires", "non-persistent-never-expires"),
    Case("PD-21", "", within_s=5.0),
    Case("DD-04", "waiting_receiver_sees_it_at_once", "staged-without-delay"),
    Case("DD-04", "waiting_receiver_sees_it_at_once or waiting_subscriber_sees_it_at_once"),
)
"""The tries, one after the other; each pair is a broker with a defect and one without."""


class Outcome(Struct, frozen=True):
    """What a try has shown.

    Args:
        case: What was run.
        verdicts: The verdict of each scenario.
        held_up: The scenarios in the middle of which the harness was stopped.
        wrong: The scenarios whose verdict is wrong.
    """

    case: Case
    verdicts: Mapping[str, Verdict]
    held_up: frozenset[str]
    wrong: Mapping[str, Verdict]


class HeldUp:
    """Makes tries in a folder.

    Args:
        out: The folder for the evidence of all tries.
        seed: Of the moments at which the harness is stopped.
    """

    def __init__(self, out: Path, seed: int) -> None:
        self._out = out
        self._random = random.Random(seed)  # noqa: S311 - moments, no secrets
        self._fails: dict[Case, frozenset[str]] = {}

    def tries(self, count: int) -> Iterator[Outcome]:
        """Make so many tries."""
        for number in range(count):
            yield self._try(CASES[number % len(CASES)], self._out / f"try-{number + 1}")

    def _try(self, case: Case, out: Path) -> Outcome:
        expected = self._fails_of(case)
        process = _start(case, out)
        held_up = self._hold_up(process, out / "journals" / "main.jsonl", case.within_s)
        verdicts = _verdicts(process, out)
        bad = Verdict.PASS if case.defect else Verdict.FAIL
        suspects = expected & held_up if case.defect else held_up
        wrong = {name: bad for name in sorted(suspects) if verdicts[name] is bad}
        return Outcome(case, verdicts, frozenset(held_up), wrong)

    def _fails_of(self, case: Case) -> frozenset[str]:
        """The scenarios that fail under the case's defect in virtual time, in which nothing is held up.

        Raises:
            RuntimeError: None does, so the case shows nothing.
        """
        if not case.defect:
            return frozenset()
        if case not in self._fails:
            out = self._out / f"without-{case.defect}"
            verdicts = _verdicts(_start(case, out, "reference"), out)
            self._fails[case] = frozenset(name for name, one in verdicts.items() if one is Verdict.FAIL)
        if not self._fails[case]:
            raise RuntimeError(f"No scenario of {case.rule} fails under {case.defect}: choose others.")
        return self._fails[case]

    def _hold_up(self, process: subprocess.Popen[bytes], journal: Path, within_s: float) -> set[str]:
        """Stop the harness once in each scenario.

        Returns:
            The scenarios that were running when it was stopped.
        """
        stopped: set[str] = set()
        tried: set[str] = set()
        give_up = time.monotonic() + LONGEST_S
        while process.poll() is None and time.monotonic() < give_up:
            time.sleep(LOOK_S)  # the harness is another process, whose journal is all that tells where it is
            running = _running(journal) - tried
            for name in running:
                tried.add(name)
                time.sleep(self._random.uniform(0, within_s))
                os.kill(process.pid, signal.SIGSTOP)
                if name in _running(journal):
                    stopped.add(name)
                    time.sleep(HELD_S)
                os.kill(process.pid, signal.SIGCONT)
        return stopped


def _start(case: Case, out: Path, backend: str = "reference-server") -> subprocess.Popen[bytes]:
    options = ["--backend", backend, "--workers", "0", "--rule", case.rule, "--out", str(out)]
    options += ["--defect", case.defect] if case.defect else []
    chosen = ["--", "-k", case.select] if case.select else []
    command = [sys.executable, "-m", "assay", "run", *options, *chosen]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - ourselves


def _verdicts(process: subprocess.Popen[bytes], out: Path) -> dict[str, Verdict]:
    try:
        process.wait(LONGEST_S)
    finally:
        process.kill()
    return {one.scenario: one.verdict for one in load_verdicts(out / "verdicts.json").scenarios}


def _running(journal: Path) -> set[str]:
    """The scenarios that have begun and not ended."""
    running: set[str] = set()
    try:
        lines = journal.read_bytes().splitlines()
    except FileNotFoundError:
        return running
    for line in lines:
        try:
            event = decode_line(line)
        except LineError:
            continue  # the harness is writing it
        if isinstance(event, ScenarioBegin) and event.scenario:
            running.add(event.scenario)
        elif isinstance(event, ScenarioEnd) and event.scenario:
            running.discard(event.scenario)
    return running


def tell(outcome: Outcome) -> str:
    """Describe a try in one line."""
    counted = Counter(verdict.value for verdict in outcome.verdicts.values())
    found = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))
    broker = outcome.case.defect or "no defect"
    wrong = "".join(f"; WRONG {verdict.value}: {name}" for name, verdict in outcome.wrong.items())
    return (
        f"{outcome.case.rule}, {broker}: held up in {len(outcome.held_up)} of {len(outcome.verdicts)}: {found}{wrong}"
    )
