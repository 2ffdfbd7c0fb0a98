"""The number of processes of ``assay run``."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec.structs import replace

from assay_features import feature_root, load_catalogue
from assay_steps.plugin.checks import rule_counts
from assay_steps.plugin.narrowing import features_of
from assay_steps.plugin.suite import SuiteOptions

REFERENCE = "reference"
"""The name of the default backend: the reference broker in this process."""
REFERENCE_WORKERS = 4
"""The largest number of processes for the in-process backend; a run with more takes longer, because each must start."""
REAL_WORKERS = 36
"""The number of processes for a broker in real time. Scenarios on it mostly wait, so many can share a few cores.

On two cores, runs with 30 and 38 processes took 267 and 252 s on ActiveMQ, and 287 and 245 s on Artemis.
"""
FEW_WORKERS = 4
"""The number of processes if pytest's arguments select scenarios, because they usually select only a few."""
SCENARIOS_PER_WORKER = 4
"""The number of scenarios for each process, in a run of few scenarios on a backend in real time."""


def default_workers(backend: str, *, scenarios: int | None = None, by_pytest: bool = False) -> int:
    """Choose the number of processes of a run without ``--workers``.

    Scenarios on real brokers mostly wait, so many processes help, but the start of a process takes longer than a few
    scenarios.  Scenarios on `reference` compute: the whole suite uses a process for each core, but at most
    `REFERENCE_WORKERS`.  A selection of its scenarios runs in this process, as does the whole suite on a single core.

    Args:
        backend: The backend's name.
        scenarios: The largest number of scenarios that the options can select; None for all.
        by_pytest: Whether pytest's arguments select scenarios, so that their number is unknown.

    Returns:
        The number of worker processes; 0 to run the scenarios in this process.
    """
    whole = scenarios is None and not by_pytest
    if backend != REFERENCE:
        waiting = FEW_WORKERS if by_pytest else REAL_WORKERS
        return waiting if scenarios is None else min(waiting, scenarios // SCENARIOS_PER_WORKER)
    cores = os.cpu_count() or 1
    return min(cores, REFERENCE_WORKERS) if whole and cores > 1 else 0


def with_workers(options: SuiteOptions) -> SuiteOptions:
    """Return the options with the default number of processes for the selected scenarios."""
    if options.scenarios and not any(set("*?") & set(pattern) for pattern in options.scenarios):
        return replace(options, workers=default_workers(options.backend, scenarios=len(options.scenarios)))
    scenarios = count_scenarios(options.profile, options.rules)
    by_pytest = bool(options.pytest_args or options.scenarios)
    return replace(options, workers=default_workers(options.backend, scenarios=scenarios, by_pytest=by_pytest))


def count_scenarios(profile: str | None, rules: Sequence[str]) -> int | None:
    """Count the scenarios of the selected rules, a scenario of two rules twice; return None if all rules are selected.

    Raises:
        LookupError: A rule or the profile does not exist.
    """
    if profile is None and not rules:
        return None
    ids = [rule.id for rule in load_catalogue().select(profile=profile, ids=tuple(rules))]
    tried = rule_counts(features_of(feature_root(), ids))
    return sum(tried[rule] for rule in ids)
