"""The measures of runs (`assay_evidence.histories.measures`), from the tables of the history.

Spark counts sends and receptions in ticks of 100 ms, so that the driver collects few rows.  The driver computes windows
and recovery times from these counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from msgspec import Struct
from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.histories.measures import MEASURES_SCHEMA, PERCENTILES, Batches, FaultSpan, Lateness, Measures, Rate
from assay_evidence.spans import NS_PER_MS
from assay_pipeline.history import CASE, MESSAGE, History
from assay_pipeline.moments import any_of, no
from assay_pipeline.quiet import due, since_send
from assay_pipeline.verdicts import RunOf

ALL = "all delayed messages"
_RUN = ("folder", "run")
_TICK_NS = 100 * NS_PER_MS
_TICKS_A_SECOND = 10
_WINDOWS = 120
"""The largest number of windows of a run's rates."""
_NEAR_S = 5
"""A message is near a fault if it was due before the fault's end or within this number of seconds after the end.

The fault must also have begun before the message came.  Marked receptions in this time after a fault count as its
redeliveries (`FaultSpan.redelivered`).
"""
_DELAYS_MS = (0, 500, 1_000, 2_000)
"""The shortest delay of each group of delays, in milliseconds."""
Key = tuple[str, str]


class _Ticks(Struct, frozen=True):
    """The counts of a run by tick.

    A tick is the number of a span of 100 ms, counted from the epoch; `first` is the first tick with a count.
    """

    first: int
    sent: Mapping[int, int]
    received: Mapping[int, int]
    marked: Mapping[int, int]

    @property
    def last(self) -> int:
        return max((*self.sent, *self.received))

    def received_after(self, tick: int) -> int | None:
        """Return the first tick after the given one in which a message was received; None if there is none."""
        later = range(tick + 1, self.last + 1)
        return next((one for one in later if one in self.received), None)


def measures(history: History, runs: Iterable[RunOf]) -> tuple[Measures, ...]:
    """Compute the measures of runs.

    Args:
        history: The tables of all runs.
        runs: The runs.

    Returns:
        The measures of each run that sent or received a message, in the order of the runs.
    """
    ticks = _ticks(history)
    lateness, batches, repeats = _lateness(history), _batches(history), _repeats(history)
    faults = _faults(history)
    return tuple(
        Measures(
            schema=MEASURES_SCHEMA,
            run=run.run,
            backend=run.backend,
            folder=run.folder,
            lateness=tuple(lateness[key]),
            rates=_rates(ticks[key]),
            faults=tuple(_span(row, ticks[key]) for row in faults[key]),
            batches=batches.get(key),
            repeats=repeats[key],
        )
        for run in runs
        if (key := (run.folder, run.run)) in ticks
    )


def _of_runs(rows: DataFrame, history: History) -> DataFrame:
    """Add the run of each row's scenario."""
    return rows.join(F.broadcast(history.cases.select(*CASE, *_RUN)), list(CASE))


def _tick(at: Column) -> Column:
    return F.floor(at["wall_ns"] / F.lit(_TICK_NS)).cast("bigint")


def _ticks(history: History) -> dict[Key, _Ticks]:
    sent = history.sends.where(F.col("accepted")).select(
        *CASE, _tick(F.col("answered_at")).alias("tick"), F.lit("sent")
    )
    seen = history.sightings.where(~F.col("look"))
    received = seen.select(*CASE, _tick(F.col("at")), F.lit("received"))
    marked = seen.where(F.col("marked")).select(*CASE, _tick(F.col("at")), F.lit("marked"))
    told = _of_runs(sent.union(received).union(marked).toDF(*CASE, "tick", "what"), history)
    rows = told.groupBy(*_RUN, "tick", "what").count().collect()
    counts: dict[Key, dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        counts[row.folder, row.run][row.what][row.tick] = row["count"]
    return {
        key: _Ticks(min(tick for ticks in of.values() for tick in ticks), of["sent"], of["received"], of["marked"])
        for key, of in counts.items()
        if of["sent"] or of["received"]
    }


def _rates(ticks: _Ticks) -> tuple[Rate, ...]:
    """Add up ticks to at most `_WINDOWS` windows, each a whole number of seconds long."""
    seconds = (ticks.last - ticks.first) // _TICKS_A_SECOND + 1
    length = -(-seconds // _WINDOWS)

    def a_second(counts: Mapping[int, int], begin: int) -> float:
        return sum(counts.get(begin + tick, 0) for tick in range(length * _TICKS_A_SECOND)) / length

    begins = range(ticks.first, ticks.last + 1, length * _TICKS_A_SECOND)
    return tuple(
        Rate(
            (begin - ticks.first) / _TICKS_A_SECOND,
            round(a_second(ticks.sent, begin), 1),
            round(a_second(ticks.received, begin), 1),
        )
        for begin in begins
    )


def _faults(history: History) -> dict[Key, list[Row]]:
    """Collect the faults of each run, each once; a soak records a fault in several scenarios, microseconds apart."""
    fault = F.explode("faults").alias("fault")
    begin = F.col("fault.begin")
    second = F.floor(begin["wall_ns"] / F.lit(1_000 * NS_PER_MS))
    rows = (
        _of_runs(history.sends.select(*CASE, fault), history)
        .groupBy(*_RUN, F.col("fault.what").alias("what"), second.alias("second"))
        .agg(F.min(_tick(begin)).alias("begin"), F.max(_tick(F.col("fault.end"))).alias("end"))
        .orderBy("begin")
        .collect()
    )
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        key = (row.folder, row.run)
        if not found[key] or (row.what, row.end) != (found[key][-1].what, found[key][-1].end):
            found[key].append(row)
    return found


def _span(fault: Row, ticks: _Ticks) -> FaultSpan:
    after = None if fault.end is None else ticks.received_after(fault.end)
    near = range(fault.end + 1, fault.end + 1 + _NEAR_S * _TICKS_A_SECOND) if fault.end is not None else range(0)
    return FaultSpan(
        kind=fault.what,
        begin_s=(fault.begin - ticks.first) / _TICKS_A_SECOND,
        end_s=None if fault.end is None else (fault.end - ticks.first) / _TICKS_A_SECOND,
        recovery_s=None if after is None else (after - fault.begin) / _TICKS_A_SECOND,
        redelivered=sum(ticks.marked.get(tick, 0) for tick in near),
    )


def _lateness(history: History) -> dict[Key, list[Lateness]]:
    """Measure the delayed messages that a consumer received in a watch that began before the message was due."""
    sends = history.sends.where((F.col("delay_ns") > 0) & (F.col("sends") == 1) & F.col("confirmed_at").isNotNull())
    seen = history.sightings.where(~F.col("look")).select(*MESSAGE, "actor", F.col("at").alias("seen_at"))
    watches = history.watches.select(*CASE, "actor", "destination", "begin", "end")
    throughout = (since_send(F.col("begin")) <= F.col("due")) & (since_send(F.col("end")) >= F.col("came"))
    first = (
        sends.drop("actor")
        .withColumn("due", due())
        .join(seen, list(MESSAGE))
        .withColumn("came", since_send(F.col("seen_at")))
        .join(watches, [*CASE, "actor", "destination"])
        .groupBy(*MESSAGE)
        .agg(
            F.min("came").alias("came"),
            F.first("due").alias("due"),
            F.first("delay_ns").alias("delay_ns"),
            F.first("faults").alias("faults"),
            F.first("at").alias("at"),
            any_of(throughout).alias("waited"),
        )
        .where(F.col("waited"))
    )
    exact = F.percentile(F.col("came") - F.col("due"), [percent / 100 for percent in PERCENTILES])
    rows = (
        _of_runs(first.select(*CASE, "came", "due", F.explode(_groups()).alias("group")), history)
        .groupBy(*_RUN, "group")
        .agg(F.count("*").alias("messages"), exact.alias("ns"))
        .collect()
    )
    found: dict[Key, list[Lateness]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: _order(row.group)):
        ms = tuple(round(ns / NS_PER_MS, 2) for ns in row.ns)
        found[row.folder, row.run].append(Lateness(row.group, row.messages, ms))
    return found


def _groups() -> Column:
    """Return the names of a message's three groups: all messages, its range of delays, and near a fault or not."""
    delay = F.lit(_delay_names()[-1])
    for least, name in reversed([*zip(_DELAYS_MS[1:], _delay_names()[:-1], strict=True)]):
        delay = F.when(F.col("delay_ns") < least * NS_PER_MS, name).otherwise(delay)
    over = F.lit(_NEAR_S * 1_000 * NS_PER_MS).cast("bigint")

    def near(fault: Column) -> Column:
        end = F.coalesce(since_send(fault["end"]) + over, F.col("came"))
        return (since_send(fault["begin"]) <= F.col("came")) & (end >= F.col("due"))

    beside = F.when(F.coalesce(F.exists("faults", near), no()), _BESIDE[0]).otherwise(_BESIDE[1])
    return F.array(F.lit(ALL), delay, beside)


_BESIDE = ("due near a fault", "due without a fault near")


def _delay_names() -> tuple[str, ...]:
    between = [f"delay of {least / 1000:g} s to {most / 1000:g} s" for least, most in pairwise(_DELAYS_MS)]
    return (*between, f"delay of {_DELAYS_MS[-1] / 1000:g} s or more")


def _order(group: str) -> int:
    return (ALL, *_delay_names(), *_BESIDE).index(group)


def _batches(history: History) -> dict[Key, Batches]:
    fill = F.col("messages") / F.col("size")
    rows = (
        _of_runs(history.batches.where(F.col("size").isNotNull() & (F.col("messages") > 0)), history)
        .groupBy(*_RUN)
        .agg(
            F.count("*").alias("batches"),
            F.count(F.when(F.col("messages") >= F.col("size"), 1)).alias("full"),
            F.avg(fill).alias("fill"),
        )
        .collect()
    )
    return {(row.folder, row.run): Batches(row.batches, row.full, round(row.fill, 4)) for row in rows}


def _repeats(history: History) -> dict[Key, dict[str, int]]:
    """Count the receptions of each copy after the first, by cause: with or without a fault, with or without a mark.

    Receptions from an unknown holder (``source``) are left out, because the journal does not tell their copies apart.
    """
    faults = history.sends.select(*MESSAGE, "faults").dropDuplicates(list(MESSAGE))
    seen = history.sightings.where(~F.col("look")).select(*MESSAGE, "source", "at", "marked")
    first = seen.groupBy(*MESSAGE, "source").agg(F.min("at.wall_ns").alias("first_ns"))
    again = seen.join(first, [*MESSAGE, "source"]).where(F.col("at.wall_ns") > F.col("first_ns"))

    def overlaps(fault: Column) -> Column:
        # A client may see a message for the first time just after the kill of the broker, so a fault also counts if it
        # began before the first reception and ended after it.
        over = F.coalesce(fault["end"]["wall_ns"], F.col("at.wall_ns"))
        return (fault["begin"]["wall_ns"] < F.col("at.wall_ns")) & (over > F.col("first_ns"))

    hit = F.coalesce(F.exists("faults", overlaps), no())
    cause = F.concat_ws(
        ", ",
        F.when(hit, "after a fault").otherwise("without a fault"),
        F.when(F.col("marked"), "marked as redelivered").otherwise("without a mark"),
    )
    told = _of_runs(again.join(faults, list(MESSAGE)), history)
    rows = told.groupBy(*_RUN, cause.alias("cause")).count().orderBy("cause").collect()
    found: dict[Key, dict[str, int]] = defaultdict(dict)
    for row in rows:
        found[row.folder, row.run][row.cause] = row["count"]
    return found
