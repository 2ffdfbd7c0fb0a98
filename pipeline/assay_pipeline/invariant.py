"""The type of an invariant: a rule of the catalogue in the form of a condition on a run's history.

This module does not import Spark, so that other modules can read invariants on a machine without Spark.
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
"""The Spark form of an invariant: a function from the tables of all runs to the invariant's subjects
(`assay_pipeline.examined.subjects`)."""


class Wording(Struct, frozen=True):
    """The texts for an invariant's demand and for a subject's figure, in findings.

    Args:
        demands: The text for the demand; a limit's name in braces is replaced by the limit's value.
        observed: The text for a figure; ``{0}`` is replaced by the figure. For a negative duration, "after" is
            replaced by "before".
        one: The noun for a figure of 1; empty if figures are durations in nanoseconds.
        many: The noun for other figures; if it is empty, the noun is `one` with an s.
    """

    demands: str
    observed: str
    one: str = ""
    many: str = ""

    def of(self, subject: Subject) -> str:
        """Return the text for a subject with its figure."""
        if self.one:
            return f"{subject.subject}: {self.observed.format(counted(subject.figure, self.one, self.many))}"
        side = self.observed if subject.figure >= 0 else self.observed.replace(" after ", " before ")
        return f"{subject.subject}: {side.format(duration(abs(subject.figure)))}"


class Invariant(Struct, frozen=True, kw_only=True):
    """An invariant: the demand of a rule, and the functions that examine it.

    Args:
        rule: The rule's id.
        text: The demand in one sentence.
        wording: The texts for findings.
        on_spark: The Spark form.
        in_python: The plain-Python form, for the oracle; has no code in common with `on_spark`.
        limits: The limits that the invariant uses.
        certain: Whether a delay of the harness can never cause a broken subject.
    """

    rule: str
    text: str
    wording: Wording
    on_spark: OnSpark
    in_python: InPython
    limits: tuple[Limit, ...] = ()
    certain: bool = False

    def demands(self, limits: Limits) -> str:
        """Return the sentence that says what the rule demands, with the values of the limits."""
        return self.wording.demands.format_map({limit.name: limits[limit] for limit in self.limits})
