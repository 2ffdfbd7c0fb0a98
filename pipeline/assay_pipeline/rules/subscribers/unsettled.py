"""QS-09, QS-10, QS-14: a message that a consumer did not acknowledge comes again after a lost connection.

*Examined*: messages that a consumer received and had not settled when its connection was lost
(`assay_pipeline.tables.unsettled`).  The rules differ in the messages:

- QS-09: those of unshared subscriptions and of queues
- QS-10: those of shared durable subscriptions
- QS-14: those of QS-09, if the client accepted another message of the same link outside of a unit of work, after the
  reception: an acknowledgement that wrongly covers other messages of the link would lose these messages

*Broken*: the message was seen only once and no consumer received it again, although its only consumer was created again
after the loss and then had a quiet tail of `LATE_MS`.  The message could outlive all faults.  For QS-10, the consumer
did not return, and the only other consumer of the subscription in the scenario had the quiet tail.

*Kept*: the message came again after the loss, on another link; for QS-10, to another consumer.  Between a cut and this
reception, no client closed a consumer, a session or a connection.  Otherwise the cut may have spared the connection,
and the message may have come again because of the close.

*Not examinable*:

- a message that the client settled on its link in any way, even in a unit of work that was rolled back
- a missing message if the client called for an acknowledgement or a commit between the reception and the end of the
  loss: the call may have covered the message, even if it was not answered
- a missing message if the journal has no settlement by the consumer at all
- a missing message if the consumer's own connection may have outlived the cut
- a missing message that another consumer may hold, or that an administrator may have kept back
- a subscription that is not durable, or no holder (`assay_pipeline.tables.holders`), such as one of a client that
  confirms messages before the application has them
- whether the message is marked as redelivered: the document asks for no mark, and Artemis sets none over AMQP after a
  lost connection

*Figure*: how often the holder's consumers received the message.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.oracle import Examined, Story
from assay_evidence.oracle.unsettled import Unsettled, unsettled
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import OfTable, Rows
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.quiet import LATE_MS


def _gone(limits: Limits, quiet: str) -> Column:
    """Return whether the message did not come again although a consumer waited for it."""
    waited = F.col(quiet) >= limits[LATE_MS] * NS_PER_MS
    sure = F.col("tells") & F.col("certain") & F.col("stored") & ~F.col("withheld") & ~F.col("asked")
    return sure & waited & (F.col("times") == 1) & ~F.col("looked")


def _examined(which: Column, *, broken: Column, kept: Column) -> Rows:
    name = F.when(F.col("kind") == "queue", F.col("key")).otherwise(F.concat_ws(">", "key", "source"))
    outcome = F.when(broken, Outcome.BROKEN.value).when(kept, Outcome.KEPT.value)
    return Rows(which, name, outcome, F.col("times"))


def _alone(limits: Limits) -> Column:
    return F.col("alone") & F.col("returned") & _gone(limits, "quiet_ns")


def _resent(limits: Limits) -> Rows:
    return _examined(~F.col("shared"), broken=_alone(limits), kept=F.col("again"))


def _handed_on(limits: Limits) -> Rows:
    lost = F.col("away") & (F.col("others") == 1) & _gone(limits, "quiet_other_ns")
    return _examined(F.col("shared"), broken=lost, kept=F.col("again") & F.col("again_other"))


def _by_itself(limits: Limits) -> Rows:
    which = ~F.col("shared") & F.col("neighbour")
    return _examined(which, broken=_alone(limits), kept=F.col("again"))


def _missing(one: Unsettled, silence: int, limits: Limits) -> bool:
    if one.times > 1 or one.looked or one.withheld or one.asked or silence < limits[LATE_MS] * NS_PER_MS:
        return False
    return one.tells and one.certain and one.stored


def _lost(one: Unsettled, limits: Limits) -> bool:
    return one.alone and one.returned and _missing(one, one.quiet_ns, limits)


def _of(story: Story, limits: Limits, rule: str) -> Iterator[Examined]:
    judge = {"QS-09": _of_receiver, "QS-10": _of_sharer, "QS-14": _of_neighbour}[rule]
    for one in unsettled(story):
        outcome = judge(one, limits)
        if outcome is not None:
            yield one.name, outcome, one.times, one.send.call


def _of_receiver(one: Unsettled, limits: Limits) -> Outcome | None:
    if one.shared:
        return None
    if one.again is not None:
        return Outcome.KEPT
    return Outcome.BROKEN if _lost(one, limits) else None


def _of_sharer(one: Unsettled, limits: Limits) -> Outcome | None:
    if not one.shared:
        return None
    if one.again_other:
        return Outcome.KEPT
    lost = one.others == 1 and one.away and _missing(one, one.quiet_other_ns, limits)
    return Outcome.BROKEN if lost else None


def _of_neighbour(one: Unsettled, limits: Limits) -> Outcome | None:
    if one.shared or not one.neighbour:
        return None
    if one.again is not None:
        return Outcome.KEPT
    return Outcome.BROKEN if _lost(one, limits) else None


_RECEIVED = "received {0}"
RESENT = Invariant(
    rule="QS-09",
    text="an unacknowledged message comes again after a lost connection.",
    wording=Wording("every unacknowledged message again", _RECEIVED, one="time"),
    on_spark=OfTable("unsettled", _resent),
    in_python=partial(_of, rule="QS-09"),
    limits=(LATE_MS,),
)
HANDED_ON = Invariant(
    rule="QS-10",
    text="an unacknowledged message of a shared subscription comes to another sharer after a lost connection.",
    wording=Wording("every unacknowledged message at another sharer", _RECEIVED, one="time"),
    on_spark=OfTable("unsettled", _handed_on),
    in_python=partial(_of, rule="QS-10"),
    limits=(LATE_MS,),
)
BY_ITSELF = Invariant(
    rule="QS-14",
    text="the acknowledgement of a message counts for no other message of the link.",
    wording=Wording("every unacknowledged message again, beside acknowledged ones", _RECEIVED, one="time"),
    on_spark=OfTable("unsettled", _by_itself),
    in_python=partial(_of, rule="QS-14"),
    limits=(LATE_MS,),
)
