"""The history: tables of messages, sightings, watches and batches, made from single events.

The invariants read only these tables:

- ``sends``: one row for each send.  It holds destination, mode, priority (null if the destination chooses it), delay,
  time to live, unit of work, the call's answer, the message in the answer (``sent``) and the faults of the scenario.
  It also holds the time at which the send was *confirmed*: the time of its answer, or of the commit of its unit of
  work.
- ``sightings``: one row for each reception of a message by a consumer, with the message as received (``seen``), and one
  (``look``) for each browse of the message's own destination that listed it.  Other browses do not count: an
  administrator may find a message elsewhere, for example on the staging queue.
- ``watches``: one row for each span in which a consumer could have received a message.  It holds the consumer's last
  activity in the span, and whether silence in the span shows that no message came (``telling``).
- ``actors``: the properties of each consumer.
- ``arrivals``: the times at which a consumer was created on a destination or began to watch it.
- ``browses``: the times at which a destination was browsed.
- ``admins``: the commands of administrators.
- ``batches``: one row for each batch, with the size of its listener.
- ``parties``: one row for each actor.  It tells whether all its consumers receive at most once (``receives_once``),
  whether it sends at most once (``sends_once``), whether it has only one subscription name and one client id
  (``single``), and whether it connects to another queue manager than the first (``remote``).
- ``settles``: one row for each message that a client accepted outside of a unit of work, or in a unit of work that was
  committed; ``final_at`` is the time of the acceptance or of the commit.
- ``leaves``: one row for each call that ends a consumer, a session or a connection.

The messages, actors and destinations of a scenario are separate from those of all other scenarios.  Events outside of
scenarios belong to the scenario with the empty name.
"""

from __future__ import annotations

from msgspec import Struct
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_pipeline.clients import leaves, parties, settles
from assay_pipeline.moments import any_of, duration, moment, no, number

CASE = ("folder", "run", "scenario")
"""The columns of the key of every table and join, because scenarios are separate."""
IN_WRITER = (*CASE, "writer")
MESSAGE = (*CASE, "kid")
QUEUE, TOPIC = "queue://%", "topic://%"


class History(Struct, frozen=True):
    """The tables that the module's docstring describes; all have the columns of `CASE`."""

    sends: DataFrame
    sightings: DataFrame
    watches: DataFrame
    actors: DataFrame
    arrivals: DataFrame
    browses: DataFrame
    admins: DataFrame
    batches: DataFrame
    parties: DataFrame
    settles: DataFrame
    leaves: DataFrame


def build_history(events: DataFrame) -> History:
    """Define the tables; Spark computes them when they are used.

    Args:
        events: The parsed lines (`assay_pipeline.bronze.Bronze.events`).
    """
    told = events.withColumn("scenario", F.coalesce("scenario", F.lit(""))).withColumn("at", moment())
    calls = _calls(told)
    actors, sends = _actors(calls), _sends(told, calls)
    place = (*CASE, "actor", "destination", "at")
    came = calls.where((F.col("op") == "consumer") & F.col("accepted")).select(*place)
    began = told.where((F.col("kind") == "watch") & (F.col("phase") == "begin")).select(*place)
    browses = calls.where((F.col("op") == "browse") & F.col("accepted"))
    return History(
        sends=sends.join(_faults(told), list(CASE), "left"),
        sightings=_sightings(told, calls, sends),
        watches=_watches(told, actors),
        actors=actors,
        arrivals=came.unionByName(began),
        browses=browses.select(*CASE, "destination", F.col("answered_at").alias("at")),
        admins=told.where(F.col("kind") == "admin").select(*CASE, "at", "command"),
        batches=_batches(told, calls),
        parties=parties(calls, CASE),
        settles=settles(told, CASE),
        leaves=leaves(calls, CASE),
    )


def _calls(told: DataFrame) -> DataFrame:
    """Make a table with one row for each call and its answer; ``accepted`` is null without an answer."""
    called = F.col("kind") == "call"
    answered = F.col("kind") == "return"

    def of_call(column: Column, name: str) -> Column:
        return F.first(F.when(called, column), ignorenulls=True).alias(name)

    return (
        told.where(called | answered)
        .withColumn("id", F.when(called, F.col("id")).otherwise(F.col("call")))
        .groupBy(*IN_WRITER, "id")
        .agg(
            of_call(F.col("actor"), "actor"),
            of_call(F.col("op"), "op"),
            of_call(F.col("args"), "args"),
            of_call(F.col("destination"), "destination"),
            of_call(F.col("unit"), "unit"),
            of_call(F.col("msg.kid"), "kid"),
            of_call(F.col("at"), "at"),
            F.first(F.when(answered, F.col("at")), ignorenulls=True).alias("answered_at"),
            F.first(F.when(answered, F.col("refused").isNull()), ignorenulls=True).alias("accepted"),
            F.first(F.when(answered, F.col("kids")), ignorenulls=True).alias("kids"),
            F.first(F.when(answered, F.col("msg")), ignorenulls=True).alias("sent"),
        )
        .where(F.col("op").isNotNull())
    )


def _sends(told: DataFrame, calls: DataFrame) -> DataFrame:
    sends = (
        calls.where((F.col("op") == "send") & F.col("kid").isNotNull())
        .withColumn("sends", F.count("*").over(Window.partitionBy(*MESSAGE)))
        .withColumn("mode", F.col("args")["mode"])
        .withColumn("priority", number(F.col("args"), "priority"))
        .withColumn("delay_ns", duration(F.col("args"), "delay_ms"))
        .withColumn("ttl_ns", duration(F.col("args"), "ttl_ms"))
    )
    # After a reconnection a session numbers its units from 0 again, so the next event of a unit's name ends the unit.
    units = told.where((F.col("kind") == "unit") & F.col("op").isin("begin", "commit", "rollback")).select(
        *IN_WRITER, "unit", F.struct("seq", F.col("op").alias("end"), "at").alias("ending")
    )
    ended = (
        sends.where(F.col("unit").isNotNull())
        .select(*IN_WRITER, "unit", "id", F.col("at.seq").alias("sent_seq"))
        .join(units, [*IN_WRITER, "unit"])
        .where(F.col("ending.seq") > F.col("sent_seq"))
        .groupBy(*IN_WRITER, "id")
        .agg(F.min_by("ending", "ending.seq").alias("ending"))
    )
    confirmed = F.when(
        F.col("accepted"),
        F.when(F.col("unit").isNull(), F.col("answered_at")).when(F.col("ending.end") == "commit", F.col("ending.at")),
    )
    return (
        sends.join(ended, [*IN_WRITER, "id"], "left")
        .withColumn("confirmed_at", confirmed)
        .select(
            *MESSAGE, "sends", "actor", "destination", "mode", "priority", "delay_ns", "ttl_ns", "unit",
            F.col("ending.end").alias("unit_end"), "at", "answered_at", "accepted", "confirmed_at", "sent",
        )
    )  # fmt: skip


def _sightings(told: DataFrame, calls: DataFrame, sends: DataFrame) -> DataFrame:
    seen = told.where(F.col("kind") == "seen").select(
        *CASE, F.col("msg.kid").alias("kid"), "actor", "link", "destination", "at",
        F.lit("false").cast("boolean").alias("look"), F.col("msg").alias("seen"),
    )  # fmt: skip
    sent_to = sends.select(*MESSAGE, "destination").distinct()
    looks = (
        calls.where((F.col("op") == "browse") & F.col("accepted"))
        .select(*CASE, "destination", F.explode("kids").alias("kid"), "actor", F.col("answered_at").alias("at"))
        .join(sent_to, [*MESSAGE, "destination"])
        .select(*MESSAGE, "actor", "destination", "at", F.lit("true").cast("boolean").alias("look"))
    )
    return seen.unionByName(looks, allowMissingColumns=True)


def _actors(calls: DataFrame) -> DataFrame:
    accepted = F.col("accepted")
    consumer = (F.col("op") == "consumer") & accepted
    args = F.col("args")
    selects = args["selector"].isNotNull() | (args["no_local"] == "true")
    return calls.groupBy(*CASE, "actor").agg(
        any_of(consumer).alias("consumes"),
        any_of(consumer & F.coalesce(selects, no())).alias("selects"),
        any_of(consumer & (F.coalesce(args["shared"], F.lit("false")) == "true")).alias("shared"),
        F.min(F.when(consumer, args["name"])).alias("subscription"),
        any_of(F.col("op").isin("listen", "listen-batch") & accepted).alias("listens"),
        any_of((F.col("op") == "listen-batch") & accepted).alias("batches"),
    )


def _watches(told: DataFrame, actors: DataFrame) -> DataFrame:
    begins, ends = F.col("phase") == "begin", F.col("phase") == "end"
    spans = (
        told.where(F.col("kind") == "watch")
        .groupBy(*IN_WRITER, "id", "actor")
        .agg(
            F.first("destination").alias("destination"),
            F.first(F.when(begins, F.col("at")), ignorenulls=True).alias("begin"),
            F.first(F.when(ends, F.col("at")), ignorenulls=True).alias("end"),
        )
        .where(F.col("begin").isNotNull() & F.col("end").isNotNull())
    )
    activity = told.where(F.col("kind").isin("seen", "callback")).select(
        *IN_WRITER, "actor", F.struct("seq", "at", "kind", "ended").alias("act")
    )
    last = (
        spans.join(activity, [*IN_WRITER, "actor"])
        .where((F.col("act.seq") > F.col("begin.seq")) & (F.col("act.seq") < F.col("end.seq")))
        .groupBy(*IN_WRITER, "id", "actor")
        .agg(F.max_by("act", "act.seq").alias("last"))
    )
    # A listener that has not returned, or that has raised an error, may receive no message for that reason.
    occupied = F.col("listens") & (F.col("last.kind") == "seen")
    raised = F.coalesce(F.col("last.ended"), F.lit("returned")) == "raised"
    telling = F.col("consumes") & ~F.col("selects") & ~F.col("batches") & ~F.coalesce(occupied | raised, no())
    return (
        spans.join(last, [*IN_WRITER, "id", "actor"], "left")
        .join(actors, [*CASE, "actor"], "left")
        .withColumn("telling", F.coalesce(telling, no()))
        .select(*CASE, "actor", "destination", "begin", "end", F.col("last.at").alias("last"), "telling")
    )


def _faults(told: DataFrame) -> DataFrame:
    """Make a table with one row for each scenario: its faults, each with its begin and end (null if not over)."""

    def moment_of(phase: str) -> Column:
        return F.first(F.when(F.col("phase") == phase, F.col("at")), ignorenulls=True).alias(phase)

    return (
        told.where(F.col("kind") == "fault")
        .groupBy(*CASE, "id")
        .agg(F.first("what").alias("what"), moment_of("begin"), moment_of("end"))
        .where(F.col("begin").isNotNull())
        .groupBy(*CASE)
        .agg(F.collect_list(F.struct("what", "begin", "end")).alias("faults"))
    )


def _batches(told: DataFrame, calls: DataFrame) -> DataFrame:
    """Make a table of batches with the number of their messages; a callback without a message is an empty batch.

    A batch's number may recur after a new listener or on a new link.  So a batch is identified by its link and by the
    number of callbacks that ended before it on this link.
    """
    settings = calls.where(
        (F.col("op") == "listen-batch") & F.col("accepted") & (F.coalesce(F.col("args")["on"], F.lit("true")) == "true")
    ).select(*IN_WRITER, "actor", "at", number(F.col("args"), "size").alias("size"))
    handed = told.where(F.col("kind").isin("seen", "callback") & F.col("batch").isNotNull()).select(
        *IN_WRITER, "actor", "at", "kind", "batch", "link"
    )
    order = Window.partitionBy(*IN_WRITER, "actor").orderBy("at.seq")
    earlier = Window.partitionBy(*IN_WRITER, "link").orderBy("at.seq").rowsBetween(Window.unboundedPreceding, -1)
    ended = F.coalesce(F.sum(F.when(F.col("kind") == "callback", 1).otherwise(0)).over(earlier), F.lit(0))
    return (
        handed.unionByName(settings, allowMissingColumns=True)
        .withColumn("size", F.last("size", ignorenulls=True).over(order))
        .where(F.col("batch").isNotNull())
        .withColumn("turn", ended)
        .groupBy(*IN_WRITER, "link", "turn", "batch")
        .agg(
            F.min_by("size", "at.seq").alias("size"),
            F.count(F.when(F.col("kind") == "seen", 1)).alias("messages"),
            F.min_by("at", "at.seq").alias("at"),
        )
    )
