"""BT-04: a batch is never larger than its size and never empty; it may be smaller.

*Examined*: every batch that a listener was handed: the messages that one consumer saw under one batch number between
two ends of its callbacks.  Its size is that of the consumer's last accepted ``listen-batch`` call before it.

*Broken*: more messages than the size, or a callback that ended without one.  *Kept*: 1 to size.

*Not examinable*: a batch whose listener's call is not in the journal of the same writer.

*Figure*: the number of its messages.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from assay_evidence.oracle import Limits, Outcome
from assay_pipeline.history import History
from assay_pipeline.rules.subjects import subjects

RULE = "BT-04"


def examine(history: History, limits: Limits) -> DataFrame:  # noqa: ARG001 - every invariant has one shape; this one needs no limit
    """Examine every batch; see the module."""
    fits = (F.col("messages") >= 1) & (F.col("messages") <= F.col("size"))
    outcome = F.when(fits, Outcome.KEPT.value).otherwise(Outcome.BROKEN.value)
    return subjects(
        history.batches.where(F.col("size").isNotNull()),
        RULE,
        subject=F.concat_ws("/", "link", F.col("turn").cast("string"), F.col("batch").cast("string")),
        outcome=outcome,
        figure=F.col("messages"),
    )
