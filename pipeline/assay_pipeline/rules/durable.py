"""PD-13, PD-16, PD-23 to PD-25, PD-29, PD-30: a durable subscription has its copy of each message.

*Examined*: every pair of a message and a durable subscription to the message's topic that existed before the send
(`assay_pipeline.tables.copies`).  A subscription is *inactive* if no consumer of it watched between the begin of the
send and its confirmation, and *active* if a consumer watched it through the send.  The rules differ in the pairs:

- PD-13: persistent messages, inactive subscriptions, no kill or restart after the send
- PD-16: persistent messages, and subscriptions whose name another client id uses, too
- PD-23: persistent messages with a kill or restart after the send
- PD-24: persistent messages, active subscriptions
- PD-25: persistent messages, inactive subscriptions
- PD-29: non-persistent messages, inactive subscriptions, no kill or restart after the send
- PD-30: non-persistent messages, inactive subscriptions, a kill or restart after the send; and persistent messages that
  were sent after a kill or restart, if the subscription existed before this fault and no client had opened it between
  fault and send

*Kept*: a consumer of the subscription received the message; for PD-23, after the end of the kill or restart.  For
PD-13, PD-25 and PD-29, and for the non-persistent messages of PD-30, a client must also have opened the subscription
after the message was confirmed.  Otherwise a consumer without a watch may have been attached during the send, and
the subscription was then not inactive.

*Broken*, if the message is persistent: no consumer of the subscription ever received it, although one consumer had a
quiet tail (`QUIET_MS`).  The tail counts from the time when the message was due and all kills and restarts that
followed the send were over.  It must last for `LATE_MS` if the message is delayed, or if a connection may have been
lost after the send (column ``shaken``).  *Broken*, for PD-29 and PD-30, if the message is non-persistent: a consumer
received it altered, or it came twice although the history shows nothing after which a broker may deliver again.

*Not examinable*:

- a subscription that the journal does not describe well enough (`assay_pipeline.tables.holders`), for example one with
  a selector, or one that a client tried to delete before the send
- a missing message of a shared subscription, because another of its consumers may hold it
- a missing message that an administrator may have kept back (`quiet.withheld`), that may have gone elsewhere
  (`quiet.special`), or whose subscription a client tried to delete
- a message of an MQ Light client, because the topic chooses its persistence
- a missing message if no consumer watched for long enough, or if a fault overlaps its quiet tail
- a missing non-persistent message, which a broker may lose
- for PD-24, whether a message that was seen and not acknowledged comes again after a kill
- two moments of different clocks that are closer than their uncertainty: the pair then belongs to no rule

*Figure*: how often consumers of the subscription received the message.
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


def _persistent() -> Column:
    return F.col("mode") == "persistent"


def _lost(limits: Limits) -> Column:
    """Return whether a copy is lost: a consumer of an unshared subscription waited for it, and no consumer received it.

    A copy does not count as lost if it may have been withheld (column ``withheld``).
    """
    waited = F.col("quiet_ns") >= patience(limits, F.col("delayed") | F.col("shaken"))
    return (F.col("seen") == 0) & waited & ~F.col("withheld") & ~F.col("shared")


def _stored(limits: Limits, which: Column, kept: Column) -> Rows:
    """Examine persistent copies of durable subscriptions."""
    durable = (F.col("kind") == "durable") & _persistent() & which
    return of_copies(durable, broken=_lost(limits), kept=kept)


def _seen() -> Column:
    return F.col("seen") > 0


def _missed() -> Column:
    """Return whether the message was received, and a consumer of the holder was created after the confirmation."""
    return _seen() & F.col("reopened")


def _pd_13(limits: Limits) -> Rows:
    return _stored(limits, F.col("idle") & (F.col("fatal") == 0), _missed())


def _pd_16(limits: Limits) -> Rows:
    return _stored(limits, F.col("common"), _seen())


def _pd_23(limits: Limits) -> Rows:
    return _stored(limits, F.col("fatal") > 0, F.col("outlived") > 0)


def _pd_24(limits: Limits) -> Rows:
    return _stored(limits, F.col("watchers") > 0, _seen())


def _pd_25(limits: Limits) -> Rows:
    return _stored(limits, F.col("idle"), _missed())


def _in_memory(which: Column) -> Rows:
    """Examine non-persistent copies of inactive durable subscriptions."""
    parked = (F.col("kind") == "durable") & ~_persistent() & F.col("idle") & which
    odd = F.col("twice") | (F.col("altered") > 0)
    return of_copies(parked, broken=odd, kept=_missed())


def _pd_29(limits: Limits) -> Rows:  # noqa: ARG001 - all invariants have this signature
    return _in_memory(F.col("fatal") == 0)


def _pd_30(limits: Limits) -> Rows:
    inherited = _stored(limits, F.col("inherited"), _seen())
    return _in_memory(F.col("fatal") > 0).otherwise(inherited)


def _of(story: Story, *, persistent: bool) -> Iterator[Copy]:
    for copy in copies(story):
        if copy.holder.kind == "durable" and copy.send.persistent is persistent:
            yield copy


def _stored_well(copy: Copy, limits: Limits, *, received: int) -> Iterator[Examined]:
    if received > 0:
        yield copy.name, Outcome.KEPT, copy.seen, copy.send.call
    elif not (copy.seen or copy.withheld or copy.holder.shared) and _waited(copy, limits):
        yield copy.name, Outcome.BROKEN, 0, copy.send.call


def _waited(copy: Copy, limits: Limits) -> bool:
    return copy.quiet_ns >= limits[LATE_MS if copy.delayed or copy.shaken else QUIET_MS] * NS_PER_MS


def _remembered_well(copy: Copy) -> Iterator[Examined]:
    if copy.twice or copy.altered:
        yield copy.name, Outcome.BROKEN, copy.seen, copy.send.call
    elif copy.seen and copy.reopened:
        yield copy.name, Outcome.KEPT, copy.seen, copy.send.call


def _again(copy: Copy) -> int:
    """Return how often the message was received, or 0 if no client opened the subscription after the confirmation."""
    return copy.seen if copy.reopened else 0


def _missed_ones(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in _of(story, persistent=True):
        if copy.idle and not copy.fatal:
            yield from _stored_well(copy, limits, received=_again(copy))


def _namesakes(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in _of(story, persistent=True):
        if copy.common:
            yield from _stored_well(copy, limits, received=copy.seen)


def _on_disk(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in _of(story, persistent=True):
        if copy.fatal:
            yield from _stored_well(copy, limits, received=copy.outlived)


def _active(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in _of(story, persistent=True):
        if copy.watchers:
            yield from _stored_well(copy, limits, received=copy.seen)


def _inactive(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in _of(story, persistent=True):
        if copy.idle:
            yield from _stored_well(copy, limits, received=_again(copy))


def _parked(story: Story, limits: Limits) -> Iterator[Examined]:  # noqa: ARG001 - all invariants have this signature
    for copy in _of(story, persistent=False):
        if copy.idle and not copy.fatal:
            yield from _remembered_well(copy)


def _after_restarts(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in _of(story, persistent=False):
        if copy.idle and copy.fatal:
            yield from _remembered_well(copy)
    for copy in _of(story, persistent=True):
        if copy.inherited:
            yield from _stored_well(copy, limits, received=copy.seen)


_RECEIVED = "received {0}"
MISSED = Invariant(
    rule="PD-13",
    text="a durable subscription stores the persistent messages that come while it is inactive.",
    wording=Wording("every message of the inactive time received later", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _pd_13),
    in_python=_missed_ones,
    limits=(QUIET_MS, LATE_MS),
)
NAMESAKES = Invariant(
    rule="PD-16",
    text="durable subscriptions of one name and several client ids each have a copy of each persistent message.",
    wording=Wording("a copy for the subscription of each client id", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _pd_16),
    in_python=_namesakes,
    limits=(QUIET_MS, LATE_MS),
)
ON_DISK = Invariant(
    rule="PD-23",
    text="a durable subscription's copy of a persistent message is not lost when the broker is restarted or killed.",
    wording=Wording("every copy received after the restart", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _pd_23),
    in_python=_on_disk,
    limits=(QUIET_MS, LATE_MS),
)
ACTIVE = Invariant(
    rule="PD-24",
    text="an active durable subscriber gets each persistent message.",
    wording=Wording("a copy for each active durable subscriber", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _pd_24),
    in_python=_active,
    limits=(QUIET_MS, LATE_MS),
)
INACTIVE = Invariant(
    rule="PD-25",
    text="an inactive durable subscriber gets each persistent message when it becomes active.",
    wording=Wording("every missed message received later, also after a restart", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _pd_25),
    in_python=_inactive,
    limits=(QUIET_MS, LATE_MS),
)
IN_MEMORY = Invariant(
    rule="PD-29",
    text="a non-persistent message for an inactive durable subscription never comes twice or altered.",
    wording=Wording("no message altered or received twice without a reason", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _pd_29),
    in_python=_parked,
    certain=True,
)
AFTER_RESTARTS = Invariant(
    rule="PD-30",
    text="after a restart, a durable subscription collects messages again, and its older ones come unaltered or not.",
    wording=Wording("the subscription goes on, and no message comes altered or twice", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _pd_30),
    in_python=_after_restarts,
    limits=(QUIET_MS, LATE_MS),
)
