"""BT-15: a message joins a batch neither before its delay is over nor after it has expired.

*Examined*: every reception of a message in a batch, if the message's id was sent once, its send was accepted, and it
has a delay or a time to live.  The message is *due* at the start of the send call plus the delay, and expires at the
call's return plus the time to live.

*Broken*: the reception is before the due time; or the reception is the message's first one, and the consumer was
created later than the expiry plus `EXPIRY_MS`.  *Undecided*: the clocks are too uncertain to tell.  *Kept*: a message
with a delay came in time, and its consumer was created before the message was due, so the message could have come
early.

*Not examinable*:

- a message that came to an older consumer after its expiry: the client may have received it in time, and waited for a
  full batch, or for the end of another callback
- a message without a delay that came before its expiry
- whether a durable subscription that is read in batches has the missed messages, which PD-13 and PD-25 examine

The journal does not tell whether the broker delivered early, or the client sent the message without its delay.  So this
rule judges the client, and DD-02 judges the broker by the same receptions.

*Figure*: the nanoseconds from the due time, or from the expiry, to the reception; negative for an early one.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import Event, Seen
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.batched import deliveries
from assay_evidence.oracle.holders import Holders
from assay_evidence.oracle.values import Send
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import MESSAGE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import elapsed, no, uncertainty
from assay_pipeline.quiet import since_send
from assay_pipeline.rules.expiry import EXPIRY_MS


def _on_spark(history: History, limits: Limits) -> DataFrame:
    sends = history.sends.where(
        (F.col("sends") == 1) & F.col("accepted") & ((F.col("delay_ns") > 0) | (F.col("ttl_ns") > 0))
    ).select(*MESSAGE, F.col("at").alias("sent_at"), "answered_at", "delay_ns", "ttl_ns")
    firsts = (
        history.sightings.where(~F.col("look"))
        .join(sends.select(*MESSAGE, F.col("sent_at").alias("from")), list(MESSAGE))
        .groupBy(*MESSAGE)
        .agg(F.min(elapsed(F.col("from"), F.col("at"))).alias("first_ns"))
    )
    rows = (
        history.batched.where(F.col("opened_at").isNotNull())
        .withColumnRenamed("at", "seen_at")
        .join(sends, list(MESSAGE))
        .join(firsts, list(MESSAGE))
        .withColumn("at", F.col("sent_at"))
    )
    seen = F.col("seen_at")
    lead = since_send(seen) - F.col("delay_ns")
    late = elapsed(F.col("answered_at"), seen) - F.col("ttl_ns")
    opened = F.col("opened_at")
    came = elapsed(F.col("answered_at"), opened) - F.col("ttl_ns")
    blur, came_blur = uncertainty(F.col("at"), seen), uncertainty(F.col("answered_at"), opened)
    delayed = F.col("delay_ns") > 0
    limit = limits[EXPIRY_MS] * NS_PER_MS
    mortal = (F.col("ttl_ns") > 0) & (since_send(seen) == F.col("first_ns"))
    expired = mortal & (came - came_blur > limit)
    perhaps = mortal & (came + came_blur > limit)
    early = delayed & (lead < -blur)
    near = delayed & (blur > 0) & (lead <= 0)
    there = since_send(opened) < F.col("delay_ns")
    in_time = ~mortal | (late <= limit)
    outcome = (
        F.when(early | expired, Outcome.BROKEN.value)
        .when(near | perhaps, Outcome.UNDECIDED.value)
        .when(delayed & in_time & F.coalesce(there, no()), Outcome.KEPT.value)
    )
    return subjects(
        rows,
        subject=F.concat_ws("/", "key", "link", F.col("turn").cast("string"), F.col("batch").cast("string")),
        outcome=outcome,
        figure=F.when(expired | perhaps, late).otherwise(lead),
    )


def _in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    holders = Holders(story)
    sends = {send.key: send for send in story.sends if send.times == 1 and send.accepted}
    for one in deliveries(story):
        send = sends.get(one.seen.msg.key)
        opened = holders.consumer(one.seen, one.seen.actor)
        if send is None or opened is None:
            continue
        told = _judge(story, send, one.seen, opened.call, limits)
        if told is not None:
            yield f"{send.key}/{one.seen.link}/{one.turn}/{one.seen.batch}", *told, send.call


def _judge(story: Story, send: Send, seen: Seen, opened: Event, limits: Limits) -> tuple[Outcome, int] | None:
    """Return the outcome of one reception by a consumer, and the figure; None if the rule does not examine it."""
    lead, blur = send.since(seen) - send.delay_ns, moments.unsure(send.call, seen)
    early = bool(send.delay_ns) and lead < -blur
    near = bool(send.delay_ns) and blur > 0 and lead <= 0
    there = bool(send.delay_ns) and send.since(opened) < send.delay_ns
    if send.ttl_ns and send.answer and send.since(seen) == min(send.since(s.at) for s in story.handed(send.key)):
        late = moments.elapsed(send.answer, seen) - send.ttl_ns
        came, came_blur = moments.elapsed(send.answer, opened) - send.ttl_ns, moments.unsure(send.answer, opened)
        limit = limits[EXPIRY_MS] * NS_PER_MS
        if came + came_blur > limit:
            return Outcome.BROKEN if early or came - came_blur > limit else Outcome.UNDECIDED, late
        there = there and late <= limit
    if early or near:
        return Outcome.BROKEN if early else Outcome.UNDECIDED, lead
    return (Outcome.KEPT, lead) if there else None


INVARIANT = Invariant(
    rule="BT-15",
    text="a message joins a batch neither early nor after its expiry.",
    wording=Wording("no message in a batch before its time or after its expiry", "{0} after its time"),
    on_spark=_on_spark,
    in_python=_in_python,
    limits=(EXPIRY_MS,),
)
