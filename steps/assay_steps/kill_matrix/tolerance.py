"""The check that no scenario fails on a tolerated variant.

`kill_matrix` runs each variant on the scenarios of its own rules, and all of them must pass.  `tolerance` runs each
variant on all scenarios.  There a scenario *convicts* a variant if it passes without the variant, and fails or ends in
an error with it; other verdicts, such as not-demonstrated, do not convict.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from assay_evidence.verdicts import Verdict
from assay_steps.kill_matrix.failure_share import Outcomes
from assay_steps.kill_matrix.trials import AT_ONCE, Trial, chosen_rules, in_virtual_time, outcomes_of, trial_pool, tried
from assay_steps.variants import all_variants


class TriedVariant(Struct, frozen=True):
    """A tolerated variant, and the scenarios that convict it (`convictions`); they pass without the variant."""

    name: str
    convicted_by: tuple[str, ...]


class Tolerance(Struct, frozen=True):
    """The result of `assay defects --tolerated`; the form of its `--json` output.

    Args:
        variants: Every tolerated variant that ran.
        scenarios: The number of scenarios that ran without a variant.
    """

    variants: tuple[TriedVariant, ...]
    scenarios: int

    @property
    def convicted(self) -> tuple[TriedVariant, ...]:
        """The variants that at least one scenario convicts."""
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
        backend: The name of a backend that supports variants.
        rules: The ids of the chosen rules; empty for all.
        profiles: Choose only rules of these profiles; empty for all.
        told: Called after each trial with the name of the variant, the number of trials that are done, and the number
            of all trials.

    Raises:
        UntriedError: No scenario tests the rules.
        TrialError: A trial did not run to its end; the other trials are ended.
    """
    chosen = chosen_rules(tuple(rules), tuple(profiles))
    some = tuple(sorted(chosen)) if rules or profiles else ()
    is_virtual = in_virtual_time(backend)
    trials = {
        variant.name: Trial(backend, None, some, variant=variant.name)
        for variant in all_variants().values()
        if chosen & set(variant.rules)
    }
    at_once = os.cpu_count() if is_virtual else 1  # in real time, the one trial runs AT_ONCE scenarios at a time
    alone = Trial(backend, None, some, workers=0 if is_virtual else AT_ONCE)
    if not is_virtual:
        trials = {name: Trial(backend, None, some, workers=AT_ONCE, variant=name) for name in trials}
    with trial_pool(at_once) as pool:
        unbroken = pool.submit(outcomes_of, alone)
        outcomes = tried(pool, trials, told)
        return Tolerance(convictions(unbroken.result(), outcomes, _WRONG), len(unbroken.result()))


_WRONG = frozenset({Verdict.FAIL, Verdict.ERROR})
NOT_PASSED = frozenset(Verdict) - {Verdict.PASS}
"""The verdicts that count as failures for scenarios of a variant's own rules."""


def convictions(
    unbroken: Outcomes, outcomes: Mapping[str, Outcomes], wrong: frozenset[Verdict] = NOT_PASSED
) -> tuple[TriedVariant, ...]:
    """Find the scenarios that convict each variant.

    Args:
        unbroken: The outcomes without a variant; a scenario that does not pass there convicts no variant.
        outcomes: The outcomes with each variant, by its name.
        wrong: The verdicts that convict a variant.
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
