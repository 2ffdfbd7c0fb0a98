"""PD-11: while it is open, every subscription receives a copy of each message, durable or not.

*Examined*: every pair of a message sent to a topic, confirmed, that never expires and whose id was sent once, and a
subscription that was open for it: one of its consumers watched the topic from before the send call until after it.  A
shared subscription is one subscription, by its name; every other is its consumer.

*Kept*: a consumer of the subscription was handed the message, then or later.  *Broken*: none was, although the watch
through the send went on until the message was due and had a quiet tail after that (`Limits.quiet_ms`), and no fault
touched the watch.

*Not examinable*: a watch that ended too early to say, that a fault touched, or whose silence tells nothing (a selector,
a batch listener, a listener still at work or raising); a shared subscription without the message, since another of its
consumers may hold it unseen; an administrator who may have kept the message back (`quiet.withheld`).

*Figure*: how often the subscription was handed the message.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from assay_evidence.oracle import Limits, Outcome
from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.moments import any_of, no, precedes
from assay_pipeline.rules.quiet import due, fault_touches, quiet_after, since_send, withheld
from assay_pipeline.rules.subjects import subjects

RULE = "PD-11"


def examine(history: History, limits: Limits) -> DataFrame:
    """Examine every message with every subscription open for it; see the module."""
    lasting = (F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull()
    published = history.sends.where(F.col("destination").like(TOPIC) & lasting)
    common = F.col("shared") & F.col("subscription").isNotNull()
    holders = history.actors.select(
        *CASE, "actor", F.when(common, F.col("subscription")).otherwise(F.col("actor")).alias("holder"),
        common.alias("common"),
    )  # fmt: skip
    watches = history.watches.join(holders, [*CASE, "actor"])
    whole = ~fault_touches(since_send(F.col("begin")), since_send(F.col("end")))
    missed = quiet_after(due(), limits.quiet_ms) & whole & ~F.col("common")
    open_for = (
        published.drop("actor")
        .join(watches, [*CASE, "destination"])
        .where(precedes(F.col("begin"), F.col("at")) & precedes(F.col("at"), F.col("end")))
        .groupBy(*MESSAGE, "holder")
        .agg(any_of(missed).alias("missed"), F.first("at").alias("at"))
    )
    copies = (
        history.sightings.where(~F.col("look"))
        .join(holders, [*CASE, "actor"])
        .groupBy(*MESSAGE, "holder")
        .agg(F.count("*").alias("copies"))
    )
    missing = F.col("missed") & ~F.coalesce(F.col("withheld"), no())
    outcome = F.when(F.col("copies") > 0, Outcome.KEPT.value).when(missing, Outcome.BROKEN.value)
    return subjects(
        open_for.join(copies, [*MESSAGE, "holder"], "left").join(
            withheld(published, history.admins), list(MESSAGE), "left"
        ),
        RULE,
        subject=F.concat_ws(">", "kid", "holder"),
        outcome=outcome,
        figure=F.col("copies"),
    )
