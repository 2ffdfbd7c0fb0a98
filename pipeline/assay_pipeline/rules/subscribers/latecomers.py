"""PD-12, PD-14, PD-27, PD-34, QS-31: a publication does not reach a subscription that began after it.

*Examined*: publications without a delay (`assay_pipeline.tables.latecomers`).  DD-51 examines delayed ones.  The rules
differ in the publications and in the consumers that came later:

- PD-14: non-durable consumers, without a kill or restart between the send and the consumer
- PD-12: as PD-14, for publications that were sent after a client had closed a non-durable subscription of the topic.
  If the broker keeps the subscription, it collects these publications, and the next subscriber gets them.
- PD-27: non-durable consumers that came after a kill or restart, for publications that were sent after a non-durable
  subscription had been created
- QS-31: as PD-27, for subscriptions and consumers that receive at most once
- PD-34: all consumers, durable ones, too, for persistent publications to a topic for which no client had tried to
  create a consumer before

*Broken*: such a consumer received the publication.  *Kept*: no such consumer received it, although one had a quiet tail
(`QUIET_MS`), and the broker could still have had the publication: it is persistent, or no kill or restart had ended the
broker.  For PD-27 and QS-31, the publication may also be non-persistent if the broker was only restarted and not
killed, because a broker can save all messages before it stops.  In addition, for these two rules, a non-durable
consumer (for QS-31, one that receives at most once) watched from before the send until the kill or restart, and did not
receive the publication.

*Not examinable*:

- a consumer of a shared subscription (except for PD-34), because another sharer may have kept it open
- a consumer that was created before the confirmation, or so close to it that the clocks do not tell
- a publication that the broker retains, or that may still be on its way when its send returns
  (`assay_pipeline.tables.publications`), and all publications if a client connects to a further queue manager
- for PD-34, all publications of a scenario with a consumer of a topic pattern, or with an administrator's command about
  subscriptions
- for PD-12, the end of a subscription by a lost connection, which the broker may notice late
- what a subscription leaves in the broker's administration

*Figure*: how often the later consumers received the publication.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.oracle import Examined, Story
from assay_evidence.oracle.latecomers import Publication, Reach, latecomers
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import OfTable, Rows
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.quiet import QUIET_MS


class _Form(Struct, frozen=True):
    """The Spark columns with which one rule examines publications.

    Args:
        kind: The kind of later consumers (`assay_pipeline.tables.latecomers`).
        which: The examined publications.
        possible: The publications that the broker could still have had.
    """

    kind: str
    which: Column
    possible: Column


def _forms() -> dict[str, _Form]:
    """Make the columns, which need a Spark session."""
    return {
        "PD-12": _Form("live", F.col("unsubscribed"), F.col("could_survive")),
        "PD-14": _Form("live", F.lit("true").cast("boolean"), F.col("could_survive")),
        "PD-27": _Form("after", F.col("subscribed"), F.col("could_be_saved") & F.col("watched")),
        "PD-34": _Form("every", F.col("unasked") & F.col("stored"), F.col("stored")),
        "QS-31": _Form("once", F.col("subscribed_once"), F.col("could_be_saved") & F.col("watched_once")),
    }


def _rows(limits: Limits, rule: str) -> Rows:
    form = _forms()[rule]
    seen, quiet = F.col(f"seen_{form.kind}"), F.col(f"quiet_{form.kind}")
    waited = form.possible & (quiet >= limits[QUIET_MS] * NS_PER_MS)
    outcome = F.when(seen > 0, Outcome.BROKEN.value).when(waited, Outcome.KEPT.value)
    return Rows(form.which, F.col("key"), outcome, seen)


def _examine(
    story: Story, limits: Limits, found: Callable[[Publication], tuple[Reach, bool] | None]
) -> Iterator[Examined]:
    for one in latecomers(story):
        told = found(one)
        if told is None:
            continue
        reach, possible = told
        if reach.seen:
            yield one.send.key, Outcome.BROKEN, reach.seen, one.send.call
        elif possible and reach.quiet_ns >= limits[QUIET_MS] * NS_PER_MS:
            yield one.send.key, Outcome.KEPT, 0, one.send.call


def _after_closing(one: Publication) -> tuple[Reach, bool] | None:
    return (one.live, one.could_survive) if one.unsubscribed else None


def _before_subscribing(one: Publication) -> tuple[Reach, bool] | None:
    return one.live, one.could_survive


def _before_restart(one: Publication) -> tuple[Reach, bool] | None:
    return (one.after, one.could_be_saved and one.watched) if one.subscribed else None


def _before_light_restart(one: Publication) -> tuple[Reach, bool] | None:
    return (one.once, one.could_be_saved and one.watched_once) if one.subscribed_once else None


def _to_nobody(one: Publication) -> tuple[Reach, bool] | None:
    return (one.every, True) if one.unasked and one.stored else None


_DEMANDS = "no publication at a subscriber that came later"
_RECEIVED = "received {0}"
CLOSED = Invariant(
    rule="PD-12",
    text="a non-durable subscription that was closed collects nothing for a later subscriber.",
    wording=Wording("nothing of a closed subscription at a later subscriber", _RECEIVED, one="time"),
    on_spark=OfTable("latecomers", partial(_rows, rule="PD-12")),
    in_python=partial(_examine, found=_after_closing),
    limits=(QUIET_MS,),
)
NEW = Invariant(
    rule="PD-14",
    text="a new non-durable subscriber gets no publication from before its subscription.",
    wording=Wording(_DEMANDS, _RECEIVED, one="time"),
    on_spark=OfTable("latecomers", partial(_rows, rule="PD-14")),
    in_python=partial(_examine, found=_before_subscribing),
    limits=(QUIET_MS,),
)
RESTARTED = Invariant(
    rule="PD-27",
    text="after a restart or kill, a non-durable subscriber gets no earlier publication.",
    wording=Wording("no earlier publication at a subscriber that came after the restart", _RECEIVED, one="time"),
    on_spark=OfTable("latecomers", partial(_rows, rule="PD-27")),
    in_python=partial(_examine, found=_before_restart),
    limits=(QUIET_MS,),
)
UNCLAIMED = Invariant(
    rule="PD-34",
    text="a persistent publication to a topic without a subscription reaches no later subscriber.",
    wording=Wording(_DEMANDS, _RECEIVED, one="time"),
    on_spark=OfTable("latecomers", partial(_rows, rule="PD-34")),
    in_python=partial(_examine, found=_to_nobody),
    limits=(QUIET_MS,),
)
STOPPED = Invariant(
    rule="QS-31",
    text="after a restart or kill, a subscriber that receives at most once gets no earlier publication.",
    wording=Wording("no earlier publication at a subscriber that came after the restart", _RECEIVED, one="time"),
    on_spark=OfTable("latecomers", partial(_rows, rule="QS-31")),
    in_python=partial(_examine, found=_before_light_restart),
    limits=(QUIET_MS,),
)
