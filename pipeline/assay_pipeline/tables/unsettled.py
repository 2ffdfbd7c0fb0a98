"""The table of messages that a consumer received, and had not settled when its connection was lost.

*Messages*: confirmed sends of messages that never expire and whose ids were sent once.

*Rows*: one for each message and each queue or durable subscription (`assay_pipeline.tables.holders`) of which a
consumer received the message from the destination to which it was sent.  The first of these receptions counts.  On the
link of that reception, the client did not settle the message in any way.  The connection was *lost* later: by the first
kill, restart or cut after the reception, or by a call with which the consumer dropped its connection.

The columns, beside the message's:

- ``source``, ``kind``, ``shared``: the holder; all MQ Light clients that share a subscription have one holder
- ``times``: how often its consumers received the message; ``looked``: a browse listed it
- ``again``: a consumer received the message on another link after the begin of the loss; ``again_other``: this consumer
  is not the one that lost its connection.  After a cut, such a reception counts only if no client closed a consumer, a
  session or a connection before it, because the cut may have spared the connection.
- ``certain``: the consumer's own connection was lost: the broker ended, or the consumer dropped it, or a client created
  the consumer again after the cut
- ``returned``: a client created the consumer again after the loss was over; ``away``: no client created it again after
  the begin of the loss
- ``tells``: the journal has a settlement by the consumer, of another message or of this one later; so the consumer's
  client records settlements
- ``neighbour``: the client accepted another message of the same link between the reception and the loss, outside of a
  unit of work
- ``asked``: between the reception and the end of the loss, the client called for an acknowledgement or a commit: the
  call may have covered the message
- ``stored``: either the message is persistent and its sender is not an MQ Light client, or no kill or restart began
  after the send
- ``quiet_ns``: the longest quiet tail (`assay_pipeline.quiet`), after the message was due and the loss was over, of the
  holder's consumers that were created after the loss; ``quiet_other_ns``: of the holder's consumers other than this
  one.  No fault that ends connections overlaps their watches.
- ``others``: how many other consumers the scenario has for the holder, whether they watch or not
- ``alone``: for a queue, only one actor consumes from it, and no client there may lose messages
  (`assay_pipeline.clients.alone`); for a subscription, always true
- ``withheld``: as for copies
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import FATAL, LOSING
from assay_pipeline.clients import alone
from assay_pipeline.history import CASE, IN_WRITER, MESSAGE, History
from assay_pipeline.moments import no, precedes
from assay_pipeline.quiet import due, quiet_tail, since_send, special, unbroken, withheld
from assay_pipeline.tables.holders import NON_DURABLE, QUEUE_KIND

SETTLING = ("acknowledge", "commit", "xa-commit")
"""The calls that may acknowledge several messages."""
HELD = (*MESSAGE, "source")
"""The key of the table."""
LINK = (*CASE, "actor", "link")


def unsettled(history: History, told: DataFrame) -> DataFrame:
    """Make the table of unsettled messages, with the columns that the module's docstring lists.

    Args:
        history: The history, for the tables that this one is made from.
        told: All events.
    """
    settles = told.where(F.col("kind") == "settle").select(
        *CASE, "actor", "link", F.col("msg.kid").alias("key"), "outcome", "unit", "at"
    )
    lost = _lost(_first(history), history.leaves).join(settles, [*LINK, "key"], "left_anti")
    accepted = settles.where((F.col("outcome") == "accepted") & F.col("unit").isNull())
    tells, looked = (F.lit("true").cast("boolean").alias(name) for name in ("tells", "looked"))
    looks = history.sightings.where("look").select(*MESSAGE, looked).distinct()
    asking = told.where((F.col("kind") == "call") & F.col("op").isin(*SETTLING))
    orderly = history.leaves.where(~F.col("abrupt")).groupBy(*CASE).agg(F.collect_list("at").alias("closings"))
    gone = history.unsubscribed.select(*CASE, F.col("name"), F.lit("true").cast("boolean").alias("deleted")).distinct()
    found = (
        lost.join(_created(history.consumers), [*CASE, "actor"], "left")
        .join(settles.select(*CASE, "actor", tells).distinct(), [*CASE, "actor"], "left")
        .join(accepted.groupBy(*LINK).agg(F.collect_list("at").alias("acceptances")), list(LINK), "left")
        .join(asking.groupBy(*IN_WRITER).agg(F.collect_list("at").alias("asking")), list(IN_WRITER), "left")
        .join(orderly, list(CASE), "left")
        .join(_sharers(history.consumers), [*CASE, "source"], "left")
        .join(looks, list(MESSAGE), "left")
        .join(_watched(lost, history.watches), list(HELD), "left")
        .join(alone(history.arrivals, history.consumers, CASE), [*CASE, "destination"], "left")
        .join(withheld(lost.select(*MESSAGE, "at").distinct(), history.admins), list(MESSAGE), "left")
        .join(special(history.admins, history.parties), list(CASE), "left")
        .join(gone, [*CASE, "name"], "left")
    )
    begin, end, seen = F.col("lost.begin"), F.col("lost.end"), F.col("seen_at")
    returned = F.coalesce(F.exists("created", lambda at: precedes(end, at)), no())
    away = ~F.coalesce(F.exists("created", lambda at: ~precedes(at, begin)), no())
    neighbour = F.exists("acceptances", lambda at: precedes(seen, at) & precedes(at, begin))
    asked = F.exists("asking", lambda at: precedes(seen, at) & ~F.coalesce(precedes(end, at), no()))
    closed = F.exists("closings", lambda at: ~precedes(at, begin) & ~precedes(F.col("next.at"), at))
    again = F.col("next").isNotNull() & ((F.col("lost.what") != "cut") | ~F.coalesce(closed, no()))
    own = F.col("lost.what") != "cut"
    fatal = F.exists("faults", lambda one: one["what"].isin(*FATAL) & ~precedes(one["begin"], F.col("at")))
    others = F.size(F.filter("sharers", lambda actor: actor != F.col("actor")))
    nothing = F.lit(0).cast("bigint")
    return found.select(
        *HELD, "at", "kind", "shared", "times",
        *(F.coalesce(name, no()).alias(name) for name in ("tells", "looked")),
        *(F.coalesce(name, nothing).alias(name) for name in ("quiet_ns", "quiet_other_ns")),
        F.when(F.col("sharers").isNull(), F.lit(0)).otherwise(others).alias("others"),
        F.coalesce(neighbour, no()).alias("neighbour"),
        F.coalesce(asked, no()).alias("asked"),
        again.alias("again"),
        (again & F.coalesce(F.col("next.actor") != F.col("actor"), no())).alias("again_other"),
        (own | returned).alias("certain"),
        returned.alias("returned"),
        away.alias("away"),
        (F.col("steady") | ~F.coalesce(fatal, no())).alias("stored"),
        ((F.col("kind") != QUEUE_KIND) | F.coalesce("alone", no())).alias("alone"),
        (F.coalesce("withheld", no()) | F.coalesce("special", no()) | F.coalesce("deleted", no())).alias("withheld"),
    )  # fmt: skip


def _group(holder: str = "source", of: str = "opened.") -> Column:
    """Return the holder of a reception, a watch or a consumer; MQ Light clients of all client ids share a subscription.

    Args:
        holder: The column with the holder.
        of: The prefix of the columns that describe the consumer.
    """
    light = F.coalesce(F.col(f"{of}shared") & F.col(f"{of}qos").isNotNull(), no())
    share = F.when(F.col(holder).isNotNull(), F.concat(F.lit("share "), F.col(f"{of}name")))
    return F.when(light, share).otherwise(F.col(holder)).alias("source")


def _sharers(consumers: DataFrame) -> DataFrame:
    """Find the names of all consumers of each holder."""
    held = consumers.select(*CASE, _group("holder", ""), "actor").where(F.col("source").isNotNull())
    return held.groupBy(*CASE, "source").agg(F.collect_set("actor").alias("sharers"))


def _first(history: History) -> DataFrame:
    """Find the first reception of each message by each holder, with all receptions by this holder."""
    sends = (
        history.sends.where((F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull())
        .withColumn("steady", F.coalesce((F.col("mode") == "persistent") & ~F.col("careless"), no()))
        .select(*MESSAGE, "destination", "at", "answered_at", "confirmed_at", "delay_ns", "faults", "steady")
    )
    seen = (
        history.sightings
        .where(~F.col("look") & F.col("source").isNotNull())
        .select(
            *MESSAGE, "destination", _group(), "actor", "link", "opened",
            F.col("at").alias("seen_at"),
        )
    )  # fmt: skip
    one = F.struct("seen_at", "actor", "link", F.col("opened.kind").alias("kind"),
                   F.col("opened.shared").alias("shared"), F.col("opened.name").alias("name"))  # fmt: skip
    order = F.struct(since_send(F.col("seen_at")), F.col("seen_at.writer"), F.col("seen_at.seq"))
    grouped = (
        sends.join(seen, [*MESSAGE, "destination"])
        .groupBy(*HELD)
        .agg(F.min_by(one, order).alias("first"), F.collect_list(one).alias("receptions"), F.count("*").alias("times"))
    )
    return (
        sends.join(grouped.select(*HELD, "first.*", "receptions", "times"), list(MESSAGE))
        .withColumn("kind", F.coalesce("kind", F.lit(QUEUE_KIND)))
        .where(F.col("kind") != NON_DURABLE)
        .withColumn("shared", F.coalesce("shared", no()))
        .withColumn("writer", F.col("seen_at.writer"))
    )


def _lost(first: DataFrame, leaves: DataFrame) -> DataFrame:
    """Find when the connection of each reception was lost, and the first later reception on another link."""
    cut = F.struct(F.lit("abort").alias("what"), F.col("at").alias("begin"), F.col("answered_at").alias("end"))
    aborts = leaves.where("abrupt").select(*CASE, "actor", cut.alias("cut")).groupBy(*CASE, "actor").agg(
        F.collect_list("cut").alias("cuts")
    )  # fmt: skip

    def earliest(spans: str) -> Column:
        later = F.filter(
            spans, lambda span: span["what"].isin(*LOSING, "abort") & precedes(F.col("seen_at"), span["begin"])
        )
        key = F.transform(
            later, lambda span: F.struct(since_send(span["begin"]).alias("ns"), span["what"].alias("what"),
                                         span["begin"].alias("begin"), span["end"].alias("end"))
        )  # fmt: skip
        return F.array_min(key)

    begin = F.col("lost.begin")
    other = F.filter(
        "receptions",
        lambda one: (
            ((one["link"] != F.col("link")) | (one["seen_at"]["writer"] != F.col("seen_at.writer")))
            & precedes(begin, one["seen_at"])
        ),
    )
    again = F.array_min(
        F.transform(
            other,
            lambda one: F.struct(
                since_send(one["seen_at"]).alias("ns"), one["seen_at"]["writer"].alias("writer"),
                one["seen_at"]["seq"].alias("seq"),
                one["actor"].alias("actor"), one["seen_at"].alias("at"),
            ),
        )
    )  # fmt: skip
    return (
        first.join(aborts, [*CASE, "actor"], "left")
        .withColumn("lost", F.least(earliest("faults"), earliest("cuts")))
        .where(F.col("lost").isNotNull())
        .withColumn("next", again)
    )


def _created(consumers: DataFrame) -> DataFrame:
    return consumers.groupBy(*CASE, "actor").agg(F.collect_list("at").alias("created"))


def _watched(lost: DataFrame, watches: DataFrame) -> DataFrame:
    spans = watches.select(
        *CASE, "destination", _group(), F.col("actor").alias("watcher"), F.col("opened.at").alias("created_at"),
        "begin", "end", "last", "conclusive",
    )  # fmt: skip
    over = F.col("lost.end").isNotNull() & unbroken()
    afresh = precedes(F.col("lost.end"), F.col("created_at"))
    tail = quiet_tail(F.greatest(due(), since_send(F.col("lost.end"))))
    apart = F.col("watcher") != F.col("actor")
    return (
        lost.join(spans, [*CASE, "destination", "source"])
        .groupBy(*HELD)
        .agg(
            F.max(F.when(over & afresh, tail)).alias("quiet_ns"),
            F.max(F.when(over & apart, tail)).alias("quiet_other_ns"),
        )
    )
