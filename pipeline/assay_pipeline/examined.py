"""The table of subjects that each invariant returns as its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.history import CASE, History
from assay_pipeline.moments import reference

BY_RULE = "case_id bigint, subject string, outcome string, figure bigint, ref string, rule string"
"""The schema of the table of all subjects: the columns of `subjects`, and the rule's id, which partitions the table."""


def subjects(frame: DataFrame, *, subject: Column, outcome: Column, figure: Column) -> DataFrame:
    """Make the table of an invariant's subjects from its candidates.

    Args:
        frame: One row for each candidate, with the columns of `CASE`, and ``at``: the moment of the candidate's event.
        subject: The subject's name, unique in its scenario.
        outcome: The value of an `Outcome`; null for a candidate that cannot be examined.
        figure: The number that decides the outcome: nanoseconds or a count, as the invariant defines it.

    Returns:
        One row for each subject, with the columns of `CASE`, ``subject``, ``outcome``, ``figure`` and ``ref``.
    """
    return frame.select(
        *CASE,
        subject.alias("subject"),
        outcome.alias("outcome"),
        F.coalesce(figure.cast("bigint"), F.lit(0)).alias("figure"),
        reference(F.col("at")).alias("ref"),
    ).where(F.col("outcome").isNotNull())


class Rows(Struct, frozen=True):
    """The part of an invariant that examines the rows of a stored table.

    Args:
        which: Whether the invariant examines a row.
        subject: The subject's name, unique in its scenario.
        outcome: The value of an `Outcome`; null for a row that cannot be examined.
        figure: The number that decides the outcome.
    """

    which: Column
    subject: Column
    outcome: Column
    figure: Column

    def otherwise(self, other: Rows) -> Rows:
        """Return a part that examines the rows of both parts, with the subject and figure of this part.

        If both parts examine a row, this part's outcome counts.
        """
        outcome = F.when(self.which, self.outcome).when(other.which, other.outcome)
        return Rows(self.which | other.which, self.subject, outcome, self.figure)


class OfTable(Struct, frozen=True):
    """The Spark form of an invariant that reads single rows of one stored table.

    The rules of one table are examined together, because Spark takes longer to plan a job than to run it.

    Args:
        table: The table's name in `History`; it has the columns of `CASE`, and ``at``.
        rows: Returns the part of the invariant that examines the table's rows, for the values of the limits.
    """

    table: str
    rows: Callable[[Limits], Rows]

    def __call__(self, history: History, limits: Limits) -> DataFrame:
        """Make the table of the invariant's subjects."""
        return together(getattr(history, self.table), {"": self.rows(limits)}).drop("rule")


def together(table: DataFrame, rows: Mapping[str, Rows]) -> DataFrame:
    """Make the table of the subjects of several rules (`BY_RULE`).

    Args:
        table: The stored table.
        rows: By rule id, the part of the rule's invariant that examines the table's rows.
    """
    found = F.array(
        *(
            F.struct(
                F.lit(rule).alias("rule"),
                one.subject.alias("subject"),
                F.when(one.which, one.outcome).alias("outcome"),
                F.coalesce(one.figure.cast("bigint"), F.lit(0).cast("bigint")).alias("figure"),
            )
            for rule, one in rows.items()
        )
    )
    told = F.filter(found, lambda one: one["outcome"].isNotNull())
    return table.select(*CASE, reference(F.col("at")).alias("ref"), F.explode(told).alias("one")).select(
        *CASE, "one.subject", "one.outcome", "one.figure", "ref", "one.rule"
    )


def of_copies(which: Column, *, broken: Column, kept: Column, light: bool = False) -> Rows:
    """Return the part of an invariant that examines copies of messages.

    The figure is the column ``seen`` of the table of copies (`assay_pipeline.tables.copies`).

    Args:
        which: The examined copies.
        broken: The copies that break the rule.
        kept: The copies that keep the rule; `broken` counts first if a copy is in both. All other copies cannot be
            examined.
        light: True to examine only the messages of MQ Light clients; False to examine only those of other clients.
    """
    name = F.when(F.col("kind") == "queue", F.col("key")).otherwise(F.concat_ws(">", "key", "holder"))
    outcome = F.when(broken, Outcome.BROKEN.value).when(kept, Outcome.KEPT.value)
    mine = F.col("light") if light else ~F.col("light")
    return Rows(mine & which, name, outcome, F.col("seen"))
