"""The history's tables about clients: their qualities of service, their settlements, and the ends of their links."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_pipeline.moments import any_of, no

LEAVING = ("abort", "close-connection", "close-session", "close-consumer")
"""The calls that end a consumer."""


def parties(calls: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Make the table ``parties``: one row for each actor.

    Args:
        calls: All calls with their answers.
        case: The columns of the key.
    """
    made = (F.col("op") == "consumer") & F.col("accepted")
    sends = F.col("op") == "producer"
    args = F.col("args")
    careless = args["qos"] == "at-most-once"
    lasting = F.coalesce(args["durability"] == "durable", no()) | F.coalesce(args["shared"] == "true", no())
    name = F.when(made, F.coalesce(args["name"], F.lit("")))
    client = F.when(F.col("op") == "connect", F.coalesce(args["client_id"], F.lit("")))
    return calls.groupBy(*case, "actor").agg(
        (any_of(made) & F.coalesce(F.bool_and(F.when(made, F.coalesce(careless, no()))), no())).alias("receives_once"),
        (any_of(sends & careless) & ~any_of(sends & (args["qos"] == "at-least-once"))).alias("sends_once"),
        (any_of(sends & (args["qos"] == "at-least-once")) & ~any_of(sends & careless)).alias("sends_surely"),
        (any_of(made) & F.coalesce(F.bool_and(F.when(made, lasting)), no())).alias("lasts"),
        ((F.count_distinct(name) <= 1) & (F.count_distinct(client) <= 1)).alias("single"),
        any_of((F.col("op") == "connect") & args["member"].isNotNull()).alias("remote"),
    )


def leaves(calls: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Make the table ``leaves``: one row for each call that ends a consumer.

    Args:
        calls: All calls with their answers.
        case: The columns of the key.
    """
    return calls.where(F.col("op").isin(*LEAVING)).select(
        *case,
        "actor",
        "at",
        "answered_at",
        "op",
        "destination",
        F.coalesce("accepted", no()).alias("accepted"),
        (F.col("op") == "abort").alias("abrupt"),
    )


def losses(left: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Make an array (``losses``) for each scenario, with the begin and end of each call that dropped a connection.

    The array is for the whole scenario, because such a call names only the connection and not its consumers.

    Args:
        left: The table ``leaves``.
        case: The columns of the key.
    """
    lost = left.where("abrupt").select(
        *case, F.struct(F.col("at").alias("begin"), F.col("answered_at").alias("end")).alias("loss")
    )
    return lost.groupBy(*case).agg(F.collect_list("loss").alias("losses"))


def settles(told: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Make the table ``settles``: the messages that a client accepted, with the time of the acceptance or its commit.

    An acceptance in a unit of work has a row only if the unit was committed.

    Args:
        told: All events.
        case: The columns of the key.
    """
    key = (*case, "writer")
    accepted = told.where((F.col("kind") == "settle") & (F.col("outcome") == "accepted")).select(
        *key, F.col("msg.kid").alias("key"), "actor", "link", "at", "unit"
    )
    ending: Column = F.struct(F.col("at.seq").alias("seq"), F.col("op").alias("end"), "at").alias("ending")
    units = told.where((F.col("kind") == "unit") & F.col("op").isin("begin", "commit", "rollback")).select(
        *key, "unit", ending
    )
    alone = accepted.where(F.col("unit").isNull()).select(
        *case, "key", "actor", "link", "at", F.col("at").alias("final_at")
    )
    together = (
        accepted.join(units, [*key, "unit"])
        .where(F.col("ending.seq") > F.col("at.seq"))
        .groupBy(*case, "key", "actor", "link", "at")
        .agg(F.min_by("ending", "ending.seq").alias("ending"))
        .where(F.col("ending.end") == "commit")
        .select(*case, "key", "actor", "link", "at", F.col("ending.at").alias("final_at"))
    )
    return alone.unionByName(together)


def alone(arrivals: DataFrame, consumers: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """For each destination, find whether a single actor consumes from it and no consumer may lose messages.

    Args:
        arrivals: The table ``arrivals``.
        consumers: The table ``consumers``.
        case: The columns of the key.

    Returns:
        The key, ``destination`` and ``alone``.
    """
    place = (*case, "destination")
    actors = F.count_distinct(F.struct("at.writer", "actor"))
    careless = consumers.groupBy(*place).agg(any_of(F.col("careless")).alias("careless"))
    return (
        arrivals.groupBy(*place)
        .agg((actors == 1).alias("single"))
        .join(careless, list(place), "left")
        .select(*place, (F.col("single") & ~F.coalesce("careless", no())).alias("alone"))
    )


def with_arrived(sends: DataFrame, parties: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Add ``arrived``: whether the broker certainly had the message when it was confirmed.

    In two cases, a client may return from a send before the broker has the message: if the message is not persistent
    and in no unit of work, or if an MQ Light client may send at most once.

    Args:
        sends: Rows of the table ``sends``.
        parties: The table ``parties``.
        case: The columns of the key.
    """
    surely = parties.where("sends_surely").select(*case, "actor", "sends_surely")
    persistent = F.coalesce(F.col("mode") == "persistent", no())
    arrived = F.when(F.col("careless"), F.coalesce("sends_surely", no())).otherwise(
        persistent | F.col("unit").isNotNull()
    )
    return sends.join(surely, [*case, "actor"], "left").withColumn("arrived", arrived).drop("sends_surely")
