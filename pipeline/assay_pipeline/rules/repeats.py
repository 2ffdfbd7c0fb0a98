"""QS-03, QS-06, QS-07, QS-08: a message that is settled is not delivered again.

A copy of a message is *final* from one of these moments on:

- a client accepted the message, outside of a unit of work or in one that was committed later (the moment of the commit)
- a consumer that receives at most once received the message, because the broker had dropped its copy before

A queue has one copy of a message.  On a topic, the copy belongs to the consumer; the consumer has used at most one
subscription name and one client id.

*Examined*: every final copy of a message that was received from the destination to which it was sent.  Its send was
accepted, and its id was sent once.

- QS-08: a client accepted the message.
- QS-06: a consumer that receives at most once received the message.
- QS-07: as QS-06, if a fault, or a loss of the connection by this consumer, began after the final moment.
- QS-03: the sender of the message sends at most once and never at least once.

*Broken*: a consumer of the copy received the message after the final moment; for QS-07, also after the fault.
*Undecided*: a consumer received it within the uncertainty around that moment.  *Kept*: no consumer received it
afterwards, although a watch that began later ended with a silence (`QUIET_MS`), and the broker could have delivered the
message in that watch:

- between the final moment and the watch, an event permitted the delivery of messages again (table ``returns``): a
  broker that ignores acknowledgements keeps a message for the link that received it until this link ends
- on a topic, the subscription outlives its consumer: it is durable or shared
- the message is persistent (messages from MQ Light clients do not count as persistent), or no kill or restart began
  between the final moment and the watch

*Not examinable*:

- an acceptance that the broker may not have received: a fault, or the loss of any client's connection, overlaps the
  time from the reception over the same link to `SETTLED_MS` after the final moment.  The journal records a loss under
  the connection's name, which need not be the name of the consumer.
- for a consumer that receives at most once, a message for which a kill or restart overlaps the `SETTLED_MS` after the
  reception: the broker may not have dropped its copy on the disk
- a message that its sender may have sent again: a fault overlaps the send, or the `SETTLED_MS` after its answer.  A
  client that sends at most once never sends again.
- a publication that the broker retains, and all publications if a client connects to a further queue manager

*Figure*: the nanoseconds from the final moment to the first later sighting; 0 without such a sighting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import FATAL
from assay_evidence.oracle import Examined, Story, moments
from assay_evidence.oracle.settled_copies import RETAIN, settled_copies
from assay_evidence.spans import NS_PER_MS
from assay_evidence.subjects import Limit, Limits, Outcome
from assay_pipeline.clients import losses
from assay_pipeline.examined import subjects
from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.invariant import Invariant, Wording
from assay_pipeline.moments import any_of, elapsed, no, precedes
from assay_pipeline.quiet import QUIET_MS, overlaps, quiet_after, since_send

SETTLED_MS = Limit(
    "settled_ms",
    1_000,
    "How long after a client's settlement a connection must last, so that the broker has received it.",
)
COPY = (*MESSAGE, "holder")


# Spark ---------------------------------------------------------------------------------------------------------------


def _copies(history: History, limits: Limits) -> DataFrame:
    """Make one row for each reception of a message that its sender cannot have sent again."""
    margin = limits[SETTLED_MS] * NS_PER_MS
    owners = history.parties.select(*CASE, F.col("actor").alias("sender"), "sends_once")
    distant = history.parties.groupBy(*CASE).agg(any_of(F.col("remote")).alias("distant"))
    repeated = overlaps("faults", F.lit(0), since_send(F.col("answered_at")) + margin, or_meets=True)
    topic = F.col("destination").like(TOPIC)
    retained = F.coalesce(F.map_contains_key(F.col("sent.fields"), RETAIN), no())
    sends = (
        history.sends.withColumnRenamed("actor", "sender")
        .join(owners, [*CASE, "sender"], "left")
        .join(distant, list(CASE), "left")
        .withColumn("sends_once", F.coalesce("sends_once", no()))
        .where((F.col("sends") == 1) & F.col("accepted") & (F.col("sends_once") | ~repeated))
        .where(~topic | ~(retained | F.coalesce("distant", no())))
        .select(*MESSAGE, "destination", "mode", "careless", "at", "answered_at", "faults", "sends_once")
    )
    seen = history.sightings.where(~F.col("look")).select(
        *MESSAGE, "destination", "actor", "link", F.col("at").alias("seen_at")
    )
    known = history.parties.select(*CASE, "actor", "receives_once", "single", "lasts")
    return (
        sends.join(seen, [*MESSAGE, "destination"])
        .join(known, [*CASE, "actor"], "left")
        .where(~topic | F.coalesce("single", no()))
        .withColumn("holder", F.when(topic, F.col("actor")).otherwise(F.lit("")))
        .withColumn("lasts", ~topic | F.coalesce("lasts", no()))
        .join(_breaks(history), [*CASE, "actor"], "left")
        .join(losses(history.leaves, CASE), list(CASE), "left")
    )


def _breaks(history: History) -> DataFrame:
    """Make an array (``cuts``) for each actor, with the begin and end of each call that dropped the connection."""
    lost = history.leaves.where("abrupt").select(
        *CASE, "actor", F.struct(F.col("at").alias("begin"), F.col("answered_at").alias("end")).alias("cut")
    )
    return lost.groupBy(*CASE, "actor").agg(F.collect_list("cut").alias("cuts"))


def _accepted(copies: DataFrame, history: History, limits: Limits) -> DataFrame:
    got, until = since_send(F.col("seen_at")), since_send(F.col("final_at")) + limits[SETTLED_MS] * NS_PER_MS
    settled = history.settles.select(*MESSAGE, "actor", "link", F.col("at").alias("settled_at"), "final_at")
    return (
        copies.join(settled, [*MESSAGE, "actor", "link"])
        .where(precedes(F.col("seen_at"), F.col("settled_at")))
        .where(~overlaps("faults", got, until, or_meets=True) & ~overlaps("losses", got, until, or_meets=True))
        .drop("settled_at")
    )


def _careless(copies: DataFrame, _history: History, limits: Limits) -> DataFrame:
    got = since_send(F.col("seen_at"))
    fatal = F.filter("faults", lambda fault: fault["what"].isin(*FATAL))
    dropped = ~overlaps(fatal, got, got + limits[SETTLED_MS] * NS_PER_MS, or_meets=True)
    return copies.where(F.coalesce("receives_once", no()) & dropped).withColumn("final_at", F.col("seen_at"))


def _either(copies: DataFrame, history: History, limits: Limits) -> DataFrame:
    unsure = copies.where("sends_once")
    return _accepted(unsure, history, limits).unionByName(_careless(unsure, history, limits), allowMissingColumns=True)


def _broken_between(first: Column, second: Column) -> Column:
    """Return whether a fault, or the actor's loss of its connection, began between two moments."""

    def within(span: Column) -> Column:
        return F.coalesce(precedes(first, span["begin"]) & precedes(span["begin"], second), no())

    return F.coalesce(F.exists("faults", within), no()) | F.coalesce(F.exists("cuts", within), no())


def _could_come(final: Column, begin: Column) -> Column:
    """Return whether a broker could have delivered a final copy again in a watch that began at the moment `begin`.

    The columns: ``gave`` (the moments of the table ``returns``), ``faults``, ``mode``, ``careless`` and ``lasts``.
    """
    freed = F.exists("gave", lambda at: precedes(final, at) & precedes(at, begin))

    def fatal(fault: Column) -> Column:
        return fault["what"].isin(*FATAL) & precedes(final, fault["begin"]) & ~precedes(begin, fault["begin"])

    lost = F.col("careless") | ~F.coalesce(F.col("mode") == "persistent", no())
    return F.coalesce(freed, no()) & F.col("lasts") & ~(lost & F.coalesce(F.exists("faults", fatal), no()))


def _on_spark(
    history: History,
    limits: Limits,
    finals: Callable[[DataFrame, History, Limits], DataFrame],
    *,
    after_fault: bool = False,
) -> DataFrame:
    # After one client has settled a queue's message, no client may get it.  On a topic, each consumer has its own copy.
    received = history.keep("received-once-sent", lambda: _copies(history, limits))
    final = history.keep(
        f"final-by-{finals.__name__.strip('_')}", lambda: finals(received, history, limits).drop("seen_at")
    )
    again = history.sightings.where(~F.col("look")).select(
        *MESSAGE, "destination", F.col("actor").alias("other"), F.col("at").alias("again_at")
    )
    mine = (F.col("holder") == "") | (F.col("other") == F.col("holder"))
    apart = _broken_between(F.col("final_at"), F.col("again_at")) if after_fault else ~no()
    later = precedes(F.col("final_at"), F.col("again_at"))
    itself = (F.col("final_at.writer") == F.col("again_at.writer")) & (F.col("final_at.seq") >= F.col("again_at.seq"))
    gap = elapsed(F.col("final_at"), F.col("again_at"))
    seen = (
        final.join(again, [*MESSAGE, "destination"])
        .where(mine & ~itself & apart)
        .groupBy(*COPY)
        .agg(
            any_of(later).alias("again"),
            any_of(~later & ~precedes(F.col("again_at"), F.col("final_at"))).alias("unclear"),
            F.min(F.when(later, gap)).alias("gap"),
        )
    )
    spans = history.watches.select(
        *CASE, "destination", F.col("actor").alias("watcher"), "begin", "end", "last", "conclusive"
    )
    own = (F.col("holder") == "") | (F.col("watcher") == F.col("holder"))
    interrupted = _broken_between(F.col("final_at"), F.col("begin")) if after_fault else ~no()
    silent = precedes(F.col("final_at"), F.col("begin")) & quiet_after(since_send(F.col("final_at")), limits[QUIET_MS])
    gave = history.returns.groupBy(*CASE).agg(F.collect_list("at").alias("gave"))
    waited = (
        final.join(spans, [*CASE, "destination"])
        .join(gave, list(CASE), "left")
        .where(own & interrupted & silent & _could_come(F.col("final_at"), F.col("begin")))
        .select(*COPY)
        .distinct()
        .withColumn("waited", ~no())
    )
    copies = final.groupBy(*COPY).agg(F.first("at").alias("at"))
    outcome = (
        F.when(F.col("again"), Outcome.BROKEN.value)
        .when(F.col("unclear"), Outcome.UNDECIDED.value)
        .when(F.col("waited"), Outcome.KEPT.value)
    )
    return subjects(
        copies.join(seen, list(COPY), "left").join(waited, list(COPY), "left"),
        subject=F.when(F.col("holder") == "", F.col("key")).otherwise(F.concat_ws(">", "key", "holder")),
        outcome=outcome,
        figure=F.coalesce("gap", F.lit(0)),
    )


# plain Python --------------------------------------------------------------------------------------------------------


def _in_python(story: Story, limits: Limits, rule: str) -> Iterator[Examined]:
    after_loss, quiet_ns = rule == "QS-07", limits[QUIET_MS] * NS_PER_MS
    settled_ns = limits[SETTLED_MS] * NS_PER_MS
    for copy in settled_copies(story, rule, settled_ns):
        finals = copy.finals(rule, settled_ns)
        again = [(final.at, event) for final in finals for event in copy.later(final, after_loss=after_loss)]
        gaps = [moments.elapsed(at, event) for at, event in again if moments.precedes(at, event)]
        if gaps:
            yield copy.name, Outcome.BROKEN, min(gaps), copy.send.call
        elif again:
            yield copy.name, Outcome.UNDECIDED, 0, copy.send.call
        elif any(copy.waited(story, final, quiet_ns, after_loss=after_loss) for final in finals):
            yield copy.name, Outcome.KEPT, 0, copy.send.call


# the rules -----------------------------------------------------------------------------------------------------------

_AGAIN = "again {0} after it was final"
SENT_ONCE = Invariant(
    rule="QS-03",
    text="a message that was sent at most once is not delivered again after it is settled.",
    wording=Wording("no message that was sent at most once comes twice", _AGAIN),
    on_spark=partial(_on_spark, finals=_either),
    in_python=partial(_in_python, rule="QS-03"),
    limits=(QUIET_MS, SETTLED_MS),
)
RECEIVED_ONCE = Invariant(
    rule="QS-06",
    text="a message that a consumer received at most once does not come again.",
    wording=Wording("no message comes again to a subscriber that receives at most once", _AGAIN),
    on_spark=partial(_on_spark, finals=_careless),
    in_python=partial(_in_python, rule="QS-06"),
    limits=(QUIET_MS, SETTLED_MS),
)
LOST_ONCE = Invariant(
    rule="QS-07",
    text="a message that a consumer received at most once does not come again after a lost connection.",
    wording=Wording("no message comes again to a subscriber that receives at most once, after a loss", _AGAIN),
    on_spark=partial(_on_spark, finals=_careless, after_fault=True),
    in_python=partial(_in_python, rule="QS-07"),
    limits=(QUIET_MS, SETTLED_MS),
)
ACKNOWLEDGED = Invariant(
    rule="QS-08",
    text="a message that a client has acknowledged does not come again.",
    wording=Wording("no acknowledged message comes again", _AGAIN),
    on_spark=partial(_on_spark, finals=_accepted),
    in_python=partial(_in_python, rule="QS-08"),
    limits=(QUIET_MS, SETTLED_MS),
)
