"""The kill matrix: which scenario catches which named defect.

Once unbroken, all scenarios: one that fails then is an *alarm*.  Then each defect on the scenarios of its rules: one
that fails there has *caught* it.  A scenario that catches nothing is *unkilled*: nothing shows that it can fail.  A
defect that fails `TOO_BROAD` of all scenarios or more proves nothing and does not count.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import pytest
from msgspec import Struct

from assay_evidence.verdicts import Verdict, load_verdicts
from assay_features import feature_root, load_catalogue
from assay_steps.defects import all_defects
from assay_steps.defects.model import Defect
from assay_steps.folder import LOG, VERDICTS
from assay_steps.guards import written
from assay_steps.stops import Stops, last_words
from assay_steps.suite import SuiteOptions, run_suite

TOO_BROAD = 0.15
"""The share of all scenarios from which on a defect is no defect of its rules any more."""

Outcomes = Mapping[str, tuple[str, tuple[str, ...]]]
"""Scenario id -> its verdict and its rules."""


DONE = frozenset({pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED})
"""How pytest ends when every scenario of a trial was tried."""


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


class CaughtDefect(Struct, frozen=True):
    """One defect, and the scenarios of the rule that fail with it."""

    name: str
    caught_by: tuple[str, ...]


class RuleKills(Struct, frozen=True):
    """One rule, and its defects."""

    id: str
    defects: tuple[CaughtDefect, ...]

    @property
    def proven(self) -> bool:
        """Whether some defect of the rule is caught by the rule's own scenarios."""
        return any(defect.caught_by for defect in self.defects)


class KillMatrix(Struct, frozen=True):
    """`assay defects --json` (design, "The command").

    Args:
        rules: Every rule that has scenarios.
        alarms: Scenarios that do not pass without a defect.
        unkilled: Scenarios that no defect breaks.
        too_broad: Defects that fail too many scenarios, with the share that they fail.
    """

    rules: tuple[RuleKills, ...]
    alarms: tuple[str, ...]
    unkilled: tuple[str, ...]
    too_broad: dict[str, float]

    @property
    def sound(self) -> bool:
        """Whether every rule is proven able to fail, and nothing fails without a cause."""
        return all(rule.proven for rule in self.rules) and not (self.alarms or self.unkilled or self.too_broad)


class Trial(Struct, frozen=True):
    """One run of the suite, in a process of its own pool."""

    backend: str
    defect: str | None
    rules: tuple[str, ...]


def outcomes_of(trial: Trial) -> Outcomes:
    """Run a trial in a folder that goes away afterwards.

    Raises:
        UntriedError: There is no scenario that tries its rules.
        TrialError: Its scenarios could not be read, or not all be tried: a verdict is missing, and must not pass for a
            defect that was not caught.
    """
    with tempfile.TemporaryDirectory(prefix="assay-defect-") as folder:
        out = Path(folder) / "out"
        stops = Stops()
        options = SuiteOptions(out=out, backend=trial.backend, rules=trial.rules, defect=trial.defect)
        code = run_suite(options, plugins=[stops])
        if code is pytest.ExitCode.NO_TESTS_COLLECTED:
            raise UntriedError(trial.defect, f"no scenario tries {', '.join(trial.rules)}; name other rules.")
        if code not in DONE:
            raise TrialError(trial.defect, _why(code, stops, out / LOG))
        verdicts = load_verdicts(out / VERDICTS)
    return {scenario.scenario: (scenario.verdict.value, scenario.rules) for scenario in verdicts.scenarios}


def _why(code: pytest.ExitCode, stops: Stops, log: Path) -> str:
    if code is pytest.ExitCode.USAGE_ERROR:
        return last_words(log)
    return stops.ended or next(iter(stops.unreadable), f"pytest ended with {code.name}.")


def kill_matrix(
    backend: str = "reference",
    rules: Iterable[str] = (),
    *,
    everywhere: bool = False,
    told: Callable[[str, int, int], None] = lambda _name, _done, _total: None,
) -> KillMatrix:
    """Run every defect of the chosen rules.

    Args:
        backend: A backend that knows defects.
        rules: Only these rules; none for all.
        everywhere: Run each defect on all scenarios, not only on those of its rules, to measure how broad it is.
        told: Called after each trial with the defect's name, how many are done, and how many there are.

    Raises:
        UntriedError: No scenario tries the rules.
        TrialError: A trial was not done to its end; those that have not begun are left out.
    """
    chosen = {rule.id for rule in load_catalogue().select(ids=tuple(rules))}
    defects = [defect for defect in all_defects().values() if chosen & set(defect.rules)]
    scope = tuple(rules)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        unbroken = pool.submit(outcomes_of, Trial(backend, None, scope))
        trials = {
            pool.submit(outcomes_of, Trial(backend, defect.name, () if everywhere else _rules(defect, chosen))): defect
            for defect in defects
        }
        broken: dict[str, Outcomes] = {}
        try:
            for done, trial in enumerate(as_completed(trials), start=1):
                broken[trials[trial].name] = trial.result()
                told(trials[trial].name, done, len(trials))
            return _matrix(unbroken.result(), broken, defects)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _rules(defect: Defect, chosen: set[str]) -> tuple[str, ...]:
    return tuple(sorted(chosen & set(defect.rules)))


def _matrix(unbroken: Outcomes, broken: Mapping[str, Outcomes], defects: Iterable[Defect]) -> KillMatrix:
    failed = {
        name: {scenario for scenario, (verdict, _) in outcomes.items() if verdict == Verdict.FAIL}
        for name, outcomes in broken.items()
    }
    everything = written(feature_root().rglob("*.feature")).total()
    shares = {name: len(scenarios) / everything for name, scenarios in failed.items()}
    too_broad = {name: round(share, 3) for name, share in sorted(shares.items()) if share >= TOO_BROAD}
    counted = [defect for defect in defects if defect.name not in too_broad]
    rules = sorted({rule for _, tried in unbroken.values() for rule in tried}, key=_catalogue_order())
    killed: set[str] = set()
    rows: list[RuleKills] = []
    for rule in rules:
        own = {scenario for scenario, (_, tried) in unbroken.items() if rule in tried}
        caught = [
            CaughtDefect(defect.name, tuple(sorted(failed[defect.name] & own)))
            for defect in counted
            if rule in defect.rules
        ]
        killed.update(scenario for defect in caught for scenario in defect.caught_by)
        rows.append(RuleKills(rule, tuple(caught)))
    return KillMatrix(
        rules=tuple(rows),
        alarms=tuple(sorted(name for name, (verdict, _) in unbroken.items() if verdict != Verdict.PASS)),
        unkilled=tuple(sorted(unbroken.keys() - killed)),
        too_broad=too_broad,
    )


def _catalogue_order() -> Callable[[str], int]:
    order = {rule.id: place for place, rule in enumerate(load_catalogue().rules)}
    return order.__getitem__
