"""BT-08, BT-09, BT-10, BT-16: a batch is acknowledged after its callback, in automatic mode as a whole.

*Examined*, in sessions with automatic acknowledgement (for BT-10, dups-ok acknowledgement), from the table
`assay_pipeline.tables.batched`:

- BT-08 and BT-10: every batch whose callback ended
- BT-09: every message of a batch whose callback raised an error, if the consumer then received the message again on the
  same link
- BT-16: every message of a batch whose callback returned, under three conditions:

  1. The client accepted the message.
  2. The link then began a later batch.
  3. From the reception to `SETTLED_MS` after the acceptance, there was no fault, and no client lost its connection.
     Without this condition, the broker may not have received the acceptance.  The later batch alone does not prove the
     receipt, because the client may have prefetched the messages of that batch.

For BT-09 and BT-16, the scenario sent the message's id once.

*Broken*:

- BT-08: the client accepted a message of the batch before the callback ended, or after the callback had raised an error
  and before the message came again
- BT-10: as BT-08, or the client accepted a message before it gave the message to the application.  Such an acceptance
  can lose the message, and dups-ok acknowledgement permits only duplicates.
- BT-09: the message was not marked as redelivered
- BT-16: a consumer received the message from the same destination and holder again, certainly after the later batch had
  begun

*Kept*:

- BT-08: the callback returned and the client then accepted every message; or the callback raised an error, and every
  message came again or was given back
- BT-10: as BT-08, but a message may also come again after the callback returned
- BT-09: the message was marked as redelivered
- BT-16: the message did not come again, although the broker had an occasion: a failure after which a broker may deliver
  again.  The failure was after the begin of the later batch, and before the last reception from the same holder.  The
  orderly end of a consumer, a session or a connection, such as the sender's, is not a failure.

*Not examinable*:

- a consumer whose session is unknown or has another acknowledgement mode
- for BT-08 and BT-10, a batch that neither broke nor kept the rule, for example because the connection was lost before
  the client settled a message; for BT-10, also a batch with a message whose earlier reception on the link was not yet
  settled, because the next settlement may belong to the earlier reception
- for BT-16, a subscription that is not a holder (`assay_pipeline.tables.holders`), and a message after which no failure
  came

*Figure*: for BT-08 and BT-10 the number of the batch's messages; for BT-09 and BT-16 how often the message came again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import Event, Seen
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.batched import Delivery, deliveries
from assay_evidence.oracle.copies import failures
from assay_evidence.oracle.holders import Holders
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.clients import losses
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import no, precedes
from assay_pipeline.quiet import overlaps, since_send
from assay_pipeline.rules.repeats import SETTLED_MS


def _automatic(history: History, ack: str = "auto") -> DataFrame:
    return history.batched.where((F.col("ack") == ack) & F.col("ended_at").isNotNull())


def _sent_once(history: History) -> DataFrame:
    return history.sends.where(F.col("sends") == 1).select(*MESSAGE, "faults")


def _named() -> tuple[str, ...]:
    return (*CASE, "process", "link", "turn", "batch")


def _whole(history: History, _limits: Limits, *, lazily: bool = False) -> DataFrame:
    accepted = F.coalesce(F.col("outcome") == "accepted", no())
    raised = F.col("ended") == "raised"
    owed = F.col("owed") & F.lit(lazily)
    ahead = accepted & (F.col("settled_at.seq") < F.col("ended_at.seq"))
    back = (F.col("settled_at").isNotNull() & ~accepted) | F.col("again_at").isNotNull()
    well = F.when(raised, back).otherwise(accepted | (F.col("again_at").isNotNull() & F.lit(lazily)))
    batches = (
        _automatic(history, "dups-ok" if lazily else "auto")
        .groupBy(*_named())
        .agg(
            F.min_by("at", "at.seq").alias("at"),
            F.bool_or(((ahead | (accepted & raised)) & ~owed) | (F.col("ahead") & F.lit(lazily))).alias("early"),
            F.bool_and(well & ~owed).alias("well"),
            F.count("*").alias("messages"),
        )
    )
    return subjects(
        batches,
        subject=F.concat_ws("/", "link", F.col("turn").cast("string"), F.col("batch").cast("string")),
        outcome=F.when(F.col("early"), Outcome.BROKEN.value).when(F.col("well"), Outcome.KEPT.value),
        figure=F.col("messages"),
    )


def _marks(history: History, limits: Limits) -> DataFrame:  # noqa: ARG001 - all invariants have this signature
    failed = _automatic(history).where((F.col("ended") == "raised") & F.col("again_at").isNotNull())
    returned = failed.where(F.col("ended_at.seq") < F.col("again_at.seq")).join(_sent_once(history), list(MESSAGE))
    return subjects(
        returned,
        subject=F.concat_ws("/", "key", "link", F.col("turn").cast("string"), F.col("batch").cast("string")),
        outcome=F.when(F.col("again_marked"), Outcome.KEPT.value).otherwise(Outcome.BROKEN.value),
        figure=F.lit(1),
    )


def _earlier(history: History, limits: Limits) -> DataFrame:
    # The column ``at`` is the moment of the reception here.
    until = since_send(F.col("settled_at")) + limits[SETTLED_MS] * NS_PER_MS
    arrived = ~overlaps("faults", F.lit(0), until, or_meets=True) & ~overlaps("losses", F.lit(0), until, or_meets=True)
    settled = (F.col("ended") == "returned") & (F.col("outcome") == "accepted") & F.col("source").isNotNull()
    done = (
        _automatic(history)
        .where(settled & F.col("next_at").isNotNull())
        .where(F.col("settled_at.seq") < F.col("next_at.seq"))
        .join(_sent_once(history), list(MESSAGE))
        .join(losses(history.leaves, CASE), list(CASE), "left")
        .where(arrived)
        .groupBy(*MESSAGE, "source", "destination")
        .agg(F.min_by(F.struct("at", "next_at"), F.struct("at.writer", "at.seq")).alias("first"))
        .select(
            *MESSAGE, "source", "destination", F.col("first.at").alias("at"), F.col("first.next_at").alias("next_at")
        )
    )
    place = [*CASE, "source", "destination"]
    seen = history.sightings.where(~F.col("look")).withColumnRenamed("at", "seen_at")
    again = (
        done.join(seen.select(*MESSAGE, "source", "destination", "seen_at"), [*MESSAGE, "source", "destination"])
        .where(precedes(F.col("next_at"), F.col("seen_at")))
        .groupBy(*MESSAGE, "source", "destination")
        .agg(F.count("*").alias("again"))
    )
    when = F.struct("seen_at.wall_ns", "seen_at.writer", "seen_at.seq")
    lasts = seen.where(F.col("source").isNotNull()).groupBy(*place).agg(F.max_by("seen_at", when).alias("last_at"))
    order = F.struct("failed_at.wall_ns", "failed_at.writer", "failed_at.seq")
    failed = (
        lasts.join(history.returns.where(~F.col("orderly")).withColumnRenamed("at", "failed_at"), list(CASE))
        .where(precedes(F.col("failed_at"), F.col("last_at")))
        .groupBy(*place)
        .agg(F.max_by("failed_at", order).alias("failed_at"))
    )
    tried = precedes(F.col("next_at"), F.col("failed_at"))
    return subjects(
        done.join(again, [*MESSAGE, "source", "destination"], "left").join(failed, place, "left"),
        subject=F.concat_ws(">", "key", "source"),
        outcome=F.when(F.col("again") > 0, Outcome.BROKEN.value).when(tried, Outcome.KEPT.value),
        figure=F.col("again"),
    )


def _ended(story: Story, ack: str = "auto") -> list[Delivery]:
    return [delivery for delivery in deliveries(story) if delivery.ack == ack and delivery.over is not None]


def _batches(story: Story, _limits: Limits, *, lazily: bool = False) -> Iterator[Examined]:
    batches: dict[tuple[str, str, int, int | None], list[Delivery]] = defaultdict(list)
    for one in _ended(story, "dups-ok" if lazily else "auto"):
        batches[one.seen.writer, one.seen.link, one.turn, one.seen.batch].append(one)
    for (_, link, turn, batch), members in batches.items():
        fates = {_lazy_fate(member) if lazily else _fate(member) for member in members}
        if "early" in fates or fates == {"well"}:
            outcome = Outcome.BROKEN if "early" in fates else Outcome.KEPT
            yield f"{link}/{turn}/{batch}", outcome, len(members), members[0].seen


def _fate(one: Delivery) -> str:
    failed = one.over is not None and one.over.ended == "raised"
    if one.settled is not None and one.settled.outcome == "accepted":
        before = one.over is not None and one.settled.seq < one.over.seq
        return "early" if failed or before else "well"
    return "well" if failed and (one.settled is not None or one.again is not None) else "unknown"


def _lazy_fate(one: Delivery) -> str:
    returned = one.over is not None and one.over.ended == "returned"
    if one.ahead:
        return "early"
    if one.owed:
        return "unknown"
    fate = _fate(one)
    return "well" if fate == "unknown" and returned and one.again is not None else fate


def _sent_only_once(story: Story) -> set[str]:
    return {send.key for send in story.sends if send.times == 1}


def _marked(story: Story, limits: Limits) -> Iterator[Examined]:  # noqa: ARG001 - all invariants have this signature
    once = _sent_only_once(story)
    for one in _ended(story):
        seen, again, over = one.seen, one.again, one.over
        if over is None or again is None or over.ended != "raised" or over.seq > again.seq or seen.msg.key not in once:
            continue
        marked = again.redelivered or again.count > 1
        outcome = Outcome.KEPT if marked else Outcome.BROKEN
        yield f"{seen.msg.key}/{seen.link}/{one.turn}/{seen.batch}", outcome, 1, seen


def _arrived(story: Story, one: Delivery, margin: int) -> bool:
    """Return whether the broker must have received the acceptance, because the connection lasted long enough."""
    if one.settled is None:
        return False
    until = moments.elapsed(one.seen, one.settled) + margin
    return not any(
        moments.elapsed(one.seen, begin) <= until and (end is None or moments.elapsed(one.seen, end) >= 0)
        for begin, end in story.losses
    )


def _acknowledged(story: Story, limits: Limits) -> Iterator[Examined]:
    once, holders = _sent_only_once(story), Holders(story)
    margin = limits[SETTLED_MS] * NS_PER_MS
    firsts: dict[tuple[str, str, str], tuple[Seen, Seen]] = {}
    for one in _ended(story):
        source = holders.source(one.seen, one.seen.actor, one.seen.destination)
        settled = one.settled is not None and one.settled.outcome == "accepted" and _arrived(story, one, margin)
        if source is None or not settled or one.over is None or one.over.ended != "returned" or one.following is None:
            continue
        if one.seen.msg.key in once and one.settled is not None and one.settled.seq < one.following.seq:
            copy = (one.seen.msg.key, source, one.seen.destination)
            firsts[copy] = min(
                firsts.get(copy, (one.seen, one.following)),
                (one.seen, one.following),
                key=lambda pair: (pair[0].writer, pair[0].seq),
            )
    received: dict[tuple[str, str | None, str], list[Seen]] = defaultdict(list)
    lasts: dict[tuple[str | None, str], Seen] = {}
    for event in story.events:
        if isinstance(event, Seen):
            place = (holders.source(event, event.actor, event.destination), event.destination)
            received[event.msg.key, *place].append(event)
            lasts[place] = max(lasts.get(place, event), event, key=_when)
    for (key, source, destination), (seen, following) in firsts.items():
        again = [event for event in received[key, source, destination] if moments.precedes(following, event)]
        if again:
            yield f"{key}>{source}", Outcome.BROKEN, len(again), seen
        elif _tried(following, lasts[source, destination], failures(story)):
            yield f"{key}>{source}", Outcome.KEPT, 0, seen


def _tried(begun: Event, last: Event, failed_at: list[Event]) -> bool:
    failed = max((event for event in failed_at if moments.precedes(event, last)), key=_when, default=None)
    return failed is not None and moments.precedes(begun, failed)


def _when(event: Event) -> tuple[int, str, int]:
    return event.wall_ns, event.writer, event.seq


WHOLE = Invariant(
    rule="BT-08",
    text="in automatic mode, no message of a batch is acknowledged before its callback has returned.",
    wording=Wording("every message of the batch accepted after the callback, or given back", "{0}", one="message"),
    on_spark=_whole,
    in_python=_batches,
    certain=True,
)
MARKED = Invariant(
    rule="BT-09",
    text="a message that comes again after its batch's callback failed is marked as redelivered.",
    wording=Wording("a mark on each message that comes again", "received again {0}", one="time"),
    on_spark=_marks,
    in_python=_marked,
    certain=True,
)
LAZY = Invariant(
    rule="BT-10",
    text="in dups-ok mode, no message of a batch is acknowledged before its callback has returned.",
    wording=Wording("every message of the batch accepted after the callback, or received again", "{0}", one="message"),
    on_spark=partial(_whole, lazily=True),
    in_python=partial(_batches, lazily=True),
    certain=True,
)
EARLIER = Invariant(
    rule="BT-16",
    text="after a failure, no message of an earlier, acknowledged batch comes again.",
    wording=Wording("no message of an earlier batch received again", "received again {0}", one="time"),
    on_spark=_earlier,
    in_python=_acknowledged,
    limits=(SETTLED_MS,),
)
