"""The table of batch deliveries: one row for each reception of a message in a batch, with the events that followed.

The columns, beside the consumer's and the message's:

- ``turn``: how many callbacks had ended on the link before
- ``session`` and ``ack``: the name and the acknowledgement mode of the consumer's session; null if the journal does not
  tell them
- ``name``: the name of the consumer's subscription; null for a subscription without a name
- ``ended_at`` and ``ended``: the end of the batch's callback, and whether it returned or raised; null without an end
- ``opened_at``: the call that created the consumer
- ``ahead``: the client accepted the message on the link before its first reception there
- ``owed``: the link had more earlier receptions of the message than settlements: the next settlement may belong to one
  of them
- ``settled_at`` and ``outcome``: the next settlement of the message on the link; null if the link received the message
  again before
- ``again_at`` and ``again_marked``: the next reception of the message on the link, and whether it was marked as
  redelivered
- ``next_at``: the first reception of a later batch on the link: more callbacks had ended before it than before this
  batch
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_pipeline.history import CASE, IN_WRITER
from assay_pipeline.moments import no
from assay_pipeline.tables.holders import held_by


def batched(told: DataFrame, made: DataFrame) -> DataFrame:
    """Make the table of batch deliveries.

    Args:
        told: All events, with ``at``.
        made: The consumers (`assay_pipeline.tables.holders.attachments`).
    """
    seen, callback, settle = (F.col("kind") == kind for kind in ("seen", "callback", "settle"))
    links = told.where(F.col("batch").isNotNull()).select(*IN_WRITER, "link").distinct()
    acts = told.where(seen | callback | settle).join(links, [*IN_WRITER, "link"], "left_semi").select(
        *IN_WRITER, "at", "kind", "actor", "link", "batch", "destination", "outcome", "ended",
        F.col("at.seq").alias("no"), F.col("msg.kid").alias("key"),
        (F.col("redelivered") | (F.col("count") > 1)).alias("marked"),
        F.col("writer").alias("process"),
    )  # fmt: skip
    link = Window.partitionBy(*CASE, "process", "link")
    later = (1, Window.unboundedFollowing)
    of_batch = Window.partitionBy(*CASE, "process", "link", "batch").orderBy("no").rowsBetween(*later)
    of_message = Window.partitionBy(*CASE, "process", "link", "key").orderBy("no")
    before = link.orderBy("no").rowsBetween(Window.unboundedPreceding, -1)
    over = F.first(F.when(callback, F.struct("at", "ended")), ignorenulls=True).over(of_batch)
    again = F.first(F.when(seen, F.struct("at", "marked")), ignorenulls=True).over(of_message.rowsBetween(*later))
    following = F.lead(F.struct("kind", "at", "outcome")).over(of_message)
    preceding = F.lag(F.struct("kind", "outcome")).over(of_message)
    earlier = of_message.rowsBetween(Window.unboundedPreceding, -1)
    found = (
        held_by(acts, made, CASE)
        .withColumn("turn", F.coalesce(F.sum(F.when(callback, 1).otherwise(0)).over(before), F.lit(0)))
        .withColumn("over", over)
        .withColumn("again", again)
        .withColumn("following", following)
        .withColumn("preceding", preceding)
        .withColumn("receptions", F.coalesce(F.sum(F.when(seen, 1).otherwise(0)).over(earlier), F.lit(0)))
        .withColumn("settlements", F.coalesce(F.sum(F.when(settle, 1).otherwise(0)).over(earlier), F.lit(0)))
        .withColumn("next", F.min(F.when(seen, F.struct("no", "at"))).over(link.orderBy("turn").rangeBetween(*later)))
    )
    settled = F.col("following.kind") == "settle"
    return found.where(seen & F.col("batch").isNotNull()).select(
        *CASE, "process", "actor", "link", "turn", "batch", "source", "ack", F.col("opened.session").alias("session"),
        F.col("opened.name").alias("name"), F.col("opened.at").alias("opened_at"), "destination", "key", "at", "marked",
        F.col("over.at").alias("ended_at"), F.col("over.ended").alias("ended"),
        (F.col("receptions") > F.col("settlements")).alias("owed"),
        ((F.col("receptions") == 0) & F.coalesce(F.col("preceding.outcome") == "accepted", no())).alias("ahead"),
        F.when(settled, F.col("following.at")).alias("settled_at"),
        F.when(settled, F.col("following.outcome")).alias("outcome"),
        F.col("again.at").alias("again_at"), F.col("again.marked").alias("again_marked"),
        F.col("next.at").alias("next_at"),
    )  # fmt: skip
