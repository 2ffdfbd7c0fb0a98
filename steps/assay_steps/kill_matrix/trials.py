"""Trials: runs of the suite with one defect or variant, each in a process of its own pool."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, as_completed
from pathlib import Path

import pytest
from msgspec import Struct

from assay_adapters.registry import open_backend
from assay_evidence.verdicts import load_verdicts
from assay_features import Role, Strength, load_catalogue
from assay_sdk.model.capabilities import Capability
from assay_steps.kill_matrix.failure_share import Outcome, Outcomes, Sample
from assay_steps.plugin.folder import LOG, VERDICTS
from assay_steps.plugin.run_result import RunResult, usage_error
from assay_steps.plugin.suite import SuiteOptions, run_suite

AT_ONCE = 24
"""Trials that run at a time in real time, and scenarios at a time of the trial without a defect."""

_STORES: Mapping[str, str] = {"reference": "memory"}
"""The store of a backend that has a choice: a trial on a simulated disk takes a quarter less time than on files."""

DONE = frozenset({pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED})
"""Pytest's exit codes after every scenario of a trial was run."""


class TrialError(RuntimeError):
    """A trial was not done to its end, so it says nothing of what catches its defect.

    Args:
        defect: The defect that was switched on; None for none.
        why: What stopped it.
    """

    def __init__(self, defect: str | None, why: str) -> None:
        super().__init__(defect, why)  # both, since it comes out of a process of the pool
        self.defect = defect
        self.why = why

    def __str__(self) -> str:
        """One sentence for the user."""
        whose = "without a defect" if self.defect is None else f"with defect {self.defect!r}"
        return f"The trial {whose} was not done to its end, so nothing is known of what catches what: {self.why}"


class UntriedError(TrialError):
    """No scenario tries the rules of a trial."""


class Trial(Struct, frozen=True):
    """One run of the suite, in a process of its own pool.

    Args:
        backend: A backend that knows defects.
        defect: The defect that is switched on; None for none.
        rules: Only scenarios that try one of these rules; none for all.
        every: Run only every n-th of them.
        first: The index of the first that is run.
        workers: How many processes run them; 0 for this one.
        variant: The tolerated variant that broker or client is; None for the reference pair as it is.
    """

    backend: str
    defect: str | None
    rules: tuple[str, ...] = ()
    every: int = 1
    first: int = 0
    workers: int = 0
    variant: str | None = None


def outcomes_of(trial: Trial) -> Outcomes:
    """Run a trial in a temporary folder.

    A variant stands for a foreign part, of which nothing is asked that no document asks: scenarios of strength or role
    kit are left out.

    Raises:
        UntriedError: No scenario tries its rules.
        TrialError: Its scenarios could not be read, or not all were run. A missing verdict must not count as a defect
            that was not caught.
    """
    with tempfile.TemporaryDirectory(prefix="assay-defect-") as folder:
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
        if code is pytest.ExitCode.NO_TESTS_COLLECTED:
            raise UntriedError(trial.defect, f"no scenario tries {', '.join(trial.rules)}; name other rules.")
        if code not in DONE:
            raise TrialError(trial.defect, _why(code, result, out / LOG))
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
    """Whether a backend's time is virtual, so that a trial computes and does not wait."""
    return Capability.VIRTUAL_TIME in open_backend(backend).capabilities


def chosen_rules(rules: tuple[str, ...], profiles: tuple[str, ...]) -> set[str]:
    """The ids of the rules, restricted to the profiles if some are named."""
    catalogue = load_catalogue()
    return {rule.id for profile in profiles or (None,) for rule in catalogue.select(profile=profile, ids=rules)}


def tried(pool: Executor, trials: Mapping[str, Trial], told: Callable[[str, int, int], None]) -> dict[str, Outcomes]:
    """Run the trials; the outcomes by the name of the defect or variant."""
    running = {pool.submit(outcomes_of, trial): name for name, trial in trials.items()}
    outcomes: dict[str, Outcomes] = {}
    for done, trial in enumerate(as_completed(running), start=1):
        outcomes[running[trial]] = trial.result()
        told(running[trial], done, len(running))
    return outcomes
