"""The history: tables of messages, sightings, watches and batches, made from single events (`assay_pipeline.tables`).

The invariants read only these tables:

- ``cases``: one row for each scenario, with its number and its names.
- ``faults``: one row for each scenario with faults: an array of them, each with its kind, begin and end.
- ``calls``: one row for each call of a client, with its arguments and its answer; without an answer, ``accepted`` is
  null.
- ``sends``: one row for each send.  It holds destination, mode, priority (null if the destination chooses it), delay,
  time to live, unit of work, the call's answer, the message in the answer (``sent``) and the faults of the scenario.
  It also holds the time at which the send was *confirmed*: the time of its answer, or of the commit of its unit of
  work, and the first call after the send that asked to commit the unit (``asked_at``).
- ``sightings``: one row for each reception of a message by a consumer, with the message as received (``seen``), and one
  row (with ``look``) for each browse that listed the message on its own destination.  Other browses do not count: an
  administrator may find a message elsewhere, for example on the staging queue.
- ``watches``: one row for each span in which a consumer could have received a message.  It holds the consumer's last
  activity in the span, and whether silence in the span shows that no message came (``conclusive``).
  Each sighting and each watch has the holder from which the consumer receives (``source``), and the creation of the
  consumer (``opened``).
- ``actors``: one row for each actor that made a call, with the actor's properties as a consumer.
- ``arrivals``: the times at which a consumer was created on a destination or began to watch it.
- ``browses``: the times at which a destination was browsed.
- ``admins``: the commands of administrators.
- ``batches``: one row for each batch, with the largest number of messages that its listener may get.
- ``parties``: one row for each actor, with these conditions:

  - ``receives_once``: all its consumers receive at most once
  - ``sends_once``: it sends at most once and never at least once; ``sends_surely``: the reverse
  - ``lasts``: all its subscriptions are durable or shared
  - ``single``: it has at most one subscription name and one client id
  - ``remote``: it connects to another queue manager than the first

- ``settles``: one row for each message that a client accepted outside of a unit of work, or in a unit of work that was
  committed; ``final_at`` is the time of the acceptance or of the commit.
- ``leaves``: one row for each call that ends a consumer, a session or a connection, with its operation, the destination
  of a consumer, and whether the call was accepted.
- ``batched``: one row for each reception of a message in a batch, with its settlement and its next reception
  (`assay_pipeline.tables.batched`).
- ``consumers``: one row for each consumer that was created, or whose creation was not answered, with the queue or
  subscription that holds its messages (`assay_pipeline.tables.holders`).
- ``returns``: the times of events after which a broker may deliver a message again: faults, sessions that the broker
  ended, rollbacks, closed consumers, failed callbacks, messages that a client did not accept.  An event is ``orderly``
  if it is a client's call that closes a consumer, a session or a connection, or that deletes a subscription.
- ``endings``: one row for each session and each call that acknowledges the session's messages or ends its unit of work.
  An XA session has rows only if it worked in exactly one branch.  Only these rows have the sequence numbers of the
  events with which the work in the branch began (``begun``), and of the calls that ended this work (``left``).
- ``unsubscribed``: the names of subscriptions that a client tried to delete, with the times.
- ``copies``: one row for each copy: a message and one of its holders (`assay_pipeline.tables.copies`).  The table is
  made from ``held`` (the same rows with the facts of the sends) and ``received`` (one row for each copy that a consumer
  received).
- ``latecomers``: one row for each publication, with the receptions by later subscribers
  (`assay_pipeline.tables.latecomers`).
- ``lapses``: one row for each message that was sent while the only subscriber of a subscription with a time to live was
  away (`assay_pipeline.tables.lapses`).
- ``unsettled``: one row for each message that a consumer received and did not settle before it lost its connection
  (`assay_pipeline.tables.unsettled`).

The messages, actors and destinations of a scenario are separate from those of all other scenarios.  Events outside of
scenarios belong to the scenario with the empty name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

NAMES = ("folder", "run", "scenario")
"""The columns that name a scenario, in the table ``cases``."""
CASE = ("case_id",)
"""The column of the scenario's number, which is in the key of every table and join, because scenarios are separate.

The number is a hash of the three names (`assay_pipeline.bronze.case_id`). Spark compares numbers much faster than
names, which have a hundred characters and more (`bench/pipeline.py`, docs/benchmarks.md).
"""
IN_WRITER = (*CASE, "writer")
MESSAGE = (*CASE, "key")
QUEUE, TOPIC = "queue://%", "topic://%"


class History:
    """The tables that the module's docstring describes; all have the columns of `CASE`.

    Each table is computed and stored when it is first read, because Spark takes longer to plan a small table than to
    fill it, and no rule reads all tables.

    Args:
        plans: For each table, by name, the function that makes it; the function can read other tables of the history.
        store: Stores a table under a name, and returns the stored table.
    """

    cases: DataFrame
    faults: DataFrame
    calls: DataFrame
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
    batched: DataFrame
    consumers: DataFrame
    returns: DataFrame
    endings: DataFrame
    unsubscribed: DataFrame
    held: DataFrame
    received: DataFrame
    copies: DataFrame
    lapses: DataFrame
    latecomers: DataFrame
    unsettled: DataFrame

    def __init__(
        self,
        plans: Mapping[str, Callable[[History], DataFrame]],
        store: Callable[[str, DataFrame], DataFrame],
    ) -> None:
        self._plans = plans
        self._store = store
        self._kept: dict[str, DataFrame] = {}

    def __getattr__(self, name: str) -> DataFrame:
        """Return a table that has not been read before.

        Raises:
            AttributeError: The history has no table of this name.
        """
        if name not in self._plans:
            raise AttributeError(name)
        table = self._store(name, self._plans[name](self))
        setattr(self, name, table)
        return table

    def keep(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """Return a table that the queries of several rules read; the first call makes and stores the table.

        Args:
            name: The table's name.
            make: Makes the table.
        """
        if name not in self._kept:
            self._kept[name] = self._store(f"kept/{name}", make())
        return self._kept[name]

    def with_faults(self, rows: DataFrame) -> DataFrame:
        """Add to rows the faults of their scenario (``faults``; null without faults).

        The arrays are large, so a query should join and shuffle rows without them, and add them where it reads them.
        """
        return rows.join(F.broadcast(self.faults), list(CASE), "left")

    def with_sends(self, sends: DataFrame) -> History:
        """Return this history with another table of sends; all other tables are the same.

        Args:
            sends: Rows of the table ``sends``.
        """

        def same(name: str) -> Callable[[History], DataFrame]:
            return lambda _: getattr(self, name)

        plans = {name: same(name) for name in self._plans}
        return History({**plans, "sends": lambda _: sends}, lambda _, table: table)
