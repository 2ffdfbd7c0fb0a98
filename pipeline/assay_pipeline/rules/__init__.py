"""The invariants: rules of the catalogue as questions to the history of a run.

Each is a pure function from the history's tables to its subjects: what it examined, and of each whether it was kept,
broken or undecided.  A module defines one, in prose first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from pyspark.sql import DataFrame

from assay_evidence.oracle import LIMITS, Limits
from assay_pipeline.history import History
from assay_pipeline.rules import batches, copies, early, expiry, losses

Invariant = Callable[[History, Limits], DataFrame]

INVARIANTS: Mapping[str, Invariant] = {
    module.RULE: module.examine for module in (early, expiry, copies, losses, batches)
}
"""Rule id → invariant, in the catalogue's order."""


def examine_all(history: History, limits: Limits = LIMITS) -> DataFrame:
    """The subjects of all invariants in one table (`assay_pipeline.rules.subjects.SUBJECT`)."""
    return reduce(DataFrame.unionByName, (invariant(history, limits) for invariant in INVARIANTS.values()))


__all__ = ["INVARIANTS", "Invariant", "examine_all"]
