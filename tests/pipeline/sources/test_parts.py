"""Tests of the pipeline with journals in parts, of which one is torn or altered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.evidence.histories import EPOCH_NS
from tests.pipeline.cases import CASES
from tests.pipeline.tales import write_scenarios

from assay_evidence.files.parts import PartLimits
from assay_evidence.reader import read_journals
from assay_evidence.writer import Instant, JournalWriter
from assay_pipeline.bronze import account, read_lines
from assay_pipeline.journals import JournalFile, find_journals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCENARIOS = 20


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Write a journal in more than two compressed parts, and return its folder."""
    limits = PartLimits(part_bytes=2_000, buffer_bytes=500)
    with JournalWriter(tmp_path / "main.jsonl", run="run-1", writer="main", parts=limits) as journal:
        write_scenarios(journal, [CASES[0].telling] * SCENARIOS)
        journal.close(Instant("virtual:1", 0, EPOCH_NS, 0), writers=("main",))
    assert (tmp_path / "main.0003.jsonl.gz").exists()
    return tmp_path


def reasons(spark: SparkSession, folder: Path) -> set[str]:
    """Return the reasons for which the pipeline reports lines of a journal as damaged or missing."""
    files = find_journals([folder])
    bronze = account(spark, read_lines(spark, files), files)
    return {row.reason for table in (bronze.quarantine, bronze.missing) for row in table.select("reason").collect()}


@pytest.mark.spark
def test_a_whole_journal_in_parts_has_no_damage(spark: SparkSession, parts: Path) -> None:
    assert reasons(spark, parts) == set()


@pytest.mark.spark
@pytest.mark.parametrize("octets", [0, 30, 200], ids=["no octets", "a header and little more", "a torn part"])
def test_a_torn_part_is_a_gap_and_no_error(spark: SparkSession, parts: Path, octets: int) -> None:
    second = parts / "main.0002.jsonl.gz"
    assert second.stat().st_size > octets
    second.write_bytes(second.read_bytes()[:octets])
    assert "gap" in reasons(spark, parts)


@pytest.mark.spark
def test_a_part_that_is_not_compressed_is_a_gap_and_no_error(spark: SparkSession, parts: Path) -> None:
    (parts / "main.0002.jsonl.gz").write_bytes(b"no gzip\n" * 20)
    assert "gap" in reasons(spark, parts)


@pytest.mark.spark
def test_a_torn_last_part_has_no_end(spark: SparkSession, parts: Path) -> None:
    last = max(parts.iterdir())
    last.write_bytes(last.read_bytes()[:30])
    assert "no end" in reasons(spark, parts)


@pytest.mark.spark
@pytest.mark.parametrize("name", ["gw0.jsonl", "gw0.0001.jsonl"])
@pytest.mark.parametrize("octets", [b"", b"no event\n"], ids=["no octets", "no valid line"])
def test_a_writer_is_missing_only_if_it_has_no_file(
    spark: SparkSession, tmp_path: Path, name: str, octets: bytes
) -> None:
    with JournalWriter(tmp_path / "main.jsonl", run="run-1", writer="main") as journal:
        write_scenarios(journal, [CASES[0].telling])
        journal.close(Instant("virtual:1", 0, EPOCH_NS, 0), writers=("main", "gw0", "gw1"))
    (tmp_path / name).write_bytes(octets)
    files = find_journals([tmp_path])
    missing = account(spark, read_lines(spark, files), files).missing
    told = [(row.writer, Path(row.file).name if row.file else None, row.reason) for row in missing.collect()]
    assert sorted(told, key=lambda one: one[-1]) == [(None, name, "empty file"), ("gw1", None, "missing writer")]
    of_reader = {one.writer for one in read_journals(tmp_path).damage if one.kind == "missing-writer"}
    assert of_reader == {"gw1"}


def test_a_compressed_file_counts_with_the_size_of_its_lines() -> None:
    sizes = [JournalFile("run", f"run/{name}", 1_000).plain_octets for name in ("w.jsonl", "w.0001.jsonl.gz")]
    assert sizes == [1_000, 8_000]
