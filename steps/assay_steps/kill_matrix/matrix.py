"""The kill matrix: which scenario catches which named defect.

All scenarios of the chosen rules run without a defect.  A scenario that runs and does not pass there is an *alarm*.
The scenarios of each defect's rules also run with the defect:

- A scenario that fails has *caught* the defect.
- A defect is in *error* if no scenario fails, and some scenario ends in an error with the defect, but not without it.
  This shows that the defect's own code has raised an exception.
- A scenario that catches no defect is *unkilled*: no defect shows that it can fail.
- A defect proves nothing and does not count if at least the share `failure_share.TOO_BROAD` of all scenarios fails with
  it.

A tolerated variant (`assay_steps.variants`) must pass the scenarios of its rules.

In virtual time a trial keeps a core busy, so one trial for each core runs at a time.  In real time a trial mostly
waits, so many trials run at a time.  The matrix names the scenarios that a backend cannot run and the defects that it
cannot show.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct, structs

from assay_adapters.registry import names_with_variants
from assay_evidence.verdicts import Verdict
from assay_features import feature_root, load_catalogue
from assay_steps.defects import all_defects
from assay_steps.defects.model import Defect
from assay_steps.defects.virtual_time_only import VIRTUAL_TIME_ONLY
from assay_steps.kill_matrix.failure_share import (
    SAMPLED,
    SUSPECT,
    TOO_BROAD,
    Outcomes,
    share_of,
)
from assay_steps.kill_matrix.tolerance import TriedVariant, convictions
from assay_steps.kill_matrix.trials import (
    AT_ONCE,
    Trial,
    UntriedError,
    chosen_rules,
    in_virtual_time,
    outcomes_of,
    trial_pool,
    tried,
)
from assay_steps.plugin.checks import written
from assay_steps.variants import all_variants


class CaughtDefect(Struct, frozen=True):
    """A defect, and the scenarios of one rule that fail with it."""

    name: str
    caught_by: tuple[str, ...]


class RuleKills(Struct, frozen=True):
    """A rule, its defects, and the rule's scenarios that catch each defect."""

    id: str
    defects: tuple[CaughtDefect, ...]

    @property
    def proven(self) -> bool:
        """Whether the rule's scenarios catch at least one of its defects."""
        return any(defect.caught_by for defect in self.defects)


class DefectError(Struct, frozen=True):
    """A defect that no scenario catches, because the defect's own code raises an exception.

    Args:
        name: The defect's name.
        scenario: The first scenario that ends in an error with the defect, but not without it.
        reason: The step that failed, and the exception.
    """

    name: str
    scenario: str
    reason: str


class KillMatrix(Struct, frozen=True):
    """The result of `assay defects`; the form of its `--json` output.

    Args:
        rules: Every rule that has scenarios.
        alarms: Scenarios that do not pass without a defect.
        unkilled: Scenarios that no defect breaks.
        too_broad: Defects with which too many scenarios fail, each with the share of failing scenarios.
        unsupported: Scenarios that the backend cannot run.
        beyond: Defects of these rules that the backend cannot show, each with the reason.
        real_time: Whether the backend's time is real. In virtual time, each scenario must fail with at least one
            defect. In real time a scenario may be unkilled, because the backend cannot show the defect that breaks the
            scenario, or because the clock is not exact enough.
        variants: The tolerated variants of these rules; empty if the backend has no variants.
        errors: Defects whose own code raises an exception, so that their trials do not show which scenarios catch them.
    """

    rules: tuple[RuleKills, ...]
    alarms: tuple[str, ...]
    unkilled: tuple[str, ...]
    too_broad: dict[str, float]
    unsupported: tuple[str, ...] = ()
    beyond: dict[str, str] = {}
    real_time: bool = False
    variants: tuple[TriedVariant, ...] = ()
    errors: tuple[DefectError, ...] = ()

    @property
    def caught(self) -> frozenset[str]:
        """The defects that at least one scenario of their rules catches."""
        return frozenset(defect.name for rule in self.rules for defect in rule.defects if defect.caught_by)

    @property
    def missed(self) -> frozenset[str]:
        """The defects that no scenario of their rules catches, without the defects in `errors`."""
        tried = frozenset(defect.name for rule in self.rules for defect in rule.defects)
        return tried - self.caught - {error.name for error in self.errors}

    @property
    def unbroken(self) -> tuple[str, ...]:
        """The scenarios that no defect breaks; empty for a backend in real time, which cannot show every defect."""
        return () if self.real_time else self.unkilled

    @property
    def convicted(self) -> frozenset[str]:
        """The tolerated variants that a scenario convicts; such a scenario demands more than its rule."""
        return frozenset(variant.name for variant in self.variants if variant.convicted_by)

    @property
    def wrong(self) -> bool:
        """Whether the matrix shows a problem other than an exception in a defect's own code."""
        known = self.alarms or self.too_broad or self.missed or self.convicted
        return bool(known) or (not self.errors and not self._all_shown)

    @property
    def _all_shown(self) -> bool:
        return not self.unbroken and all(rule.proven for rule in self.rules)


def kill_matrix(
    backend: str = "reference",
    rules: Iterable[str] = (),
    *,
    profiles: Iterable[str] = (),
    everywhere: bool = False,
    told: Callable[[str, int, int], None] = lambda _name, _done, _total: None,
) -> KillMatrix:
    """Run every defect and every tolerated variant of the chosen rules.

    Args:
        backend: The name of a backend that supports defects.
        rules: The ids of the chosen rules; empty for all.
        profiles: Choose only rules of these profiles; empty for all.
        everywhere: Also run each defect on scenarios of other rules, to measure the share of all scenarios that fail
            with it.
        told: Called after each trial with the name of the defect or variant, the number of trials that are done, and
            the number of all trials.

    Raises:
        UntriedError: No scenario tests the rules.
        TrialError: A trial did not run to its end; the other trials are ended.
    """
    chosen = chosen_rules(tuple(rules), tuple(profiles))
    if not chosen:
        raise UntriedError("of no rule", "none of these rules is in these profiles; name others.")
    is_virtual = in_virtual_time(backend)
    knows_variants = backend in names_with_variants()
    known = [defect for defect in all_defects().values() if chosen & set(defect.rules)]
    beyond = (
        {} if is_virtual else {one.name: VIRTUAL_TIME_ONLY[one.name] for one in known if one.name in VIRTUAL_TIME_ONLY}
    )
    defects = [defect for defect in known if defect.name not in beyond]
    own = {defect.name: Trial(backend, defect.name, _rules(defect, chosen)) for defect in defects}
    sampled = {name: Trial(backend, name, every=SAMPLED) for name in own} if everywhere else {}
    tolerated = {
        variant.name: Trial(backend, None, tuple(sorted(chosen & set(variant.rules))), variant=variant.name)
        for variant in all_variants().values()
        if knows_variants and chosen & set(variant.rules)
    }
    alone = Trial(backend, None, tuple(sorted(chosen)), workers=0 if is_virtual else AT_ONCE)
    with trial_pool(os.cpu_count() if is_virtual else AT_ONCE) as pool:
        unbroken = pool.submit(outcomes_of, alone)
        if not is_virtual:
            # The run without a defect ends before other trials start: their load would delay it in real time.
            own = _longest_first(own, unbroken.result())
        broken = tried(pool, own, told)
        if not is_virtual:
            broken |= _tried_again(own, broken, told)
        shares = {name: share_of(outcomes) for name, outcomes in tried(pool, sampled, told).items()}
        suspects = {name: Trial(backend, name) for name, share in shares.items() if share >= SUSPECT}
        shares |= {name: share_of(outcomes) for name, outcomes in tried(pool, suspects, told).items()}
        matrix = _matrix(unbroken.result(), broken, defects, shares)
        variants = convictions(unbroken.result(), tried(pool, tolerated, told))
        return structs.replace(matrix, beyond=beyond, real_time=not is_virtual, variants=variants)


def _tried_again(
    trials: Mapping[str, Trial], broken: Mapping[str, Outcomes], told: Callable[[str, int, int], None]
) -> dict[str, Outcomes]:
    """Run the trials of uncaught defects again, few at a time: with many, a trial may miss a short delay."""
    missed = {name: trial for name, trial in trials.items() if not share_of(broken[name])}
    with trial_pool(os.cpu_count()) as pool:
        return tried(pool, missed, told)


def _longest_first(trials: Mapping[str, Trial], unbroken: Outcomes) -> dict[str, Trial]:
    """Sort trials by their number of scenarios, the largest first, so that no long trial is the last to run."""
    scenarios = Counter(rule for outcome in unbroken.values() for rule in outcome.rules)
    return dict(sorted(trials.items(), key=lambda item: -sum(scenarios[rule] for rule in item[1].rules)))


def _rules(defect: Defect, chosen: set[str]) -> tuple[str, ...]:
    return tuple(sorted(chosen & set(defect.rules)))


def _matrix(
    unbroken: Outcomes, broken: Mapping[str, Outcomes], defects: Iterable[Defect], measured: Mapping[str, float]
) -> KillMatrix:
    """Build the matrix from the outcomes of the trials.

    Args:
        unbroken: The outcomes without a defect.
        broken: The outcomes with each defect, by its name.
        defects: The defects of the chosen rules.
        measured: The share of scenarios that fail with a defect, by the defect's name; only for defects that ran on a
            sample of all scenarios, or on all.
    """
    failed = {
        name: {scenario for scenario, outcome in outcomes.items() if outcome.verdict == Verdict.FAIL}
        for name, outcomes in broken.items()
    }
    everything = written(feature_root().rglob("*.feature")).total()
    shares = {name: len(scenarios) / everything for name, scenarios in failed.items()} | dict(measured)
    too_broad = {name: round(share, 3) for name, share in sorted(shares.items()) if share >= TOO_BROAD}
    counted = [defect for defect in defects if defect.name not in too_broad]
    rules = sorted({rule for outcome in unbroken.values() for rule in outcome.rules}, key=_catalogue_order())
    unsupported = {name for name, outcome in unbroken.items() if outcome.verdict == Verdict.UNSUPPORTED}
    killed: set[str] = set()
    rows: list[RuleKills] = []
    for rule in rules:
        own = {scenario for scenario, outcome in unbroken.items() if rule in outcome.rules}
        caught = [
            CaughtDefect(defect.name, tuple(sorted(failed[defect.name] & own)))
            for defect in counted
            if rule in defect.rules
        ]
        killed.update(scenario for defect in caught for scenario in defect.caught_by)
        rows.append(RuleKills(rule, tuple(caught)))
    return KillMatrix(
        rules=tuple(rows),
        alarms=tuple(
            sorted(
                name
                for name, outcome in unbroken.items()
                if outcome.verdict != Verdict.PASS and name not in unsupported
            )
        ),
        unkilled=tuple(sorted(unbroken.keys() - killed - unsupported)),
        too_broad=too_broad,
        unsupported=tuple(sorted(unsupported)),
        errors=tuple(_errors(unbroken, {name: broken[name] for name, scenarios in failed.items() if not scenarios})),
    )


def _errors(unbroken: Outcomes, uncaught: Mapping[str, Outcomes]) -> Iterator[DefectError]:
    """For each uncaught defect, find the first scenario that ends in an error with the defect, but not without it."""
    for name, outcomes in sorted(uncaught.items()):
        for scenario, outcome in sorted(outcomes.items()):
            if outcome.verdict == Verdict.ERROR != unbroken[scenario].verdict:
                yield DefectError(name, scenario, outcome.reason)
                break


def _catalogue_order() -> Callable[[str], int]:
    order = {rule.id: place for place, rule in enumerate(load_catalogue().rules)}
    return order.__getitem__
