"""The table of subjects that each invariant returns as its result."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.subjects import Outcome
from assay_pipeline.history import CASE
from assay_pipeline.moments import reference

SUBJECT = (*CASE, "subject", "outcome", "figure", "ref")
BY_RULE = (
    "folder string, run string, scenario string, subject string, outcome string, figure bigint, ref string, rule string"
)
"""The schema of the table of all invariants' subjects: `SUBJECT`, and the rule's id, by which it is partitioned."""


def subjects(frame: DataFrame, *, subject: Column, outcome: Column, figure: Column) -> DataFrame:
    """Make the table of an invariant's subjects from its candidates.

    Args:
        frame: One row for each candidate, with the columns of `CASE`, and ``at``: the moment of the candidate's event.
        subject: The subject's name, unique in its scenario.
        outcome: The value of an `Outcome`; null for a candidate that cannot be examined.
        figure: The number that decides the outcome: nanoseconds or a count, as the invariant defines it.

    Returns:
        One row for each subject, with the columns of `SUBJECT`.
    """
    return frame.select(
        *CASE,
        subject.alias("subject"),
        outcome.alias("outcome"),
        F.coalesce(figure.cast("bigint"), F.lit(0)).alias("figure"),
        reference(F.col("at")).alias("ref"),
    ).where(F.col("outcome").isNotNull())


def of_copies(copies: DataFrame, which: Column, *, broken: Column, kept: Column) -> DataFrame:
    """Make the table of subjects from copies of messages; the figure is how often the copy was seen.

    Args:
        copies: The table of `assay_pipeline.tables.copies`.
        which: The examined copies.
        broken: The copies that break the rule.
        kept: The copies that keep the rule; `broken` counts first if a copy is in both. All other copies cannot be
            examined.
    """
    name = F.when(F.col("kind") == "queue", F.col("kid")).otherwise(F.concat_ws(">", "kid", "holder"))
    outcome = F.when(broken, Outcome.BROKEN.value).when(kept, Outcome.KEPT.value)
    return subjects(copies.where(which), subject=name, outcome=outcome, figure=F.col("seen"))
