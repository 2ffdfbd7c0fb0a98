"""The publications that a broker certainly had when they were confirmed, for rules about later subscribers."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.moments import no

RETAIN = "JMS_IBM_Retain"
"""The property of a publication that the broker retains for later subscribers."""


def publications(history: History) -> DataFrame:
    """Find the confirmed publications without a delay that never expire, whose ids were sent once.

    The function leaves out publications that the broker retains, and publications that may still be on their way when
    they are confirmed.  In two cases, a client may return from a send before the broker has the message: if the message
    is not persistent and in no unit of work, or if an MQ Light client may send at most once.

    The column ``stored`` tells whether the publication is persistent and its sender is not an MQ Light client.

    Args:
        history: The history, for the tables that this one is made from.
    """
    retained = F.coalesce(F.map_contains_key(F.col("sent.fields"), RETAIN), no())
    lasting = (F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull()
    surely = history.parties.where("sends_surely").select(*CASE, "actor", "sends_surely")
    persistent = F.coalesce(F.col("mode") == "persistent", no())
    arrived = F.when(F.col("careless"), F.coalesce("sends_surely", no())).otherwise(
        persistent | F.col("unit").isNotNull()
    )
    return (
        history.sends.where(F.col("destination").like(TOPIC) & (F.col("delay_ns") == 0) & lasting & ~retained)
        .join(surely, [*CASE, "actor"], "left")
        .where(arrived)
        .withColumn("stored", persistent & ~F.col("careless"))
        .select(*MESSAGE, "destination", "at", "answered_at", "confirmed_at", "delay_ns", "faults", "stored")
    )
