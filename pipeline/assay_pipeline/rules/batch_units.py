"""BT-11, BT-12, BT-13: one call acknowledges, or gives back, all messages that a session has delivered in batches.

*Examined*: every reception of a message in a batch (`assay_pipeline.tables.batched`) by a consumer whose session the
journal names, if the message never expires and its id was sent once.  The batch's callback did not fail.  The *end* is
the session's first call after the reception that acknowledges messages or ends the unit of work, and the broker
accepted it.  The message did not come again on the link before the end.  A message that was received during such a call
is left out, because it could belong to this call or to the next one.

- BT-11: sessions with client acknowledgement; the end is an ``acknowledge`` call of the session, for any message.
  No event after which a broker may deliver a message again (table ``returns``) is between the reception and the call's
  return.  Such events are, for example, a recovery of the session and the end of a consumer.
- BT-12: transacted sessions; the end is the commit or rollback
- BT-13: XA sessions that worked in one branch only, and received the message while they worked in it; the end is the
  branch's commit or rollback, by any session

*Kept*:

- BT-11: the client accepted the message on its link during the call
- after a commit: the message did not come again, although a consumer of its queue or subscription had a quiet tail
  (`QUIET_MS`) in a later watch.  Between the commit and this watch, an event permitted the delivery of messages again
  (table ``returns``), and no kill or restart could lose the message.
- after a rollback: a consumer of its queue or subscription received the message again

*Broken*:

- BT-11: the client never accepted the message on its link, although the journal has acceptances by the consumer.  No
  fault and no loss of any client's connection overlaps the time from the reception to `SETTLED_MS` after the call.
- after a commit: a consumer of its queue or subscription received the message again
- after a rollback: no consumer received the message again, although all these conditions hold:

  - The message's consumer left later in an orderly way and was not created again.  The only other consumer of the
    destination had a quiet tail of `LATE_MS` in a watch that began after that, and no fault that ends connections
    overlaps the watch.
  - The message was received only once, without a mark.
  - No kill or restart could lose the message, and it could not go elsewhere: no administrator gave a command that may
    keep it back or concerns messages that were backed out (`quiet.withheld`, `quiet.special`), and no client tried to
    delete the subscription.

*Not examinable*: a fault, or the loss of any client's connection, between the reception and the end; a subscription
that is not a holder (`assay_pipeline.tables.holders`), except for BT-11; messages received outside of batches.

*Figure*: how often the message came again after the end; for BT-11, always 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import FATAL, Call, Event, Seen, Settle
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.copies import giving_back
from assay_evidence.oracle.endings import Ending, endings
from assay_evidence.oracle.holders import Holders
from assay_evidence.oracle.values import Send
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.clients import losses
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, no, precedes
from assay_pipeline.quiet import LATE_MS, QUIET_MS, overlaps, quiet_tail, since_send, special, unbroken, withheld
from assay_pipeline.rules.repeats import SETTLED_MS

ROW = (*MESSAGE, "process", "link", "turn", "batch", "number")
BACKED_OUT = ("BOTHRESH", "BOQNAME")
"""Parts of administrators' commands after which a message may go elsewhere when it is backed out."""


# Spark ---------------------------------------------------------------------------------------------------------------


def _ended(history: History, ack: str, margin_ns: int) -> DataFrame:
    """Make one row for each examined reception; the column ``at`` is its moment.

    Args:
        history: The tables.
        ack: The acknowledgement mode of the sessions: client, transacted or xa.
        margin_ns: The time after the end in which no fault and no loss of a connection may occur, in nanoseconds.
    """
    received = history.batched.where((F.col("ack") == ack) & F.col("session").isNotNull()).withColumn(
        "number", F.col("at.seq")
    )
    ends = history.endings.where(F.col("ack") == ack).select(
        *CASE, "process", "session", "begun", "left",
        F.struct("ended_at.seq", "op", "accepted", F.col("ended_at").alias("from"),
                 F.col("answered_at").alias("to")).alias("end"),
    )  # fmt: skip
    seen = F.col("at.seq")
    working = F.exists(
        "begun",
        lambda begun: (begun < seen) & ~F.exists("left", lambda left: (left > begun) & (left < seen)),
    )  # fmt: skip
    within = F.lit(ack != "xa") | F.coalesce(working, no())
    during = (F.col("end.seq") < seen) & (F.col("end.to").isNull() | (F.col("end.to.seq") > seen))
    ended = (
        received.select(*ROW, "session", "at")
        .join(ends, [*CASE, "process", "session"])
        .groupBy(*ROW)
        .agg(
            F.min_by("end", F.when(F.col("end.seq") > seen, F.col("end.seq"))).alias("end"),
            any_of(during | ~within).alias("unclear"),
        )
        .where(~F.col("unclear") & (F.col("end.seq") > F.col("number")) & F.coalesce("end.accepted", no()))
        .drop("unclear")
    )
    lasting = (F.col("ttl_ns") == 0) & (F.col("sends") == 1)
    sends = history.sends.where(lasting).select(
        *MESSAGE, "faults", ((F.col("mode") == "persistent") & ~F.col("careless")).alias("steady")
    )
    until = since_send(F.col("end.to")) + margin_ns
    return (
        received.where(F.coalesce(F.col("ended") != "raised", ~no()))
        .join(ended, list(ROW))
        .where(F.col("again_at").isNull() | (F.col("again_at.seq") > F.col("end.seq")))
        .join(sends, list(MESSAGE))
        .join(losses(history.leaves, CASE), list(CASE), "left")
        .where(
            ~overlaps("faults", F.lit(0), until, or_meets=True) & ~overlaps("losses", F.lit(0), until, or_meets=True)
        )
    )


def _named() -> Column:
    return F.concat_ws("/", "key", "link", F.col("turn").cast("string"), F.col("batch").cast("string"))


def _acknowledged(history: History, limits: Limits) -> DataFrame:
    gave = history.returns.groupBy(*CASE).agg(F.collect_list("at").alias("gave"))
    alone = history.settles.where(F.col("at.seq") == F.col("final_at.seq"))
    settling = alone.select(*CASE, "actor").distinct()
    back = F.exists("gave", lambda at: ~precedes(at, F.col("at")) & ~precedes(F.col("end.to"), at))
    rows = (
        _ended(history, "client", limits[SETTLED_MS] * NS_PER_MS)
        .join(gave, list(CASE), "left")
        .join(settling, [*CASE, "actor"])
        .where(~F.coalesce(back, no()))
    )
    accepted = F.coalesce(F.col("outcome") == "accepted", no())
    during = accepted & (F.col("settled_at.seq") > F.col("end.seq")) & (F.col("settled_at.seq") < F.col("end.to.seq"))
    outcome = F.when(during, Outcome.KEPT.value).when(~accepted, Outcome.BROKEN.value)
    return subjects(rows, subject=_named(), outcome=outcome, figure=F.lit(0))


def _together(history: History, limits: Limits, ack: str) -> DataFrame:
    rows = _ended(history, ack, 0).where(F.col("source").isNotNull())
    again = (
        rows.select(*ROW, "source", "end")
        .join(history.sightings.where(~F.col("look")).select(*MESSAGE, "source", F.col("at").alias("seen_at")),
              [*MESSAGE, "source"])
        .groupBy(*ROW)
        .agg(F.count(F.when(precedes(F.col("end.to"), F.col("seen_at")), 1)).alias("again"),
             F.count("*").alias("times"))
    )  # fmt: skip
    fatal = F.exists("faults", lambda fault: fault["what"].isin(*FATAL) & ~precedes(fault["begin"], F.col("at")))
    stored = F.col("steady") | ~F.coalesce(fatal, no())
    watched = _watched(rows, history, limits)
    committed = F.col("end.op").isin("commit", "xa-commit")
    came = F.col("again") > 0
    sole = (F.col("times") == 1) & ~F.col("marked")
    missed = F.coalesce("missed", no()) & stored & sole & ~F.col("hidden")
    outcome = F.when(
        committed,
        F.when(came, Outcome.BROKEN.value).when(F.coalesce("waited", no()) & stored, Outcome.KEPT.value),
    ).otherwise(F.when(came, Outcome.KEPT.value).when(missed, Outcome.BROKEN.value))
    return subjects(
        _hidden(rows, history).join(again, list(ROW), "left").join(watched, list(ROW), "left"),
        subject=_named(),
        outcome=outcome,
        figure=F.col("again"),
    )


def _hidden(rows: DataFrame, history: History) -> DataFrame:
    """Add to receptions whether their messages may have been kept back, or have gone elsewhere."""
    yes = F.lit("true").cast("boolean")
    acts = withheld(rows.select(*ROW, "at"), history.admins, ROW)
    odd = special(history.admins, history.parties)
    backing = history.admins.where(F.col("command").rlike("|".join(BACKED_OUT))).select(*CASE, yes.alias("backing"))
    deleted = history.unsubscribed.select(*CASE, "name", yes.alias("deleted"))
    withheld_, special_, backing_, deleted_ = (
        F.coalesce(name, no()) for name in ("withheld", "special", "backing", "deleted")
    )
    return (
        rows.join(acts, list(ROW), "left")
        .join(odd, list(CASE), "left")
        .join(backing.distinct(), list(CASE), "left")
        .join(deleted.distinct(), [*CASE, "name"], "left")
        .withColumn("hidden", withheld_ | special_ | backing_ | deleted_)
    )


def _watched(rows: DataFrame, history: History, limits: Limits) -> DataFrame:
    """Find whether later watches show that a message did not come: ``waited`` for commits, ``missed`` for rollbacks."""
    gave = history.returns.groupBy(*CASE).agg(F.collect_list("at").alias("gave"))
    leave = F.struct(
        F.col("answered_at.seq").alias("seq"), F.col("answered_at").alias("at"), F.col("destination").alias("of")
    )
    left = (
        history.leaves.where(~F.col("abrupt") & F.col("accepted"))
        .groupBy(*CASE, "actor")
        .agg(F.collect_list(leave).alias("leaves"))
    )
    came = history.consumers.groupBy(*CASE, "actor", "destination").agg(F.collect_list("at").alias("created"))
    crowd = (
        history.arrivals.select(*CASE, "destination", "actor")
        .unionByName(history.consumers.select(*CASE, "destination", "actor"))
        .groupBy(*CASE, "destination")
        .agg(F.count_distinct("actor").alias("crowd"))
    )
    spans = history.watches.select(
        *CASE, "destination", "source", F.col("actor").alias("watcher"), "begin", "end", "last", "conclusive"
    )
    begin = F.col("begin")
    freed = unbroken() & F.exists("gave", lambda at: precedes(F.col("ending.to"), at) & precedes(at, begin))
    tail, left_at = F.col("tail"), F.col("left_at")
    apart = (F.col("watcher") != F.col("actor")) & precedes(left_at, begin) & unbroken()
    after = F.coalesce(precedes(F.col("ending.to"), left_at), no())
    gone = F.coalesce(F.forall("created", lambda at: precedes(at, left_at)), no())
    alone = apart & after & gone & (F.col("crowd") == 2)  # noqa: PLR2004 - the batch's consumer and one other
    return (
        rows.select(*ROW, "destination", "source", "actor", "at", "faults", F.col("end").alias("ending"))
        .join(spans, [*CASE, "destination", "source"])
        .withColumn("tail", quiet_tail(since_send(F.col("ending.to"))))
        .join(gave, list(CASE), "left")
        .join(left, [*CASE, "actor"], "left")
        .withColumn("left_at", _last("leaves"))
        .join(came, [*CASE, "actor", "destination"], "left")
        .join(crowd, [*CASE, "destination"], "left")
        .where(precedes(F.col("ending.to"), begin))
        .groupBy(*ROW)
        .agg(
            any_of(freed & (tail >= limits[QUIET_MS] * NS_PER_MS)).alias("waited"),
            any_of(alone & (tail >= limits[LATE_MS] * NS_PER_MS)).alias("missed"),
        )
    )


def _last(leaves: str) -> Column:
    """Return the moment of the answer to the last call that ended a row's consumer.

    Args:
        leaves: The column with an array: the calls with which the consumer's actor left. Calls that end only a consumer
            of another destination than the row's are ignored.
    """
    own = F.filter(leaves, lambda one: one["of"].isNull() | (one["of"] == F.col("destination")))
    ended = F.transform(own, lambda one: F.struct(one["seq"].alias("seq"), one["at"].alias("at")))
    return F.array_max(ended)["at"]


# plain Python --------------------------------------------------------------------------------------------------------


def _all_accepted(story: Story, limits: Limits) -> Iterator[Examined]:
    acceptors = {e.actor for e in story.events if isinstance(e, Settle) and e.outcome == "accepted" and e.unit is None}
    gave = giving_back(story)
    for ending in endings(story, "client", limits[SETTLED_MS] * NS_PER_MS):
        settled, seen = ending.one.settled, ending.one.seen
        back = any(not moments.precedes(at, seen) and not moments.precedes(ending.answer, at) for at in gave)
        if back or seen.actor not in acceptors:
            continue
        if settled is None or settled.outcome != "accepted":
            yield ending.name, Outcome.BROKEN, 0, ending.one.seen
        elif ending.call.seq < settled.seq < ending.answer.seq:
            yield ending.name, Outcome.KEPT, 0, ending.one.seen


def _all_or_none(story: Story, limits: Limits, ack: str) -> Iterator[Examined]:
    holders = Holders(story)
    for ending in endings(story, ack, 0):
        seen = ending.one.seen
        if ending.source is None:
            continue
        received = [
            event
            for event in story.events
            if isinstance(event, Seen)
            and event.msg.key == seen.msg.key
            and holders.source(event, event.actor, event.destination) == ending.source
        ]
        outcome = _outcome(story, holders, ending, received, limits)
        if outcome is not None:
            yield ending.name, outcome, len(_later(ending, received)), seen


def _later(ending: Ending, received: list[Seen]) -> list[Seen]:
    return [event for event in received if moments.precedes(ending.answer, event)]


def _outcome(story: Story, holders: Holders, ending: Ending, received: list[Seen], limits: Limits) -> Outcome | None:
    committed = ending.call.op in ("commit", "xa-commit")
    if _later(ending, received):
        return Outcome.BROKEN if committed else Outcome.KEPT
    begun = (fault.begin for fault in story.faults if fault.begin.what in FATAL)
    steady = ending.send.persistent and ending.send.call.actor not in story.light
    if not steady and any(not moments.precedes(begin, ending.one.seen) for begin in begun):
        return None
    if committed:
        return Outcome.KEPT if _waited(story, holders, ending, limits) else None
    sole = len(received) == 1 and not received[0].redelivered and received[0].count <= 1
    lost = sole and _missed(story, holders, ending, limits) and not _hidden_in(story, holders, ending)
    return Outcome.BROKEN if lost else None


def _hidden_in(story: Story, holders: Holders, ending: Ending) -> bool:
    """Return whether a message may have been kept back after a reception, or have gone elsewhere."""
    seen = ending.one.seen
    consumer = holders.consumer(seen, seen.actor)
    name = consumer.name if consumer is not None else None
    deleted = any(c.op == "unsubscribe" and name is not None and c.args.get("name") == name for c, _ in story.calls)
    acts = [act for act in story.admins if not act.command.startswith("DEFINE") or moments.precedes(seen, act)]
    backing = any(part in act.command for act in story.admins for part in BACKED_OUT)
    return bool(acts) or story.special or backing or deleted


def _silences(story: Story, holders: Holders, ending: Ending) -> Iterator[tuple[Event, int]]:
    """Yield the begin of each later watch of the same queue or subscription, with the watch's silence in nanoseconds.

    Watches that overlap a fault that ends connections are left out.
    """
    seen = ending.one.seen
    sent = Send(call=_as_call(seen), key=ending.send.key, answer=None, ending=None, asked=None, times=1)
    for span in story.watching(seen.destination):
        begin = span.begin
        mine = holders.source(begin, begin.actor, begin.destination) == ending.source
        if mine and moments.precedes(ending.answer, begin) and story.unbroken(span):
            yield begin, story.silence(sent, span, sent.since(ending.answer))


def _as_call(seen: Seen) -> Call:
    """Return a send call at the moment of a reception, so that times since the "send" count from the reception."""
    common = {name: getattr(seen, name) for name in Event.__struct_fields__}
    return Call(**common, id="", actor=seen.actor, op="send")


def _waited(story: Story, holders: Holders, ending: Ending, limits: Limits) -> bool:
    gave = giving_back(story)
    return any(
        silence >= limits[QUIET_MS] * NS_PER_MS
        and any(moments.precedes(ending.answer, at) and moments.precedes(at, begin) for at in gave)
        for begin, silence in _silences(story, holders, ending)
    )


def _missed(story: Story, holders: Holders, ending: Ending, limits: Limits) -> bool:
    seen = ending.one.seen
    left = [
        answer
        for call, answer in story.calls
        if call.actor == seen.actor
        and call.op in ("close-connection", "close-session", "close-consumer")
        and call.destination in (None, seen.destination)
        and answer is not None
        and answer.refused is None
    ]
    last = max(left, key=lambda answer: answer.seq, default=None)
    made = [one.call for one in holders.attachments if one.call.destination == seen.destination]
    crowd = {actor for actor, _ in story.came(seen.destination)} | {call.actor for call in made}
    if last is None or not moments.precedes(ending.answer, last) or len(crowd) != 2:  # noqa: PLR2004 - the batch's consumer and one other
        return False
    if any(call.actor == seen.actor and not moments.precedes(call, last) for call in made):
        return False
    return any(
        getattr(begin, "actor", None) != seen.actor
        and moments.precedes(last, begin)
        and silence >= limits[LATE_MS] * NS_PER_MS
        for begin, silence in _silences(story, holders, ending)
    )


ACKNOWLEDGED = Invariant(
    rule="BT-11",
    text="one acknowledgement covers all messages that the session has delivered in batches.",
    wording=Wording("every message of the session's batches accepted in the call", "{0}", one="time"),
    on_spark=_acknowledged,
    in_python=_all_accepted,
    limits=(SETTLED_MS,),
)
TRANSACTED = Invariant(
    rule="BT-12",
    text="the end of a unit of work acknowledges or gives back all messages of its batches.",
    wording=Wording(
        "no message of a committed batch again, and all of one rolled back", "received again {0}", one="time"
    ),
    on_spark=partial(_together, ack="transacted"),
    in_python=partial(_all_or_none, ack="transacted"),
    limits=(QUIET_MS, LATE_MS),
)
GLOBAL = Invariant(
    rule="BT-13",
    text="the end of a branch acknowledges or gives back all messages of its batches.",
    wording=Wording(
        "no message of a committed batch again, and all of one rolled back", "received again {0}", one="time"
    ),
    on_spark=partial(_together, ack="xa"),
    in_python=partial(_all_or_none, ack="xa"),
    limits=(QUIET_MS, LATE_MS),
)
