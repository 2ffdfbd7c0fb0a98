"""PD-18, PD-21, PD-22, PD-32: a queue is one subscription that its consumers share.

*Examined*: confirmed messages on queues, without a time to live (`assay_pipeline.tables.copies`).  A message is
*awaited* if a consumer watched the queue through the send, and *parked* if no consumer watched it between the begin of
the send and its confirmation.  The rules differ in the messages:

- PD-18: messages that several consumers awaited; and parked persistent messages without a kill or restart after the
  send
- PD-21: awaited non-persistent messages without a kill or restart after the send
- PD-22: non-persistent messages with a kill or restart after the send
- PD-32: parked non-persistent messages without a kill or restart after the send

*Broken*:

- PD-18, PD-21: the message came twice without a mark, although the history shows nothing after which a broker may
  deliver again
- PD-18, parked persistent messages: the message was never seen, although the queue's only consumer had a quiet tail
  (`QUIET_MS`) after the message was due
- PD-21: the message was never seen, although the queue's only consumer watched it from before the send until a quiet
  tail after the message was due, and no fault overlaps the watch
- PD-22, PD-32: the message came twice as above, or a consumer received it altered

The quiet tail must last for `LATE_MS` if the message is delayed; for PD-18, also if a connection may have been lost
after the send (column ``shaken``).

*Kept*:

- an awaited message: it was seen once, by a consumer of the queue
- a parked message: it was seen (for PD-18, once), and a consumer came to the queue after the confirmation.  Otherwise a
  consumer without a watch may have been attached during the send, and the message was then not parked.
- PD-22: the message was seen after the end of the kill or restart

*Not examinable*:

- a missing message of a queue with several consumers, because another one may hold it
- a missing message of a queue whose consumer may lose messages on their way (quality of service at most once, automatic
  confirmation)
- a missing message that an administrator may have kept back (`quiet.withheld`)
- a missing message that may have gone elsewhere (`quiet.special`), for example to the dead-letter queue because its
  queue was full when it became due
- a missing non-persistent message for which no consumer waited, or that a kill or restart followed: a broker may lose
  it
- a message that came again after an event that permits this, such as a fault or a rollback, or that was marked as
  redelivered
- two moments of different clocks that are closer than their uncertainty: the message then belongs to no rule
- for PD-21, how soon the message came

*Figure*: how often the message was seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.oracle import Examined, Story
from assay_evidence.oracle.copies import Copy, copies
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import OfTable, Rows, of_copies
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.quiet import LATE_MS, QUIET_MS, patience


def _on_queue(*, persistent: bool) -> Column:
    return (F.col("kind") == "queue") & (F.col("mode") == ("persistent" if persistent else "non-persistent"))


def _vanished(waited: str, limits: Limits, slow: Column) -> Column:
    """Return whether a message was never seen, although the queue's only consumer waited for it.

    The condition is false if the message may have been withheld (column ``withheld``).

    Args:
        waited: The column with the length of the consumer's quiet tail.
        limits: The values of the limits.
        slow: Whether the message may come late.
    """
    long = F.col(waited) >= patience(limits, slow)
    return (F.col("seen") == 0) & F.col("alone") & ~F.col("withheld") & long


def _pd_18(limits: Limits) -> Rows:
    crowded = (F.col("kind") == "queue") & (F.col("watchers") > 1)
    parked = _on_queue(persistent=True) & F.col("idle") & (F.col("fatal") == 0)
    slow = F.col("delayed") | F.col("shaken")
    return of_copies(
        crowded | parked,
        broken=(crowded & F.col("twice")) | (parked & _vanished("quiet_ns", limits, slow)),
        kept=(crowded & _dispatched_once()) | (parked & (F.col("seen") == 1) & F.col("reopened")),
    )


def _pd_21(limits: Limits) -> Rows:
    awaited = _on_queue(persistent=False) & (F.col("watchers") > 0) & (F.col("fatal") == 0)
    broken = F.col("twice") | _vanished("through_ns", limits, F.col("delayed"))
    return of_copies(awaited, broken=broken, kept=_dispatched_once())


def _pd_22(limits: Limits) -> Rows:  # noqa: ARG001 - all invariants have this signature
    shaken = _on_queue(persistent=False) & (F.col("fatal") > 0)
    return of_copies(shaken, broken=_odd(), kept=F.col("outlived") > 0)


def _pd_32(limits: Limits) -> Rows:  # noqa: ARG001 - all invariants have this signature
    parked = _on_queue(persistent=False) & F.col("idle") & (F.col("fatal") == 0)
    return of_copies(parked, broken=_odd(), kept=(F.col("seen") > 0) & F.col("reopened"))


def _dispatched_once() -> Column:
    """Return whether a message was seen once: by a consumer of its queue, not in a browse or on another queue."""
    return (F.col("seen") == 1) & (F.col("handed") == 1)


def _odd() -> Column:
    return F.col("twice") | (F.col("altered") > 0)


def _on_queues(story: Story) -> Iterator[Copy]:
    return (copy for copy in copies(story) if copy.holder.kind == "queue")


def _gone(copy: Copy, silence: int, limits: Limits, *, slow: bool) -> bool:
    long = silence >= limits[LATE_MS if slow else QUIET_MS] * NS_PER_MS
    return copy.alone and not copy.seen and not copy.withheld and long


def _once(copy: Copy) -> bool:
    return copy.seen == 1 and copy.handed == 1


def _subject(copy: Copy, *, broken: bool, kept: bool) -> Iterator[Examined]:
    if broken or kept:
        yield copy.name, Outcome.BROKEN if broken else Outcome.KEPT, copy.seen, copy.send.call


def _shared(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in _on_queues(story):
        crowd, parked = copy.watchers >= 2, copy.send.persistent and copy.idle and not copy.fatal  # noqa: PLR2004 - several watchers compete
        if crowd or parked:
            lost = parked and _gone(copy, copy.quiet_ns, limits, slow=copy.delayed or copy.shaken)
            kept = (crowd and _once(copy)) or (parked and copy.seen == 1 and copy.reopened)
            yield from _subject(copy, broken=lost or (crowd and copy.twice), kept=kept)


def _dispatched(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in _on_queues(story):
        if copy.watchers and not copy.fatal and not copy.send.persistent:
            lost = _gone(copy, copy.through_ns, limits, slow=copy.delayed)
            yield from _subject(copy, broken=copy.twice or lost, kept=_once(copy))


def _restarted(story: Story, limits: Limits) -> Iterator[Examined]:  # noqa: ARG001 - all invariants have this signature
    for copy in _on_queues(story):
        if copy.fatal and not copy.send.persistent:
            yield from _subject(copy, broken=copy.twice or copy.altered > 0, kept=copy.outlived > 0)


def _parked(story: Story, limits: Limits) -> Iterator[Examined]:  # noqa: ARG001 - all invariants have this signature
    for copy in _on_queues(story):
        if copy.idle and not copy.fatal and not copy.send.persistent:
            kept = copy.seen > 0 and copy.reopened
            yield from _subject(copy, broken=copy.twice or copy.altered > 0, kept=kept)


_SEEN = "seen {0}"
SHARED = Invariant(
    rule="PD-18",
    text="each message of a queue goes to exactly one of its consumers, and is kept while there is none.",
    wording=Wording("each message seen once", _SEEN, one="time"),
    on_spark=OfTable("copies", _pd_18),
    in_python=_shared,
    limits=(QUIET_MS, LATE_MS),
)
DISPATCHED = Invariant(
    rule="PD-21",
    text="a non-persistent message to a queue with a consumer comes, and comes once.",
    wording=Wording("each message seen once", _SEEN, one="time"),
    on_spark=OfTable("copies", _pd_21),
    in_python=_dispatched,
    limits=(QUIET_MS, LATE_MS),
)
RESTARTED = Invariant(
    rule="PD-22",
    text="a non-persistent message on a queue never comes twice or altered after a restart or kill.",
    wording=Wording("no message altered or received twice without a reason", _SEEN, one="time"),
    on_spark=OfTable("copies", _pd_22),
    in_python=_restarted,
    certain=True,
)
PARKED = Invariant(
    rule="PD-32",
    text="a non-persistent message to a queue without a consumer never comes twice or altered.",
    wording=Wording("no message altered or received twice without a reason", _SEEN, one="time"),
    on_spark=OfTable("copies", _pd_32),
    in_python=_parked,
    certain=True,
)
