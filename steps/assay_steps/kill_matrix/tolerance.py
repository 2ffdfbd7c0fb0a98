"""Tolerance: no scenario may fail on a tolerated variant.

`kill_matrix` lets each variant try the scenarios of its own rules, which it must pass.  `tolerance` lets each try all
scenarios: none may end with a fail or an error that it does not have without the variant.  What a variant is allowed
not to show (a scenario that is then not demonstrated, for example) is no conviction there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from msgspec import Struct

from assay_evidence.verdicts import Verdict
from assay_steps.kill_matrix.failure_share import Outcomes
from assay_steps.kill_matrix.trials import AT_ONCE, Trial, chosen_rules, in_virtual_time, outcomes_of, tried
from assay_steps.variants import all_variants


class TriedVariant(Struct, frozen=True):
    """One tolerated variant, and the scenarios that convict it, though they pass without it."""

    name: str
    convicted_by: tuple[str, ...]


class Tolerance(Struct, frozen=True):
    """`assay defects --tolerated --json`.

    Args:
        variants: Every tolerated variant that was tried.
        scenarios: How many scenarios each of them tried.
    """

    variants: tuple[TriedVariant, ...]
    scenarios: int

    @property
    def convicted(self) -> tuple[TriedVariant, ...]:
        """The variants that some scenario convicts."""
        return tuple(variant for variant in self.variants if variant.convicted_by)


def tolerance(
    backend: str = "reference",
    rules: Iterable[str] = (),
    *,
    profiles: Iterable[str] = (),
    told: Callable[[str, int, int], None] = lambda _name, _done, _total: None,
) -> Tolerance:
    """Run every tolerated variant of the chosen rules on all scenarios of the chosen rules.

    Args:
        backend: A backend that knows variants.
        rules: Only these rules; none for all.
        profiles: Only rules of these profiles; none for all.
        told: Called after each trial with the name of the variant, how many are done, and the number of all.

    Raises:
        UntriedError: No scenario tries the rules.
        TrialError: A trial did not run to its end; trials that have not begun are cancelled.
    """
    chosen = chosen_rules(tuple(rules), tuple(profiles))
    some = tuple(sorted(chosen)) if rules or profiles else ()
    is_virtual = in_virtual_time(backend)
    trials = {
        variant.name: Trial(backend, None, some, variant=variant.name)
        for variant in all_variants().values()
        if chosen & set(variant.rules)
    }
    at_once = os.cpu_count() if is_virtual else 1  # in real time, one trial has AT_ONCE scenarios at a time
    alone = Trial(backend, None, some, workers=0 if is_virtual else AT_ONCE)
    if not is_virtual:
        trials = {name: Trial(backend, None, some, workers=AT_ONCE, variant=name) for name in trials}
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
        try:
            unbroken = pool.submit(outcomes_of, alone)
            outcomes = tried(pool, trials, told)
            return Tolerance(convictions(unbroken.result(), outcomes, _WRONG), len(unbroken.result()))
        except BaseException:  # Ctrl-C too: leaving the pool would wait for all that is queued
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_WRONG = frozenset({Verdict.FAIL, Verdict.ERROR})
NOT_PASSED = frozenset(Verdict) - {Verdict.PASS}
"""The verdicts with which a scenario of a variant's own rules convicts it."""


def convictions(
    unbroken: Outcomes, outcomes: Mapping[str, Outcomes], wrong: frozenset[Verdict] = NOT_PASSED
) -> tuple[TriedVariant, ...]:
    """The scenarios that convict each variant.

    Args:
        unbroken: The outcomes without a variant; a scenario that does not pass there convicts no variant.
        outcomes: The outcomes by variant.
        wrong: The verdicts that convict.
    """
    return tuple(
        TriedVariant(
            name,
            tuple(
                sorted(
                    scenario
                    for scenario, outcome in found.items()
                    if outcome.verdict in wrong and unbroken[scenario].verdict == Verdict.PASS
                )
            ),
        )
        for name, found in sorted(outcomes.items())
    )
