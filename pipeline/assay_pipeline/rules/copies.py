"""PD-11: every open subscription, durable or not, receives a copy of each message.

*Examined*: every pair of a message and a subscription.  The message was sent to a topic, was confirmed, never expires,
and its id was sent once.  The subscription was open: one of its consumers watched the topic from before the send call
until after it.  A shared subscription is identified by its name, any other by its consumer.

*Kept*: a consumer of the subscription received the message at any time.  *Broken*: no consumer received it, although
the watch through the send lasted until the message was due and for a quiet tail after that (`QUIET_MS`), and no fault
overlaps the watch.

*Not examinable*: a missing copy, if

- the watch ended too early, or a fault overlaps it
- the silence in the watch is not evidence: the consumer has a selector or a batch listener, or its listener had not
  returned or had raised an error
- the subscription is shared, because another of its consumers may hold the message unseen
- an administrator may have kept the message back (`quiet.withheld`)

*Figure*: how often the subscription received the message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.values import Send, Span
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, no, precedes
from assay_pipeline.quiet import QUIET_MS, due, overlaps, quiet_after, since_send, withheld


def _on_spark(history: History, limits: Limits) -> DataFrame:
    lasting = (F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull()
    published = history.sends.where(F.col("destination").like(TOPIC) & lasting)
    common = F.col("shared") & F.col("subscription").isNotNull()
    holders = history.actors.select(
        *CASE, "actor", F.when(common, F.col("subscription")).otherwise(F.col("actor")).alias("holder"),
        common.alias("common"),
    )  # fmt: skip
    watches = history.watches.join(holders, [*CASE, "actor"])
    whole = ~overlaps("faults", since_send(F.col("begin")), since_send(F.col("end")))
    missed = quiet_after(due(), limits[QUIET_MS]) & whole & ~F.col("common")
    open_for = (
        published.drop("actor")
        .join(watches, [*CASE, "destination"])
        .where(precedes(F.col("begin"), F.col("at")) & precedes(F.col("at"), F.col("end")))
        .groupBy(*MESSAGE, "holder")
        .agg(any_of(missed).alias("missed"), F.first("at").alias("at"))
    )
    copies = (
        history.sightings.where(~F.col("look"))
        .join(holders, [*CASE, "actor"])
        .groupBy(*MESSAGE, "holder")
        .agg(F.count("*").alias("copies"))
    )
    missing = F.col("missed") & ~F.coalesce(F.col("withheld"), no())
    outcome = F.when(F.col("copies") > 0, Outcome.KEPT.value).when(missing, Outcome.BROKEN.value)
    return subjects(
        open_for.join(copies, [*MESSAGE, "holder"], "left").join(
            withheld(published, history.admins), list(MESSAGE), "left"
        ),
        subject=F.concat_ws(">", "key", "holder"),
        outcome=outcome,
        figure=F.col("copies"),
    )


def _in_python(story: Story, limits: Limits) -> Iterator[Examined]:
    for send in story.lasting("topic://"):
        open_for: dict[str, list[Span]] = defaultdict(list)
        for span in story.watching(send.destination):
            if (
                span.begin.actor in story.consumers
                and moments.precedes(span.begin, send.call)
                and moments.precedes(send.call, span.end)
            ):
                open_for[_holder(story, span.begin.actor)].append(span)
        for holder, spans in open_for.items():
            seen = [
                s for s in story.handed(send.key) if s.actor in story.consumers and _holder(story, s.actor) == holder
            ]
            if seen:
                yield f"{send.key}>{holder}", Outcome.KEPT, len(seen), send.call
            elif any(_missed(story, send, span, limits) for span in spans):
                yield f"{send.key}>{holder}", Outcome.BROKEN, 0, send.call


def _holder(story: Story, actor: str) -> str:
    consumer = story.consumer(actor)
    return consumer.subscription if consumer.shared and consumer.subscription is not None else actor


def _missed(story: Story, send: Send, span: Span, limits: Limits) -> bool:
    consumer = story.consumer(span.begin.actor)
    return (
        not (consumer.shared and consumer.subscription is not None)
        and not story.withheld(send)
        and not story.disturbed(send, send.since(span.begin), send.since(span.end))
        and story.quiet(send, span, send.due, limits[QUIET_MS] * NS_PER_MS)
    )


INVARIANT = Invariant(
    rule="PD-11",
    text="while it is open, every subscription, durable or not, receives a copy of each message.",
    wording=Wording("a copy for every subscription open through the send", "{0}", one="copy", many="copies"),
    on_spark=_on_spark,
    in_python=_in_python,
    limits=(QUIET_MS,),
)
