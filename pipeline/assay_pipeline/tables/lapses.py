"""The table of messages that were sent while the subscriber of a subscription with a time to live was away.

The table has one row for each message and each absence.

*Absences*: a client created a consumer of an unshared subscription with a time to live, left it, and created it again,
with the same name, topic and time to live.  The consumer selects no messages.  The client leaves by a call that closes
or drops the consumer, its session or its connection, if the journal records the call under the consumer's name; all
these calls between the two creations count.  No fault overlaps the time from the subscription's first creation to the
answer of the call that created the consumer again.  Between the two creations, no client tried to create another
consumer of the name.  An attempt without an answer also counts, because the broker may have created the consumer.

*Messages*: the publications of the topic (`assay_pipeline.tables.publications`) that were sent after the subscriber had
left and confirmed before it came again.

The columns, beside the message's and the subscriber's ``actor``:

- ``ttl_ns``: the time to live
- ``left_ns``: how much of the time to live was certainly left when the subscriber had returned
- ``past_ns``: how long the time to live was certainly over when the subscriber began to return
- ``disconnected``: a call by which the subscriber left also ended the connection.  Otherwise the connection may have
  ended later, under another name, and the time to live may count from that moment.
- ``attached``: a watch of the subscriber lasted beyond the first call by which the subscriber left.  Otherwise the
  subscriber may have lost its connection before that call.
- ``age_ns``: how long the time to live would have been over if it counted from the subscription's first creation
- ``seen``: how often the returned subscriber received the message
- ``quiet_ns``: the longest quiet tail (`assay_pipeline.quiet`) of the returned subscriber's watches that overlap no
  fault that ends connections
- ``stored``: the message is persistent and its sender is not an MQ Light client
- ``careless``: the subscriber may lose messages on their way
- ``withheld``: as for copies
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.spans import NS_PER_MS
from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.moments import any_of, elapsed, no, precedes, uncertainty
from assay_pipeline.quiet import due, quiet_tail, special, unbroken, withheld
from assay_pipeline.tables.publications import publications

AWAY = (*MESSAGE, "actor", "turn")


def lapses(history: History, told: DataFrame) -> DataFrame:
    """Make the table of messages sent during absences, with the columns that the module's docstring lists.

    Args:
        history: The history, for the tables that this one is made from.
        told: All events.
    """
    away = _absences(history, told)
    sends = publications(history)
    gone, back = F.col("gone_at"), F.col("back.at")
    meanwhile = precedes(gone, F.col("at")) & precedes(F.col("confirmed_at"), back)
    missed = sends.join(away, [*CASE, "destination"]).where(meanwhile).where(~_upset())
    names = [*CASE, "name"]
    deleted = history.unsubscribed.select(*names, F.lit("true").cast("boolean").alias("deleted")).distinct()
    found = (
        missed.join(_seen(missed, history.sightings), list(AWAY), "left")
        .join(_waited(missed, history.watches), list(AWAY), "left")
        .join(withheld(missed.select(*MESSAGE, "at").distinct(), history.admins), list(MESSAGE), "left")
        .join(special(history.admins, history.parties), list(CASE), "left")
        .join(deleted, names, "left")
    )
    nothing = F.lit(0).cast("bigint")

    def over(start: Column, end: Column) -> Column:
        return elapsed(start, end) - uncertainty(start, end) - F.col("ttl_ns")

    return found.select(
        *AWAY, "at", "ttl_ns", "stored", "careless", "disconnected",
        F.coalesce("attached", no()).alias("attached"),
        (F.col("ttl_ns") - elapsed(F.col("leaves_at"), F.col("back.answered_at"))
         - uncertainty(F.col("leaves_at"), F.col("back.answered_at"))).alias("left_ns"),
        over(gone, back).alias("past_ns"),
        over(F.col("first_at"), back).alias("age_ns"),
        F.coalesce("seen", nothing).alias("seen"),
        F.coalesce("quiet_ns", nothing).alias("quiet_ns"),
        (F.coalesce("withheld", no()) | F.coalesce("special", no()) | F.coalesce("deleted", no())).alias("withheld"),
    )  # fmt: skip


def _absences(history: History, told: DataFrame) -> DataFrame:
    series = Window.partitionBy(*CASE, "writer", "actor", "destination", "name").orderBy("at.seq")
    limited = history.consumers.where(F.col("destination").like(TOPIC) & F.col("ttl_ms").isNotNull()).where(
        F.col("name").isNotNull()
    )
    plain = F.coalesce("accepted", no()) & ~F.col("shared") & ~F.col("chosen")
    visits = (
        limited.withColumn("plain", plain)
        .withColumn("turn", F.row_number().over(series))
        .withColumn("first_at", F.first("answered_at").over(series))
        .withColumn("back", F.lead(F.struct("at", "answered_at", "plain", "ttl_ms")).over(series))
        .where(F.col("first_at").isNotNull() & F.col("plain") & F.col("back.plain"))
        .where(F.col("ttl_ms") == F.col("back.ttl_ms"))
        .withColumn("ttl_ns", F.col("ttl_ms") * F.lit(NS_PER_MS).cast("bigint"))
        .select(*CASE, "actor", "destination", "name", "turn", "first_at", "back", "ttl_ns", "careless",
                F.col("answered_at").alias("opened_at"))
    )  # fmt: skip
    leaves = history.leaves.select(
        *CASE, "actor", F.col("at").alias("leave_at"), F.when(F.col("accepted"), F.col("answered_at")).alias("left_at"),
        F.col("op").isin("abort", "close-connection").alias("whole"),
    )  # fmt: skip
    between = precedes(F.col("opened_at"), F.col("leave_at")) & precedes(F.col("leave_at"), F.col("back.at"))
    visit = (*CASE, "actor", "destination", "turn", "name")
    gone = (
        visits.join(leaves, [*CASE, "actor"])
        .where(between)
        .groupBy(*visit)
        .agg(
            F.min_by("leave_at", "leave_at.seq").alias("leaves_at"),
            F.max_by("left_at", "left_at.seq").alias("gone_at"),
            any_of(F.col("whole") & F.col("left_at").isNotNull()).alias("disconnected"),
        )
        .where(F.col("gone_at").isNotNull())
    )
    args = F.col("args")
    asked = (
        told.where((F.col("kind") == "call") & (F.col("op") == "consumer") & args["name"].isNotNull())
        .groupBy(*CASE, args["name"].alias("name"))
        .agg(F.collect_list("at").alias("asked"))
    )
    back = F.col("back.at")

    def meanwhile(at: Column) -> Column:
        return ~precedes(at, F.col("opened_at")) & ~precedes(back, at) & _differ(at, back)

    return (
        visits.join(gone, list(visit))
        .where(precedes(F.col("gone_at"), back))
        .join(asked, [*CASE, "name"], "left")
        .where(~F.coalesce(F.exists("asked", meanwhile), no()))
        .drop("asked")
    )


def _differ(one: Column, other: Column) -> Column:
    """Return whether two moments belong to different events."""
    return (one["writer"] != other["writer"]) | (one["seq"] != other["seq"])


def _upset() -> Column:
    """Return whether a fault overlaps the time from the subscription's first creation to the subscriber's return."""

    def overlaps(fault: Column) -> Column:
        before = F.coalesce(precedes(fault["end"], F.col("first_at")), no())
        return ~before & ~precedes(F.col("back.answered_at"), fault["begin"])

    return F.coalesce(F.exists("faults", overlaps), no())


def _seen(missed: DataFrame, sightings: DataFrame) -> DataFrame:
    seen = sightings.where(~F.col("look")).select(*MESSAGE, "destination", "actor", F.col("at").alias("seen_at"))
    return (
        missed.join(seen, [*MESSAGE, "destination", "actor"])
        .where(precedes(F.col("back.at"), F.col("seen_at")))
        .groupBy(*AWAY)
        .agg(F.count("*").alias("seen"))
    )


def _waited(missed: DataFrame, watches: DataFrame) -> DataFrame:
    spans = watches.select(*CASE, "destination", "actor", "begin", "end", "last", "conclusive")
    begin, leaves = F.col("begin"), F.col("leaves_at")
    after = precedes(F.col("back.at"), begin) & unbroken()
    attached = precedes(F.col("opened_at"), begin) & precedes(begin, leaves) & precedes(leaves, F.col("end"))
    return (
        missed.join(spans, [*CASE, "destination", "actor"])
        .groupBy(*AWAY)
        .agg(F.max(F.when(after, quiet_tail(due()))).alias("quiet_ns"), any_of(attached).alias("attached"))
    )
