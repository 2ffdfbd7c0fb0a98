"""DD-26, DD-27: delayed messages of units of work.

Both examine messages that a client sent to a queue in a unit of work with a delay above 0, and whose ids were sent
once.

DD-26
    *Examined*: messages of a unit of work that was rolled back, without an earlier attempt to commit it: such an
    attempt may have succeeded.

    *Broken*: a consumer received the message, or a browse listed it.  *Kept*: it was never seen, although a consumer's
    watch of the queue ended with a silence (`QUIET_MS`) after the rollback plus the delay, and no fault that ends
    connections overlaps the watch.  The broker had accepted the send, and could still have the message: it is
    persistent, or all faults were over before the send.

    *Not examinable*: an unseen message for which no consumer waited, or that an administrator may have kept back
    (`quiet.withheld`, `quiet.special`).  Only the scenarios test a get inside the unit of work: if the get finds
    nothing, the journal does not tell which messages the queue held.

    *Figure*: how often the message was seen.

DD-27
    *Examined*: messages of a unit of work that was committed.

    *Kept*: a consumer received the message certainly earlier than the commit call plus the delay, and not earlier than
    the send plus the delay.  So the broker did not count the delay from the commit.

    *Broken*: the message came without a mark, at least `LATE_MS` after it was due, and in the `QUIET_MS` that follow
    the commit plus the delay, as if the delay counted from the commit.  The consumer that received the message is the
    queue's only one.  It watched the queue from before the message was due, and received no other message between the
    send and this reception.  No fault overlaps this time, and the consumer's silence is evidence
    (`assay_pipeline.quiet`).

    *Not examinable*:

    - a message that never came (DD-03)
    - a message that came after the commit plus the delay, but less than `LATE_MS` after it was due: the commit followed
      the send too soon
    - a late message that an administrator may have kept back
    - a late message, if another delayed message of the scenario was also `LATE_MS` late, but did not come at its own
      commit plus its delay: the broker is then slow for another reason

    *Figure*: the nanoseconds from the moment when the message was due to the first reception.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import Seen
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.holders import Holders
from assay_evidence.oracle.values import Send
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.clients import alone
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, QUEUE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, no, precedes, uncertainty
from assay_pipeline.quiet import (
    LATE_MS,
    QUIET_MS,
    due,
    overlaps,
    quiet_after,
    since_send,
    special,
    unbroken,
    withheld,
)


def _delayed(history: History) -> DataFrame:
    """Find the delayed messages on queues."""
    return history.sends.drop("actor").where(
        F.col("destination").like(QUEUE) & (F.col("delay_ns") > 0) & (F.col("sends") == 1)
    )


def _kept_back(sends: DataFrame, history: History) -> DataFrame:
    """Add to messages whether an administrator may have kept them back."""
    acts = withheld(sends.select(*MESSAGE, "at"), history.admins)
    odd = special(history.admins, history.parties)
    hidden = F.coalesce("withheld", no()) | F.coalesce("special", no())
    return sends.join(acts, list(MESSAGE), "left").join(odd, list(CASE), "left").withColumn("hidden", hidden)


def _rolled_back(history: History, limits: Limits) -> DataFrame:
    rolled_back = _delayed(history).where((F.col("unit_end") == "rollback") & F.col("asked_at").isNull())
    lost = F.exists("faults", lambda fault: ~F.coalesce(precedes(fault["end"], F.col("at")), no()))
    there = F.coalesce("accepted", no()) & ((F.col("mode") == "persistent") | ~F.coalesce(lost, no()))
    start = since_send(F.col("unit_ended_at")) + F.col("delay_ns")
    seen = history.sightings.groupBy(*MESSAGE).agg(F.count("*").alias("times"))
    waited = (
        rolled_back.join(history.watches, [*CASE, "destination"])
        .groupBy(*MESSAGE)
        .agg(any_of(quiet_after(start, limits[QUIET_MS]) & unbroken()).alias("waited"))
    )
    kept = F.col("waited") & there & ~F.col("hidden")
    outcome = F.when(F.col("times") > 0, Outcome.BROKEN.value).when(kept, Outcome.KEPT.value)
    return subjects(
        _kept_back(rolled_back, history).join(seen, list(MESSAGE), "left").join(waited, list(MESSAGE), "left"),
        subject=F.col("key"),
        outcome=outcome,
        figure=F.col("times"),
    )


def _committed(history: History, limits: Limits) -> DataFrame:
    delayed = _delayed(history).where(F.col("confirmed_at").isNotNull())
    handed = history.sightings.where(~F.col("look")).select(
        *MESSAGE, "destination", "actor", "marked", F.col("at").alias("seen_at")
    )
    order = F.struct(since_send(F.col("seen_at")), "seen_at.writer", "seen_at.seq")
    first = (
        delayed.join(handed, [*MESSAGE, "destination"])
        .groupBy(*MESSAGE)
        .agg(F.min_by(F.struct("seen_at", "actor", "marked"), order).alias("first"))
        .select(*MESSAGE, "first.*")
    )
    received = delayed.join(first, list(MESSAGE))
    counted = since_send(F.col("asked_at")) + F.col("delay_ns")
    seen = since_send(F.col("seen_at"))
    over = since_send(F.col("confirmed_at")) + F.col("delay_ns") + limits[QUIET_MS] * NS_PER_MS
    unsure = F.greatest(uncertainty(F.col("asked_at"), F.col("seen_at")), uncertainty(F.col("at"), F.col("seen_at")))
    late = seen - due() >= limits[LATE_MS] * NS_PER_MS
    as_counted = F.coalesce((seen >= counted) & (seen <= over), no())
    slow = received.where(late & ~as_counted).select(*CASE, (~no()).alias("slow")).distinct()
    committed = received.where(F.col("unit").isNotNull() & F.col("asked_at").isNotNull())
    sure = F.col("idle") & F.coalesce("alone", no()) & ~F.col("marked") & ~F.col("hidden") & ~F.coalesce("slow", no())
    kept = (seen + unsure < counted) & (seen >= F.col("delay_ns"))
    outcome = F.when(kept, Outcome.KEPT.value).when(late & as_counted & sure, Outcome.BROKEN.value)
    return subjects(
        _kept_back(committed, history)
        .join(_idle(committed, history), list(MESSAGE), "left")
        .join(alone(history.arrivals, history.consumers, CASE), [*CASE, "destination"], "left")
        .join(slow, list(CASE), "left"),
        subject=F.col("key"),
        outcome=outcome,
        figure=seen - due(),
    )


def _idle(received: DataFrame, history: History) -> DataFrame:
    """Find the messages whose consumer watched from before the due time, and received nothing else since the send."""
    seen = since_send(F.col("seen_at"))
    spans = history.watches.where("conclusive").select(*CASE, "destination", "actor", "begin", "end")
    watched = received.join(spans, [*CASE, "destination", "actor"]).where(
        (since_send(F.col("begin")) <= due()) & (since_send(F.col("end")) >= seen) & ~overlaps("faults", F.lit(0), seen)
    ).select(*MESSAGE).distinct()  # fmt: skip
    other = history.sightings.where(~F.col("look")).select(
        *CASE, "actor", F.col("key").alias("other"), F.col("at").alias("other_at")
    )
    within = (since_send(F.col("other_at")) >= F.lit(0)) & (since_send(F.col("other_at")) <= seen)
    busy = (
        received.join(other, [*CASE, "actor"])
        .where(within & (F.col("other") != F.col("key")))
        .select(*MESSAGE)
        .distinct()
    )
    return watched.join(busy, list(MESSAGE), "left_anti").withColumn("idle", F.lit("true").cast("boolean"))


def _on_queues(story: Story) -> Iterator[Send]:
    """Yield the sends of delayed messages to queues; messages that were sent more than once are left out."""
    for send in story.sends:
        if send.destination.startswith("queue://") and send.delay_ns > 0 and send.times == 1:
            yield send


def _backed_out(story: Story, limits: Limits) -> Iterator[Examined]:
    for send in _on_queues(story):
        if not send.rolled_back or send.asked is not None or send.ending is None:
            continue
        seen = story.sightings.get(send.key, [])
        start, quiet_ns = send.since(send.ending) + send.delay_ns, limits[QUIET_MS] * NS_PER_MS
        if seen:
            yield send.key, Outcome.BROKEN, len(seen), send.call
        elif _could_be_there(story, send) and any(
            story.unbroken(span) and story.quiet(send, span, start, quiet_ns)
            for span in story.watching(send.destination)
        ):
            yield send.key, Outcome.KEPT, 0, send.call


def _could_be_there(story: Story, send: Send) -> bool:
    """Return whether a broker that ignores a rollback could have delivered the message."""
    lost = any(fault.end is None or not moments.precedes(fault.end, send.call) for fault in story.faults)
    hidden = story.withheld(send) or story.special
    return send.accepted and (send.persistent or not lost) and not hidden


def _at_its_time(story: Story, limits: Limits) -> Iterator[Examined]:
    received = [
        (send, first)
        for send in _on_queues(story)
        if send.confirmed is not None and (first := _first(story, send)) is not None
    ]
    late_ns = limits[LATE_MS] * NS_PER_MS
    slow = any(
        send.since(first) - send.due >= late_ns and not _is_as_counted(send, first, limits) for send, first in received
    )
    for send, first in received:
        if send.asked is None or send.call.unit is None:
            continue
        at = send.since(first)
        late, counted = at - send.due, send.since(send.asked) + send.delay_ns
        blur = max(moments.unsure(send.asked, first), moments.unsure(send.call, first))
        if at + blur < counted and at >= send.delay_ns:
            yield send.key, Outcome.KEPT, late, send.call
        elif late >= late_ns and _is_as_counted(send, first, limits) and not slow and _was_awaited(story, send, first):
            yield send.key, Outcome.BROKEN, late, send.call


def _first(story: Story, send: Send) -> Seen | None:
    """Return the first reception of a message from the queue to which it was sent."""
    events = (one.at for one in story.handed(send.key))
    seen = [event for event in events if isinstance(event, Seen) and event.destination == send.destination]
    return min(seen, key=lambda event: (send.since(event), event.writer, event.seq), default=None)


def _is_as_counted(send: Send, first: Seen, limits: Limits) -> bool:
    """Return whether a message came just when a delay that counts from its commit would have been over."""
    if send.confirmed is None or send.asked is None:
        return False
    start = send.since(send.asked) + send.delay_ns
    until = send.since(send.confirmed) + send.delay_ns + limits[QUIET_MS] * NS_PER_MS
    return start <= send.since(first) <= until


def _was_awaited(story: Story, send: Send, first: Seen) -> bool:
    """Return whether the queue's only consumer waited for a message without other receptions, and it came unmarked.

    No fault may overlap the wait, and no administrator's command may have kept the message back.
    """
    at = send.since(first)
    watched = any(
        span.begin.actor == first.actor
        and send.since(span.begin) <= send.due
        and send.since(span.end) >= at
        and story.is_conclusive(span)
        for span in story.watching(send.destination)
    )
    others = (event for event in story.events if isinstance(event, Seen) and event.actor == first.actor)
    busy = any(event.msg.key != send.key and 0 <= send.since(event) <= at for event in others)
    marked = first.redelivered or first.count > 1
    hidden = story.withheld(send) or story.special
    undisturbed = not story.disturbed(send, 0, at) and not marked and not hidden
    return watched and not busy and undisturbed and Holders(story).is_alone(send.destination)


ROLLED_BACK = Invariant(
    rule="DD-26",
    text="a delayed message of a unit of work that was rolled back is never delivered.",
    wording=Wording("no message of a unit of work that was rolled back", "seen {0}", one="time"),
    on_spark=_rolled_back,
    in_python=_backed_out,
    limits=(QUIET_MS,),
    certain=True,
)
COMMITTED = Invariant(
    rule="DD-27",
    text="the delay of a message in a unit of work counts from the send, not from the commit.",
    wording=Wording("no delay that counts from the commit", "received {0} after it was due"),
    on_spark=_committed,
    in_python=_at_its_time,
    limits=(QUIET_MS, LATE_MS),
)
