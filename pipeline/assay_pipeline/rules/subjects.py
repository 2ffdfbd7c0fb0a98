"""How a rule's table of subjects looks, whatever the rule."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from assay_pipeline.history import CASE
from assay_pipeline.moments import reference

SUBJECT = (*CASE, "rule", "subject", "outcome", "figure", "ref")


def subjects(frame: DataFrame, rule: str, *, subject: Column, outcome: Column, figure: Column) -> DataFrame:
    """Name what a rule examined.

    Args:
        frame: One row a candidate, with the columns of `CASE` and ``at``, the moment of the event that stands for it.
        rule: The rule's id.
        subject: What it is called within its scenario.
        outcome: An `Outcome`'s value; null where the candidate could not be examined.
        figure: The number that decides.

    Returns:
        One row a subject, with the columns of `SUBJECT`.
    """
    return frame.select(
        *CASE,
        F.lit(rule).alias("rule"),
        subject.alias("subject"),
        outcome.alias("outcome"),
        F.coalesce(figure.cast("bigint"), F.lit(0)).alias("figure"),
        reference(F.col("at")).alias("ref"),
    ).where(F.col("outcome").isNotNull())
