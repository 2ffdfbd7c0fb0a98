"""The holders of messages: the queues and subscriptions that keep a message until a consumer has received it.

A *holder* is one of these:

- a queue, which all its consumers share, with its destination as name
- an unshared subscription that is not durable, with the name of its consumer and the number of the consumer among those
  of the same name
- a durable subscription, with the name ``NAME|CLIENT ID``

A durable subscription does not count as a holder in these cases:

- The journal does not tell its client id.
- One of the consumers of its name selects messages, has a time to live, or may lose messages on their way. An MQ Light
  client may lose messages, unless it has the quality of service at least once and no automatic confirmation.
- The consumers of its name differ in destination, durability or sharing.

An unshared non-durable subscription does not count as a holder if its consumer selects messages, has a time to live, or
may lose messages on their way.  Non-durable shared subscriptions do not count as holders, because a message may wait
for any of the sharers.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_pipeline.moments import any_of, no, number

DURABLE, NON_DURABLE, QUEUE_KIND = "durable", "non-durable", "queue"
"""The kinds of holders."""
MQLIGHT = "mqlight"
"""The face of an MQ Light client, which may confirm messages before the application has them."""


def attachments(calls: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Make a table with one row for each consumer that a client created or tried to create.

    Refused calls are left out.  The columns beside the key and the call's:

    - ``kind``, ``shared``, ``name``: the subscription's kind, sharing and name
    - ``holder``: the name of the holder; null without a holder
    - ``session``: the name of the consumer's session
    - ``qos``: the quality of service
    - ``ttl_ms``: the subscription's time to live
    - ``ack``: the acknowledgement mode that the call names, or else the mode of the actor's last session; null if
      unknown
    - ``careless``: the consumer has the quality of service at most once, or its client confirms messages before the
      application has them
    - ``chosen``: the consumer selects messages

    Args:
        calls: All calls with their answers.
        case: The columns of the key.
    """
    of_actor = Window.partitionBy(*case, "writer", "actor").orderBy("at.seq")
    args = F.col("args")
    client = F.struct(F.coalesce(args["client_id"], F.lit("")).alias("id"), args["face"].alias("face"))
    made = (
        calls.where(F.col("op").isin("connect", "session", "consumer"))
        .withColumn("mode", F.last(F.when(F.col("op") == "session", args["ack"]), ignorenulls=True).over(of_actor))
        .withColumn("ack", F.when(F.col("op") == "consumer", F.coalesce(args["ack"], F.col("mode"))))
        .withColumn("client", F.last(F.when(F.col("op") == "connect", client), ignorenulls=True).over(of_actor))
        .where((F.col("op") == "consumer") & F.coalesce("accepted", ~no()))
        .withColumn("name", args["name"])
        .withColumn("shared", F.coalesce(args["shared"], F.lit("false")) == "true")
        .withColumn("kind", _kind(F.col("destination"), args))
        .withColumn("careless", _careless(args))
        .withColumn("chosen", F.coalesce(args["selector"].isNotNull() | (args["no_local"] == "true"), no()))
        .withColumn("whole", _whole(args))
        .withColumn("turn", F.row_number().over(Window.partitionBy(*case, "actor").orderBy("at.writer", "at.seq")))
    )
    return (
        made.join(_definite(made, case), [*case, "name"], "left")
        .withColumn("holder", _holder())
        .select(*case, "writer", "actor", "destination", "at", "answered_at", "accepted", "kind", "holder", "shared",
                "name", args["session"].alias("session"), args["qos"].alias("qos"),
                number(args, "ttl_ms").alias("ttl_ms"), "ack", "careless", "chosen")
    )  # fmt: skip


def _kind(destination: Column, args: Column) -> Column:
    lasting = args["durability"] == DURABLE
    return F.when(~destination.startswith("topic://"), QUEUE_KIND).when(lasting, DURABLE).otherwise(NON_DURABLE)


def _whole(args: Column) -> Column:
    """Return whether a subscription gets and keeps every message: no selector, no time to live, no early settlement."""
    return ~F.col("chosen") & args["ttl_ms"].isNull() & ~F.col("careless")


def _careless(args: Column) -> Column:
    """Return whether a message may be lost on its way to the consumer: it is settled before the application has it."""
    face = F.coalesce(F.col("client.face") == MQLIGHT, no())
    late = F.coalesce(args["auto_confirm"] == "false", F.col("ack") == "client", no())
    light = args["qos"].isNotNull() | args["auto_confirm"].isNotNull() | face
    return light & ~(F.coalesce(args["qos"] == "at-least-once", no()) & late)


def _definite(made: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Return all names of subscriptions, with the column ``definite``.

    It is true if each consumer under the name is durable, unlimited (``whole``) and of a known client, and if all have
    one destination and one way of sharing.
    """
    return (
        made.where(F.col("name").isNotNull())
        .groupBy(*case, "name")
        .agg(
            (
                F.bool_and(F.col("whole") & F.col("client").isNotNull() & (F.col("kind") == DURABLE))
                & (F.count_distinct("destination", "shared") == 1)
            ).alias("definite")
        )
    )


def _holder() -> Column:
    lasting = (F.col("kind") == DURABLE) & F.coalesce("definite", no())
    single = (F.col("kind") == NON_DURABLE) & ~F.col("shared") & F.col("whole")
    return (
        F.when(F.col("kind") == QUEUE_KIND, F.col("destination"))
        .when(lasting, F.concat_ws("|", "name", "client.id"))
        .when(single, F.concat_ws("#", "actor", F.col("turn").cast("string")))
    )


def held_by(events: DataFrame, made: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Add to events of consumers (``writer``, ``actor``, ``at``) the holder from which the consumer received.

    The column ``source`` is the holder of the last consumer that the actor created before the event.  Without a
    consumer, it is the event's destination if that is a queue, and otherwise null.  The column ``ack`` is the
    consumer's acknowledgement mode.  The column ``opened`` describes the consumer: the time ``at`` of the call that
    created it, ``kind``, ``shared``, ``qos``, ``name`` and ``session``.

    Args:
        events: The events.
        made: The table of `attachments`.
        case: The columns of the key.
    """
    owner = F.struct("holder", "ack", F.struct("at", "kind", "shared", "qos", "name", "session").alias("opened"))
    begun = made.where("accepted").select(*case, "writer", "actor", "at", owner.alias("owner"))
    on_queue = F.when(F.col("destination").startswith("queue://"), F.col("destination"))
    before = Window.partitionBy(*case, "writer", "actor").orderBy("at.seq")
    told = events.withColumn("told", ~no()).unionByName(begun, allowMissingColumns=True)
    return (
        told.withColumn("owner", F.last("owner", ignorenulls=True).over(before))
        .where("told")
        .withColumn("source", F.when(F.col("owner").isNull(), on_queue).otherwise(F.col("owner.holder")))
        .withColumn("ack", F.col("owner.ack"))
        .withColumn("opened", F.col("owner.opened"))
        .drop("told", "owner", "writer")
    )


def several_clients(made: DataFrame, case: tuple[str, ...]) -> DataFrame:
    """Find whether several client ids use the name of each durable holder: the key, ``holder`` and ``common``."""
    named = made.where((F.col("kind") == DURABLE) & F.col("holder").isNotNull())
    clients = named.groupBy(*case, "name").agg((F.count_distinct("holder") > 1).alias("common"))
    return named.join(clients, [*case, "name"]).groupBy(*case, "holder").agg(any_of(F.col("common")).alias("common"))
