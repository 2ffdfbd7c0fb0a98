"""The table of copies: one row for each message and each of its holders, with all facts about the copy.

*Messages*: the confirmed sends of messages that never expire and whose ids were sent once.  The sender chose the
persistence, or is an MQ Light client (``light``), for which the topic chooses it; most rules leave such messages out.

*Holders* (`assay_pipeline.tables.holders`) of a message on a topic are the subscriptions that existed before the send.
A durable subscription exists from the creation of its first consumer on; it is not a holder if a client tried to delete
it before the send.  A non-durable subscription exists from the creation of its consumer on; it is a holder if the
consumer watched the topic through the send.  The holder of a message on a queue is the queue.

The columns, beside the message's and the holder's:

- ``seen``: how often consumers of the holder received the message; for a queue, how often any consumer received it or a
  browse listed it
- ``handed``: how often a consumer of the holder received the message from the destination to which it was sent
- ``fatal``: how many kills and restarts followed the send
- ``outlived``: how many of the sightings in ``seen`` are after the end of one of these faults.  Between the begin and
  the end of a fault, the broker may still run, or run again already.
- ``weathered``: how many of the sightings in ``seen`` are after the begin of a cut that followed the send
- ``altered``: how many times the received message had another body than the sent message
- ``twice``: the holder's consumers received the message twice without a mark, and nothing in the history permits that:
  neither an event after which a broker may deliver again, nor a second link of the same consumer
- ``watchers``: how many consumers of the holder watched it through the send
- ``idle``: no consumer of the holder watched it between the begin of the send and the confirmation
- ``reopened``: a consumer of the holder was created after the confirmation.  Without such a consumer, another one may
  have been attached during the whole send without a watch.
- ``delayed``: the message has a delay; no document says how late a broker may deliver it
- ``shaken``: a fault other than a kill or restart, or the loss of a client's connection, was not over before the send.
  A broker may notice late that a connection is lost; until then, it may hold a message for this connection.
- ``quiet_ns``: the longest quiet tail of a watch (`assay_pipeline.quiet`), after the message was due and all ``fatal``
  faults were over; 0 without a quiet tail
- ``unbroken_ns``: the same for watches that overlap no fault that ends connections
- ``through_ns``: the longest quiet tail after the message was due, of watches through the send that no fault overlaps
- ``alone``: only one actor consumes from the destination, and no client there may lose messages on their way
- ``inherited``: the durable subscription existed before a kill or restart that was over before the send, and no client
  opened it between the two
- ``common``: another client id uses the name of the subscription, too
- ``light``: an MQ Light client sent the message; ``surely``: this client sends at least once, and never at most once
- ``to_light``: an MQ Light client opened the subscription
- ``withheld``: an administrator may have kept the message back, a client tried to delete the subscription later, or the
  message may have gone elsewhere (`quiet.special`)
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import FATAL
from assay_pipeline.clients import alone, losses
from assay_pipeline.history import CASE, MESSAGE, QUEUE, TOPIC, History
from assay_pipeline.moments import any_of, different, elapsed, no, precedes, uncertainty
from assay_pipeline.quiet import due, overlaps, quiet_tail, since_send, special, unbroken, withheld
from assay_pipeline.tables.holders import DURABLE, NON_DURABLE, QUEUE_KIND, several_clients

COPY = (*MESSAGE, "holder")
"""The key of the table."""


def held(history: History) -> DataFrame:
    """Make the table of messages and their holders: one row for each copy, with the facts of the message's send.

    Args:
        history: The history, for the tables that this one is made from.
    """
    messages = (
        history.sends
        .where((F.col("ttl_ns") == 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull())
        .where(F.col("mode").isin("persistent", "non-persistent"))
        .join(history.parties.select(*CASE, "actor", "sends_surely"), [*CASE, "actor"], "left")
        .join(losses(history.leaves, CASE), list(CASE), "left")
        .select(
            *MESSAGE, "destination", "mode", "delay_ns", "sha256", "at", "answered_at", "confirmed_at", "faults",
            F.size(_fatal()).alias("fatal"), (F.col("delay_ns") > 0).alias("delayed"), _shaken().alias("shaken"),
            F.col("careless").alias("light"), (F.col("careless") & F.coalesce("sends_surely", no())).alias("surely"),
        )
    )  # fmt: skip
    return _held(messages, history).drop("faults")


def received(history: History) -> DataFrame:
    """Make the table of received copies: how often and when the consumers of a copy's holder received the message.

    Args:
        history: The history, for the tables that this one is made from.
    """
    seen = history.sightings.select(
        *MESSAGE, F.col("destination").alias("seen_in"), "source", "actor", "link", "look", "marked",
        F.col("at").alias("seen_at"), F.col("seen.sha256").alias("body"),
    )  # fmt: skip
    on_queue = F.col("kind") == QUEUE_KIND
    wanted = history.held.select(*COPY, "kind", "destination", "at", "sha256")
    of_queues = wanted.where(on_queue).join(seen, list(MESSAGE))
    of_subscriptions = wanted.where(~on_queue).join(seen.withColumn("holder", F.col("source")), list(COPY))
    return _counted(history.with_faults(of_queues.unionByName(of_subscriptions)))


def copies(history: History) -> DataFrame:
    """Make the table of copies, with the columns that the module's docstring lists.

    Args:
        history: The history, for the tables that this one is made from.
    """
    found = (
        history.held.join(_watched(history), list(COPY), "left")
        .join(history.received, list(COPY), "left")
        .join(_permitted(history.received, history.returns), list(COPY), "left")
        .join(alone(history.arrivals, history.consumers, CASE), [*CASE, "destination"], "left")
        .join(several_clients(history.consumers, CASE), [*CASE, "holder"], "left")
        .join(withheld(history.held.select(*MESSAGE, "at"), history.admins), list(MESSAGE), "left")
        .join(special(history.admins, history.parties), list(CASE), "left")
    )
    nothing = F.lit(0).cast("bigint")
    counts = ("seen", "handed", "outlived", "weathered", "altered", "watchers", "quiet_ns", "unbroken_ns", "through_ns")
    kept_back = F.coalesce("withheld", no()) | F.coalesce("special", no()) | F.col("deleted")
    again = (F.size("unmarked") > 1) & (F.col("links") == F.col("actors")) & ~F.coalesce("permitted", no())
    return found.select(
        *COPY, "kind", "shared", "destination", "mode", "at", "inherited", "reopened", "delayed",
        "shaken", "light", "surely", "to_light",
        F.greatest("fatal", F.lit(0)).alias("fatal"),
        *(F.coalesce(name, nothing).alias(name) for name in counts),
        *(F.coalesce(name, no()).alias(name) for name in ("alone", "common")),
        kept_back.alias("withheld"),
        F.coalesce(again, no()).alias("twice"),
        F.coalesce("idle", ~no()).alias("idle"),
    ).where((F.col("kind") != NON_DURABLE) | (F.col("watchers") > 0))  # fmt: skip


def _fatal() -> Column:
    """Return the faults (column ``faults``) after the send that leave a broker only what was on disk."""
    return F.filter("faults", lambda fault: fault["what"].isin(*FATAL) & precedes(F.col("at"), fault["begin"]))


def _shaken() -> Column:
    def upon(loss: Column) -> Column:
        return ~F.coalesce(precedes(loss["end"], F.col("at")), no())

    other = F.exists("faults", lambda fault: ~fault["what"].isin(*FATAL) & upon(fault))
    return F.coalesce(other, no()) | F.coalesce(F.exists("losses", upon), no())


def _held(messages: DataFrame, history: History) -> DataFrame:
    consumers = history.consumers.where(F.col("holder").isNotNull())
    place = (*CASE, "destination")
    created = history.consumers.groupBy(*place).agg(F.collect_list("at").alias("created"))
    on_queue = messages.where(F.col("destination").like(QUEUE)).join(created, list(place), "left").select(
        *messages.columns, F.col("destination").alias("holder"), F.lit(QUEUE_KIND).alias("kind"), no().alias("shared"),
        no().alias("inherited"), no().alias("deleted"), no().alias("to_light"), _later("created").alias("reopened"),
    )  # fmt: skip
    published = messages.where(F.col("destination").like(TOPIC))
    opened = consumers.where((F.col("kind") == NON_DURABLE) & F.col("accepted")).select(
        *CASE, "destination", "holder", "kind", "shared", F.col("answered_at").alias("opened_at")
    )
    live = published.join(opened, [*CASE, "destination"]).where(precedes(F.col("opened_at"), F.col("at")))
    unlike = ("inherited", "deleted", "reopened", "to_light")
    return (
        on_queue.unionByName(live.drop("opened_at").withColumns(dict.fromkeys(unlike, no())))
        .unionByName(_lasting(published, consumers, history.unsubscribed))
    )  # fmt: skip


def _later(created: str) -> Column:
    """Return whether a consumer was created after the message's confirmation, from an array of the calls' moments."""
    return F.coalesce(F.exists(created, lambda at: precedes(F.col("confirmed_at"), at)), no())


def _lasting(published: DataFrame, consumers: DataFrame, unsubscribed: DataFrame) -> DataFrame:
    ends = unsubscribed.groupBy(*CASE, "name").agg(F.collect_list("at").alias("ends"))
    lasting = (
        consumers.where(F.col("kind") == DURABLE)
        .groupBy(*CASE, "destination", "holder", "kind", "shared", "name")
        .agg(
            F.collect_list(F.when(F.col("accepted"), F.col("answered_at"))).alias("opened"),
            F.collect_list("at").alias("tried"),
            any_of(F.col("qos").isNotNull()).alias("to_light"),
        )
        .join(ends, [*CASE, "name"], "left")
    )
    at = F.col("at")
    exists = F.exists("opened", lambda opened: precedes(opened, at)) & F.coalesce(
        F.forall("ends", lambda end: precedes(at, end)), ~no()
    )

    def outlived(fault: Column) -> Column:
        return (
            fault["what"].isin(*FATAL)
            & F.coalesce(precedes(fault["end"], at), no())
            & F.exists("opened", lambda opened: precedes(opened, fault["begin"]))
            & F.forall("tried", lambda tried: precedes(tried, fault["begin"]) | precedes(at, tried))
        )

    return (
        published.join(lasting, [*CASE, "destination"])
        .where(exists)
        .withColumn("inherited", F.coalesce(F.exists("faults", outlived), no()))
        .withColumn("deleted", F.col("ends").isNotNull())
        .withColumn("reopened", _later("tried"))
        .drop("opened", "tried", "ends", "name")
    )


def _watched(history: History) -> DataFrame:
    """Find what the watches of each copy's holder show; a copy has no row if no such watch ended after its send."""
    begin, end = F.col("begin"), F.col("end")
    through = precedes(begin, F.col("at")) & precedes(F.col("at"), end)
    awaiting = history.held.select(*COPY, "destination", "at", "confirmed_at", due().alias("due_ns"))
    spans = history.watches.select(
        *CASE, "destination", F.col("source").alias("holder"), F.col("actor").alias("watcher"), "begin", "end", "last",
        "conclusive",
    )  # fmt: skip
    over = F.coalesce(F.forall(_fatal(), lambda fault: fault["end"].isNotNull()), ~no())
    ends = F.array_max(F.transform(_fatal(), lambda fault: since_send(fault["end"])))
    apart = precedes(F.col("confirmed_at"), begin)
    calm = ~overlaps("faults", since_send(begin), since_send(end))
    tail = quiet_tail(F.greatest(F.col("due_ns"), ends))
    return (
        history.with_faults(awaiting.join(spans, [*CASE, "destination", "holder"]).where(~precedes(end, F.col("at"))))
        .groupBy(*COPY)
        .agg(
            different(F.when(through, F.col("watcher"))).alias("watchers"),
            F.bool_and(apart).alias("idle"),
            F.max(F.when(over, tail)).alias("quiet_ns"),
            F.max(F.when(over & unbroken(), tail)).alias("unbroken_ns"),
            F.max(F.when(through & calm, quiet_tail(F.col("due_ns")))).alias("through_ns"),
        )
    )


def _counted(seen: DataFrame) -> DataFrame:
    """Count the receptions of each copy, from rows with one copy and one reception each."""
    seen_at, mine = F.col("seen_at"), F.coalesce(F.col("source") == F.col("holder"), no())
    plain = mine & ~F.col("look") & (F.col("seen_in") == F.col("destination"))
    fresh = plain & ~F.col("marked")

    def after(fault: Column) -> Column:
        by_clock = elapsed(fault["end"], seen_at) > uncertainty(fault["end"], seen_at)
        return F.coalesce(precedes(fault["end"], seen_at) | by_clock, no())

    def weathered(fault: Column) -> Column:
        return (fault["what"] == "cut") & precedes(F.col("at"), fault["begin"]) & precedes(fault["begin"], seen_at)

    return seen.groupBy(*COPY).agg(
        F.first("at").alias("sent_at"),
        F.count("*").alias("seen"),
        F.count(F.when(plain, 1)).alias("handed"),
        F.count(F.when(F.exists(_fatal(), after), 1)).alias("outlived"),
        F.count(F.when(F.coalesce(F.exists("faults", weathered), no()), 1)).alias("weathered"),
        F.count(F.when(plain & (F.col("body") != F.col("sha256")), 1)).alias("altered"),
        F.collect_list(F.when(fresh, seen_at)).alias("unmarked"),
        different(F.when(fresh, F.struct("seen_at.writer", "actor", "link"))).alias("links"),
        different(F.when(fresh, F.struct("seen_at.writer", "actor"))).alias("actors"),
    )


def _permitted(seen: DataFrame, returns: DataFrame) -> DataFrame:
    """Find the copies that the broker may have delivered again."""
    gave = F.col("gave_at")
    within = ~precedes(gave, F.col("sent_at")) & F.exists("unmarked", lambda at: ~precedes(at, gave))
    return (
        seen.where(F.size("unmarked") > 1)
        .join(returns.withColumnRenamed("at", "gave_at"), list(CASE))
        .groupBy(*COPY)
        .agg(any_of(within).alias("permitted"))
    )
