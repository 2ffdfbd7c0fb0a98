"""PD-15, BT-07: messages come in the order in which their sender sent them.

*Examined*: messages of one sender with the same priority and delivery mode.  They were sent outside of units of work,
without a delay or a time to live, each id once, and the sender chose priority and mode.  A consumer received each once,
unmarked, on the same link as an earlier message of the same kind.  The rules differ in the messages:

- PD-15: messages for an unshared durable subscription that no consumer watched between the begin of the send and its
  answer (`assay_pipeline.tables.copies`).  A client opened the subscription exactly once between the answer and the
  reception, and every earlier consumer had left in an orderly way before the send.  A message that had been given to an
  earlier consumer may come out of order.
- BT-07: messages of a queue or a durable subscription, in batches.  No watch of the destination ended between the send
  and the reception: a watch also ends if a connection is lost, and then messages may come again out of order.

Between the send and the reception lies no event after which a broker may deliver a message again (table ``returns``);
for PD-15, the orderly end of a consumer, a session or a connection may lie there.

*Broken*: the consumer received a message before another one that the sender had sent earlier.  *Kept*: all messages
that the sender had sent earlier had come before.

*Not examinable*: the first of the messages of one sender on a link; a message that came again, or was lost (PD-13,
PD-25).  For BT-07, the journal does not tell the order in which the broker delivered: a broker that changes the order
of a sender's messages breaks the rule, too.

*Figure*: by how many nanoseconds the message came before the last of the earlier ones; 0 if it came after them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import Event, Seen
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.copies import copies, failures, giving_back
from assay_evidence.oracle.holders import Attachment, Holders
from assay_evidence.oracle.values import Send
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import elapsed, no, precedes

HELD = (*MESSAGE, "source")
_CLOSING = ("close-connection", "close-session", "close-consumer")
_OF_SENDER = (*CASE, "sender", "sent_by", "priority", "mode", "source", "destination", "link", "process")


def _received(history: History, *, orderly: bool) -> DataFrame:
    """Make one row for each message that a holder's consumers received once and unmarked.

    Between the message's send and reception lies no event that may change the order.

    Args:
        history: The tables.
        orderly: Whether the orderly end of a consumer counts as such an event, too.
    """
    plain = (F.col("delay_ns") == 0) & (F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("unit").isNull()
    chosen = F.col("mode").isin("persistent", "non-persistent") & F.col("priority").isNotNull() & ~F.col("careless")
    sends = history.sends.where(plain & chosen & F.col("accepted")).select(
        *MESSAGE, "destination", F.col("actor").alias("sender"), "mode", "priority", "at", "confirmed_at"
    )
    seen = history.sightings.where(~F.col("look") & F.col("source").isNotNull())
    once = (
        seen.groupBy(*HELD, "destination")
        .agg(
            F.count("*").alias("times"),
            *(F.first(name).alias(name) for name in ("link", "marked", "actor")),
            F.first("at").alias("seen_at"),
        )
        .where((F.col("times") == 1) & ~F.col("marked"))
    )
    gave = (
        history.returns.where(F.lit(orderly) | ~F.col("orderly")).groupBy(*CASE).agg(F.collect_list("at").alias("gave"))
    )
    upset = F.exists("gave", lambda at: ~precedes(at, F.col("at")) & ~precedes(F.col("seen_at"), at))
    return (
        sends.join(once, [*MESSAGE, "destination"])
        .join(gave, list(CASE), "left")
        .where(~F.coalesce(upset, no()))
        .withColumn("sent_by", F.col("at.writer"))
        .withColumn("process", F.col("seen_at.writer"))
    )


def _ordered(received: DataFrame, name: Column) -> DataFrame:
    before = Window.partitionBy(*_OF_SENDER).orderBy("at.seq").rowsBetween(Window.unboundedPreceding, -1)
    last = F.max(F.struct(F.col("seen_at.seq").alias("seq"), F.col("seen_at").alias("at"))).over(before)
    ordered = received.withColumn("last", last).where(F.col("last").isNotNull())
    overtook = F.col("last.seq") > F.col("seen_at.seq")
    return subjects(
        ordered,
        subject=name,
        outcome=F.when(overtook, Outcome.BROKEN.value).otherwise(Outcome.KEPT.value),
        figure=F.when(overtook, elapsed(F.col("seen_at"), F.col("last.at"))).otherwise(F.lit(0)),
    )


def _missed(history: History, _limits: Limits) -> DataFrame:
    waited = history.copies.where(
        (F.col("kind") == "durable") & F.col("idle") & ~F.col("shared") & ~F.col("light")
    ).select(*MESSAGE, F.col("holder").alias("source"))
    left = history.leaves.where(~F.col("abrupt") & F.col("accepted")).select(
        *CASE, "actor", F.col("destination").alias("of"), F.col("at").alias("left_at"), "answered_at"
    )
    openings = history.consumers.where(F.col("holder").isNotNull()).drop("answered_at")
    own = (F.col("of").isNull() | (F.col("of") == F.col("destination"))) & precedes(F.col("at"), F.col("left_at"))
    opened = (
        openings.join(left, [*CASE, "actor"], "left")
        .groupBy(*CASE, F.col("holder").alias("source"), "at")
        .agg(F.collect_list(F.when(own, F.col("answered_at"))).alias("gone"))
        .groupBy(*CASE, "source")
        .agg(F.collect_list(F.struct("at", "gone")).alias("openings"))
    )
    sent, confirmed, received = F.col("at"), F.col("confirmed_at"), F.col("seen_at")
    within = F.filter("openings", lambda one: ~precedes(one["at"], confirmed) & ~precedes(received, one["at"]))
    left_before = F.forall(
        "openings",
        lambda one: (
            ~precedes(one["at"], confirmed) | F.exists(one["gone"], lambda gone: precedes(gone, sent))
        ),
    )  # fmt: skip
    rows = (
        _received(history, orderly=False)
        .join(waited, list(HELD))
        .join(opened, [*CASE, "source"])
        .where((F.size(within) == 1) & left_before)
    )
    return _ordered(rows, F.concat_ws(">", "key", "source"))


def _batched(history: History, _limits: Limits) -> DataFrame:
    batches = history.batched.select(*MESSAGE, "source", "destination", "link", "process")
    ends = history.watches.groupBy(*CASE, "destination").agg(F.collect_list("end").alias("ends"))
    ended = F.exists("ends", lambda end: ~precedes(end, F.col("at")) & ~precedes(F.col("seen_at"), end))
    rows = (
        _received(history, orderly=True)
        .join(batches, [*HELD, "destination", "link", "process"], "left_semi")
        .join(ends, [*CASE, "destination"], "left")
        .where(~F.coalesce(ended, no()))
    )
    return _ordered(rows, F.concat_ws(">", "key", "source"))


def _undisturbed(story: Story, gave: list[Event]) -> Iterator[tuple[Send, str, Seen]]:
    """Yield each message that a holder's consumers received once and unmarked, with the holder and the reception.

    Left out are messages with a delay, a time to live or a unit of work, messages that were not accepted or were sent
    more than once, messages of MQ Light clients, and messages whose persistence or priority the destination chose.

    Args:
        story: The scenario.
        gave: The events that may change the order; none of them may be between a message's send and reception.
    """
    holders = Holders(story)
    seen: dict[tuple[str, str], dict[str, list[Seen]]] = defaultdict(lambda: defaultdict(list))
    for event in story.events:
        if isinstance(event, Seen):
            source = holders.source(event, event.actor, event.destination)
            if source is not None:
                seen[event.msg.key, event.destination][source].append(event)
    for send in story.sends:
        plain = send.delay_ns == 0 and send.ttl_ns == 0 and send.times == 1 and send.call.unit is None and send.accepted
        if not plain or send.chosen_by_destination or send.call.actor in story.light:
            continue
        for source, found in seen.get((send.key, send.destination), {}).items():
            only = found[0]
            if len(found) > 1 or only.redelivered or only.count > 1:
                continue
            if all(moments.precedes(at, send.call) or moments.precedes(only, at) for at in gave):
                yield send, source, only


def _in_order(rows: Iterator[tuple[Send, str, Seen]]) -> Iterator[Examined]:
    groups: dict[tuple[object, ...], list[tuple[Send, str, Seen]]] = defaultdict(list)
    for send, source, event in rows:
        call = send.call
        kind = (call.actor, call.writer, call.args.get("priority"), call.args.get("mode"))
        groups[(*kind, source, send.destination, event.link, event.writer)].append((send, source, event))
    for members in groups.values():
        ordered = sorted(members, key=lambda member: member[0].call.seq)
        for place, (send, source, event) in enumerate(ordered[1:], start=1):
            last = max((earlier[2] for earlier in ordered[:place]), key=lambda one: one.seq)
            overtook = last.seq > event.seq
            outcome = Outcome.BROKEN if overtook else Outcome.KEPT
            yield f"{send.key}>{source}", outcome, moments.elapsed(event, last) if overtook else 0, send.call


def _missed_in_order(story: Story, _limits: Limits) -> Iterator[Examined]:
    openings: dict[str, list[Attachment]] = defaultdict(list)
    holders = Holders(story)
    for one in holders.attachments:
        name = holders.name(one)
        if name is not None:
            openings[name].append(one)
    parked = {
        (copy.send.key, copy.holder.name)
        for copy in copies(story)
        if copy.holder.kind == "durable" and copy.idle and not copy.holder.shared
    }

    def opened_once(send: Send, source: str, event: Seen) -> bool:
        confirmed = send.confirmed
        if confirmed is None:
            return False
        before = [one for one in openings[source] if moments.precedes(one.call, confirmed)]
        within = [
            one for one in openings[source] if one not in before and not moments.precedes(event, one.call)
        ]  # fmt: skip
        return len(within) == 1 and all(_left(story, one, send) for one in before)

    rows = _undisturbed(story, failures(story))
    yield from _in_order(row for row in rows if (row[0].key, row[1]) in parked and opened_once(*row))


def _left(story: Story, one: Attachment, send: Send) -> bool:
    """Return whether a consumer had left in an orderly way before a send."""
    return any(
        call.actor == one.call.actor
        and call.op in _CLOSING
        and call.destination in (None, one.call.destination)
        and answer.refused is None
        and moments.precedes(one.call, call)
        and moments.precedes(answer, send.call)
        for call, answer in story.calls
        if answer is not None
    )


def _batched_in_order(story: Story, _limits: Limits) -> Iterator[Examined]:
    def steady(send: Send, event: Seen) -> bool:
        ends = (span.end for span in story.watching(send.destination))
        return all(moments.precedes(end, send.call) or moments.precedes(event, end) for end in ends)

    rows = _undisturbed(story, giving_back(story))
    yield from _in_order(row for row in rows if row[2].batch is not None and steady(row[0], row[2]))


_OBSERVED = "{0} before an earlier one"
MISSED = Invariant(
    rule="PD-15",
    text="a durable subscription that is opened again delivers the missed messages in the order of their sender.",
    wording=Wording("every missed message after those that were sent before it", _OBSERVED),
    on_spark=_missed,
    in_python=_missed_in_order,
    certain=True,
)
BATCHED = Invariant(
    rule="BT-07",
    text="messages in batches come in the order of their sender.",
    wording=Wording("every message after those that were sent before it", _OBSERVED),
    on_spark=_batched,
    in_python=_batched_in_order,
    certain=True,
)
