"""QS-04, QS-05, QS-32: messages that a client sends at least once, or that are persistent, reach durable subscriptions.

*Examined*: confirmed messages that never expire (`assay_pipeline.tables.copies`):

- QS-04: every pair of a message of an MQ Light client that sends at least once, and a durable subscription, without a
  kill or restart after the send.  No consumer of the subscription watched it between the begin of the send and its
  answer, or a connection may have been lost after the send (column ``shaken``).
- QS-05: every message of such a client whose send was disturbed and answered later: during the send, a kill, restart or
  cut began, or the client dropped its connection
- QS-32: every pair of a persistent message of another client and a durable subscription of an MQ Light client, with a
  kill or restart after the send.  Over AMQP, a persistent message has the durable header.

*Kept*:

- QS-04: a consumer of the subscription received the message.  If no consumer watched at the send, a client also opened
  the subscription after the answer; otherwise the reception was after the begin of a cut.
- QS-05: any consumer received the message, or a browse listed it
- QS-32: a consumer of the subscription received the message after the end of the kill or restart

*Broken*: no consumer ever received the message, although a consumer of the subscription had a quiet tail after the
message was due and all kills and restarts were over.  The tail must last for `LATE_MS` if the message is delayed or a
connection may have been lost, and otherwise for `QUIET_MS`.  No kill, restart or cut overlaps the watch.  For QS-05,
all kills and restarts were over before the answer.

*Not examinable*:

- a subscription that is not a holder (`assay_pipeline.tables.holders`): one of a client that receives at most once, or
  confirms messages before the application has them
- a missing message of a shared subscription, or one that an administrator may have kept back (`quiet.withheld`,
  `quiet.special`)
- whether a client repeats a send that was answered before: the second copy looks like a repeated delivery of the broker
- whether an answer came before the message was on the disk
- a send that never returned

*Figure*: how often consumers of the subscription received the message; for QS-05, how often any consumer received it or
a browse listed it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import FATAL, LOSING
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.copies import Copy, all_copies
from assay_evidence.oracle.values import Send
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.clients import losses
from assay_pipeline.examined import OfTable, Rows, of_copies, subjects
from assay_pipeline.history import CASE, MESSAGE, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, no, precedes
from assay_pipeline.quiet import LATE_MS, QUIET_MS, patience


def _missing(limits: Limits) -> Column:
    waited = F.col("unbroken_ns") >= patience(limits, F.col("delayed") | F.col("shaken"))
    return (F.col("seen") == 0) & waited & ~F.col("withheld") & ~F.col("shared")


def _answered(limits: Limits) -> Rows:
    tried = (F.col("kind") == "durable") & F.col("surely") & (F.col("fatal") == 0) & (F.col("idle") | F.col("shaken"))
    kept = F.when(F.col("idle"), (F.col("seen") > 0) & F.col("reopened")).otherwise(F.col("weathered") > 0)
    return of_copies(tried, broken=_missing(limits), kept=kept, light=True)


def _durable_header(limits: Limits) -> Rows:
    which = (F.col("kind") == "durable") & F.col("to_light") & (F.col("mode") == "persistent") & (F.col("fatal") > 0)
    return of_copies(which, broken=_missing(limits), kept=F.col("outlived") > 0)


def _sent_again(history: History, limits: Limits) -> DataFrame:
    surely = history.parties.where("sends_surely").select(*CASE, "actor")
    lasting = (F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("accepted") & F.col("unit").isNull()

    def within(loss: Column) -> Column:
        began = precedes(F.col("at"), loss["begin"]) & precedes(loss["begin"], F.col("answered_at"))
        return F.coalesce(began, no())

    def over(fault: Column) -> Column:
        return F.coalesce(precedes(fault["end"], F.col("answered_at")), no())

    torn = F.exists("faults", lambda fault: fault["what"].isin(*LOSING) & within(fault))
    later = F.exists("faults", lambda fault: fault["what"].isin(*FATAL) & ~over(fault))
    sends = (
        history.sends.where(lasting & F.col("careless"))
        .join(surely, [*CASE, "actor"])
        .join(losses(history.leaves, (*CASE, "actor")), [*CASE, "actor"], "left")
        .drop("actor")
        .where(F.coalesce(torn, no()) | F.coalesce(F.exists("losses", within), no()))
        .withColumn("later", F.coalesce(later, no()))
    )
    seen = history.sightings.groupBy(*MESSAGE).agg(F.count("*").alias("times"))
    missed = history.copies.where(F.col("light") & (F.col("kind") == "durable")).groupBy(*MESSAGE).agg(
        any_of(_missing(limits)).alias("missed")
    )  # fmt: skip
    outcome = F.when(F.col("times") > 0, Outcome.KEPT.value).when(
        F.col("missed") & ~F.col("later"), Outcome.BROKEN.value
    )
    return subjects(
        sends.join(seen, list(MESSAGE), "left").join(missed, list(MESSAGE), "left"),
        subject=F.col("key"),
        outcome=outcome,
        figure=F.col("times"),
    )


def _waited_in_vain(copy: Copy, limits: Limits) -> bool:
    if copy.seen or copy.withheld or copy.holder.shared:
        return False
    return copy.unbroken_ns >= limits[LATE_MS if copy.delayed or copy.shaken else QUIET_MS] * NS_PER_MS


def _by_light_sender(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in all_copies(story):
        tried = copy.surely and not copy.fatal and (copy.idle or copy.shaken)
        if not tried or not copy.light or copy.holder.kind != "durable":
            continue
        if (copy.seen and copy.reopened) if copy.idle else copy.weathered:
            yield copy.name, Outcome.KEPT, copy.seen, copy.send.call
        elif _waited_in_vain(copy, limits):
            yield copy.name, Outcome.BROKEN, 0, copy.send.call


def _to_light_subscriber(story: Story, limits: Limits) -> Iterator[Examined]:
    for copy in all_copies(story):
        if copy.holder.kind == "durable" and copy.to_light and copy.send.persistent and copy.fatal and not copy.light:
            if copy.outlived:
                yield copy.name, Outcome.KEPT, copy.seen, copy.send.call
            elif _waited_in_vain(copy, limits):
                yield copy.name, Outcome.BROKEN, 0, copy.send.call


def _repeated(story: Story, limits: Limits) -> Iterator[Examined]:
    for send in story.sends:
        if send.times > 1 or send.ttl_ns or not send.accepted or send.call.unit or not _is_torn(story, send):
            continue
        if send.call.actor not in story.sure:
            continue
        times = len(story.sightings.get(send.key, []))
        if times:
            yield send.key, Outcome.KEPT, times, send.call
        elif not _killed_later(story, send) and any(
            copy.send.key == send.key and copy.holder.kind == "durable" and _waited_in_vain(copy, limits)
            for copy in all_copies(story)
        ):
            yield send.key, Outcome.BROKEN, 0, send.call


def _is_torn(story: Story, send: Send) -> bool:
    """Return whether the sender's connection may have been lost during the send."""
    faults = [fault.begin for fault in story.faults if fault.begin.what in LOSING]
    aborts = [call for call, _ in story.calls if call.op == "abort" and call.actor == send.call.actor]
    answer = send.answer
    return answer is not None and any(
        moments.precedes(send.call, begin) and moments.precedes(begin, answer) for begin in (*faults, *aborts)
    )


def _killed_later(story: Story, send: Send) -> bool:
    """Return whether a kill or restart was not certainly over before the answer to a send."""
    ends = (fault.end for fault in story.faults if fault.begin.what in FATAL)
    answer = send.answer
    return answer is None or any(end is None or not moments.precedes(end, answer) for end in ends)


_RECEIVED = "received {0}"
ANSWERED = Invariant(
    rule="QS-04",
    text="a message that was sent at least once and answered is on every durable subscription.",
    wording=Wording("every answered message at every durable subscription", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _answered),
    in_python=_by_light_sender,
    limits=(QUIET_MS, LATE_MS),
)
SENT_AGAIN = Invariant(
    rule="QS-05",
    text="a message whose send at least once outlived a lost connection arrives.",
    wording=Wording("at least one copy of every message", _RECEIVED, one="time"),
    on_spark=_sent_again,
    in_python=_repeated,
    limits=(QUIET_MS, LATE_MS),
)
DURABLE_HEADER = Invariant(
    rule="QS-32",
    text="a persistent message for an MQ Light subscription is not lost when the broker is restarted or killed.",
    wording=Wording("every persistent message received after the restart", _RECEIVED, one="time"),
    on_spark=OfTable("copies", _durable_header),
    in_python=_to_light_subscriber,
    limits=(QUIET_MS, LATE_MS),
)
