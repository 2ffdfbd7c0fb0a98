"""PD-20: a persistent message on a queue is not lost when the broker is restarted or killed.

*Examined*: every persistent message that was sent to a queue, was confirmed, never expires, and whose id was sent once,
if a kill or a restart of the broker began after its send call.

*Kept*: a consumer received the message, or a browse found it, after such a fault.  A sighting is after a fault if it
certainly follows the fault's end, or if its clock time is later than that of the fault's begin by more than the
uncertainty.

*Broken*: the message was never seen, every such fault is over, and the queue was drained afterwards.  A queue is
drained if a consumer of it had a quiet tail (`QUIET_MS`, and `LATE_MS` if the message is delayed) after the last of
those faults and after the message was due.
Every other consumer that came to the queue after the faults must also have had a quiet tail.

*Not examinable*:

- a message that was seen only before the fault, because it may be settled
- an unseen message, if its queue was not drained, or if a consumer came to the queue that may hold the message
- an unseen message that an administrator may have kept back (`quiet.withheld`), or that may have gone elsewhere
  (`quiet.special`)

*Figure*: how often the message was seen after the fault.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import FATAL, Event
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.values import FaultSpan, Send
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, QUEUE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, elapsed, no, precedes, uncertainty
from assay_pipeline.quiet import LATE_MS, QUIET_MS, due, patience, quiet_tail, since_send, special, withheld


def _on_spark(history: History, limits: Limits) -> DataFrame:
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
        .join(special(history.admins, history.parties), list(CASE), "left")
    )
    lost = (
        F.col("seen").isNull()
        & F.forall("fatal", lambda fault: fault["end"].isNotNull())
        & F.coalesce(F.col("drained"), no())
        & ~F.coalesce(F.col("withheld"), no())
        & ~F.coalesce(F.col("special"), no())
    )
    outcome = F.when(F.col("outlived") > 0, Outcome.KEPT.value).when(lost, Outcome.BROKEN.value)
    return subjects(verdict, subject=F.col("key"), outcome=outcome, figure=F.col("outlived"))


def _after_all(at: Column) -> Column:
    """Return whether a moment certainly follows the end of every fault in the column ``fatal``."""
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
    """Find the messages whose queue a consumer drained after the faults, if no later consumer may hold the message."""
    place = [*CASE, "destination"]
    came = tried.join(history.arrivals.withColumnRenamed("at", "came_at"), place).select(
        *MESSAGE, "actor", _after_all(F.col("came_at")).alias("present"), no().alias("quiet")
    )
    over = F.array_max(F.transform("fatal", lambda fault: since_send(fault["end"])))
    watched = tried.join(history.watches, place).select(
        *MESSAGE,
        "actor",
        no().alias("present"),
        (quiet_tail(F.greatest(over, due())) >= patience(limits, F.col("delay_ns") > 0)).alias("quiet"),
    )
    consumers = (
        came.unionByName(watched)
        .groupBy(*MESSAGE, "actor")
        .agg(any_of(F.col("present")).alias("present"), any_of(F.col("quiet")).alias("quiet"))
    )
    return consumers.groupBy(*MESSAGE).agg(
        (any_of(F.col("quiet")) & ~any_of(F.col("present") & ~F.col("quiet"))).alias("drained")
    )


def _in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    for send in story.lasting("queue://"):
        fatal = [f for f in story.faults if f.begin.what in FATAL and moments.precedes(send.call, f.begin)]
        if not send.persistent or not fatal:
            continue
        seen = story.sightings.get(send.key, [])
        outlived = sum(any(_after(fault, sighting.at) for fault in fatal) for sighting in seen)
        if outlived:
            yield send.key, Outcome.KEPT, outlived, send.call
        elif not seen and _is_drained(story, send, fatal, limits):
            yield send.key, Outcome.BROKEN, 0, send.call


def _after(fault: FaultSpan, at: Event) -> bool:
    by_count = fault.end is not None and moments.precedes(fault.end, at)
    return by_count or moments.elapsed(fault.begin, at) > moments.unsure(fault.begin, at)


def _is_drained(story: Story, send: Send, fatal: list[FaultSpan], limits: Limits) -> bool:
    ends = [fault.end for fault in fatal if fault.end is not None]
    if len(ends) < len(fatal) or story.withheld(send) or story.special:
        return False
    quiet_ns = limits[LATE_MS if send.delay_ns > 0 else QUIET_MS] * NS_PER_MS
    start = max(*(send.since(end) for end in ends), send.due)
    quiet = {span.begin.actor for span in story.watching(send.destination) if story.quiet(send, span, start, quiet_ns)}
    came = {actor for actor, at in story.came(send.destination) if all(moments.precedes(end, at) for end in ends)}
    return bool(quiet) and came <= quiet


INVARIANT = Invariant(
    rule="PD-20",
    text="a persistent message on a queue is not lost when the broker is restarted or killed.",
    wording=Wording("every confirmed message seen after the restart", "seen {0} after it", one="time"),
    on_spark=_on_spark,
    in_python=_in_python,
    limits=(QUIET_MS, LATE_MS),
)
