"""Runs the Spark jobs: writes the tables, and collects the figures for the verdicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import reduce
from pathlib import Path

from msgspec import Struct
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.concluding.weighing import STEP_VERDICTS
from assay_evidence.histories.measures import Measures
from assay_evidence.histories.offences import Offence
from assay_evidence.subjects import Limits, Outcome, Subject
from assay_evidence.verdicts import Verdict
from assay_pipeline.bronze import Bronze, account, read_lines
from assay_pipeline.examined import BY_RULE, OfTable, Rows, together
from assay_pipeline.history import CASE, NAMES, History
from assay_pipeline.invariant import Invariant
from assay_pipeline.journals import JournalFile
from assay_pipeline.measures import measures
from assay_pipeline.offences import offences
from assay_pipeline.places.naming import pattern_of
from assay_pipeline.places.remote import Place
from assay_pipeline.places.results import remove_folder
from assay_pipeline.rules import invariants_of
from assay_pipeline.tables.build import build_history
from assay_pipeline.verdicts import SHOWN, Remark, RunOf, Tally

_LINES = "lines"
"""The name of an intermediate table with every line and its event; the table is removed at the end."""
Case = tuple[str, ...]
"""The folder, the run and the id of a scenario."""
EXAMINED = "examined"
"""The table of all subjects, partitioned by rule; a rule without subjects may lack its folder."""
DAMAGE_SHOWN = 20
"""The largest number of sentences about a folder's damage in the verdicts; the tables hold all damage."""


class Collected(Struct, frozen=True):
    """The figures that Spark has computed.

    Args:
        invariants: The invariants that Spark has examined.
        runs: Every run in the journals.
        tallies: The numbers of subjects, by run.
        remarks: The remarks about scenarios, by run.
        damage: The damage of the journals, by folder.
        lines: The numbers of parsed, quarantined and missing lines.
        tables: The number of rows of each table.
        subjects: Every subject by folder, if requested; otherwise empty.
        measures: The measures of the runs; empty if only chosen rules are judged.
        offences: The first offending subjects of each rule and run, with their events.
    """

    invariants: tuple[Invariant, ...]
    runs: tuple[RunOf, ...]
    tallies: Mapping[RunOf, tuple[Tally, ...]]
    remarks: Mapping[RunOf, tuple[Remark, ...]]
    damage: Mapping[str, tuple[str, ...]]
    lines: Mapping[str, int]
    tables: Mapping[str, int]
    subjects: Mapping[str, tuple[Subject, ...]]
    measures: tuple[Measures, ...] = ()
    offences: tuple[Offence, ...] = ()


class _Stored:
    """The tables that are written, by name.

    Args:
        spark: The Spark session.
        place: The folder for the tables.
    """

    def __init__(self, spark: SparkSession, place: Place) -> None:
        self._spark = spark
        self._place = place
        self.tables: dict[str, DataFrame] = {}

    def store(self, name: str, table: DataFrame) -> DataFrame:
        """Write a table and read it back, so that the plans of later tables start from it and stay small."""
        table.write.parquet(str(self._place / name))
        self.tables[name] = self._spark.read.schema(table.schema).parquet(pattern_of(str(self._place / name)))
        return self.tables[name]


def collect(
    spark: SparkSession,
    files: Iterable[JournalFile],
    place: Place,
    limits: Limits,
    *,
    subjects: bool,
    rules: Collection[str] = (),
) -> Collected:
    """Run the pipeline and write its tables.

    Args:
        spark: The Spark session.
        files: The journals to judge.
        place: The folder for the tables; each table gets a subfolder.
        limits: The values of the invariants' limits.
        subjects: Whether to return every subject, too, for the comparison with the oracle.
        rules: The ids of the rules to judge; empty for all that have an invariant.

    Raises:
        UnknownRuleError: The catalogue lacks one of the ids.
        NoInvariantError: One of the rules has no invariant.
    """
    invariants = invariants_of(rules)
    listed = tuple(files)
    stored = _Stored(spark, place)
    store, tables = stored.store, stored.tables
    bronze = account(spark, store(_LINES, read_lines(spark, listed)), listed)
    quarantine, missing = store("quarantine", bronze.quarantine), store("missing", bronze.missing)
    history = build_history(bronze.events, lambda name, table: store(f"history/{name}", table))
    _examine(history, invariants, limits, place / EXAMINED)
    examined = tables[EXAMINED] = spark.read.schema(BY_RULE).parquet(pattern_of(str(place / EXAMINED)))
    broken = examined.where(F.col("outcome") == Outcome.BROKEN.value)
    offending = store("offending", broken.join(history.cases, list(CASE)))
    cases = {row.case_id: tuple(row[name] for name in NAMES) for row in history.cases.collect()}
    runs = runs_of(bronze, {file.folder for file in listed})
    rows = _rows(tables)
    collected = Collected(
        invariants=tuple(invariants.values()),
        runs=tuple(sorted(runs.values())),
        tallies=_tallies(examined, cases, runs),
        remarks=_remarks(bronze.events, runs),
        damage=_everywhere(_with_left_out(bronze, _damage(quarantine, missing)), runs),
        lines={
            "parsed": rows[_LINES] - rows["quarantine"],
            "quarantined": rows["quarantine"],
            "missing": rows["missing"],
        },
        tables={name: count for name, count in rows.items() if name != _LINES},
        subjects=_subjects(examined, cases) if subjects else {},
        measures=() if rules else measures(history, sorted(runs.values())),
        offences=offences(tables[_LINES], offending, invariants, runs, limits),
    )
    remove_folder(place / _LINES)
    return collected


def _examine(history: History, invariants: Mapping[str, Invariant], limits: Limits, place: Place) -> None:
    """Write the subjects of all invariants.

    Each invariant that joins tables has a write of its own, because the time for planning grows faster than the size of
    a plan.  All invariants that read the rows of one table share a write, because their plans are small.
    """
    by_table: dict[str, dict[str, Rows]] = {}
    for rule, invariant in invariants.items():
        form = invariant.on_spark
        if isinstance(form, OfTable):
            by_table.setdefault(form.table, {})[rule] = form.rows(limits)
        else:
            form(history, limits).write.parquet(str(place / f"rule={rule}"))
    for name, rows in by_table.items():
        together(getattr(history, name), rows).write.mode("append").partitionBy("rule").parquet(str(place))


def _rows(tables: Mapping[str, DataFrame]) -> dict[str, int]:
    """Count the rows of all tables in one job."""
    counts = (
        table.agg(F.count("*").alias("rows")).select(F.lit(name).alias("table"), "rows")
        for name, table in tables.items()
    )
    return {row.table: row.rows for row in reduce(DataFrame.unionByName, counts).collect()}


def runs_of(bronze: Bronze, folders: Iterable[str]) -> dict[tuple[str, str], RunOf]:
    """Find every run in every folder; a run whose first lines are lost has the backend "unknown"."""
    begin = F.col("kind") == "begin"
    found = bronze.events.groupBy("folder", "run").agg(
        *(F.min(F.when(begin, F.col(name))).alias(name) for name in ("backend", "client", "ours", "decides", "untold"))
    )
    runs = {
        (row.folder, row.run): RunOf(
            row.folder,
            row.run,
            row.backend or "unknown",
            row.client or "unknown",
            tuple(row.ours or ()),
            None if row.decides is None else tuple(row.decides),
            tuple((one.rule, one.reason) for one in row.untold or ()),
        )
        for row in found.collect()
    }
    named = {folder for folder, _ in runs}
    for folder in set(folders) - named:
        # A folder without an intact line gets verdicts, too.
        runs[folder, "unknown"] = RunOf(folder, "unknown", "unknown", "unknown")
    return runs


def _damage(quarantine: DataFrame, missing: DataFrame) -> dict[str, tuple[str, ...]]:
    lines = quarantine.groupBy("folder", "file", "reason").count().collect()
    counts = missing.collect()
    told: dict[str, list[str]] = {}
    for row in lines:
        amount = "1 line was" if row["count"] == 1 else f"{row['count']} lines were"
        told.setdefault(row.folder, []).append(f"In {Path(row.file).name} {amount} quarantined: {row.reason}.")
    for row in counts:
        told.setdefault(row.folder, []).append(_sentence(row))
    return {folder: tuple(sorted(sentences)[:DAMAGE_SHOWN]) for folder, sentences in told.items()}


def _with_left_out(bronze: Bronze, damage: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Add to the damage the sentences about lines that could not be imported."""
    begun = bronze.events.where((F.col("kind") == "begin") & F.col("unread").isNotNull())
    told = begun.groupBy("folder").agg(F.min("unread").alias("unread")).collect()
    return {**damage, **{row.folder: (*row.unread, *damage.get(row.folder, ())) for row in told}}


def _sentence(row: Row) -> str:
    where = f"the journal of {row.writer}" if row.writer else Path(row.file).name if row.file else f"run {row.run}"
    amount = f" ({row.lines} lines)" if row.lines is not None else ""
    return f"The count of {where} does not add up: {row.reason}{amount}."


def _everywhere(
    damage: Mapping[str, tuple[str, ...]], runs: Mapping[tuple[str, str], RunOf]
) -> dict[str, tuple[str, ...]]:
    """Add the damage without a folder to each folder's damage."""
    homeless = damage.get(None, ())  # type: ignore[call-overload]  # a left join's null
    folders = {folder for folder, _ in runs}
    told = {folder: (*damage.get(folder, ()), *homeless) for folder in folders}
    return {folder: sentences for folder, sentences in told.items() if sentences}


def _subject(row: Row, case: Case) -> Subject:
    _, run, scenario = case
    return Subject(row.rule, run, scenario, row.subject, Outcome(row.outcome), row.figure, row.ref)


def _subjects(examined: DataFrame, cases: Mapping[int, Case]) -> dict[str, tuple[Subject, ...]]:
    found: dict[str, list[Subject]] = {}
    for row in examined.collect():
        case = cases[row.case_id]
        found.setdefault(case[0], []).append(_subject(row, case))
    return {folder: tuple(sorted(subjects)) for folder, subjects in found.items()}


def _tallies(
    examined: DataFrame, cases: Mapping[int, Case], runs: Mapping[tuple[str, str], RunOf]
) -> dict[RunOf, tuple[Tally, ...]]:
    key = (*CASE, "rule")
    counts = examined.groupBy(*key, "outcome").count().collect()
    order = Window.partitionBy(*key).orderBy("subject", "ref")
    rest = examined.where(F.col("outcome") != Outcome.KEPT.value).withColumn("rank", F.row_number().over(order))
    shown: dict[tuple[int, str], list[Subject]] = {}
    for row in rest.where(F.col("rank") <= SHOWN).collect():
        shown.setdefault((row.case_id, row.rule), []).append(_subject(row, cases[row.case_id]))
    numbers: dict[tuple[int, str], dict[Outcome, int]] = {}
    for row in counts:
        numbers.setdefault((row.case_id, row.rule), {})[Outcome(row.outcome)] = row["count"]
    tallies: dict[RunOf, list[Tally]] = {}
    for group, counted in numbers.items():
        number, rule = group
        folder, run, scenario = cases[number]
        found = Tally(rule, scenario, counted, tuple(sorted(shown.get(group, ()))))
        tallies.setdefault(runs[folder, run], []).append(found)
    return {run: tuple(found) for run, found in tallies.items()}


def _remarks(events: DataFrame, runs: Mapping[tuple[str, str], RunOf]) -> dict[RunOf, tuple[Remark, ...]]:
    """Collect the remarks about scenarios: rules, missing capabilities, steps not done, lateness, ended sessions."""
    kinds = ("scenario", "scenario-end", "unsupported", "session-ended")
    begun, ended, lacking, cut = (F.col("kind") == kind for kind in kinds)
    steps = F.col("kind") == "step"
    told = (
        events.where(begun | ended | lacking | cut | (steps & F.col("outcome").isin(list(STEP_VERDICTS))))
        .groupBy(*NAMES)
        .agg(
            F.first(
                F.when(begun, F.struct("rules", "judged", "strength", "attempt", "repeats")), ignorenulls=True
            ).alias("begun"),
            F.first(F.when(lacking, F.struct("capability", "reason")), ignorenulls=True).alias("lacking"),
            F.min(F.when(cut, F.struct("writer", "seq", "refused.text"))).alias("cut"),
            *(F.sum(F.when(ended, F.col(name))).alias(name) for name in ("late_ns", "elapsed_ns")),
            *(
                F.first(F.when(steps & (F.col("outcome") == word), F.col("detail")), ignorenulls=True).alias(word)
                for word in STEP_VERDICTS
            ),
            *(F.count(F.when(steps & (F.col("outcome") == word), 1)).alias(f"{word}_steps") for word in STEP_VERDICTS),
        )
        .where(F.col("begun").isNotNull() & F.col("scenario").isNotNull())
    )
    remarks: dict[RunOf, list[Remark]] = {}
    for row in told.collect():
        remarks.setdefault(runs[row.folder, row.run], []).append(_remark(row))
    return {run: tuple(found) for run, found in remarks.items()}


def _remark(row: Row) -> Remark:
    verdict, reason = Verdict.PASS, ""
    if row.lacking is not None:
        verdict, reason = Verdict.UNSUPPORTED, f"{row.lacking.capability} is missing: {row.lacking.reason}"
    for word, of_step in STEP_VERDICTS.items():
        if row[f"{word}_steps"] and of_step.badness > verdict.badness:
            verdict, reason = of_step, f"A step was {word}: {row[word] or 'no reason was given'}"
    begun = row.begun
    return Remark(
        scenario=row.scenario,
        rules=tuple(begun.rules or ()),
        judged=begun.judged,
        strength=begun.strength,
        verdict=verdict,
        reason=reason,
        late_ns=row.late_ns or 0,
        elapsed_ns=row.elapsed_ns or 0,
        session_error=None if row.cut is None else row.cut.text or "",
        attempt=begun.attempt or 1,
        repeats=begun.repeats or "",
    )
