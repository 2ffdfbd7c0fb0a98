"""The invariants: rules of the catalogue as conditions on the history of a run.

Each module of this package, or of a package in it, examines one topic.  Its docstring describes the module's
invariants, and each invariant is a constant of the module (`assay_pipeline.invariant.Invariant`).  The package finds a
new module without a registration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from pkgutil import walk_packages

from assay_features import load_catalogue
from assay_pipeline.errors import NoInvariantError
from assay_pipeline.invariant import Invariant


def _declared() -> Iterator[Invariant]:
    for module in walk_packages(__path__, f"{__name__}."):
        constants = vars(import_module(module.name)).values()
        yield from (constant for constant in constants if isinstance(constant, Invariant))


def _by_rule() -> dict[str, Invariant]:
    catalogue = load_catalogue()
    declared = sorted(_declared(), key=lambda invariant: catalogue.rules.index(catalogue.rule(invariant.rule)))
    return {invariant.rule: invariant for invariant in declared}


INVARIANTS: Mapping[str, Invariant] = _by_rule()
"""The invariants by rule id, in the catalogue's order."""


def invariants_of(rules: Collection[str]) -> Mapping[str, Invariant]:
    """Return the invariants of some rules, by rule id, in the catalogue's order.

    Args:
        rules: The ids of the rules; empty for all rules that have an invariant.

    Raises:
        UnknownRuleError: The catalogue lacks one of the ids.
        NoInvariantError: One of the rules has no invariant.
    """
    if not rules:
        return INVARIANTS
    chosen = [rule.id for rule in load_catalogue().select(ids=rules)]
    for rule in chosen:
        if rule not in INVARIANTS:
            raise NoInvariantError(rule)
    return {rule: INVARIANTS[rule] for rule in chosen}


__all__ = ["INVARIANTS", "invariants_of"]
