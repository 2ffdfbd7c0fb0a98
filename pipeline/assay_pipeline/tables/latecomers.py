"""The table of publications that a later subscriber could receive: one row for each publication.

*Publications* (`assay_pipeline.tables.publications`): confirmed publications without a delay.  All are left out if a
client connects to a further queue manager.

A consumer is *later* if a client created it certainly after the publication was confirmed.  Its receptions count only
on links on which the same actor had received nothing before, because an older link may still deliver the messages that
it holds.

The table counts three kinds of later consumers:

- ``live``: non-durable and unshared; no kill or restart began between the send and the creation of the consumer (for a
  quiet tail, the begin of the watch)
- ``after``: non-durable and unshared, and a kill or restart began after the confirmation and was over before the
  consumer was created
- ``every``: all later consumers

The columns, beside the message's:

- ``seen_live``, ``seen_after``, ``seen_every``: how often such consumers received the publication
- ``quiet_live``, ``quiet_after``, ``quiet_every``: their longest quiet tail (`assay_pipeline.quiet`), in nanoseconds,
  in watches that overlap no fault that ends connections
- ``seen_once``, ``quiet_once``: the same for those of ``after`` that receive at most once
- ``subscribed``: a non-durable, unshared subscription was created before the send; ``subscribed_once``: one that
  receives at most once
- ``watched``: a consumer of such a subscription watched from before the send until a kill or restart that began after
  the confirmation, and did not receive the publication; ``watched_once``: one that receives at most once
- ``unsubscribed``: an actor had closed its consumer of such a subscription before the send, and all consumers of this
  actor in the scenario are consumers of the topic
- ``unasked``: all attempts to create a consumer of the topic came after the confirmation; in the whole scenario, no
  client tried to create a consumer of a topic pattern, and no administrator gave a command about subscriptions
- ``stored``: the publication is persistent, and its sender is not an MQ Light client
- ``could_survive``: the publication could outlive the kills and restarts that were not over before the send: it is
  ``stored``, or no such fault occurred
- ``could_be_saved``: the publication could outlive these faults in a broker that saves all messages before it stops: it
  is ``stored``, or all of them were restarts
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.events import FATAL, SUDDEN
from assay_pipeline.history import CASE, MESSAGE, TOPIC, History
from assay_pipeline.moments import any_of, no, precedes
from assay_pipeline.quiet import due, quiet_tail, unbroken
from assay_pipeline.tables.holders import NON_DURABLE
from assay_pipeline.tables.publications import publications

PATTERN = "[#*+%]"
"""The characters of topic patterns, in the notations of all products."""
SUBSCRIPTIONS = "SUB("
"""A part of administrators' commands about subscriptions."""
ONCE = "at-most-once"
PLACE = (*CASE, "destination")


def latecomers(history: History, told: DataFrame) -> DataFrame:
    """Make the table of publications for later subscribers, with the columns that the module's docstring lists.

    Args:
        history: The history, for the tables that this one is made from.
        told: All events.
    """
    published = _published(history)
    found = (
        published.join(_seen(published, history.sightings), list(MESSAGE), "left")
        .join(_waited(published, history.watches), list(MESSAGE), "left")
        .join(_before(published, history, told), list(MESSAGE), "left")
    )
    nothing = F.lit(0).cast("bigint")
    kinds = ("live", "after", "every", "once")
    counts = (
        F.coalesce(f"{what}_{kind}", nothing).alias(f"{what}_{kind}") for what in ("seen", "quiet") for kind in kinds
    )
    names = ("subscribed", "subscribed_once", "watched", "watched_once", "unsubscribed")
    flags = (F.coalesce(name, no()).alias(name) for name in names)

    def is_not_over(fault: Column) -> Column:
        return ~F.coalesce(precedes(fault["end"], F.col("at")), no())

    fatal = F.coalesce(F.exists("faults", lambda fault: _is_fatal(fault) & is_not_over(fault)), no())
    killed = F.coalesce(F.exists("faults", lambda fault: fault["what"].isin(*SUDDEN) & is_not_over(fault)), no())
    return found.where(F.col("seen_every").isNotNull() | F.col("quiet_every").isNotNull()).select(
        *MESSAGE, "at", *counts, *flags,
        F.coalesce(~F.col("early"), ~no()).alias("unasked"),
        F.col("stored"),
        (F.col("stored") | ~fatal).alias("could_survive"),
        (F.col("stored") | ~killed).alias("could_be_saved"),
    )  # fmt: skip


def _published(history: History) -> DataFrame:
    distant = history.parties.groupBy(*CASE).agg(any_of(F.col("remote")).alias("distant"))
    handed = history.sightings.where(~F.col("look"))
    receivers = handed.groupBy(*MESSAGE).agg(F.collect_set("actor").alias("receivers"))
    return (
        publications(history)
        .join(distant, list(CASE), "left")
        .where(~F.coalesce("distant", no()))
        .drop("distant")
        .join(receivers, list(MESSAGE), "left")
    )


def _is_fatal(fault: Column) -> Column:
    return fault["what"].isin(*FATAL)


def _kinds(come: Column) -> dict[str, Column]:
    """Return the conditions of the kinds of later consumers.

    Args:
        come: The moment from which on the consumer could receive the publication.
    """
    at, opened = F.col("at"), F.col("opened.at")
    plain = _is_plain()

    def between(fault: Column) -> Column:
        return _is_fatal(fault) & ~precedes(fault["begin"], at) & ~precedes(come, fault["begin"])

    def passed(fault: Column) -> Column:
        begun = precedes(F.col("confirmed_at"), fault["begin"])
        return _is_fatal(fault) & begun & F.coalesce(precedes(fault["end"], opened), no())

    after = plain & F.coalesce(F.exists("faults", passed), no())
    return {
        "live": plain & ~F.coalesce(F.exists("faults", between), no()),
        "after": after,
        "every": ~no(),
        "once": after & _is_once(),
    }


def _is_plain() -> Column:
    return F.coalesce((F.col("opened.kind") == NON_DURABLE) & ~F.col("opened.shared"), no())


def _is_once() -> Column:
    return F.coalesce(F.col("opened.qos") == ONCE, no())


def _later() -> Column:
    return F.coalesce(precedes(F.col("confirmed_at"), F.col("opened.at")), no())


def _seen(published: DataFrame, sightings: DataFrame) -> DataFrame:
    link = (*CASE, "actor", "link")
    handed = sightings.where(~F.col("look"))
    fresh = handed.groupBy(*link).agg(F.min_by("at", "at.seq").alias("linked_at"))
    seen = handed.select(*MESSAGE, "destination", "actor", "link", "opened")
    return (
        published.join(seen, [*MESSAGE, "destination"])
        .where(_later())
        .join(fresh, list(link))
        .where(precedes(F.col("opened.at"), F.col("linked_at")))
        .groupBy(*MESSAGE)
        .agg(*(F.count(F.when(which, 1)).alias(f"seen_{kind}") for kind, which in _kinds(F.col("opened.at")).items()))
    )


def _waited(published: DataFrame, watches: DataFrame) -> DataFrame:
    """Find how long later consumers waited, and whether earlier ones watched until the broker ended."""
    tail = quiet_tail(due())
    later = _later() & unbroken()
    begin, end = F.col("begin"), F.col("end")

    def ended(fault: Column) -> Column:
        return _is_fatal(fault) & precedes(F.col("confirmed_at"), fault["begin"]) & precedes(fault["begin"], end)

    has_it = F.coalesce(F.array_contains("receivers", F.col("actor")), no())
    watched = (
        _is_plain() & precedes(begin, F.col("at")) & F.coalesce(F.exists("faults", ended), no()) & ~has_it
    )  # fmt: skip
    return (
        published.join(watches.drop("writer", "at"), list(PLACE))
        .groupBy(*MESSAGE)
        .agg(
            *(F.max(F.when(later & which, tail)).alias(f"quiet_{kind}") for kind, which in _kinds(begin).items()),
            any_of(watched).alias("watched"),
            any_of(watched & _is_once()).alias("watched_once"),
        )
    )


def _before(published: DataFrame, history: History, told: DataFrame) -> DataFrame:
    """Find the subscriptions that existed before each publication."""
    topics = history.consumers.where(F.col("destination").like(TOPIC))
    single = history.consumers.groupBy(*CASE, "actor").agg(F.count_distinct("destination").alias("places"))
    gone = (
        history.leaves.where(~F.col("abrupt") & F.col("accepted"))
        .join(single.where(F.col("places") == 1), [*CASE, "actor"])
        .select(*CASE, "actor", F.col("at").alias("left_at"), F.col("answered_at").alias("gone_at"))
    )
    plain = (F.col("kind") == NON_DURABLE) & ~F.col("shared") & F.coalesce("accepted", no())
    opened = F.when(plain, F.col("opened_at"))
    left = precedes(F.col("opened_at"), F.col("left_at"))
    known = (
        topics.select(*PLACE, "actor", "kind", "shared", "accepted", "qos", F.col("answered_at").alias("opened_at"))
        .join(gone, [*CASE, "actor"], "left")
        .groupBy(*PLACE)
        .agg(
            F.collect_list(opened).alias("opened"),
            F.collect_list(F.when(F.coalesce(F.col("qos") == ONCE, no()), opened)).alias("opened_once"),
            F.collect_list(F.when(plain & left, F.col("gone_at"))).alias("gone"),
        )
    )
    calls = told.where((F.col("kind") == "call") & (F.col("op") == "consumer") & F.col("destination").like(TOPIC))
    asked = calls.groupBy(*PLACE).agg(F.collect_list("at").alias("asked"))
    patterns = calls.where(F.col("destination").rlike(PATTERN)).select(*CASE)
    administered = history.admins.where(F.col("command").contains(SUBSCRIPTIONS)).select(*CASE)
    wide = patterns.unionByName(administered).distinct().withColumn("wide", F.lit("true").cast("boolean"))
    at = F.col("at")
    return (
        published.join(known, list(PLACE), "left")
        .join(asked, list(PLACE), "left")
        .join(wide, list(CASE), "left")
        .select(
            *MESSAGE,
            F.exists("opened", lambda opening: precedes(opening, at)).alias("subscribed"),
            F.exists("opened_once", lambda opening: precedes(opening, at)).alias("subscribed_once"),
            F.exists("gone", lambda end: precedes(end, at)).alias("unsubscribed"),
            (
                F.coalesce("wide", no())
                | F.coalesce(F.exists("asked", lambda call: ~precedes(F.col("confirmed_at"), call)), no())
            ).alias("early"),
        )
    )  # fmt: skip
