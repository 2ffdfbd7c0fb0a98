"""Trials of mutants: a pytest plugin that, after pytest's collection, forks a process for each mutant.

The process replaces the code of the mutated function.  It runs the scenarios that execute the changed line, in the
order of `tools.mutation.nearness`, until a scenario convicts the mutant.  A scenario convicts a mutant only by the
verdict `fail`.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Protocol

import pytest
from _pytest.runner import runtestprotocol
from msgspec import Struct

from assay_evidence.verdicts import ScenarioVerdict, Verdict
from assay_steps.cast.journal import ScenarioJournal
from assay_steps.plugin.cases import CASE, Case, template_of
from assay_steps.plugin.folder import JOURNALS
from assay_steps.plugin.run import PLUGIN, Run
from assay_steps.processes.garbage_collection import freeze
from tools.mutation.coverage_map import Counter, CoverageMap, Tried, merged
from tools.mutation.mutants import Applied
from tools.mutation.nearness import MutantContext, Nearness
from tools.mutation.swapping import Functions

LEAST_SECONDS = 2.0
"""The smallest limit of a scenario's processor time, in seconds."""
TIMES = 12
"""The factor from a scenario's usual processor time to the limit of its processor time, which is at least
`LEAST_SECONDS`."""
TIMEOUTS = 2
"""The number of scenarios beyond their time limits after which the trial ends, because the mutant probably loops."""
ERRORS = 12
"""The number of scenarios with an error after which the trial ends, because the mutant probably always raises."""
MEMORY = 2 << 30
"""The memory in octets that a trial's process may use in addition to its parent's memory."""


class Outcome(Struct, frozen=True):
    """The result of a trial.

    Args:
        status: convicted, error, inconclusive, timeout, survived or uncovered (`tools.mutation.score.STATUSES`).
        scenario: The id of the scenario that decided the status; empty if none did.
        reason: The reason of that scenario's verdict.
        tried: The number of scenarios that ran.
        covering: The number of scenarios that run the changed line.
        seconds: The duration of the trial in seconds.
    """

    status: str
    scenario: str = ""
    reason: str = ""
    tried: int = 0
    covering: int = 0
    seconds: float = 0.0


class Job(Struct, eq=False):
    """A mutant that waits for its trial.

    Args:
        file: The module's file.
        applied: The mutant's code.
        function: The module and the function.  Scenarios that convict this mutant come first for later mutants of the
            function.
        first: The first changed line.
        last: The last changed line.
        context: The mutant's context, for the order of the scenarios.
    """

    file: Path
    applied: Applied
    function: str
    first: int
    last: int
    context: MutantContext


class _Started(Struct, eq=False):
    """A process that tries a mutant."""

    number: int
    job: Job
    order: list[int]
    process: ForkProcess
    said: Connection
    at: float
    covering: int
    heard: list[tuple[int, str, str]]
    within: int | None = None
    timeouts: int = 0


class Script(Protocol):
    """A function that the plugin calls after the collection."""

    def __call__(self, trials: Trials) -> None:
        """Try mutants with the methods of the plugin."""
        ...


class Trials:
    """The pytest plugin that tries mutants.

    Args:
        script: Called after the collection.
        files: The files under test.
        jobs: The number of processes at a time.
        most: The largest number of scenarios for one mutant; None for all that run the line.
        every: Use every n-th scenario of the suite only.
    """

    def __init__(
        self, script: Script, files: Sequence[Path], jobs: int, most: int | None = None, every: int = 1
    ) -> None:
        self._script = script
        self._files = files
        self._jobs = jobs
        self._most = most
        self._every = every
        self._items: list[pytest.Item] = []
        self._verdicts: list[ScenarioVerdict] = []
        self._names = 0
        self._known: dict[str, list[int]] = {}
        self._run: Run
        self.done = False
        """Whether the script has ended."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the script in place of the collected scenarios."""
        self._items = session.items[:: self._every]
        self._run = session.config.pluginmanager.get_plugin(PLUGIN).run  # type: ignore[union-attr]  # the suite has registered it
        judged = self._run.verdict

        def kept(case: Case, journal: ScenarioJournal) -> ScenarioVerdict:
            self._verdicts.append(judged(case, journal))
            return self._verdicts[-1]

        self._run.verdict = kept  # type: ignore[method-assign]  # a wrapper around the method
        self._functions = Functions(self._files)
        freeze()
        self._script(self)
        self.done = True
        return True

    # without a mutant ------------------------------------------------------------------------------------------------

    def count_lines(self, files: Sequence[Path]) -> CoverageMap:
        """Run every scenario without a mutant, and measure the lines that it runs."""
        chosen = [number for number, item in enumerate(self._items) if CASE in item.stash]
        parts = [chosen[nth :: self._jobs] for nth in range(self._jobs)]
        started = [self._fork(self._count, part, files) for part in parts]
        tried: dict[int, Tried] = {}
        counted: list[dict[str, dict[int, list[int]]]] = []
        for process, said in started:
            some, lines = said.recv()
            tried |= some
            counted.append(lines)
            process.join()
        return merged([tried[number] for number in sorted(tried)], counted)

    def _count(self, says: Connection, numbers: Sequence[int], files: Sequence[Path]) -> None:
        counter, tried = Counter(files), {}
        counter.start()
        for number, following in _pairs(numbers):
            counter.begin(number)
            began = time.process_time()
            verdict, _ = self._verdict(number, following)
            case = self._items[number].stash[CASE]
            tried[number] = Tried(case.id, verdict, round(time.process_time() - began, 3), case.rules)
        says.send((tried, counter.stop()))

    # with a mutant ---------------------------------------------------------------------------------------------------

    def try_all(self, jobs: Iterator[Job], lines: CoverageMap, told: Callable[[int, Outcome], None]) -> None:
        """Try mutants.

        Args:
            jobs: The mutants.
            lines: The lines of each scenario.
            told: Called with the index of each mutant in `jobs` and its outcome.
        """
        nearness = Nearness(lines, [self._text(item) for item in self._items if CASE in item.stash])
        running: list[_Started] = []
        numbered = enumerate(jobs)
        more = True
        while more or running:
            while more and len(running) < self._jobs:
                following = next(numbered, None)
                if following is None:
                    more = False
                    break
                number, job = following
                covering = lines.running(job.context.file, job.first, job.last)
                if covering:
                    known = self._known.get(job.function, ())
                    order = nearness.sorted(covering, known, job.context)[: self._most]
                    running.append(self._start(number, job, order, len(covering), lines))
                else:
                    told(number, Outcome("uncovered"))
            if not running:
                continue
            ready = wait([one.said for one in running])
            for one in [one for one in running if one.said in ready]:
                if not self._hear(one):
                    running.remove(one)
                    again = self._again(one, lines)
                    if again is not None:
                        running.append(again)
                        continue
                    outcome = self._outcome(one, lines)
                    if outcome.status == "convicted":
                        self._known.setdefault(one.job.function, []).append(one.heard[-1][0])
                    told(one.number, outcome)

    @staticmethod
    def _text(item: pytest.Item) -> str:
        """Return the name, steps and example row of a scenario, as one text."""
        template = template_of(item)
        steps = template.steps if template else ()
        return " ".join((item.stash[CASE].id, *(step.name for step in steps)))

    def _start(self, number: int, job: Job, order: list[int], covering: int, lines: CoverageMap) -> _Started:
        process, said = self._fork(self._try, job, order, lines)
        return _Started(number, job, order, process, said, time.monotonic(), covering, [])

    def _hear(self, one: _Started) -> bool:
        try:
            number, verdict, reason = one.said.recv()
        except (EOFError, OSError):
            one.process.join()
            return False
        if verdict:
            one.heard.append((number, verdict, reason))
            one.within = None
        else:
            one.within = number
        return True

    def _again(self, one: _Started, lines: CoverageMap) -> _Started | None:
        """Start a new process for the remaining scenarios after a scenario that did not end.

        Returns:
            The trial with the new process; None if the trial has ended.
        """
        if one.within is None:
            if one.process.exitcode:
                one.heard.append((one.order[0], Verdict.ERROR.value, "The process did not begin."))
            return None
        if one.process.exitcode == -signal.SIGVTALRM:
            one.timeouts += 1
            one.heard.append((one.within, "timeout", "The scenario did not end within its limit."))
        else:
            one.heard.append((one.within, Verdict.ERROR.value, f"The process died: {one.process.exitcode}."))
        rest = one.order[one.order.index(one.within) + 1 :]
        if one.timeouts >= TIMEOUTS or not rest:
            return None
        one.process, one.said = self._fork(self._try, one.job, rest, lines)
        one.within = None
        return one

    def _outcome(self, one: _Started, lines: CoverageMap) -> Outcome:
        for wanted, status in (
            (Verdict.FAIL.value, "convicted"),
            ("timeout", "timeout"),
            (Verdict.ERROR.value, "error"),
        ):
            for number, verdict, reason in one.heard:
                if verdict == wanted:
                    return self._told(one, status, lines.scenarios[number].name, reason)
        for number, verdict, reason in one.heard:
            if verdict != Verdict.PASS.value:
                return self._told(one, "inconclusive", lines.scenarios[number].name, f"{verdict}: {reason}")
        return self._told(one, "survived", "", "")

    @staticmethod
    def _told(one: _Started, status: str, scenario: str, reason: str) -> Outcome:
        seconds = round(time.monotonic() - one.at, 2)
        return Outcome(status, scenario, reason, len(one.heard), one.covering, seconds)

    def _try(self, says: Connection, job: Job, order: Sequence[int], lines: CoverageMap) -> None:
        limit = _memory() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        self._functions.swap(job.file, job.applied)
        errors = 0
        for number, following in _pairs(order):
            says.send((number, "", ""))
            signal.setitimer(signal.ITIMER_VIRTUAL, max(LEAST_SECONDS, TIMES * lines.scenarios[number].seconds))
            verdict, reason = self._verdict(number, following)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            says.send((number, verdict, reason))
            errors += verdict == Verdict.ERROR.value
            if verdict == Verdict.FAIL.value or errors >= ERRORS:
                return

    # a process -------------------------------------------------------------------------------------------------------

    def _verdict(self, number: int, following: int | None) -> tuple[str, str]:
        """Run a scenario in this process, and return its verdict and the reason."""
        self._verdicts.clear()
        after = None if following is None else self._items[following]
        reports = runtestprotocol(self._items[number], log=False, nextitem=after)
        if not self._verdicts:
            return Verdict.ERROR.value, "; ".join(str(one.longrepr)[-300:] for one in reports if one.failed)
        said = self._verdicts[-1]
        failed = [one for one in reports if one.failed and one.when == "teardown"]
        if said.verdict is Verdict.PASS and failed:
            return Verdict.ERROR.value, str(failed[0].longrepr)[-300:]
        return said.verdict.value, said.reason

    def _fork(self, target: Callable[..., None], *args: object) -> tuple[ForkProcess, Connection]:
        self._names += 1
        name = f"m{self._names}"
        hears, says = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process(target=self._work, args=(target, says, name, args))
        process.start()
        says.close()
        return process, hears

    def _work(self, target: Callable[..., None], says: Connection, name: str, args: Iterable[object]) -> None:
        code = 0
        try:
            self._run.go_on_as(name)
            target(says, *args)
        except BaseException as problem:  # noqa: BLE001 - a mutant may raise anything, SystemExit too
            code = 1
            os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
        says.close()
        (Path(self._run.options.out) / JOURNALS / f"{name}.jsonl").unlink(missing_ok=True)
        os._exit(code)


def _pairs(numbers: Sequence[int]) -> Iterator[tuple[int, int | None]]:
    """Return each number together with the number after it; the last number gets None."""
    return zip(numbers, [*numbers[1:], None], strict=True)


def _memory() -> int:
    """Return the size of this process's address space in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()
