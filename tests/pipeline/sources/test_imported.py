"""Tests that the pipeline judges imported logs as the oracle does, and does not decide what they lack data for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.importing.logbook import MAPPING, judged
from tests.cli.importing.test_verdicts import early, twice

from assay.importing.importer import import_logs
from assay.importing.mapping import read_mapping
from assay_pipeline.job import Options, judge_with
from assay_pipeline.journals import find_journals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = ("DD-02", "PD-18", "BT-08")


def test_imported_logs_have_the_verdicts_that_the_oracle_finds(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "mapping.toml").write_text(MAPPING)
    cut = early()
    cut.rows.append({"event": "receive"})
    for name, log in (("early", early()), ("twice", twice()), ("cut", cut)):
        (tmp_path / name).mkdir()
        import_logs([log.write(tmp_path / name)], tmp_path / name / "run", read_mapping(tmp_path / "mapping.toml"))
    folders = [tmp_path / name / "run" for name in ("cut", "early", "twice")]
    result = judge_with(
        spark, find_journals(folders), tmp_path / "out", tmp_path / "out", options=Options(RULES, oracle=True)
    )
    assert result.disagreements == ()
    found = [{rule.id: (rule.verdict.value, rule.reason) for rule in run.verdicts.rules} for run in result.runs]
    told = [judged(folder).rules for folder in folders]
    assert found == [{rule: (one[rule].verdict.value, one[rule].reason) for rule in RULES} for one in told]
    assert {verdict for verdict, _ in found[0].values()} == {"inconclusive"}
    assert [found[number][rule][0] for number, rule in ((1, "DD-02"), (2, "PD-18"), (2, "BT-08"))] == [
        "fail",
        "fail",
        "not-demonstrated",
    ]
    assert result.runs[0].damage[0].startswith("1 line of the log could not be imported: log.jsonl:")
