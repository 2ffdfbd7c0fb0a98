"""The publications that a broker certainly had when they were confirmed, for rules about later subscribers."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_pipeline.clients import with_arrived
from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.moments import no

RETAIN = "JMS_IBM_Retain"
"""The property of a publication that the broker retains for later subscribers."""


def publications(history: History) -> DataFrame:
    """Find the confirmed publications without a delay that never expire, whose ids were sent once.

    The function leaves out publications that the broker retains, and publications that may still be on their way when
    they are confirmed (`assay_pipeline.clients.with_arrived`).

    The column ``stored`` tells whether the publication is persistent and its sender is not an MQ Light client.

    Args:
        history: The history, for the tables that this one is made from.
    """
    retained = F.coalesce(F.map_contains_key(F.col("sent.fields"), RETAIN), no())
    lasting = (F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull()
    persistent = F.coalesce(F.col("mode") == "persistent", no())
    return (
        with_arrived(
            history.sends.where(F.col("destination").like(TOPIC) & (F.col("delay_ns") == 0) & lasting & ~retained),
            history.parties,
            CASE,
        )
        .where("arrived")
        .withColumn("stored", persistent & ~F.col("careless"))
        .select(*MESSAGE, "destination", "at", "answered_at", "confirmed_at", "delay_ns", "faults", "stored")
    )
