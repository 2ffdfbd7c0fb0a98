"""PD-20: a persistent message on a queue is there in the end, though the broker was restarted or killed.

*Examined*: every persistent message sent to a queue, confirmed, that never expires and whose id was sent once, with a
kill or a restart of the broker that began after its send call.

*Kept*: somebody was handed the message, or found it by a browse, after such a fault (after its end by the writer's own
count, or after its begin by the clocks).  *Broken*: nobody ever saw it, every such fault is over, and the queue was
drained afterwards: a consumer of it had a quiet tail (`Limits.quiet_ms`) after the last of those faults and after the
message was due, and so had every other consumer that came to the queue after them.

*Not examinable*: a message seen before the fault only (it may be settled); a queue that nobody drained, or to which a
consumer came that may hold the message unseen; an administrator who may have kept it back (`quiet.withheld`).

*Figure*: how often it was seen after the fault.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from assay_evidence.oracle import Limits, Outcome
from assay_pipeline.history import CASE, MESSAGE, QUEUE, History
from assay_pipeline.moments import any_of, elapsed, no, precedes, uncertainty
from assay_pipeline.rules.quiet import due, quiet_after, since_send, withheld
from assay_pipeline.rules.subjects import subjects

RULE = "PD-20"
FATAL = ("kill", "restart")
"""The faults that a persistent message must outlive."""


def examine(history: History, limits: Limits) -> DataFrame:
    """Examine every persistent message that a fault came upon; see the module."""
    lasting = (F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull()
    upon = F.filter("faults", lambda fault: fault["what"].isin(*FATAL) & precedes(F.col("at"), fault["begin"]))
    tried = (
        history.sends.where(F.col("destination").like(QUEUE) & (F.col("mode") == "persistent") & lasting)
        .drop("actor")
        .withColumn("fatal", upon)
        .where(F.size("fatal") > 0)
    )
    verdict = (
        tried.join(_seen(tried, history.sightings), list(MESSAGE), "left")
        .join(_drained(tried, history, limits), list(MESSAGE), "left")
        .join(withheld(tried, history.admins), list(MESSAGE), "left")
    )
    lost = (
        F.col("seen").isNull()
        & F.forall("fatal", lambda fault: fault["end"].isNotNull())
        & F.coalesce(F.col("drained"), no())
        & ~F.coalesce(F.col("withheld"), no())
    )
    outcome = F.when(F.col("outlived") > 0, Outcome.KEPT.value).when(lost, Outcome.BROKEN.value)
    return subjects(verdict, RULE, subject=F.col("kid"), outcome=outcome, figure=F.col("outlived"))


def _after_all(at: Column) -> Column:
    """Whether a moment lies after the end of every fatal fault."""
    return F.forall("fatal", lambda fault: F.coalesce(precedes(fault["end"], at), no()))


def _seen(tried: DataFrame, sightings: DataFrame) -> DataFrame:
    seen_at = F.col("seen_at")

    def after(fault: Column) -> Column:
        by_count = F.coalesce(precedes(fault["end"], seen_at), no())
        return by_count | (elapsed(fault["begin"], seen_at) > uncertainty(fault["begin"], seen_at))

    seen = tried.join(sightings.select(*MESSAGE, F.col("at").alias("seen_at")), list(MESSAGE))
    return seen.groupBy(*MESSAGE).agg(
        F.count("*").alias("seen"), F.count(F.when(F.exists("fatal", after), 1)).alias("outlived")
    )


def _drained(tried: DataFrame, history: History, limits: Limits) -> DataFrame:
    """Whether a consumer drained the queue after the faults, and no other that came then may hold the message."""
    place = [*CASE, "destination"]
    came = tried.join(history.arrivals.withColumnRenamed("at", "came_at"), place).select(
        *MESSAGE, "actor", _after_all(F.col("came_at")).alias("present"), no().alias("quiet")
    )
    over = F.array_max(F.transform("fatal", lambda fault: since_send(fault["end"])))
    watched = tried.join(history.watches, place).select(
        *MESSAGE,
        "actor",
        no().alias("present"),
        quiet_after(F.greatest(over, due()), limits.quiet_ms).alias("quiet"),
    )
    consumers = (
        came.unionByName(watched)
        .groupBy(*MESSAGE, "actor")
        .agg(any_of(F.col("present")).alias("present"), any_of(F.col("quiet")).alias("quiet"))
    )
    return consumers.groupBy(*MESSAGE).agg(
        (any_of(F.col("quiet")) & ~any_of(F.col("present") & ~F.col("quiet"))).alias("drained")
    )
