"""Journals that end anywhere: a killed writer, a full disk or a lost transfer must never lead to a wrong verdict."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipeline.judgement import breach
from tests.pipeline.tales import write_run

from assay_evidence.verdicts import Verdict
from assay_pipeline.job import Options, judge_with
from assay_pipeline.journals import find_journals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CUTS = 100
"""The number of cuts of the plain journal, and of the compressed one."""
RULES = ("DD-02", "DD-03", "PD-18", "QS-08")
"""Rules about early, missing, repeated and settled messages: a missing line could break or excuse each of them."""

AT_END = 16
"""The octets at the end that no cut is in: without its line end, or without gzip's checksum, the last line is whole."""


def test_a_journal_that_was_cut_anywhere_decides_nothing(spark: SparkSession, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    journal = write_run(whole, map(breach, RULES)).read_bytes()
    cut = list(_cut(tmp_path, "main.jsonl", journal)) + list(
        _cut(tmp_path, "main.0001.jsonl.gz", gzip.compress(journal))
    )
    out = tmp_path / "out"
    out.mkdir()
    result = judge_with(spark, find_journals([whole, *cut]), out, out, options=Options(RULES))
    damaged = [run for run in result.runs if run.damage]
    (intact,) = (run for run in result.runs if not run.damage)
    assert {rule.verdict for rule in intact.verdicts.rules} == {Verdict.FAIL}
    verdicts = [rule.verdict for run in damaged for rule in run.verdicts.rules]
    assert verdicts == [Verdict.INCONCLUSIVE] * (2 * CUTS * len(RULES))


def _cut(place: Path, name: str, octets: bytes) -> Iterator[Path]:
    """Write a file up to random positions, each in a folder of its own, and return the folders."""
    for position in random.Random(22).sample(range(len(octets) - AT_END), CUTS):  # noqa: S311 - no secret
        folder = place / f"{name}-{position}"
        folder.mkdir()
        (folder / name).write_bytes(octets[:position])
        yield folder
