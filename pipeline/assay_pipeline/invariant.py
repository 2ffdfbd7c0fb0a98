"""An invariant as a value: a rule of the catalogue as a condition on the history of a run.

This module imports no Spark, so that what reads invariants works before Spark is found to be missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from assay_evidence.figures import counted, duration
from assay_evidence.oracle import InPython
from assay_evidence.subjects import Limit, Limits, Subject

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from assay_pipeline.history import History

OnSpark = Callable[["History", Limits], "DataFrame"]
"""The Spark form of an invariant: from the tables of all runs to its subjects (`assay_pipeline.examined.subjects`)."""


class Wording(Struct, frozen=True):
    """How findings phrase an invariant's demand and the figure of a subject.

    Args:
        demands: What it demands; the name of a limit in braces becomes its value.
        observed: What a figure says; ``{0}`` becomes the figure.  For a duration below zero, "after" becomes "before".
        one: The noun for a figure of 1; empty if figures are durations in nanoseconds.
        many: The noun for other figures; empty for `one` with an s.
    """

    demands: str
    observed: str
    one: str = ""
    many: str = ""

    def of(self, subject: Subject) -> str:
        """Phrase a subject with its figure."""
        if self.one:
            return f"{subject.subject}: {self.observed.format(counted(subject.figure, self.one, self.many))}"
        side = self.observed if subject.figure >= 0 else self.observed.replace(" after ", " before ")
        return f"{subject.subject}: {side.format(duration(abs(subject.figure)))}"


class Invariant(Struct, frozen=True, kw_only=True):
    """One invariant.

    Args:
        rule: The rule's id.
        text: What must hold, in one sentence.
        wording: How findings are phrased.
        on_spark: Its Spark form.
        in_python: Its plain-Python form, for the oracle; shares no code with `on_spark`.
        limits: The limits that it uses.
        certain: Whether no delay of the harness can cause a broken subject.
    """

    rule: str
    text: str
    wording: Wording
    on_spark: OnSpark
    in_python: InPython
    limits: tuple[Limit, ...] = ()
    certain: bool = False

    def demands(self, limits: Limits) -> str:
        """What it demands, with the limits in force."""
        return self.wording.demands.format_map({limit.name: limits[limit] for limit in self.limits})
