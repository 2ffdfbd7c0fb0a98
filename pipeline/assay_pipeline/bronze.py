"""Bronze: every line of every journal accounted for, as parsed, quarantined or missing.

A line is **parsed** when its checksum is that of its bytes, it is one JSON object of a kind that the schema knows, and
it has every field that its kind must have.  Any other line is **quarantined**, whole, with its file and the reason: a
blank one, two objects in one line, a torn tail, an altered byte.

A line is **missing**, or there is one too many, where a writer's count shows it: numbers run from 0 without gaps, the
first line is ``begin``, the last is ``end`` and says how many stand before it.  A writer that the controller's ``end``
names and that has no file is missing with all its lines, and so is the controller where no ``end`` names writers.

Spark's own readers are not trusted with any of this: they drop blank lines and all but the first object of a line,
and a misfit line becomes a row of nulls.  Lines are read as text and parsed by an expression.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import msgspec
from msgspec import Struct
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows it by

from assay_pipeline.journals import JournalFile
from assay_pipeline.schema import CHECKSUM, CORRUPT, KIND, event_schema, parsing_schema, required_fields

CHECKSUM_FORM = r',"sum":"[0-9a-f]{8}"}$'
"""How a line ends; `assay_evidence.lines` writes it so."""
CHECKSUM_OCTETS = 18
RUN = ("folder", "run")
WRITER = (*RUN, "writer")


class Bronze(Struct, frozen=True):
    """What became of the lines.

    Args:
        events: The parsed ones: ``folder``, ``file`` and every field of every kind.
        quarantine: The others: ``folder``, ``file``, ``reason``, ``line``.
        missing: What the counts show: ``folder``, ``run``, ``writer``, ``reason``, ``lines`` (how many, where known).
        files: The files: ``folder``, ``file``.
    """

    events: DataFrame
    quarantine: DataFrame
    missing: DataFrame
    files: DataFrame


def read_bronze(spark: SparkSession, files: Iterable[JournalFile]) -> Bronze:
    """Read journals; nothing is computed yet but the list of files.

    Args:
        spark: The session.
        files: Every file to be judged.
    """
    listed = tuple(files)
    rows = msgspec.json.encode([{"folder": file.folder, "file": file.path} for file in listed]).decode()
    known = spark.sql(
        "SELECT inline(from_json(:rows, 'array<struct<folder: string, file: string>>'))", args={"rows": rows}
    )
    raw = (
        spark.read.option("lineSep", "\n")
        .text([_escaped(file.path) for file in listed])
        .select(F.col("value").alias("line"), _path(F.col("_metadata.file_path")).alias("file"))
    )
    lines = raw.join(F.broadcast(known), "file", "left").select("*", _parsed(F.col("line")).alias("event"))
    judged = lines.withColumn("reason", _damage(F.col("line"), F.col("event"))).persist()
    fields = [F.col(f"event.{name}") for name in event_schema().fieldNames()]
    events = judged.where(F.col("reason").isNull()).select("folder", "file", *fields)
    quarantine = judged.where(F.col("reason").isNotNull()).select("folder", "file", "reason", "line")
    return Bronze(events=events, quarantine=quarantine, missing=_missing(events, known), files=known)


def _escaped(path: str) -> str:
    """A path that Hadoop does not take for a pattern."""
    return "".join(f"\\{character}" if character in r"\{}[]*?" else character for character in path)


def _path(uri: Column) -> Column:
    """The path in a file's address: Spark shows it percent-encoded, and a plus sign stands for itself."""
    decoded = F.url_decode(F.replace(uri, F.lit("+"), F.lit("%2B")))
    return F.regexp_replace(decoded, "^file:/+", "/")


def _parsed(line: Column) -> Column:
    return F.from_json(line, parsing_schema(), {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT})


def _damage(line: Column, event: Column) -> Column:
    """Why a line is not evidence; null when it is."""
    octets = line.cast("binary")
    body = F.substring(octets, F.lit(1), F.octet_length(octets) - CHECKSUM_OCTETS)
    computed = F.lpad(F.lower(F.hex(F.crc32(body))), 8, "0")
    return (
        F.when(F.trim(line) == "", "blank")
        .when(~line.rlike(CHECKSUM_FORM), "no checksum")
        .when(F.substring(line, -10, 8) != computed, "checksum")
        .when(event.isNull() | event[CORRUPT].isNotNull() | event[CHECKSUM].isNull(), "undecodable")
        .when(event[KIND].isNull() | ~event[KIND].isin(list(required_fields())), "unknown kind")
        .when(~_complete(event), "incomplete")
    )


def _complete(event: Column) -> Column:
    """Whether an event has every field that its kind must have."""
    common = set.intersection(*(set(names) for names in required_fields().values()))
    whole = reduce(Column.__and__, (event[name].isNotNull() for name in sorted(common)))
    for kind, names in required_fields().items():
        for name in (name for name in names if name not in common):
            whole &= (event[KIND] != kind) | event[name].isNotNull()
    return whole


def _missing(events: DataFrame, known: DataFrame) -> DataFrame:
    last = F.max(F.when(F.col(KIND) == "end", F.col("seq")))
    counts = events.groupBy(*WRITER).agg(
        F.count("*").alias("lines"),
        F.countDistinct("seq").alias("different"),
        F.min("seq").alias("first"),
        F.max("seq").alias("last"),
        F.min(F.when(F.col(KIND) == "begin", F.col("seq"))).alias("begin"),
        last.alias("end"),
        F.max(F.when(F.col(KIND) == "end", F.col("events"))).alias("announced"),
    )
    return reduce(
        DataFrame.unionByName,
        (
            _found(counts, F.col("different") < F.col("last") + 1, "gap", F.col("last") + 1 - F.col("different")),
            _found(counts, F.col("lines") > F.col("different"), "duplicate", F.col("lines") - F.col("different")),
            _found(counts, F.col("begin").isNull() | (F.col("begin") != 0), "no begin", F.lit(1)),
            _found(counts, F.col("end").isNull(), "no end", F.lit(None)),
            _found(counts, F.col("end") < F.col("last"), "lines after the end", F.col("last") - F.col("end")),
            _found(counts, F.col("announced") != F.col("end"), "count", F.abs(F.col("announced") - F.col("end"))),
            _missing_writers(events),
            _missing_controllers(events),
            _silent_files(events, known),
        ),
    )


def _found(counts: DataFrame, damaged: Column, reason: str, lines: Column) -> DataFrame:
    return counts.where(damaged).select(
        *WRITER,
        F.lit(reason).alias("reason"),
        lines.cast("bigint").alias("lines"),
        F.lit(None).cast("string").alias("file"),
    )


def _unknown_lines(frame: DataFrame, reason: str) -> DataFrame:
    return frame.select(
        *(frame[name] if name in frame.columns else F.lit(None).cast("string").alias(name) for name in WRITER),
        F.lit(reason).alias("reason"),
        F.lit(None).cast("bigint").alias("lines"),
        frame["file"] if "file" in frame.columns else F.lit(None).cast("string").alias("file"),
    )


def _missing_writers(events: DataFrame) -> DataFrame:
    named = events.where(F.col(KIND) == "end").select(*RUN, F.explode("writers").alias("writer")).distinct()
    present = events.select(*WRITER).distinct()
    return _unknown_lines(named.join(present, list(WRITER), "left_anti"), "missing writer")


def _missing_controllers(events: DataFrame) -> DataFrame:
    lists = F.coalesce(F.max(F.when(F.col(KIND) == "end", F.size("writers"))), F.lit(0))
    without = events.groupBy(*RUN).agg(lists.alias("writers")).where(F.col("writers") <= 0)
    return _unknown_lines(without, "no controller")


def _silent_files(events: DataFrame, known: DataFrame) -> DataFrame:
    spoken = events.select("folder", "file").distinct()
    return _unknown_lines(known.join(spoken, ["folder", "file"], "left_anti"), "empty file")
