"""Tests of the data source ``assay`` with whole and with damaged journals."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from tests.pipeline.cases import CASES
from tests.pipeline.tales import write_run

from assay_evidence.lines import NEWLINE
from assay_pipeline import PackageMissingError, packages, register
from assay_pipeline.journals import JournalFile, find_journals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytest.importorskip("pyspark", reason="pyspark is not installed")


def signed(body: bytes) -> bytes:
    """Return a line with a valid checksum; the body is a JSON object."""
    start = body.removesuffix(b"}")
    return b'%b,"sum":"%08x"}\n' % (start, crc32(start))


NEWER = signed(b'{"kind":"of-a-newer-schema","v":2,"run":"run-1"}')
HUGE = signed(
    b'{"kind":"late","v":1,"run":"run-1","writer":"main","seq":%d,"boot":"b","mono_ns":0,"wall_ns":0,"unc_ns":0}'
    % (1 << 70)
)


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Write a run with an altered line, a blank one, one of a newer schema, and a torn tail; return its folder."""
    path = write_run(tmp_path / "run", [case.telling for case in CASES[:20]])
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"run-1"', b'"run-2"', 1)
    lines[4:4] = [NEWLINE, NEWER]
    path.write_bytes(b"".join(lines)[:-30])
    return tmp_path / "run"


def rows_of(path: Path) -> list[dict[str, Any]]:
    from assay_pipeline.source.journals import read_rows

    return [dict(row) for row in read_rows(JournalFile(str(path.parent), str(path), 0))]


def test_each_damaged_line_is_a_row(damaged: Path) -> None:
    rows = rows_of(damaged / "main.jsonl")
    found = {row["file_line"]: row["damage"] for row in rows if row.get("damage")}
    assert found == {3: "checksum", 5: "undecodable", 6: "undecodable", len(rows): "undecodable"}
    assert rows[5]["damaged_line"] == NEWER.decode().rstrip("\n")
    assert all(row.get("kind") for row in rows if not row.get("damage"))


def test_a_number_of_more_than_64_bits_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "main.jsonl"
    path.write_bytes(HUGE)
    assert [row["damage"] for row in rows_of(path)] == ["undecodable"]


def test_a_file_that_has_vanished_is_a_row(tmp_path: Path) -> None:
    assert [row["damage"] for row in rows_of(tmp_path / "gone.jsonl")] == ["unreadable"]


def test_a_torn_compressed_file_keeps_its_first_lines(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", [case.telling for case in CASES])
    torn = tmp_path / "main.0001.jsonl.gz"
    torn.write_bytes(gzip.compress(path.read_bytes())[:-2_000])
    rows = rows_of(torn)
    assert len(rows) > 1
    assert rows[-1]["damage"] == "undecodable"


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda _name: None)
    with pytest.raises(PackageMissingError, match=r"pip install 'assay-mq\[spark\]'"):
        register(None)  # type: ignore[arg-type]  # no session is needed to miss pyarrow


def as_json(events: DataFrame) -> set[str]:
    """Return the events as JSON texts, which compares columns of maps, too."""
    from pyspark.sql import functions as F  # noqa: N812 - pyspark's usual name

    from assay_pipeline.schema import event_schema

    names = event_schema().fieldNames()
    return {row.text for row in events.select(F.to_json(F.struct(*names)).alias("text")).collect()}


@pytest.mark.spark
@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="pyarrow is not installed")
def test_spark_reads_damage_as_rows_and_the_same_events_as_the_pipeline(spark: SparkSession, damaged: Path) -> None:
    from assay_pipeline.bronze import account, read_lines

    register(spark)
    lines = spark.read.format("assay").load(str(damaged)).cache()
    files = find_journals([damaged])
    bronze = account(spark, read_lines(spark, files), files)
    assert lines.where(lines.damage.isNotNull()).count() == 4
    assert as_json(lines.where(lines.damage.isNull())) == as_json(bronze.events)
