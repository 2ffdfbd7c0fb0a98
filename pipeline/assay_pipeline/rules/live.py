"""PD-26, PD-28, PD-33: while a subscriber is active, it gets a copy of each message to its topic.

*Examined*: every pair of a message and an unshared subscription whose consumer watched the topic through the send
(`assay_pipeline.tables.copies`).  The rules differ in the pairs:

- PD-26: persistent messages, non-durable subscriptions
- PD-28: non-persistent messages, durable subscriptions
- PD-33: non-persistent messages, non-durable subscriptions

*Kept*: a consumer of the subscription received the message.  *Broken*: none did, although a watch through the send
lasted until the message was due and for a quiet tail after that (`QUIET_MS`, or `LATE_MS` for a delayed message), and
no fault overlaps the watch.

*Not examinable*:

- a subscription that the journal does not describe well enough (`assay_pipeline.tables.holders`), for example one with
  a selector
- a missing message that an administrator may have kept back (`quiet.withheld`), or that may have gone elsewhere
  (`quiet.special`)
- a message of an MQ Light client, because the topic chooses its persistence
- for PD-26 and PD-33, what later subscribers get
- two moments of different clocks that are closer than their uncertainty: the pair then belongs to no rule

*Figure*: how often consumers of the subscription received the message.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.oracle import Examined, Story
from assay_evidence.oracle.copies import copies
from assay_evidence.oracle.holders import Kind
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limits, Outcome
from assay_pipeline.examined import OfTable, Rows, of_copies
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.quiet import LATE_MS, QUIET_MS, patience


def _received(limits: Limits, mode: str, kind: str) -> Rows:
    live = (F.col("mode") == mode) & (F.col("kind") == kind) & (F.col("watchers") > 0) & ~F.col("shared")
    waited = F.col("through_ns") >= patience(limits, F.col("delayed"))
    missed = (F.col("seen") == 0) & waited & ~F.col("withheld")
    return of_copies(live, broken=missed, kept=F.col("seen") > 0)


def _pd_26(limits: Limits) -> Rows:
    return _received(limits, "persistent", "non-durable")


def _pd_28(limits: Limits) -> Rows:
    return _received(limits, "non-persistent", "durable")


def _pd_33(limits: Limits) -> Rows:
    return _received(limits, "non-persistent", "non-durable")


def _arrived(story: Story, limits: Limits, kind: Kind, *, persistent: bool) -> Iterator[Examined]:
    for copy in copies(story):
        holder = copy.holder
        if holder.kind != kind or holder.shared or not copy.watchers or copy.send.persistent is not persistent:
            continue
        quiet_ns = limits[LATE_MS if copy.delayed else QUIET_MS] * NS_PER_MS
        if copy.seen:
            yield copy.name, Outcome.KEPT, copy.seen, copy.send.call
        elif copy.through_ns >= quiet_ns and not copy.withheld:
            yield copy.name, Outcome.BROKEN, 0, copy.send.call


def _heavy_to_live(story: Story, limits: Limits) -> Iterator[Examined]:
    return _arrived(story, limits, "non-durable", persistent=True)


def _light_to_durable(story: Story, limits: Limits) -> Iterator[Examined]:
    return _arrived(story, limits, "durable", persistent=False)


def _light_to_live(story: Story, limits: Limits) -> Iterator[Examined]:
    return _arrived(story, limits, "non-durable", persistent=False)


_DEMANDS = "a copy for every subscriber that was active through the send"
HEAVY_TO_LIVE = Invariant(
    rule="PD-26",
    text="an active non-durable subscriber gets a copy of each persistent message.",
    wording=Wording(_DEMANDS, "received {0}", one="time"),
    on_spark=OfTable("copies", _pd_26),
    in_python=_heavy_to_live,
    limits=(QUIET_MS, LATE_MS),
)
LIGHT_TO_DURABLE = Invariant(
    rule="PD-28",
    text="an active durable subscriber gets a copy of each non-persistent message.",
    wording=Wording(_DEMANDS, "received {0}", one="time"),
    on_spark=OfTable("copies", _pd_28),
    in_python=_light_to_durable,
    limits=(QUIET_MS, LATE_MS),
)
LIGHT_TO_LIVE = Invariant(
    rule="PD-33",
    text="an active non-durable subscriber gets a copy of each non-persistent message.",
    wording=Wording(_DEMANDS, "received {0}", one="time"),
    on_spark=OfTable("copies", _pd_33),
    in_python=_light_to_live,
    limits=(QUIET_MS, LATE_MS),
)
