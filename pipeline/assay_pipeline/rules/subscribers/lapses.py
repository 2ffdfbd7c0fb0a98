"""QS-20, QS-21, QS-22: a subscription has a time to live that counts from the disconnection of its subscriber.

*Examined*: every message that was sent while the subscriber was away, for each absence
(`assay_pipeline.tables.lapses`).  The rules differ in the absences:

- QS-21: the subscriber had returned before the end of the time to live
- QS-20: as QS-21, if a time to live that counts from the subscription's creation would have ended more than `LAPSE_MS`
  before the subscriber came; also, as for QS-22, absences of a subscription with a time to live of 0
- QS-22: the subscriber came more than `LAPSE_MS` after the end of the time to live, which is above 0

*Kept*, for a subscription that must have continued: the subscriber received the message.  *Kept*, for a subscription
that must be gone: the subscriber did not receive the message, although the subscriber's watch ended with a silence
(`LATE_MS`, because a connection that was dropped may still hold the message).

*Broken*: a subscription that must have continued lost the message, or one that must be gone delivered it.  A missing
message breaks the rule only if the message is persistent, the sender is not an MQ Light client, and the subscriber
receives at least once, confirms messages itself and watched until it left.

*Not examinable*:

- an absence that ended near the end of the time to live
- for a subscription that must be gone, a subscriber whose calls ended only its consumer or its session, and not its
  connection: the time to live may count from the later end of the connection
- an absence in which a client tried to create another consumer of the subscription, even without success
- an absence that a fault touches: the document does not say whether the time counts while the broker is away
- a shared subscription, one with a selector, and a subscriber that does not come back
- a publication with a delay, or that the broker retains, or that may still be on its way when its send returns
  (`assay_pipeline.tables.publications`)
- a missing message that an administrator may have kept back, or whose subscription a client tried to delete

*Figure*: how often the returned subscriber received the message.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.oracle import Examined, Story
from assay_evidence.oracle.lapses import Lapse
from assay_evidence.oracle.lapses import lapses as of_story
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limit, Limits, Outcome
from assay_pipeline.examined import OfTable, Rows
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.quiet import LATE_MS

LAPSE_MS = Limit("lapse_ms", 4_000, "How long after its time to live a subscription may still exist.")


def _rows(limits: Limits, rule: str) -> Rows:
    lapse = limits[LAPSE_MS] * NS_PER_MS
    present = F.col("left_ns") > 0
    gone = (F.col("past_ns") > lapse) & F.col("disconnected")
    zero = F.col("ttl_ns") == 0
    which: dict[str, Column] = {
        "QS-20": (present & (F.col("age_ns") > lapse)) | (gone & zero),
        "QS-21": present,
        "QS-22": gone & ~zero,
    }
    quiet = (F.col("quiet_ns") >= limits[LATE_MS] * NS_PER_MS) & (F.col("seen") == 0) & ~F.col("withheld")
    lost = quiet & F.col("stored") & ~F.col("careless") & F.col("attached")
    outcome = F.when(present, F.when(F.col("seen") > 0, Outcome.KEPT.value).when(lost, Outcome.BROKEN.value)).otherwise(
        F.when(F.col("seen") > 0, Outcome.BROKEN.value).when(quiet, Outcome.KEPT.value)
    )
    name = F.concat(F.col("key"), F.lit(">"), F.col("actor"), F.lit("/"), F.col("turn").cast("string"))
    return Rows(which[rule], name, outcome, F.col("seen"))


def _in_python(story: Story, limits: Limits, rule: str) -> Iterator[Examined]:
    for lapse in of_story(story):
        if rule not in _rules_of(lapse, limits):
            continue
        outcome = _continued(lapse, limits) if lapse.left_ns > 0 else _ended(lapse, limits)
        if outcome is not None:
            yield lapse.name, outcome, lapse.seen, lapse.send.call


def _rules_of(lapse: Lapse, limits: Limits) -> set[str]:
    margin = limits[LAPSE_MS] * NS_PER_MS
    if lapse.left_ns > 0:
        return {"QS-21", "QS-20"} if lapse.age_ns > margin else {"QS-21"}
    if lapse.past_ns > margin and lapse.disconnected:
        return {"QS-22"} if lapse.ttl_ns else {"QS-20"}
    return set()


def _is_quiet(lapse: Lapse, limits: Limits) -> bool:
    return lapse.quiet_ns >= limits[LATE_MS] * NS_PER_MS and not lapse.withheld


def _continued(lapse: Lapse, limits: Limits) -> Outcome | None:
    if lapse.seen:
        return Outcome.KEPT
    sure = lapse.stored and not lapse.careless and lapse.attached
    return Outcome.BROKEN if sure and _is_quiet(lapse, limits) else None


def _ended(lapse: Lapse, limits: Limits) -> Outcome | None:
    if lapse.seen:
        return Outcome.BROKEN
    return Outcome.KEPT if _is_quiet(lapse, limits) else None


_RECEIVED = "received {0}"
COUNTED = Invariant(
    rule="QS-20",
    text="the time to live of a subscription counts from the disconnection, and zero ends it at once.",
    wording=Wording("a time to live that counts from the disconnection", _RECEIVED, one="time"),
    on_spark=OfTable("lapses", partial(_rows, rule="QS-20")),
    in_python=partial(_in_python, rule="QS-20"),
    limits=(LATE_MS, LAPSE_MS),
)
RESUMED = Invariant(
    rule="QS-21",
    text="a subscription whose subscriber returns in time has the messages that came meanwhile.",
    wording=Wording("every message of an absence within the time to live", _RECEIVED, one="time"),
    on_spark=OfTable("lapses", partial(_rows, rule="QS-21")),
    in_python=partial(_in_python, rule="QS-21"),
    limits=(LATE_MS, LAPSE_MS),
)
GONE = Invariant(
    rule="QS-22",
    text="a subscription whose subscriber returns after the time to live has no earlier message.",
    wording=Wording("no message of an absence beyond the time to live", _RECEIVED, one="time"),
    on_spark=OfTable("lapses", partial(_rows, rule="QS-22")),
    in_python=partial(_in_python, rule="QS-22"),
    limits=(LATE_MS, LAPSE_MS),
)
