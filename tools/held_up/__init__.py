"""A test of verdicts under delays: stops the harness during scenarios, and looks for wrong verdicts.

A case runs a few scenarios against the reference broker's server, in real time.  During each scenario, this program
stops the harness (SIGSTOP) for five seconds.  The server is another process and continues.  Most cases have a named
defect of the broker.  The verdict of a scenario in which the harness was stopped is wrong

- if it is fail, and the broker has no defect, or
- if it is pass, and the broker has a defect under which the scenario fails in virtual time.

``python -m tools.held_up --tries 20 --out held-up-out`` stops the harness in 20 scenarios, and prints the wrong
verdicts.
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
"""The duration of a stop in seconds."""
LONGEST_S = 300.0
"""The longest time for the scenarios of a case, in seconds; then the harness must end within the same time."""
POLL_S = 0.01


class Case(Struct, frozen=True):
    """The scenarios and the defect of one run.

    Args:
        rules: The ids of the rules whose scenarios are run.
        select: An expression that chooses some of these scenarios, as for pytest's ``-k``.
        defect: The name of the broker's defect; empty for a broker without a defect.
        within_s: The longest time from the start of a scenario to the stop of the harness, in seconds.
    """

    rules: tuple[str, ...]
    select: str
    defect: str = ""
    within_s: float = 3.0


SUBSCRIBER = "waiting_subscriber_does_not_see_the_publication_before"
EARLY = Case(("DD-02",), SUBSCRIBER, "early-for-live-subscribers")
CASES = (
    Case(
        ("DD-02", "DD-03", "DD-04", "DD-56"),
        f"{SUBSCRIBER} or receiver_with_a_selector_does_not_see or shorter_delay_is_delivered_first"
        " or publication_reaches_a_subscriber_in_time or start_anew_when_the_delay"
        " or before_the_end_of_the_time_to_live_gets or already_waits_at_the_send_sees"
        " or receiver_sees_an_undelayed_message_at_once",
    ),
    EARLY,
    Case(("DD-02",), "neither_of_two_mode_messages_without_properties", "non-persistent-early"),
    Case(("DD-56",), "start_anew", "ttl-from-release", within_s=5.0),
    Case(("DD-03",), "publication_reaches_a_subscriber_in_time", "publications-late", within_s=8.0),
    Case(("DD-03",), "already_waits_at_the_send_sees", "released-twice"),
    Case(("DD-03",), "each_of_100_delayed or each_of_five_delayed", "staging-overflows"),
    Case(("DD-56",), "persistent_message_expires", "non-persistent-never-expires"),
)
"""The cases, in the order of their runs."""


class Outcome(Struct, frozen=True):
    """The result of a case.

    Args:
        case: The case.
        verdicts: The verdict of each scenario.
        held_up: The ids of the scenarios during which the harness was stopped.
        wrong: The wrong verdicts, by scenario.
    """

    case: Case
    verdicts: Mapping[str, Verdict]
    held_up: frozenset[str]
    wrong: Mapping[str, Verdict]


class HeldUp:
    """A runner of cases.

    Args:
        out: The folder for the evidence of all cases.
        seed: The seed of the random times of the stops.
    """

    def __init__(self, out: Path, seed: int) -> None:
        self._out = out
        self._random = random.Random(seed)  # noqa: S311 - moments, no secrets
        self._count = 0
        self._fails: dict[Case, frozenset[str]] = {}

    def tries(self, count: int) -> Iterator[Outcome]:
        """Run the cases, again and again, until the harness was stopped in ``count`` scenarios; yield each outcome."""
        made = 0
        while made < count:
            for case in CASES:
                yield (outcome := self.run(case))
                made += len(outcome.held_up)
                if made >= count:
                    return

    def run(self, case: Case) -> Outcome:
        """Run a case, and stop the harness in each of its scenarios."""
        self._count += 1
        out = self._out / f"held-{self._count}"
        expected = self._fails_of(case)
        process = _start(case, out)
        stopped = self._hold_up(process, out / "journals" / "main.jsonl", case.within_s)
        held_up = {name for name in stopped if not name.startswith("probes/")}
        verdicts = _verdicts(process, out)
        bad = Verdict.PASS if case.defect else Verdict.FAIL
        suspects = expected & held_up if case.defect else held_up
        wrong = {name: bad for name in sorted(suspects) if verdicts[name] is bad}
        return Outcome(case, verdicts, frozenset(held_up), wrong)

    def _fails_of(self, case: Case) -> frozenset[str]:
        """Return the scenarios that fail in virtual time under the case's defect; none for a case without a defect.

        Raises:
            RuntimeError: No scenario fails under the defect, so the case cannot find a wrong verdict.
        """
        if not case.defect:
            return frozenset()
        if case not in self._fails:
            out = self._out / f"without-{case.defect}"
            verdicts = _verdicts(_start(case, out, "reference"), out)
            self._fails[case] = frozenset(name for name, one in verdicts.items() if one is Verdict.FAIL)
        if not self._fails[case]:
            raise RuntimeError(f"No scenario of {', '.join(case.rules)} fails under {case.defect}: choose others.")
        return self._fails[case]

    def _hold_up(self, process: subprocess.Popen[bytes], journal: Path, within_s: float) -> set[str]:
        """Stop the harness once in each scenario.

        Returns:
            The ids of the scenarios that were running during a stop.
        """
        stopped: set[str] = set()
        tried: set[str] = set()
        give_up = time.monotonic() + LONGEST_S
        while process.poll() is None and time.monotonic() < give_up:
            time.sleep(POLL_S)  # the harness is another process, so only its journal shows which scenario runs
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
    options = ["--backend", backend, "--workers", "0", "--out", str(out)]
    options += [part for rule in case.rules for part in ("--rule", rule)]
    options += ["--defect", case.defect] if case.defect else []
    chosen = ["--", "-k", case.select] if case.select else []
    command = [sys.executable, "-m", "assay", "run", *options, *chosen]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - a command of this project


def _verdicts(process: subprocess.Popen[bytes], out: Path) -> dict[str, Verdict]:
    try:
        process.wait(LONGEST_S)
    finally:
        process.kill()
    return {one.scenario: one.verdict for one in load_verdicts(out / "verdicts.json").scenarios}


def _running(journal: Path) -> set[str]:
    """Return the ids of the scenarios that have begun and not ended."""
    running: set[str] = set()
    try:
        lines = journal.read_bytes().splitlines()
    except FileNotFoundError:
        return running
    for line in lines:
        try:
            event = decode_line(line)
        except LineError:
            continue  # the harness has not finished writing the line
        if isinstance(event, ScenarioBegin) and event.scenario:
            running.add(event.scenario)
        elif isinstance(event, ScenarioEnd) and event.scenario:
            running.discard(event.scenario)
    return running


def tell(outcome: Outcome) -> str:
    """Describe the result of a case in one line."""
    counted = Counter(verdict.value for verdict in outcome.verdicts.values())
    found = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counted.items()))
    broker = outcome.case.defect or "no defect"
    wrong = "".join(f"; WRONG {verdict.value}: {name}" for name, verdict in outcome.wrong.items())
    share = f"held up in {len(outcome.held_up)} of {len(outcome.verdicts)}"
    return f"{', '.join(outcome.case.rules)}, {broker}: {share}: {found}{wrong}"
