"""DD-02: no message can be received or browsed before its send plus its delay.

*Examined*: every message with a delay above 0 that was seen, that is, received by a consumer or listed by a browse.
Its send was not refused (an unanswered send may have arrived), and its id was sent once.  The message is *due* at the
start of the send call plus the delay.

*Broken*: a sighting is earlier than the due time by more than the uncertainty of the two clocks.  *Undecided*: no
sighting is so early, but one is at the due time, or earlier by no more than the uncertainty, and this uncertainty is
above 0.  *Kept*: every sighting is at the due time or later, and the delay was tried.  A delay was tried if one
consumer watched the destination for at least `WATCHED_PERCENT` of the time from the send call to the due time, or if a
browse of the destination was answered in that time.  The time of the scenario's faults does not count as watched.

*Not examinable*: a message that was never seen, or that no consumer could have received early.

*Figure*: the nanoseconds from the due time to the earliest sighting; negative for an early sighting.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.oracle import Examined, Story
from assay_evidence.oracle.moments import unsure
from assay_evidence.oracle.values import Send
from assay_evidence.subjects import Limit, Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, no, uncertainty
from assay_pipeline.quiet import since_send

WATCHED_PERCENT = Limit(
    "watched_percent", 50, "The share of a delay that a consumer must have watched, so that the delay was tried."
)


def _on_spark(history: History, limits: Limits) -> DataFrame:
    refused = F.coalesce(~F.col("accepted"), no())
    delayed = history.sends.where((F.col("delay_ns") > 0) & (F.col("sends") == 1) & ~refused)
    seen = _seen(delayed, history.sightings)
    tried = delayed.join(_covered(delayed, history.watches), list(MESSAGE), "left").join(
        _looked(delayed, history.browses), list(MESSAGE), "left"
    )
    enough = F.coalesce(F.col("covered"), F.lit(0)) * 100 >= F.col("delay_ns") * limits[WATCHED_PERCENT]
    outcome = (
        F.when(F.col("early"), Outcome.BROKEN.value)
        .when(F.col("unclear"), Outcome.UNDECIDED.value)
        .when(enough | F.coalesce(F.col("looked"), no()), Outcome.KEPT.value)
    )
    return subjects(tried.join(seen, list(MESSAGE)), subject=F.col("key"), outcome=outcome, figure=F.col("earliest"))


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
    """Compute the longest time that one consumer watched during the delay, in nanoseconds."""
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


def _in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    for send in story.sends:
        seen = story.sightings.get(send.key, [])
        if send.delay_ns <= 0 or send.refused or send.times > 1 or not seen:
            continue
        leads = [(send.since(s.at) - send.delay_ns, unsure(send.call, s.at)) for s in seen]
        earliest = min(lead for lead, _ in leads)
        if any(lead < -blur for lead, blur in leads):
            yield send.key, Outcome.BROKEN, earliest, send.call
        elif any(blur > 0 and lead <= 0 for lead, blur in leads):
            yield send.key, Outcome.UNDECIDED, earliest, send.call
        elif _tried(story, send, limits):
            yield send.key, Outcome.KEPT, earliest, send.call


def _tried(story: Story, send: Send, limits: Limits) -> bool:
    """Return whether a consumer could have received the message early, or a browse was answered early."""
    covered: dict[str, int] = defaultdict(int)
    for span in story.watching(send.destination):
        start, end = max(send.since(span.begin), 0), min(send.since(span.end), send.delay_ns)
        if end > start:
            spoilt = sum(
                max(0, min(end, send.since(f.end) if f.end else end) - max(start, send.since(f.begin)))
                for f in story.faults
            )
            covered[span.begin.actor] += end - start - spoilt
    looked = any(
        call.destination == send.destination and 0 <= send.since(answer) < send.delay_ns
        for call, answer in story.accepted("browse")
    )
    return looked or max(covered.values(), default=0) * 100 >= send.delay_ns * limits[WATCHED_PERCENT]


INVARIANT = Invariant(
    rule="DD-02",
    text="no message can be received or browsed before its send plus its delay.",
    wording=Wording("no sighting before the send call's start plus the delay", "{0} after it was due"),
    on_spark=_on_spark,
    in_python=_in_python,
    limits=(WATCHED_PERCENT,),
    certain=True,
)
