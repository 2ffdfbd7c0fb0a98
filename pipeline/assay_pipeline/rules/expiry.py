"""DD-55, DD-56: an expired message is not delivered, and a delivery delay is a part of the message's time to live.

The time to live counts from the send and includes the delay.  The broker may count from any moment of the call, so
*expiry* is the call's return plus the time to live.  No document says how exact a broker must be, so the run states a
limit (`EXPIRY_MS`).

*Examined*: every copy of a message with a time to live above 0 whose send was accepted and whose id was sent once.  A
queue has one copy.  On a topic, each subscription has its own copy; a subscription is identified by its name, or by its
consumer if it has no name.  A browse is not a delivery.  A copy whose first sighting is in a batch is left out if it
came late: the client may have received it in time, and waited for a full batch (BT-15 examines batches).

*Broken*: the copy's first sighting is later than expiry plus limit by more than the uncertainty.  A copy that was
received in time and comes again later is not broken.  *Undecided*: the first sighting is earlier or later than expiry
plus limit, but by no more than the uncertainty.

*Kept* (on queues only): no consumer ever received the message, although the message was confirmed and a consumer could
have received it after expiry plus limit.  For this, a quiet watch must reach beyond that moment.  The watch must have
begun after expiry, unless the delay is at least as long as the time to live.  If the message is non-persistent, no
fault may have begun after its send.

*Not examinable*: a copy that was received in time, or after expiry within the limit; a message for which no consumer
waited.

*Figure*: the nanoseconds from expiry to the first sighting; 0 without a sighting.

DD-55 examines those messages of DD-56 that also have a delay, if the delay is at most the time to live.  The *later
end* is the end of a time to live that would begin at the end of the delay.  *Broken* or *undecided*: the message came
after the expiry as in DD-56, but no later than the later end plus the limit; an even later message shows another
mistake.  *Kept*: the message is kept for DD-56, and `QUIET_MS` of the silence were over before the later end.  A broker
that counts the time to live from the end of the delay would have delivered the message in this time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import Event, Seen
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.values import Send, Sighting, Span
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limit, Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, QUEUE, TOPIC, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import elapsed, no, precedes, uncertainty
from assay_pipeline.quiet import FOREVER, QUIET_MS, quiet_after, since_send

EXPIRY_MS = Limit("expiry_ms", 250, "How long after its expiry a message may still be delivered.")
"""The limit for a delivery after the expiry.

It is below 500 ms, because the suite's receivers begin 500 ms after an expiry and must get no message.
"""


def _on_spark(history: History, limits: Limits) -> DataFrame:
    mortal = history.sends.where((F.col("ttl_ns") > 0) & (F.col("sends") == 1) & F.col("accepted"))
    return _handed_over(mortal, history, limits).unionByName(_never(mortal, history, limits))


def _counts_delay(history: History, limits: Limits) -> DataFrame:
    mortal = history.sends.where((F.col("ttl_ns") > 0) & (F.col("sends") == 1) & F.col("accepted"))
    delayed = mortal.where((F.col("delay_ns") > 0) & (F.col("delay_ns") <= F.col("ttl_ns")))
    return _handed_over(delayed, history, limits, until=F.col("delay_ns")).unionByName(
        _never(delayed, history, limits, until=since_send(F.col("answered_at")) + F.col("delay_ns") + F.col("ttl_ns"))
    )


def _handed_over(mortal: DataFrame, history: History, limits: Limits, until: Column | None = None) -> DataFrame:
    seen = (
        history.sightings.where(~F.col("look"))
        .withColumnRenamed("at", "seen_at")
        .join(history.actors.select(*CASE, "actor", "subscription"), [*CASE, "actor"], "left")
        .withColumn("holder", F.coalesce("subscription", "actor"))
        .select(*MESSAGE, "seen_at", "holder", F.col("batch").isNotNull().alias("together"))
    )
    topic = F.col("destination").like(TOPIC)
    late = elapsed(F.col("answered_at"), F.col("seen_at")) - F.col("ttl_ns")
    first = (
        mortal.join(seen, list(MESSAGE))
        .withColumn("copy", F.when(topic, F.concat_ws(">", "key", "holder")).otherwise(F.col("key")))
        .groupBy(*CASE, "copy")
        .agg(
            F.min(
                F.struct(
                    late.alias("late"), uncertainty(F.col("answered_at"), F.col("seen_at")).alias("unsure"), "together"
                )
            ).alias("first"),
            F.first("at").alias("at"),
            F.first(F.lit(FOREVER) if until is None else until).alias("until"),
        )
    )
    limit = limits[EXPIRY_MS] * NS_PER_MS
    after, unsure = F.col("first.late"), F.col("first.unsure")
    outcome = F.when(after - unsure > limit, Outcome.BROKEN.value).when(after + unsure > limit, Outcome.UNDECIDED.value)
    first = first.where((after <= F.col("until") + limit) & ~F.col("first.together"))
    return subjects(first, subject=F.col("copy"), outcome=outcome, figure=after)


def _never(mortal: DataFrame, history: History, limits: Limits, until: Column | None = None) -> DataFrame:
    spared = (F.col("mode") == "persistent") | ~F.coalesce(
        F.exists("faults", lambda fault: precedes(F.col("at"), fault["begin"])), no()
    )
    unseen = mortal.where(F.col("destination").like(QUEUE) & F.col("confirmed_at").isNotNull() & spared).join(
        history.sightings.where(~F.col("look")), list(MESSAGE), "left_anti"
    )
    expiry = since_send(F.col("answered_at")) + F.col("ttl_ns")
    afresh = (since_send(F.col("begin")) >= expiry) | (F.col("delay_ns") >= F.col("ttl_ns"))
    start = expiry + limits[EXPIRY_MS] * NS_PER_MS
    silent = F.greatest(since_send(F.col("begin")), since_send(F.col("last")), start) + limits[QUIET_MS] * NS_PER_MS
    in_time = silent <= (F.lit(FOREVER) if until is None else until)
    waited = unseen.join(history.watches.drop("actor"), [*CASE, "destination"]).where(
        afresh & quiet_after(start, limits[QUIET_MS]) & in_time
    )
    kept = waited.groupBy(*MESSAGE).agg(F.first("at").alias("at"))
    return subjects(kept, subject=F.col("key"), outcome=F.lit(Outcome.KEPT.value), figure=F.lit(0))


def _in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    for send in story.sends:
        if send.ttl_ns > 0 and send.times == 1 and send.accepted:
            yield from _examined(story, send, limits)


def _delay_in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    for send in story.sends:
        if 0 < send.delay_ns <= send.ttl_ns and send.times == 1 and send.accepted:
            for subject, outcome, late, at in _examined(story, send, limits, by_release=True):
                if late <= send.delay_ns + limits[EXPIRY_MS] * NS_PER_MS:
                    yield subject, outcome, late, at


def _examined(story: Story, send: Send, limits: Limits, *, by_release: bool = False) -> Iterator[Examined]:
    handed = story.handed(send.key)
    if handed:
        yield from _handed_late(story, send, handed, limits)
    elif _waited_in_vain(story, send, limits, by_release=by_release):
        yield send.key, Outcome.KEPT, 0, send.call


def _handed_late(story: Story, send: Send, handed: list[Sighting], limits: Limits) -> Iterator[Examined]:
    assert send.answer is not None  # noqa: S101 - an accepted send has a return; this says so to the type checker
    copies: dict[str, list[Event]] = defaultdict(list)
    for sighting in handed:
        holder = story.consumer(sighting.actor).subscription or sighting.actor
        copies[f"{send.key}>{holder}" if send.destination.startswith("topic://") else send.key].append(sighting.at)
    limit = limits[EXPIRY_MS] * NS_PER_MS
    for copy, seen in copies.items():
        late, blur, together = min(
            (
                moments.elapsed(send.answer, at) - send.ttl_ns,
                moments.unsure(send.answer, at),
                isinstance(at, Seen) and at.batch is not None,
            )
            for at in seen
        )
        if together:
            continue
        if late - blur > limit:
            yield copy, Outcome.BROKEN, late, send.call
        elif late + blur > limit:
            yield copy, Outcome.UNDECIDED, late, send.call


def _waited_in_vain(story: Story, send: Send, limits: Limits, *, by_release: bool) -> bool:
    if not send.destination.startswith("queue://") or send.confirmed is None or send.answer is None:
        return False
    if not send.persistent and any(moments.precedes(send.call, fault.begin) for fault in story.faults):
        return False
    over = send.since(send.answer) + send.ttl_ns
    start, quiet_ns = over + limits[EXPIRY_MS] * NS_PER_MS, limits[QUIET_MS] * NS_PER_MS
    return any(
        (send.since(span.begin) >= over or send.delay_ns >= send.ttl_ns)
        and story.quiet(send, span, start, quiet_ns)
        and not (by_release and _silent_from(send, span, start) + quiet_ns > over + send.delay_ns)
        for span in story.watching(send.destination)
    )


def _silent_from(send: Send, span: Span, start: int) -> int:
    """Return when the silence of a watch began, in nanoseconds since the send call."""
    return max([send.since(span.begin), start] + ([send.since(span.last)] if span.last else []))


DELAY = Invariant(
    rule="DD-55",
    text="the time under delay counts against a message's time to live.",
    wording=Wording("no life that begins at the end of the delay", "first seen {0} after its expiry"),
    on_spark=_counts_delay,
    in_python=_delay_in_python,
    limits=(EXPIRY_MS, QUIET_MS),
)
INVARIANT = Invariant(
    rule="DD-56",
    text="a message that expires before a consumer receives it is not delivered.",
    wording=Wording("no first sighting later than {expiry_ms} ms after the expiry", "first seen {0} after its expiry"),
    on_spark=_on_spark,
    in_python=_in_python,
    limits=(EXPIRY_MS, QUIET_MS),
)
