"""Trials: runs of the suite with one defect or variant, each in its own process."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread

import pytest
from msgspec import Struct

from assay_adapters.leftovers import remove_folders
from assay_adapters.owners import folder_prefix
from assay_adapters.registry import open_backend
from assay_evidence.verdicts import load_verdicts
from assay_features import Role, Strength, load_catalogue
from assay_sdk.model.capabilities import Capability
from assay_steps.kill_matrix.failure_share import Outcome, Outcomes, Sample
from assay_steps.plugin.folder import LOG, VERDICTS
from assay_steps.plugin.run_result import RunResult, usage_error
from assay_steps.plugin.suite import SuiteOptions, run_suite

AT_ONCE = 24
"""How many trials run at once in real time, and how many scenarios at once in a trial that runs alone."""

_STORES: Mapping[str, str] = {"reference": "memory"}
"""The store for trials, by backend: a trial on a simulated disk takes a quarter less time than on files."""

DONE = frozenset({pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED})
"""Pytest's exit codes for a trial that ran all its scenarios."""


class TrialError(RuntimeError):
    """A trial did not run to its end, so it does not show which scenarios fail.

    Args:
        trial: The words of `Trial.subject`, such as "with defect 'early-delivery'".
        why: The reason, in one sentence.
    """

    def __init__(self, trial: str, why: str) -> None:
        super().__init__(trial, why)  # the pool pickles the exception, with these arguments
        self.trial = trial
        self.why = why

    def __str__(self) -> str:
        """Return one sentence for the user."""
        return f"The trial {self.trial} did not run to its end, so the table would be incomplete: {self.why}"


class UntriedError(TrialError):
    """No scenario tests the rules of a trial."""


class Trial(Struct, frozen=True):
    """The settings of one run of the suite.

    Args:
        backend: The name of a backend that supports defects.
        defect: The name of the defect that is switched on; None for none.
        rules: Run only scenarios that test one of these rules; empty for all.
        every: Run only every n-th of these scenarios.
        first: The index of the first scenario that runs.
        workers: The number of worker processes; 0 to run the scenarios in the trial's own process.
        variant: The name of the tolerated variant that is switched on; None for none.
    """

    backend: str
    defect: str | None
    rules: tuple[str, ...] = ()
    every: int = 1
    first: int = 0
    workers: int = 0
    variant: str | None = None

    @property
    def subject(self) -> str:
        """The words that name the defect or variant of the trial in a sentence."""
        if self.variant is not None:
            return f"of variant {self.variant!r}"
        return "without a defect" if self.defect is None else f"with defect {self.defect!r}"


def outcomes_of(trial: Trial) -> Outcomes:
    """Run a trial in a temporary folder; return the outcomes of its scenarios.

    A variant represents a foreign broker or client, which has to meet only the documents' demands.  So the outcomes of
    a variant's trial lack the scenarios of strength or role kit.

    Raises:
        UntriedError: No scenario tests the trial's rules.
        TrialError: The scenarios could not be read, or some did not run.
    """
    with tempfile.TemporaryDirectory(prefix=folder_prefix("defect")) as folder:
        out = Path(folder) / "out"
        result = RunResult()
        options = SuiteOptions(
            out=out,
            backend=trial.backend,
            store=_STORES.get(trial.backend),
            rules=trial.rules,
            defect=trial.defect,
            workers=trial.workers,
            variant=trial.variant,
            probes=False,
        )
        code = run_suite(options, plugins=[result, *([Sample(trial.every, trial.first)] if trial.every > 1 else ())])
        gc.collect()  # otherwise the next run in this process freezes this run's garbage, and keeps it
        if code is pytest.ExitCode.NO_TESTS_COLLECTED:
            raise UntriedError(trial.subject, f"no scenario tries {', '.join(trial.rules)}; name other rules.")
        if code not in DONE:
            raise TrialError(trial.subject, _why(code, result, out / LOG))
        verdicts = load_verdicts(out / VERDICTS)
    return {
        scenario.scenario: Outcome(scenario.verdict.value, scenario.rules, scenario.reason)
        for scenario in verdicts.scenarios
        if trial.variant is None or (scenario.strength != Strength.KIT and scenario.role != Role.KIT)
    }


def _why(code: pytest.ExitCode, result: RunResult, log: Path) -> str:
    if code is pytest.ExitCode.USAGE_ERROR:
        return usage_error(log)
    return result.ended or next(iter(result.unreadable), f"pytest ended with {code.name}.")


def in_virtual_time(backend: str) -> bool:
    """Return whether a backend's time is virtual, so that trials need no real time to wait."""
    return Capability.VIRTUAL_TIME in open_backend(backend).capabilities


def chosen_rules(rules: tuple[str, ...], profiles: tuple[str, ...]) -> set[str]:
    """Return the ids of the chosen rules that belong to one of the profiles; without profiles, of all chosen rules."""
    catalogue = load_catalogue()
    return {rule.id for profile in profiles or (None,) for rule in catalogue.select(profile=profile, ids=rules)}


@contextmanager
def trial_pool(at_once: int | None) -> Generator[Executor, None, None]:
    """Provide a pool of processes for trials.

    An exception in the block, such as Ctrl-C, ends the processes at once, and removes their temporary folders.  The
    processes also end with this process, even if a signal kills this process.

    Args:
        at_once: The number of trials that run at a time; None for one on each processor.
    """
    context = get_context("spawn")
    watched, kept_open = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(at_once, mp_context=context, initializer=_watch, initargs=(watched,))
    try:
        yield pool
    except BaseException:  # Ctrl-C, too: the processes must end at once
        kept_open.close()
        pool.shutdown(cancel_futures=True)
        remove_folders()
        raise
    finally:
        pool.shutdown()
        kept_open.close()
        watched.close()


def _watch(pipe: Connection) -> None:
    Thread(target=_end_with, args=(pipe,), name="assay-pool", daemon=True).start()


def _end_with(pipe: Connection) -> None:
    """End this process when the pool's owner closes the pipe or ends."""
    pipe.poll(None)
    os._exit(1)  # otherwise a long trial would run for minutes, although no process can receive its result


def tried(pool: Executor, trials: Mapping[str, Trial], told: Callable[[str, int, int], None]) -> dict[str, Outcomes]:
    """Run the trials; return the outcomes by the name of the defect or variant.

    Args:
        pool: The processes that run the trials.
        trials: The trials, by the name of their defect or variant.
        told: Called after each trial with the name of its defect or variant, the number of trials that are done, and
            the number of all trials.

    Raises:
        TrialError: A trial did not run to its end, or one of the pool's processes was killed.
    """
    running = {pool.submit(outcomes_of, trial): name for name, trial in trials.items()}
    outcomes: dict[str, Outcomes] = {}
    for done, trial in enumerate(as_completed(running), start=1):
        name = running[trial]
        try:
            outcomes[name] = trial.result()
        except BrokenProcessPool as broken:
            why = "a process of the command was killed, perhaps because memory was short; run the command again."
            raise TrialError(trials[name].subject, why) from broken
        told(name, done, len(running))
    return outcomes
