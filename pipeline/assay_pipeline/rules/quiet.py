"""Silence that means something: a consumer that could have been handed a message, and for long enough was not.

All times are in nanoseconds since the message's send call started, so that each event is compared with the send on
the clock that both share.

A watch's *tail* begins at the latest of: its begin, the consumer's last activity in it, and the moment from which
silence counts.  It is quiet when it is long enough, no fault touches it, and the consumer's silence is telling: the
consumer takes everything (no selector, no batches), and its listener was not still at work and did not raise.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from assay_evidence.oracle.examine import DEFINE
from assay_pipeline.history import CASE, MESSAGE
from assay_pipeline.moments import NS_PER_MS, any_of, elapsed, no, precedes

FOREVER = 2**62


def since_send(at: Column) -> Column:
    """Nanoseconds from the start of the send call (column ``at``) to a moment."""
    return elapsed(F.col("at"), at)


def due() -> Column:
    """When a confirmed message can first be had, at the latest, in nanoseconds since its send call."""
    return F.greatest(since_send(F.col("confirmed_at")), since_send(F.col("answered_at")) + F.col("delay_ns"))


def fault_touches(start: Column, end: Column) -> Column:
    """Whether any fault of the scenario (column ``faults``) lies in part between two times."""

    def touches(fault: Column) -> Column:
        over = F.coalesce(since_send(fault["end"]), F.lit(FOREVER))
        return (since_send(fault["begin"]) < end) & (over > start)

    return F.coalesce(F.exists("faults", touches), no())


def quiet_after(start: Column, quiet_ms: int) -> Column:
    """Whether a watch (columns ``begin``, ``end``, ``last``, ``telling``) has a quiet tail after a time.

    Args:
        start: From when silence counts, in nanoseconds since the send call.
        quiet_ms: How long the tail must be, in milliseconds.
    """
    # `greatest` passes over the null of a consumer without activity.
    tail = F.greatest(since_send(F.col("begin")), since_send(F.col("last")), start)
    end = since_send(F.col("end"))
    return F.col("telling") & (end - tail >= F.lit(quiet_ms * NS_PER_MS)) & ~fault_touches(tail, end)


def withheld(sends: DataFrame, admins: DataFrame) -> DataFrame:
    """Which messages an administrator may have kept back: all acts count but definitions before the send.

    A queue may have been disabled for gets, or cleared; a staging queue altered long before the send.

    Args:
        sends: The messages (`MESSAGE`, with ``at``).
        admins: When administrators acted, and how.

    Returns:
        `MESSAGE` and ``withheld``, for messages of scenarios in which one acted.
    """
    acts = sends.join(admins.withColumnRenamed("at", "acted_at"), list(CASE))
    defined = F.col("command").startswith(DEFINE)
    return acts.groupBy(*MESSAGE).agg(any_of(~defined | precedes(F.col("at"), F.col("acted_at"))).alias("withheld"))
