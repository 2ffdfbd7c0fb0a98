"""Makes the tables of the history (`assay_pipeline.history`) from single events."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_pipeline.clients import leaves, parties, settles
from assay_pipeline.history import CASE, IN_WRITER, MESSAGE, NAMES, History
from assay_pipeline.moments import any_of, duration, moment, no, number
from assay_pipeline.tables.batched import batched
from assay_pipeline.tables.copies import copies, held, received
from assay_pipeline.tables.holders import MQLIGHT, attachments, held_by
from assay_pipeline.tables.lapses import lapses
from assay_pipeline.tables.latecomers import latecomers
from assay_pipeline.tables.unsettled import unsettled

GIVING_BACK = ("abort", "close-connection", "close-consumer", "close-session", "recover", "unsubscribe")
"""The calls by which a client gives unacknowledged messages back to the broker."""
COMMITTING = ("commit", "xa-commit")
"""The calls that commit a unit of work."""
BRANCH_BEGINS, BRANCH_ENDS = ("xa-start", "xa-join", "xa-resume"), ("xa-end", "xa-suspend", "xa-fail")
"""The calls that begin and end a session's work in a branch of a global unit of work."""
FAILING = ("abort", "recover")
"""The calls in `GIVING_BACK` that count as failures; the others are orderly ends (`assay_pipeline.history`)."""


def build_history(events: DataFrame, store: Callable[[str, DataFrame], DataFrame]) -> History:
    """Plan the tables of the history.

    Args:
        events: The parsed lines (`assay_pipeline.bronze.Bronze.events`).
        store: Stores a table under a name, and returns the stored table.
    """
    # Moments compare boots for equality only, and numbers are compared faster than names (`bench/pipeline.py`).
    told = events.withColumn("boot", F.xxhash64("boot")).withColumn("at", moment())
    plans: Mapping[str, Callable[[History], DataFrame]] = {
        "cases": lambda _: _cases(events),
        "calls": lambda _: _calls(told),
        "faults": lambda _: _faults(told),
        "sends": lambda history: history.with_faults(_sends(told, history.calls)),
        "sightings": lambda history: held_by(_sightings(told, history), history.consumers, CASE),
        "watches": lambda history: held_by(_watches(told, history.actors), history.consumers, CASE).drop("at"),
        "actors": lambda history: _actors(history.calls),
        "arrivals": lambda history: _arrivals(told, history.calls),
        "browses": lambda history: _browses(history.calls),
        "admins": lambda _: told.where(F.col("kind") == "admin").select(*CASE, "at", "command"),
        "batches": lambda history: _batches(told, history.calls),
        "parties": lambda history: parties(history.calls, CASE),
        "settles": lambda _: settles(told, CASE),
        "leaves": lambda history: leaves(history.calls, CASE),
        "batched": lambda history: batched(told, history.consumers),
        "consumers": lambda history: attachments(history.calls, CASE),
        "returns": lambda history: _returns(told, history.calls),
        "endings": lambda history: _endings(history.calls),
        "unsubscribed": lambda history: _unsubscribed(history.calls),
        "held": held,
        "received": received,
        "copies": copies,
        "lapses": lambda history: lapses(history, told),
        "latecomers": lambda history: latecomers(history, told),
        "unsettled": lambda history: unsettled(history, told),
    }
    return History(plans, store)


def _cases(events: DataFrame) -> DataFrame:
    named = events.select(*CASE, "folder", "run", F.coalesce("scenario", F.lit("")).alias("scenario"))
    return named.groupBy(*CASE).agg(*(F.first(name).alias(name) for name in NAMES))


def _calls(told: DataFrame) -> DataFrame:
    """Make a table with one row for each call and its answer; ``accepted`` is null without an answer.

    A call that failed without an answer of the client's API counts as a call without an answer.
    """
    called = F.col("kind") == "call"
    answered = (F.col("kind") == "return") & (F.coalesce("refused.failure", F.lit("")) == "")

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
            of_call(F.col("msg.kid"), "key"),
            of_call(F.col("msg.sha256"), "sha256"),
            of_call(F.col("at"), "at"),
            F.first(F.when(answered, F.col("at")), ignorenulls=True).alias("answered_at"),
            F.first(F.when(answered, F.col("refused").isNull()), ignorenulls=True).alias("accepted"),
            F.first(F.when(answered, F.col("kids")), ignorenulls=True).alias("keys"),
            F.first(F.when(answered, F.col("msg")), ignorenulls=True).alias("sent"),
        )
        .where(F.col("op").isNotNull())
    )


def _sends(told: DataFrame, calls: DataFrame) -> DataFrame:
    sends = (
        calls.where((F.col("op") == "send") & F.col("key").isNotNull())
        .withColumn("sends", F.count("*").over(Window.partitionBy(*MESSAGE)))
        .withColumn("mode", F.col("args")["mode"])
        .withColumn("priority", number(F.col("args"), "priority"))
        .withColumn("delay_ns", duration(F.col("args"), "delay_ms"))
        .withColumn("ttl_ns", duration(F.col("args"), "ttl_ms"))
        .join(_careless(calls), [*CASE, "actor"], "left")
        .withColumn("careless", F.coalesce("careless", no()))
    )
    # After a reconnection, a session numbers its units from 0 again.  So a later `begin` with the name of an earlier
    # unit also ends the earlier unit.
    units = told.where((F.col("kind") == "unit") & F.col("op").isin("begin", "commit", "rollback")).select(
        *IN_WRITER, "unit", F.struct("seq", F.col("op").alias("end"), "at").alias("ending")
    )
    asked = calls.where(F.col("op").isin(*COMMITTING)).select(
        *IN_WRITER, "unit", F.struct("at.seq", F.lit("asked").alias("end"), "at").alias("ending")
    )
    ends = F.col("ending.end") != "asked"
    ended = (
        sends.where(F.col("unit").isNotNull())
        .select(*IN_WRITER, "unit", "id", F.col("at.seq").alias("sent_seq"))
        .join(units.unionByName(asked), [*IN_WRITER, "unit"])
        .where(F.col("ending.seq") > F.col("sent_seq"))
        .groupBy(*IN_WRITER, "id")
        .agg(
            F.min_by("ending", F.when(ends, F.col("ending.seq"))).alias("ending"),
            F.min_by("ending.at", F.when(~ends, F.col("ending.seq"))).alias("asked_at"),
        )
        .withColumn("ending", F.when(ends, F.col("ending")))
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
            F.col("ending.end").alias("unit_end"), F.col("ending.at").alias("unit_ended_at"), "asked_at",
            "at", "answered_at", "accepted", "confirmed_at", "sent",
            "sha256", "careless",
        )
    )  # fmt: skip


def _careless(calls: DataFrame) -> DataFrame:
    """Find the actors with an MQ Light client.

    The broker may leave their sends unconfirmed, and the topic decides about the persistence of their messages.

    Only calls of an MQ Light client have a quality of service, so the function looks for this argument, and for the
    face of the connection.
    """
    light = (F.col("op") == "producer") & F.col("args")["qos"].isNotNull()
    light |= (F.col("op") == "connect") & (F.col("args")["face"] == MQLIGHT)
    return calls.where(light).select(*CASE, "actor", (~no()).alias("careless")).distinct()


def _sightings(told: DataFrame, history: History) -> DataFrame:
    seen = told.where(F.col("kind") == "seen").select(
        *CASE, F.col("msg.kid").alias("key"), "actor", "destination", "at",
        F.lit("false").cast("boolean").alias("look"), F.col("msg").alias("seen"),
        "writer", "link", "batch", (F.col("redelivered") | (F.col("count") > 1)).alias("marked"),
    )  # fmt: skip
    sent_to = history.sends.select(*MESSAGE, "destination").distinct()
    looks = (
        history.calls.where((F.col("op") == "browse") & F.col("accepted"))
        .select(*CASE, "destination", F.explode("keys").alias("key"), "actor", F.col("answered_at").alias("at"))
        .join(sent_to, [*MESSAGE, "destination"])
        .select(*MESSAGE, "actor", "destination", "at", F.lit("true").cast("boolean").alias("look"))
    )
    return seen.unionByName(looks, allowMissingColumns=True)


def _arrivals(told: DataFrame, calls: DataFrame) -> DataFrame:
    place = (*CASE, "actor", "destination", "at")
    came = calls.where((F.col("op") == "consumer") & F.col("accepted")).select(*place)
    began = told.where((F.col("kind") == "watch") & (F.col("phase") == "begin")).select(*place)
    return came.unionByName(began)


def _browses(calls: DataFrame) -> DataFrame:
    browses = calls.where((F.col("op") == "browse") & F.col("accepted"))
    return browses.select(*CASE, "destination", F.col("answered_at").alias("at"))


def _unsubscribed(calls: DataFrame) -> DataFrame:
    return calls.where(F.col("op") == "unsubscribe").select(*CASE, F.col("args")["name"].alias("name"), "at")


def _actors(calls: DataFrame) -> DataFrame:
    accepted = F.col("accepted")
    consumer = (F.col("op") == "consumer") & accepted
    args = F.col("args")
    # A consumer also gets only some messages if its own credit ends.
    selects = args["selector"].isNotNull() | args["credit"].isNotNull() | (args["no_local"] == "true")
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
    stops = ((F.col("kind") == "call") & (F.col("op") == "stop-connection")) | (F.col("kind") == "session-ended")
    stopped = told.where(stops).groupBy(*IN_WRITER).agg(F.min("seq").alias("stopped"))
    # A listener that has not returned, or that has raised an error, may receive no message for that reason.  The same
    # holds for a consumer of a stopped connection or of a session that the broker ended; the event of a watch names
    # neither of them.
    occupied = F.col("listens") & (F.col("last.kind") == "seen")
    raised = F.coalesce(F.col("last.ended"), F.lit("returned")) == "raised"
    halted = F.coalesce(F.col("stopped") < F.col("end.seq"), no())
    conclusive = (
        F.col("consumes") & ~F.col("selects") & ~F.col("batches") & ~F.coalesce(occupied | raised, no()) & ~halted
    )
    return (
        spans.join(last, [*IN_WRITER, "id", "actor"], "left")
        .join(actors, [*CASE, "actor"], "left")
        .join(stopped, list(IN_WRITER), "left")
        .withColumn("conclusive", F.coalesce(conclusive, no()))
        .withColumn("at", F.col("begin"))
        .select(*IN_WRITER, "actor", "destination", "at", "begin", "end", F.col("last.at").alias("last"), "conclusive")
    )


def _faults(told: DataFrame) -> DataFrame:
    """Make a table with one row for each scenario: its faults, each with its begin and end (null if not over)."""

    def moment_of(phase: str) -> Column:
        return F.first(F.when(F.col("phase") == phase, F.col("at")), ignorenulls=True).alias(phase)

    return (
        told.where(F.col("kind") == "fault")
        .groupBy(*IN_WRITER, "id")
        .agg(F.first("what").alias("what"), moment_of("begin"), moment_of("end"))
        .where(F.col("begin").isNotNull())
        .groupBy(*CASE)
        .agg(F.collect_list(F.struct("what", "begin", "end")).alias("faults"))
    )


def _returns(told: DataFrame, calls: DataFrame) -> DataFrame:
    kind, op = F.col("kind"), F.col("op")
    alone = (
        (kind == "fault")
        | ((kind == "callback") & (F.col("ended") == "raised"))
        | ((kind == "unit") & op.isin("rollback", "recover"))
        | ((kind == "settle") & (F.col("outcome") != "accepted"))
        | (kind == "session-ended")
    )
    called = calls.where(op.isin(*GIVING_BACK)).withColumn("orderly", ~op.isin(*FAILING))
    answered = called.where(F.col("answered_at").isNotNull())
    return (
        told.where(alone).select(*CASE, "at", no().alias("orderly"))
        .unionByName(called.select(*CASE, "at", "orderly"))
        .unionByName(answered.select(*CASE, F.col("answered_at").alias("at"), "orderly"))
    )  # fmt: skip


def _endings(calls: DataFrame) -> DataFrame:
    """Make a table with one row for each session and each call that acknowledges its messages or ends its unit.

    The calls for the branches of global units of work may come from another session.
    """
    op, session = F.col("op"), F.col("actor").alias("session")
    mode = F.when(op == "acknowledge", "client").when(op.isin("commit", "rollback"), "transacted")
    told = ("op", F.col("at").alias("ended_at"), "answered_at", F.coalesce("accepted", no()).alias("accepted"))
    plain = (
        calls.withColumn("ack", mode)
        .where(F.col("ack").isNotNull())
        .select(*CASE, F.col("writer").alias("process"), session, "ack", *told)
    )
    begins, ends = op.isin(*BRANCH_BEGINS), op.isin(*BRANCH_ENDS)
    branches = (
        calls.where((begins | ends) & F.col("unit").isNotNull())
        .groupBy(*IN_WRITER, session)
        .agg(
            F.count_distinct(F.when(begins, F.col("unit"))).alias("units"),
            F.first(F.when(begins, F.col("unit")), ignorenulls=True).alias("unit"),
            F.collect_list(F.when(begins & F.col("accepted"), F.col("answered_at.seq"))).alias("begun"),
            F.collect_list(F.when(ends, F.col("at.seq"))).alias("left"),
        )
        .where(F.col("units") == 1)
    )
    of_branch = calls.where(op.isin("xa-commit", "xa-rollback")).select(*IN_WRITER, "unit", *told)
    xa = of_branch.join(branches, [*IN_WRITER, "unit"]).select(
        *CASE, F.col("writer").alias("process"), "session", F.lit("xa").alias("ack"), "op", "ended_at", "answered_at",
        "accepted", "begun", "left",
    )  # fmt: skip
    return plain.unionByName(xa, allowMissingColumns=True)


def _batches(told: DataFrame, calls: DataFrame) -> DataFrame:
    """Make a table of batches with the number of their messages; a callback without a message is an empty batch.

    A batch's number may recur after a new listener or on a new link.  So three things identify a batch: its number,
    its link, and the number of callbacks that ended before it on this link.
    """
    set_by = calls.where(
        (F.col("op") == "listen-batch") & F.col("accepted") & (F.coalesce(F.col("args")["on"], F.lit("true")) == "true")
    ).select(*IN_WRITER, "actor", "at", "answered_at", number(F.col("args"), "size").alias("size"))
    set_by = set_by.where(F.col("size").isNotNull())
    # Until the call's answer, the earlier listener may still receive a batch.
    before = F.lag("size").over(Window.partitionBy(*IN_WRITER, "actor").orderBy("at.seq"))
    asked = set_by.withColumn("size", F.greatest("size", before)).drop("answered_at")
    settings = asked.unionByName(set_by.withColumn("at", F.col("answered_at")).drop("answered_at"))
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
