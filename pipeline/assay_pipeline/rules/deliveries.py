"""DD-03: a delayed message is delivered once its delay is over.

*Examined*: every message with a delay above 0 that a client sent to a queue, that was confirmed and never expires, and
whose id was sent once.  Its sender is not an MQ Light client, because such a client may use the quality of service at
most once.

*Kept*: a consumer received the message, or a browse found it, at the send plus the delay or later.

*Broken*: the message was never seen, and the queue was drained after it was due and all faults were over.  A queue is
drained if a consumer of it waited for at least `LATE_MS` and received nothing.  Every other consumer that ever came to
the queue must also have waited in this way, or have left before in an orderly way.  A consumer may leave after it
waited.

*Not examinable*:

- a message that was only seen before its delay was over, which DD-02 examines
- an unseen message that a consumer may hold, or that a consumer with the quality of service at most once may have lost
- an unseen message that the broker may lose: a non-persistent message, if a fault was not certainly over before its
  send; a persistent message, if such a fault did not end
- an unseen message, if at any time in the scenario a fault outside `SURVIVED` began: on z/OS, for example, a delay
  processor that died before the send delivers nothing until an administrator restarts it (DD-63)
- an unseen message that an administrator may have kept back (`quiet.withheld`), or that may have gone elsewhere
  (`quiet.special`)

*Figure*: how often the message was seen at its time or later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import LOSING, Return
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.values import FaultSpan, Send
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, QUEUE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, no, precedes
from assay_pipeline.quiet import LATE_MS, due, quiet_after, since_send, special, withheld

SURVIVED = (*LOSING, "pause", "slow")
"""The faults after which a persistent message must still be delivered."""
ORDERLY = ("close-connection", "close-session", "close-consumer")
"""The calls with which a consumer leaves in an orderly way."""


def _on_spark(history: History, limits: Limits) -> DataFrame:
    delayed = (
        history.sends.where(F.col("destination").like(QUEUE) & (F.col("delay_ns") > 0) & ~F.col("careless"))
        .where((F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull())
        .drop("actor")
        .withColumn("upon", F.filter("faults", lambda fault: ~F.coalesce(precedes(fault["end"], F.col("at")), no())))
    )
    seen = (
        delayed.join(history.sightings.select(*MESSAGE, F.col("at").alias("seen_at")), list(MESSAGE))
        .groupBy(*MESSAGE)
        .agg(
            F.count(F.when(since_send(F.col("seen_at")) >= F.col("delay_ns"), 1)).alias("delivered"),
            F.count("*").alias("seen"),
        )
    )
    survived = F.when(
        F.col("mode") == "persistent", F.forall("upon", lambda fault: fault["end"].isNotNull())
    ).otherwise(F.size("upon") == 0)
    odd = F.exists("faults", lambda fault: ~fault["what"].isin(*SURVIVED))
    lost = (
        F.col("seen").isNull()
        & F.coalesce(survived, ~no())
        & ~F.coalesce(odd, no())
        & F.coalesce(F.col("drained"), no())
        & ~F.coalesce(F.col("withheld"), no())
        & ~F.coalesce(F.col("special"), no())
    )
    outcome = F.when(F.col("delivered") > 0, Outcome.KEPT.value).when(lost, Outcome.BROKEN.value)
    return subjects(
        delayed.join(seen, list(MESSAGE), "left")
        .join(_drained(delayed, history, limits), list(MESSAGE), "left")
        .join(withheld(delayed, history.admins), list(MESSAGE), "left")
        .join(special(history.admins, history.parties), list(CASE), "left"),
        subject=F.col("key"),
        outcome=outcome,
        figure=F.col("delivered"),
    )


def _drained(delayed: DataFrame, history: History, limits: Limits) -> DataFrame:
    """Find the messages whose queue was drained.

    Each consumer of the queue waited in vain for the message or left.  At least one consumer waited in vain after the
    consumers that did not wait had left.
    """
    came = history.arrivals.groupBy(*CASE, "destination", "actor").agg(F.max("at.seq").alias("came"))
    left = (
        history.leaves.where(~F.col("abrupt") & F.col("answered_at").isNotNull())
        .groupBy(*CASE, "actor")
        .agg(F.max_by("answered_at", "at.seq").alias("left_at"), F.max("at.seq").alias("went"))
    )
    once = history.parties.where("receives_once").select(*CASE, "actor", (~no()).alias("once"))
    consumers = (
        came.join(left, [*CASE, "actor"], "left")
        .join(once, [*CASE, "actor"], "left")
        .withColumn("gone_at", F.when(F.col("went") > F.col("came"), F.col("left_at")))
    )
    over = F.greatest(due(), F.array_max(F.transform("upon", lambda fault: since_send(fault["end"]))))
    members = delayed.join(consumers, [*CASE, "destination"]).withColumn("over", over)
    patient = _quiet(members, history, "over", limits).withColumnRenamed("quiet", "patient")
    hasty_left = F.when(~F.coalesce("patient", no()), since_send(F.col("gone_at")))
    start = F.greatest("over", F.max(hasty_left).over(Window.partitionBy(*MESSAGE)))
    members = members.join(patient, [*MESSAGE, "actor"], "left").withColumn("start", start)
    return (
        members.join(_quiet(members, history, "start", limits), [*MESSAGE, "actor"], "left")
        .groupBy(*MESSAGE)
        .agg(
            (
                any_of(F.col("quiet"))
                & F.bool_and(F.coalesce("patient", no()) | F.col("gone_at").isNotNull())
                & ~any_of(F.col("once"))
            ).alias("drained")
        )
    )


def _quiet(members: DataFrame, history: History, start: str, limits: Limits) -> DataFrame:
    """Find the consumers that waited for a message from a time on, and did not receive it."""
    return (
        members.join(history.watches, [*CASE, "destination", "actor"])
        .groupBy(*MESSAGE, "actor")
        .agg(any_of(quiet_after(F.col(start), limits[LATE_MS])).alias("quiet"))
    )


def _in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    for send in story.lasting("queue://"):
        if send.delay_ns <= 0 or send.call.actor in story.light:
            continue
        seen = story.sightings.get(send.key, [])
        delivered = sum(send.since(sighting.at) >= send.delay_ns for sighting in seen)
        if delivered:
            yield send.key, Outcome.KEPT, delivered, send.call
        elif not seen and _must_be_there(story, send) and _is_drained(story, send, limits):
            yield send.key, Outcome.BROKEN, 0, send.call


def _must_be_there(story: Story, send: Send) -> bool:
    """Return whether the message must be on its queue: no fault and no administrator can have kept it away."""
    upon = _faults_upon(story, send)
    if upon and not (send.persistent and all(fault.end for fault in upon)):
        return False
    odd = any(fault.begin.what not in SURVIVED for fault in story.faults)
    return not (odd or story.special or story.withheld(send))


def _faults_upon(story: Story, send: Send) -> list[FaultSpan]:
    """Return the faults that may not have been over before the send."""
    return [fault for fault in story.faults if not (fault.end and moments.precedes(fault.end, send.call))]


def _is_drained(story: Story, send: Send, limits: Limits) -> bool:
    came: dict[str, int] = defaultdict(int)
    for actor, at in story.came(send.destination):
        came[actor] = max(came[actor], at.seq)
    gone = {actor: left for actor, seq in came.items() if (left := _left(story, actor)) is not None and left[0] > seq}
    start = max([send.due, 0, *(send.since(fault.end) for fault in _faults_upon(story, send) if fault.end)])
    hasty = came.keys() - _waited_from(story, send, start, limits)
    if not hasty <= gone.keys() or any(_receives_once(story, who) for who in came):
        return False
    return bool(_waited_from(story, send, max([start, *(send.since(gone[who][1]) for who in hasty)]), limits))


def _waited_from(story: Story, send: Send, start: int, limits: Limits) -> set[str]:
    """Return the consumers that waited for a message from a time on, and did not receive it."""
    return {
        span.begin.actor
        for span in story.watching(send.destination)
        if story.quiet(send, span, start, limits[LATE_MS] * NS_PER_MS)
    }


def _left(story: Story, actor: str) -> tuple[int, Return] | None:
    """Return the sequence number and the answer of the last call with which an actor left in an orderly way."""
    left = [(call.seq, answer) for call, answer in story.calls if call.actor == actor and call.op in ORDERLY and answer]
    return max(left, key=lambda pair: pair[0], default=None)


def _receives_once(story: Story, actor: str) -> bool:
    made = [call for call, _ in story.accepted("consumer") if call.actor == actor]
    return bool(made) and all(call.args.get("qos") == "at-most-once" for call in made)


INVARIANT = Invariant(
    rule="DD-03",
    text="a delayed message is delivered once its delay is over.",
    wording=Wording("every delayed message seen at its time or later", "seen {0}", one="time"),
    on_spark=_on_spark,
    in_python=_in_python,
    limits=(LATE_MS,),
)
