"""DD-51, DD-80: a delayed publication goes to the subscriptions that exist at its send, and to no later subscription.

Both rules' invariants examine messages that a client sent to a topic with a delay above 0, that were confirmed and
never expire, and whose ids were sent once.

DD-51
    *Examined*: every pair of such a message and a consumer that came to its topic after the message was confirmed, and
    before the delay was over.  The consumer's subscription has no name.  So it is neither durable nor shared, and did
    not exist at the send.

    *Broken*: the consumer received the message.  *Kept*: the consumer did not receive it, although the consumer's watch
    ended with a silence (`QUIET_MS`) after the message was due.

    *Not examinable*: a consumer of a named subscription, which may have existed before; a consumer that left too
    early; a non-persistent publication that the consumer did not receive, if a kill or restart of the broker began
    after its send; a publication that the broker retains; all publications if a client connects to a further queue
    manager, where DD-84 permits the delivery.

    *Figure*: how often the consumer received the message.

DD-80
    As PD-11 (`assay_pipeline.rules.copies`), which examines the subscriptions that were open at the send.  But a
    missing copy breaks the rule only after a silence of `LATE_MS`, because no document says how late a delayed
    publication may come.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import FATAL, Call, Event, Seen
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.values import Send
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, no, precedes
from assay_pipeline.quiet import LATE_MS, QUIET_MS, due, quiet_after, since_send
from assay_pipeline.rules import copies

RETAIN = "JMS_IBM_Retain"
"""The property of a publication that the broker retains for later subscribers."""


def _later_on_spark(history: History, limits: Limits) -> DataFrame:
    came = _came_during_the_delay(history)
    pair = [*MESSAGE, "actor"]
    seen = (
        history.sightings.where(~F.col("look"))
        .groupBy(*MESSAGE, "destination", "actor")
        .agg(F.count("*").alias("times"))
    )
    waited = (
        came.join(history.watches, [*CASE, "destination", "actor"])
        .groupBy(*pair)
        .agg(any_of(quiet_after(due(), limits[QUIET_MS])).alias("waited"))
    )
    fatal = F.exists("faults", lambda fault: fault["what"].isin(*FATAL) & ~precedes(fault["begin"], F.col("at")))
    survives = (F.col("mode") == "persistent") | ~F.coalesce(fatal, no())
    tried = F.col("waited") & F.coalesce(survives, no())
    outcome = F.when(F.col("times") > 0, Outcome.BROKEN.value).when(tried, Outcome.KEPT.value)
    return subjects(
        came.join(seen, [*MESSAGE, "destination", "actor"], "left").join(waited, pair, "left"),
        subject=F.concat_ws(">", "key", "actor"),
        outcome=outcome,
        figure=F.col("times"),
    )


def _came_during_the_delay(history: History) -> DataFrame:
    """Pair each delayed publication with the consumers of unnamed subscriptions that came during its delay."""
    distant = history.parties.groupBy(*CASE).agg(any_of(F.col("remote")).alias("distant"))
    lasting = (F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull()
    retained = F.coalesce(F.map_contains_key(F.col("sent.fields"), RETAIN), no())
    published = (
        history.sends.where(F.col("destination").like(TOPIC) & (F.col("delay_ns") > 0) & lasting & ~retained)
        .drop("actor")
        .join(distant, list(CASE), "left")
        .where(~F.coalesce("distant", no()))
    )
    unnamed = history.actors.where(F.col("consumes") & F.col("subscription").isNull()).select(*CASE, "actor")
    first = (
        history.arrivals.groupBy(*CASE, "actor", "destination")
        .agg(F.collect_list("at").alias("arrivals"))
        .join(unnamed, [*CASE, "actor"])
    )
    within = F.exists("arrivals", lambda at: since_send(at) < F.col("delay_ns"))
    return published.join(first, [*CASE, "destination"]).where(
        within & F.forall("arrivals", lambda at: precedes(F.col("confirmed_at"), at))
    )


def _later_in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    if any(call.op == "connect" and call.args.get("member") is not None for call, _ in story.calls):
        return
    for send in story.lasting("topic://"):
        if send.delay_ns <= 0 or (send.answer and send.answer.msg and RETAIN in send.answer.msg.fields):
            continue
        for actor in _latecomers(story, send):
            times = sum(
                isinstance(event, Seen)
                and (event.msg.key, event.actor, event.destination) == (send.key, actor, send.destination)
                for event in story.events
            )
            if times:
                yield f"{send.key}>{actor}", Outcome.BROKEN, times, send.call
            elif _may_be_there(story, send) and any(
                story.quiet(send, span, send.due, limits[QUIET_MS] * NS_PER_MS)
                for span in story.watching(send.destination)
                if span.begin.actor == actor
            ):
                yield f"{send.key}>{actor}", Outcome.KEPT, 0, send.call


def _may_be_there(story: Story, send: Send) -> bool:
    """Return whether the publication is persistent, or no kill or restart began after its send."""
    begun = (fault.begin for fault in story.faults if fault.begin.what in FATAL)
    return send.persistent or all(moments.precedes(begin, send.call) for begin in begun)


def _latecomers(story: Story, send: Send) -> list[str]:
    """Return the consumers of unnamed subscriptions that first came to the topic during the delay."""
    came: dict[str, list[Event]] = {}
    for actor, at in story.came(send.destination):
        came.setdefault(actor, []).append(at)
    return [
        actor
        for actor, times in came.items()
        if story.consumer(actor).consumes
        and story.consumer(actor).subscription is None
        and all(send.confirmed and moments.precedes(send.confirmed, at) for at in times)
        and min(send.since(at) for at in times) < send.delay_ns
    ]


def _patient(limits: Limits) -> Limits:
    """Return limits with `LATE_MS` in place of `QUIET_MS`, because delayed messages may come late."""
    return Limits({**limits.stated, QUIET_MS: limits[LATE_MS]})


def _existing_on_spark(history: History, limits: Limits) -> DataFrame:
    delayed = history.sends.where(F.col("delay_ns") > 0)
    return copies.INVARIANT.on_spark(history.with_sends(delayed), _patient(limits))


def _existing_in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    for examined in copies.INVARIANT.in_python(story, _patient(limits)):
        call = examined[3]
        delay = call.args.get("delay_ms") if isinstance(call, Call) else None
        if isinstance(delay, int) and delay > 0:
            yield examined


LATER = Invariant(
    rule="DD-51",
    text="a delayed publication goes to no subscriber that came after its send.",
    wording=Wording("no delayed publication at a subscriber that came later", "received {0}", one="time"),
    on_spark=_later_on_spark,
    in_python=_later_in_python,
    limits=(QUIET_MS,),
    certain=True,
)
EXISTING = Invariant(
    rule="DD-80",
    text="every subscription that is open at the send of a delayed publication receives a copy.",
    wording=Wording("a delayed copy for every subscription open at the send", "{0}", one="copy", many="copies"),
    on_spark=_existing_on_spark,
    in_python=_existing_in_python,
    limits=(LATE_MS,),
)
