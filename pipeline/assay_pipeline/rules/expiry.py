"""DD-56: a message whose expiry passes before anyone gets it is not delivered.

The time to live counts from the send, delay included; since the broker may have reckoned from any moment of the call,
*expiry* is the call's return plus the time to live.  No document says how exact a broker must be, so the run states a
limit (`Limits.expiry_ms`).

*Examined*: every copy of a message with a time to live above 0 whose send was accepted and whose id was sent once.  A
queue has one copy; on a topic each subscription (its name, or its consumer where it has none) has its own.

*Broken*: the copy's first sighting is later than expiry plus limit by more than the uncertainty.  A copy that somebody
was handed in time and that comes again later does not offend.  *Undecided*: within the uncertainty of that moment.
*Kept*: on a queue, nobody was ever handed the message although it was confirmed and could have been had after its
expiry plus limit: a quiet watch lies after that moment, which began after expiry (or the delay is not shorter than the
time to live), and a non-persistent message met no fault.

*Not examinable*: a copy handed over in time, or after expiry within the limit, which is excused and shows nothing; a
message that nobody waited for.  A browse is no delivery.

*Figure*: nanoseconds from expiry to the first sighting; 0 when there was none.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from assay_evidence.oracle import Limits, Outcome
from assay_pipeline.history import CASE, MESSAGE, QUEUE, TOPIC, History
from assay_pipeline.moments import NS_PER_MS, elapsed, no, precedes, uncertainty
from assay_pipeline.rules.quiet import quiet_after, since_send
from assay_pipeline.rules.subjects import subjects

RULE = "DD-56"


def examine(history: History, limits: Limits) -> DataFrame:
    """Examine every copy of a message that expires; see the module."""
    mortal = history.sends.where((F.col("ttl_ns") > 0) & (F.col("sends") == 1) & F.col("accepted"))
    return _handed_over(mortal, history, limits).unionByName(_never(mortal, history, limits))


def _handed_over(mortal: DataFrame, history: History, limits: Limits) -> DataFrame:
    seen = (
        history.sightings.where(~F.col("look"))
        .withColumnRenamed("at", "seen_at")
        .join(history.actors.select(*CASE, "actor", "subscription"), [*CASE, "actor"], "left")
        .withColumn("holder", F.coalesce("subscription", "actor"))
        .select(*MESSAGE, "seen_at", "holder")
    )
    topic = F.col("destination").like(TOPIC)
    late = elapsed(F.col("answered_at"), F.col("seen_at")) - F.col("ttl_ns")
    first = (
        mortal.join(seen, list(MESSAGE))
        .withColumn("copy", F.when(topic, F.concat_ws(">", "kid", "holder")).otherwise(F.col("kid")))
        .groupBy(*CASE, "copy")
        .agg(
            F.min(
                F.struct(late.alias("late"), uncertainty(F.col("answered_at"), F.col("seen_at")).alias("unsure"))
            ).alias("first"),
            F.first("at").alias("at"),
        )
    )
    limit = limits.expiry_ms * NS_PER_MS
    after, unsure = F.col("first.late"), F.col("first.unsure")
    outcome = F.when(after - unsure > limit, Outcome.BROKEN.value).when(after + unsure > limit, Outcome.UNDECIDED.value)
    return subjects(first, RULE, subject=F.col("copy"), outcome=outcome, figure=after)


def _never(mortal: DataFrame, history: History, limits: Limits) -> DataFrame:
    spared = (F.col("mode") == "persistent") | ~F.coalesce(
        F.exists("faults", lambda fault: precedes(F.col("at"), fault["begin"])), no()
    )
    unseen = mortal.where(F.col("destination").like(QUEUE) & F.col("confirmed_at").isNotNull() & spared).join(
        history.sightings.where(~F.col("look")), list(MESSAGE), "left_anti"
    )
    expiry = since_send(F.col("answered_at")) + F.col("ttl_ns")
    afresh = (since_send(F.col("begin")) >= expiry) | (F.col("delay_ns") >= F.col("ttl_ns"))
    waited = unseen.join(history.watches.drop("actor"), [*CASE, "destination"]).where(
        afresh & quiet_after(expiry + limits.expiry_ms * NS_PER_MS, limits.quiet_ms)
    )
    kept = waited.groupBy(*MESSAGE).agg(F.first("at").alias("at"))
    return subjects(kept, RULE, subject=F.col("kid"), outcome=F.lit(Outcome.KEPT.value), figure=F.lit(0))
