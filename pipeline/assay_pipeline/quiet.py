"""Silence that shows something: a consumer that could have received a message received none for long enough.

All times are nanoseconds since the message's send call started, so each event is compared with the send on the clock
that both share.

The *tail* of a watch begins at the latest of these moments: the watch's begin, the consumer's last activity in it, and
the moment from which silence counts.  A tail is quiet if

- it is long enough,
- no fault overlaps it,
- the consumer takes every message: it has no selector and no batch listener,
- its listener had returned, and without an error.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.subjects import DEFINE, Limit
from assay_pipeline.history import CASE, MESSAGE
from assay_pipeline.moments import NS_PER_MS, any_of, elapsed, no, precedes

FOREVER = 2**62
QUIET_MS = Limit(
    "quiet_ms", 1_000, "How long a watching consumer must have received nothing before its silence counts."
)


def since_send(at: Column) -> Column:
    """Nanoseconds from the start of the send call (column ``at``) to a moment."""
    return elapsed(F.col("at"), at)


def due() -> Column:
    """The latest time at which a confirmed message becomes available, in nanoseconds since its send call."""
    return F.greatest(since_send(F.col("confirmed_at")), since_send(F.col("answered_at")) + F.col("delay_ns"))


def fault_touches(start: Column, end: Column) -> Column:
    """Whether any fault of the scenario (column ``faults``) overlaps the time between two moments."""

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
    # `greatest` ignores the null of a consumer without activity.
    tail = F.greatest(since_send(F.col("begin")), since_send(F.col("last")), start)
    end = since_send(F.col("end"))
    return F.col("telling") & (end - tail >= F.lit(quiet_ms * NS_PER_MS)) & ~fault_touches(tail, end)


def withheld(sends: DataFrame, admins: DataFrame) -> DataFrame:
    """The messages that an administrator may have kept back: by any command but a definition before the send.

    For example, the administrator disabled a queue for gets or cleared it, or altered the staging queue.

    Args:
        sends: The messages (`MESSAGE`, with ``at``).
        admins: The administrators' commands (`History.admins`).

    Returns:
        `MESSAGE` and ``withheld``, for messages of scenarios with such commands.
    """
    acts = sends.join(admins.withColumnRenamed("at", "acted_at"), list(CASE))
    defined = F.col("command").startswith(DEFINE)
    return acts.groupBy(*MESSAGE).agg(any_of(~defined | precedes(F.col("at"), F.col("acted_at"))).alias("withheld"))
