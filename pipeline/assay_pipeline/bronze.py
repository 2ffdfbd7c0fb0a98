"""The first layer of the pipeline: classifies every line of every journal as parsed, quarantined or missing.

A line is **parsed** if its checksum matches, it is one JSON object of a known kind, and it has every required field of
its kind.  Any other line is **quarantined** with its file and the reason: for example a blank line, two objects in one
line, an incomplete line, an altered byte.

The line numbers of each writer show missing and surplus lines.  Lines are numbered from 0 without gaps; the first line
is ``begin``; the last is ``end`` and holds the number of lines before it.  The ``end`` of the run's main process (the
controller) names all writers.  A writer is **missing** if this ``end`` names it, no parsed line is from it, and it has
no file of its own.  A file without a parsed line is an **empty file**.  The controller is missing if no ``end`` names
writers.

Spark reads the lines as text, and an expression parses them.  Spark's own JSON readers are not used, because they drop
blank lines and all but the first object of a line, and turn an invalid line into a row of nulls.

If a compressed part of a journal is torn or altered, Spark keeps the lines before the damaged place and goes on with
the next file.  The lines after that place count as missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from pathlib import Path

import msgspec
from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

from assay_evidence.files.parts import writer_of
from assay_pipeline.journals import JournalFile
from assay_pipeline.places.naming import pattern_of
from assay_pipeline.schema import CHECKSUM, CORRUPT, KIND, event_schema, parsing_schema, required_fields

CHECKSUM_FORM = r',"sum":"[0-9a-f]{8}"}$'
"""The pattern of the checksum at the end of a line, as `assay_evidence.lines` writes it."""
CHECKSUM_OCTETS = 18
RUN = ("folder", "run")
WRITER = (*RUN, "writer")


class Bronze(Struct, frozen=True):
    """The lines of all journals.

    Args:
        events: The parsed lines: ``folder``, ``file``, ``case_id`` and every field of every kind of event.
        quarantine: The quarantined lines: ``folder``, ``file``, ``reason``, ``line``.
        missing: The missing and surplus lines of each writer: ``folder``, ``run``, ``writer``, ``reason``, ``lines``
            (their number; null if unknown) and ``file`` (only for a file without a valid line; otherwise null).
        files: The journal files: ``folder``, ``file``, and ``writer``, the writer that the file's name tells.
    """

    events: DataFrame
    quarantine: DataFrame
    missing: DataFrame
    files: DataFrame


def read_lines(spark: SparkSession, files: Iterable[JournalFile]) -> DataFrame:
    """Read and check every line.

    The columns are ``folder``, ``file``, ``case_id``, ``line``, ``reason`` (null for a valid line) and ``event``.

    Args:
        spark: The Spark session.
        files: The journals to judge.
    """
    listed = tuple(files)
    raw = (
        spark.read.option("lineSep", "\n")
        .option("ignoreCorruptFiles", "true")  # otherwise an incomplete or altered compressed part ends the job
        .text([pattern_of(file.path) for file in listed])
        .select(F.col("value").alias("line"), _path(F.col("_metadata.file_path")).alias("file"))
    )
    lines = raw.join(F.broadcast(_known(spark, listed).drop("writer")), "file", "left").select(
        "*", _parsed(F.col("line")).alias("event")
    )
    return lines.withColumn("reason", _damage(F.col("line"), F.col("event"))).withColumn("case_id", case_id("event."))


def case_id(prefix: str = "") -> Column:
    """Return the number of an event's scenario: a hash of 64 bits of the folder, the run and the scenario's id.

    Among 100,000 scenarios, two have the same number with a probability of about 3 in 10,000,000,000.

    Args:
        prefix: The prefix of the columns of the event.
    """
    scenario = F.coalesce(F.col(f"{prefix}scenario"), F.lit(""))
    return F.xxhash64(F.col("folder"), F.col(f"{prefix}run"), scenario)


def account(spark: SparkSession, lines: DataFrame, files: Iterable[JournalFile]) -> Bronze:
    """Separate the parsed lines from the quarantined lines, and find missing lines.

    Args:
        spark: The Spark session.
        lines: The stored result of `read_lines`; this function reads it several times.
        files: The journals to judge.
    """
    known = _known(spark, files)
    fields = [F.col(f"event.{name}") for name in event_schema().fieldNames()]
    events = lines.where(F.col("reason").isNull()).select("folder", "file", "case_id", *fields)
    quarantine = lines.where(F.col("reason").isNotNull()).select("folder", "file", "reason", "line")
    return Bronze(events=events, quarantine=quarantine, missing=_missing(events, known), files=known)


def _known(spark: SparkSession, files: Iterable[JournalFile]) -> DataFrame:
    told = [{"folder": file.folder, "file": file.path, "writer": writer_of(Path(file.path))} for file in files]
    return spark.sql(
        "SELECT inline(from_json(:rows, 'array<struct<folder: string, file: string, writer: string>>'))",
        args={"rows": msgspec.json.encode(told).decode()},
    )


def _path(uri: Column) -> Column:
    """Return the path in a file's URI; undo Spark's percent encoding, which leaves plus signs as they are."""
    decoded = F.url_decode(F.replace(uri, F.lit("+"), F.lit("%2B")))
    return F.regexp_replace(decoded, "^file:/+", "/")


def _parsed(line: Column) -> Column:
    return F.from_json(line, parsing_schema(), {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT})


def _damage(line: Column, event: Column) -> Column:
    """Return the reason why a line is quarantined; null for a valid line."""
    octets = line.cast("binary")
    body = F.substring(octets, F.lit(1), F.octet_length(octets) - CHECKSUM_OCTETS)
    computed = F.lpad(F.lower(F.hex(F.crc32(body))), 8, "0")
    return (
        F.when(F.trim(line) == "", "blank")
        .when(~line.rlike(CHECKSUM_FORM), "no checksum")
        .when(F.substring(line, -10, 8) != computed, "checksum")
        .when(event.isNull() | event[CORRUPT].isNotNull() | event[CHECKSUM].isNull(), "undecodable")
        .when(event[KIND].isNull() | ~event[KIND].isin(list(required_fields())), "unknown kind")
        .when(~_complete(), "incomplete")
    )


def _complete() -> Column:
    """Return the condition that an event has every required field of its kind; it covers about a hundred fields."""
    common = sorted(set.intersection(*(set(names) for names in required_fields().values())))

    def present(names: Iterable[str]) -> str:
        return " AND ".join(f"event.{name} IS NOT NULL" for name in names)

    own = {kind: [name for name in names if name not in common] for kind, names in required_fields().items()}
    kinds = (f"(event.{KIND} <> '{kind}' OR ({present(names)}))" for kind, names in own.items() if names)
    return F.expr(" AND ".join((present(common), *kinds)))


def _missing(events: DataFrame, known: DataFrame) -> DataFrame:
    last = F.max(F.when(F.col(KIND) == "end", F.col("seq")))
    counts = events.groupBy(*WRITER).agg(
        F.count("*").alias("lines"),
        F.count_distinct("seq").alias("different"),
        F.min("seq").alias("first"),
        F.max("seq").alias("last"),
        F.min(F.when(F.col(KIND) == "begin", F.col("seq"))).alias("begin"),
        last.alias("end"),
        F.max(F.when(F.col(KIND) == "end", F.col("events"))).alias("announced"),
    )
    expected = F.col("last") + 1
    findings = F.array(
        _finding(F.col("different") < expected, "gap", expected - F.col("different")),
        _finding(F.col("lines") > F.col("different"), "duplicate", F.col("lines") - F.col("different")),
        _finding(F.coalesce(F.col("begin") != 0, F.col("begin").isNull()), "no begin", F.lit(1)),
        _finding(F.col("end").isNull(), "no end", F.lit(None)),
        _finding(F.col("end") < F.col("last"), "lines after the end", F.col("last") - F.col("end")),
        _finding(F.col("announced") != F.col("end"), "count", F.abs(F.col("announced") - F.col("end"))),
    )
    by_count = (
        counts.select(*WRITER, F.explode(findings).alias("finding"))
        .where(F.col("finding.holds"))
        .select(*WRITER, "finding.reason", "finding.lines", F.lit(None).cast("string").alias("file"))
    )
    silent = known.join(events.select("folder", "file").distinct(), ["folder", "file"], "left_anti")
    others = (
        _missing_writers(events, silent),
        _missing_controllers(events),
        _unknown_lines(silent.drop("writer"), "empty file"),
    )
    return reduce(DataFrame.unionByName, others, by_count)


def _finding(holds: Column, reason: str, lines: Column) -> Column:
    return F.struct(holds.alias("holds"), F.lit(reason).alias("reason"), lines.cast("bigint").alias("lines"))


def _unknown_lines(frame: DataFrame, reason: str) -> DataFrame:
    return frame.select(
        *(frame[name] if name in frame.columns else F.lit(None).cast("string").alias(name) for name in WRITER),
        F.lit(reason).alias("reason"),
        F.lit(None).cast("bigint").alias("lines"),
        frame["file"] if "file" in frame.columns else F.lit(None).cast("string").alias("file"),
    )


def _missing_writers(events: DataFrame, silent: DataFrame) -> DataFrame:
    """Find the writers without a parsed line, except those with a file in `silent`, which has its own finding."""
    named = events.where(F.col(KIND) == "end").select(*RUN, F.explode("writers").alias("writer")).distinct()
    present = events.select(*WRITER).distinct()
    without = named.join(present, list(WRITER), "left_anti").join(silent, ["folder", "writer"], "left_anti")
    return _unknown_lines(without, "missing writer")


def _missing_controllers(events: DataFrame) -> DataFrame:
    lists = F.coalesce(F.max(F.when(F.col(KIND) == "end", F.size("writers"))), F.lit(0))
    without = events.groupBy(*RUN).agg(lists.alias("writers")).where(F.col("writers") <= 0)
    return _unknown_lines(without, "no controller")
