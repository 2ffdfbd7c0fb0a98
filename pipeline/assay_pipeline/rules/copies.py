"""PD-11: every open subscription, durable or not, receives a copy of each message.

*Examined*: every pair of a message and a subscription.  The message was sent to a topic, was confirmed, never expires,
and its id was sent once.  The subscription was open: one of its consumers watched the topic from before the send call
until after it.  A shared subscription is identified by its name, any other by its consumer.

*Kept*: a consumer of the subscription received the message at any time.  *Broken*: no consumer received it, although
the watch through the send lasted until the message was due and for a quiet tail after that (`QUIET_MS`, and `LATE_MS`
for a delayed message), and no fault overlaps the watch.

*Not examinable*: a missing copy, if

- the watch ended too early, or a fault overlaps it
- the silence in the watch is not evidence: the consumer has a selector or a batch listener, or its listener had not
  returned or had raised an error
- the subscription is shared, because another of its consumers may hold the message unseen
- an administrator may have kept the message back (`quiet.withheld`), or it may have gone elsewhere (`quiet.special`)
- a client dropped its connection between the send call and the end of the watch, no consumer received the message, and
  it may have been on its way: it was not persistent and in no unit of work, or an MQ Light client may have sent it at
  most once

*Figure*: how often the subscription received the message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.publications import has_arrived
from assay_evidence.oracle.values import Send, Span
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.clients import losses, with_arrived
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, no, precedes
from assay_pipeline.quiet import LATE_MS, QUIET_MS, due, overlaps, patience, quiet_tail, since_send, special, withheld


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
    long = quiet_tail(due()) >= patience(limits, F.col("delay_ns") > 0)
    missed = long & whole & ~F.col("common") & ~_dropped()
    open_for = (
        _with_drops(published, history)
        .drop("actor")
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
    missing = F.col("missed") & ~F.coalesce(F.col("withheld"), no()) & ~F.coalesce(F.col("special"), no())
    outcome = F.when(F.col("copies") > 0, Outcome.KEPT.value).when(missing, Outcome.BROKEN.value)
    return subjects(
        open_for.join(copies, [*MESSAGE, "holder"], "left")
        .join(withheld(published, history.admins), list(MESSAGE), "left")
        .join(special(history.admins, history.parties), list(CASE), "left"),
        subject=F.concat_ws(">", "key", "holder"),
        outcome=outcome,
        figure=F.col("copies"),
    )


def _with_drops(published: DataFrame, history: History) -> DataFrame:
    """Add ``drops``: the lost connections with which a client may have lost the message; null if the broker had it."""
    reached = history.sightings.where(~F.col("look")).select(*MESSAGE).distinct().withColumn("reached", ~no())
    doubtful = ~F.col("arrived") & F.col("reached").isNull()
    return (
        with_arrived(published, history.parties, CASE)
        .join(reached, list(MESSAGE), "left")
        .join(losses(history.leaves, CASE), list(CASE), "left")
        .withColumn("drops", F.when(doubtful, F.col("losses")))
        .drop("arrived", "reached", "losses")
    )


def _dropped() -> Column:
    """Return whether a connection may have been lost between the send and the end of a watch."""

    def meanwhile(drop: Column) -> Column:
        return ~F.coalesce(precedes(drop["end"], F.col("at")), no()) & ~precedes(F.col("end"), drop["begin"])

    return F.coalesce(F.exists("drops", meanwhile), no())


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
        and not (story.withheld(send) or story.special or _is_dropped(story, send, span))
        and not story.disturbed(send, send.since(span.begin), send.since(span.end))
        and story.quiet(send, span, send.due, limits[LATE_MS if send.delay_ns > 0 else QUIET_MS] * NS_PER_MS)
    )


def _is_dropped(story: Story, send: Send, span: Span) -> bool:
    """Return whether a client may have lost the message with a connection, between the send and the end of a watch."""
    if has_arrived(story, send) or story.handed(send.key):
        return False
    return any(
        not (answer is not None and moments.precedes(answer, send.call)) and not moments.precedes(span.end, call)
        for call, answer in story.calls
        if call.op == "abort"
    )


INVARIANT = Invariant(
    rule="PD-11",
    text="while it is open, every subscription, durable or not, receives a copy of each message.",
    wording=Wording("a copy for every subscription open through the send", "{0}", one="copy", many="copies"),
    on_spark=_on_spark,
    in_python=_in_python,
    limits=(QUIET_MS, LATE_MS),
)
