"""The conditions under which silence is evidence: for long enough, a consumer could have received a message.

All times are nanoseconds since the *origin*, the moment in the column ``at``, so each event is compared only with this
moment.  The origin is the start of the message's send call, or in a table of receptions the reception.

The *tail* of a watch lasts until the end of the watch.  It begins at the latest of these moments: the watch's begin,
the consumer's last activity in the watch, and the moment from which silence counts.  A tail is quiet if

- the tail is long enough,
- no fault overlaps it,
- the consumer accepts every message: it has no selector and no batch listener,
- the consumer's listener had returned without an error,
- the consumer's process had not stopped a connection, because a stopped connection delivers no message,
- the broker had ended no session of the process.
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import LOSING
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import DEFINE, SPECIAL, Limit, Limits
from assay_pipeline.history import CASE, MESSAGE
from assay_pipeline.moments import any_of, elapsed, no, precedes

FOREVER = 2**62
QUIET_MS = Limit(
    "quiet_ms", 1_000, "How long a watching consumer must have received no message before its silence counts."
)

LATE_MS = Limit(
    "late_ms",
    5_000,
    "How long a consumer must have waited in vain for a message that may come late: because it is delayed, or because a"
    " connection that was lost may still hold it.",
)


def since_send(at: Column) -> Column:
    """Return the time from the origin to a moment, in nanoseconds; negative for an earlier moment."""
    return elapsed(F.col("at"), at)


def due() -> Column:
    """Return the time from which on a consumer can receive a message; the origin must be the start of its send call.

    The time is the later one of the message's confirmation (the send's answer, or the commit of its unit of work) and
    the end of its delay, which counts here from the answer of the send call.
    """
    return F.greatest(since_send(F.col("confirmed_at")), since_send(F.col("answered_at")) + F.col("delay_ns"))


def overlaps(spans: str | Column, start: Column, end: Column, *, or_meets: bool = False) -> Column:
    """Return whether a span of time in an array overlaps another span.

    Args:
        spans: The column of the array, of structs with the moments ``begin`` and ``end``; a span without an end is not
            over.
        start: The start of the other span.
        end: The end of the other span.
        or_meets: Whether spans overlap even if they have only one moment in common, so that the loss of a connection
            in the same nanosecond as a reception counts.
    """

    def overlaps_it(span: Column) -> Column:
        begun, over = since_send(span["begin"]), F.coalesce(since_send(span["end"]), F.lit(FOREVER))
        return (begun <= end) & (over >= start) if or_meets else (begun < end) & (over > start)

    return F.coalesce(F.exists(spans, overlaps_it), no())


def quiet_after(start: Column, quiet_ms: int) -> Column:
    """Return whether a watch (columns ``begin``, ``end``, ``last``, ``conclusive``) has a quiet tail after a time.

    Args:
        start: The time from which silence counts.
        quiet_ms: The shortest tail that suffices, in milliseconds.
    """
    return quiet_tail(start) >= F.lit(quiet_ms * NS_PER_MS)


def quiet_tail(start: Column) -> Column:
    """Return the length of a watch's quiet tail in nanoseconds; null if the tail is not quiet.

    Args:
        start: The time from which silence counts.
    """
    # `greatest` ignores the null in ``last`` of a consumer without activity.
    tail = F.greatest(since_send(F.col("begin")), since_send(F.col("last")), start)
    end = since_send(F.col("end"))
    return F.when(F.col("conclusive") & (end > tail) & ~overlaps("faults", tail, end), end - tail)


def unbroken() -> Column:
    """Return whether a watch (columns ``begin`` and ``end``) overlaps no fault that ends connections.

    A client may notice late that its connection is lost.  Until then it watches, but cannot receive a message.
    """

    def overlaps_it(fault: Column) -> Column:
        over = F.coalesce(precedes(fault["end"], F.col("begin")), no())
        return fault["what"].isin(*LOSING) & ~over & ~precedes(F.col("end"), fault["begin"])

    return ~F.coalesce(F.exists("faults", overlaps_it), no())


def patience(limits: Limits, slow: Column) -> Column:
    """Return how long a silence must last so that it counts, in nanoseconds.

    Args:
        limits: The values of the limits.
        slow: Whether the message may come late. If so, the silence must last for `LATE_MS`, otherwise for `QUIET_MS`.
    """
    return F.when(slow, F.lit(limits[LATE_MS] * NS_PER_MS)).otherwise(F.lit(limits[QUIET_MS] * NS_PER_MS))


def withheld(sends: DataFrame, admins: DataFrame, key: tuple[str, ...] = MESSAGE) -> DataFrame:
    """Find the messages that an administrator's command may have kept from consumers.

    Any command counts except a definition before the send: for example, the administrator may have disabled a queue
    for gets, cleared it, or altered the staging queue.

    Args:
        sends: The messages, or their receptions, with ``at``: the moment from which on a command counts.
        admins: The administrators' commands (`History.admins`).
        key: The columns of the key of `sends`.

    Returns:
        The key and ``withheld``, for messages of scenarios with such commands.
    """
    acts = sends.join(admins.withColumnRenamed("at", "acted_at"), list(CASE))
    defined = F.col("command").startswith(DEFINE)
    return acts.groupBy(*key).agg(any_of(~defined | precedes(F.col("at"), F.col("acted_at"))).alias("withheld"))


def special(admins: DataFrame, parties: DataFrame) -> DataFrame:
    """Find the scenarios in which a message might miss its queue, or go to a queue of the same name elsewhere.

    The reason is an administrator's command (`SPECIAL`), or a connection to a second queue manager.

    Args:
        admins: The administrators' commands (`History.admins`).
        parties: The actors (`History.parties`).

    Returns:
        `CASE` and ``special``.
    """
    altered = admins.select(*CASE, F.col("command").rlike("|".join(map(re.escape, SPECIAL))).alias("odd"))
    distant = parties.select(*CASE, F.col("remote").alias("odd"))
    return altered.unionByName(distant).groupBy(*CASE).agg(any_of(F.col("odd")).alias("special"))
