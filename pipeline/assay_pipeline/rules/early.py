"""DD-02: nobody can get a message before its send plus its delay.

*Examined*: every message with a delay above 0 whose send was not refused (an unanswered one may have arrived), whose id
was sent once, and that was seen: handed to a consumer, or listed by a browse.  *Due* is the start of the send call plus
the delay.

*Broken*: a sighting earlier than due by more than the uncertainty of the two clocks.  *Undecided*: none so early, but
one at or before due within an uncertainty above 0.  *Kept*: every sighting at due or later, and the delay was tried:
one consumer's watches on the destination, less the scenario's faults, cover the stated share (`Limits.watched_percent`)
of the time from the send call to due, or a browse of the destination came back in that time.

*Not examinable*: a message never seen, or one that nobody could have seen early.

*Figure*: nanoseconds from due to the earliest sighting; negative is early.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from assay_evidence.oracle import Limits, Outcome
from assay_pipeline.history import CASE, MESSAGE, History
from assay_pipeline.moments import any_of, no, uncertainty
from assay_pipeline.rules.quiet import since_send
from assay_pipeline.rules.subjects import subjects

RULE = "DD-02"


def examine(history: History, limits: Limits) -> DataFrame:
    """Examine every delayed message; see the module."""
    refused = F.coalesce(~F.col("accepted"), no())
    delayed = history.sends.where((F.col("delay_ns") > 0) & (F.col("sends") == 1) & ~refused)
    seen = _seen(delayed, history.sightings)
    tried = delayed.join(_covered(delayed, history.watches), list(MESSAGE), "left").join(
        _looked(delayed, history.browses), list(MESSAGE), "left"
    )
    enough = F.coalesce(F.col("covered"), F.lit(0)) * 100 >= F.col("delay_ns") * limits.watched_percent
    outcome = (
        F.when(F.col("early"), Outcome.BROKEN.value)
        .when(F.col("unclear"), Outcome.UNDECIDED.value)
        .when(enough | F.coalesce(F.col("looked"), no()), Outcome.KEPT.value)
    )
    return subjects(
        tried.join(seen, list(MESSAGE)), RULE, subject=F.col("kid"), outcome=outcome, figure=F.col("earliest")
    )


def _seen(delayed: DataFrame, sightings: DataFrame) -> DataFrame:
    seen = delayed.join(sightings.select(*MESSAGE, F.col("at").alias("seen_at")), list(MESSAGE))
    lead = since_send(F.col("seen_at")) - F.col("delay_ns")
    unsure = uncertainty(F.col("at"), F.col("seen_at"))
    return seen.groupBy(*MESSAGE).agg(
        F.min(lead).alias("earliest"),
        any_of(lead < -unsure).alias("early"),
        any_of((unsure > 0) & (lead <= 0)).alias("unclear"),
    )


def _covered(delayed: DataFrame, watches: DataFrame) -> DataFrame:
    """The longest time that one consumer watched during the delay, in nanoseconds."""
    start = F.greatest(since_send(F.col("begin")), F.lit(0))
    end = F.least(since_send(F.col("end")), F.col("delay_ns"))

    def within(total: Column, fault: Column) -> Column:
        over = F.coalesce(since_send(fault["end"]), F.col("till"))
        part = F.least(F.col("till"), over) - F.greatest(F.col("from"), since_send(fault["begin"]))
        return total + F.greatest(part, F.lit(0).cast("bigint"))

    spoilt = F.coalesce(F.aggregate("faults", F.lit(0).cast("bigint"), within), F.lit(0))
    return (
        delayed.join(watches.select(*CASE, "destination", F.col("actor").alias("watcher"), "begin", "end"),
                     [*CASE, "destination"])
        .withColumn("from", start)
        .withColumn("till", end)
        .where(F.col("till") > F.col("from"))
        .groupBy(*MESSAGE, "watcher")
        .agg(F.sum(F.col("till") - F.col("from") - spoilt).alias("covered"))
        .groupBy(*MESSAGE)
        .agg(F.max("covered").alias("covered"))
    )  # fmt: skip


def _looked(delayed: DataFrame, browses: DataFrame) -> DataFrame:
    looks = delayed.join(browses.select(*CASE, "destination", F.col("at").alias("looked_at")), [*CASE, "destination"])
    since = since_send(F.col("looked_at"))
    return looks.groupBy(*MESSAGE).agg(any_of((since >= 0) & (since < F.col("delay_ns"))).alias("looked"))
