from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.pipeline.cases import CASES
from tests.pipeline.judgement import Judgement
from tests.pipeline.miniatures import fault_ids
from tests.pipeline.tales import Tale, preceded, write_run

from assay_evidence.events import Call, Fault, Return, Seen, Watch
from assay_evidence.histories.measures import Measures
from assay_evidence.subjects import Outcome
from assay_evidence.verdicts import Verdict
from assay_pipeline.errors import JournalGoneError
from assay_pipeline.history import History
from assay_pipeline.job import MANIFEST, MEASURES, Manifest, Options, judge_with
from assay_pipeline.journals import find_journals
from assay_pipeline.offences import TOLD

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MS = 1_000_000


def test_the_tables_hold_every_subject(judgement: Judgement, spark: SparkSession) -> None:
    examined = spark.read.parquet(str(judgement.result.out / "examined"))
    offending = spark.read.parquet(str(judgement.result.out / "offending"))
    manifest = msgspec.json.decode((judgement.result.out / MANIFEST).read_bytes(), type=Manifest)
    assert manifest.tables["examined"] == examined.count()
    assert offending.count() == examined.where(examined.outcome == Outcome.BROKEN.value).count() > 0


def test_every_line_is_parsed_or_quarantined(judgement: Judgement) -> None:
    manifest = msgspec.json.decode((judgement.result.out / MANIFEST).read_bytes(), type=Manifest)
    lines = sum(
        path.read_bytes().count(b"\n") + (not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0)
        for path in judgement.root.glob("*/main.jsonl")
    )
    assert manifest.lines["parsed"] + manifest.lines["quarantined"] == lines
    assert len(manifest.journals) == len(judgement.runs)


def test_the_measures_of_all_runs_are_written(judgement: Judgement) -> None:
    written = msgspec.json.decode((judgement.result.out / MEASURES).read_bytes(), type=tuple[Measures, ...])
    assert written == judgement.result.measures
    assert len(written) > len(judgement.runs) / 2


def test_only_the_chosen_rules_are_judged(spark: SparkSession, tmp_path: Path) -> None:
    write_run(tmp_path / "run", [case.telling for case in CASES if case.rule in {"DD-02", "DD-39"}])
    (tmp_path / "out").mkdir()
    files = find_journals([tmp_path / "run"])
    result = judge_with(spark, files, tmp_path / "out", tmp_path / "out", options=Options(("DD-39",), oracle=True))
    assert [rule.id for run in result.runs for rule in run.verdicts.rules] == ["DD-39"]
    assert result.disagreements == ()
    assert [path.name for path in (tmp_path / "out" / "examined").glob("rule=*")] == ["rule=DD-39"]
    stored = {path.name for path in (tmp_path / "out" / "history").iterdir()}
    assert "sends" in stored
    assert result.measures == ()
    assert not stored & {"copies", "lapses", "latecomers", "unsettled"}, "no table that only other rules read is made"


def test_faults_of_two_processes_with_one_id_are_two_faults(spark: SparkSession, tmp_path: Path) -> None:
    write_run(tmp_path / "run", [fault_ids.first], beside=[fault_ids.second])
    (tmp_path / "out").mkdir()
    files = find_journals([tmp_path / "run"])
    result = judge_with(spark, files, tmp_path / "out", tmp_path / "out", options=Options(("DD-02",), oracle=True))
    assert result.disagreements == ()
    assert [rule.verdict for run in result.runs for rule in run.verdicts.rules] == [Verdict.NOT_DEMONSTRATED]
    (row,) = spark.read.parquet(str(tmp_path / "out" / "history" / "faults")).collect()
    assert sorted((fault.begin.mono_ns // MS, fault.end is not None) for fault in row.faults) == [
        (100, False),
        (140, True),
    ]


def test_a_journal_that_vanishes_during_the_judgement_is_named(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("run", "other"):
        write_run(tmp_path / name, [CASES[0].telling])
    files = find_journals([tmp_path / "run", tmp_path / "other"])
    (tmp_path / "other" / "main.jsonl").unlink()
    with pytest.raises(JournalGoneError, match=r"other/main.jsonl vanished while it was judged"):
        judge_with(spark, files, tmp_path / "out", tmp_path / "out", options=Options(("DD-02",)))


def test_a_judgement_of_all_rules_reads_every_table(judgement: Judgement) -> None:
    stored = {path.name for path in (judgement.result.out / "history").iterdir()}
    assert stored == {*History.__annotations__, "kept"}


def test_each_run_of_many_has_its_own_verdicts(judgement: Judgement) -> None:
    files = {run.file for run in judgement.result.runs}
    assert len(files) == len(judgement.result.runs)
    assert all((judgement.result.out / file).is_file() for file in files)


def test_nothing_but_results_is_left_in_the_output(judgement: Judgement) -> None:
    assert {path.name for path in judgement.result.out.iterdir()} == {
        "examined",
        "history",
        "manifest.json",
        "measures.json",
        "missing",
        "offending",
        "quarantine",
        "runs",
    }


def test_each_broken_rule_has_the_stories_of_its_first_subjects(judgement: Judgement, spark: SparkSession) -> None:
    offending = spark.read.parquet(str(judgement.result.out / "offending"))
    counts = offending.groupBy("folder", "run", "rule").count().collect()
    told = Counter((one.folder, one.run, one.rule) for one in judgement.result.offences)
    assert told == {(row.folder, row.run, row.rule): min(row["count"], TOLD) for row in counts}
    assert all(any(event.ref == one.ref for event in one.events) for one in judgement.result.offences)


def test_a_story_has_the_messages_events_and_no_others(spark: SparkSession, tmp_path: Path) -> None:
    def early(tale: Tale) -> None:
        tale.starts()
        watch = tale.listens()
        for key in ("late", "soon"):
            tale.sends(key, delay_ms=1000)
        tale.at(20).handed("soon")
        tale.at(30).suffers("cut")
        tale.at(1001).handed("late")
        tale.stops(watch)

    def begins_units(tale: Tale) -> None:
        for number in range(20):
            tale.ends_unit(f"{number}", "begin")

    # The calls of the other run have the same ids, and the numbers of their lines differ.
    write_run(tmp_path / "run", [early])
    write_run(tmp_path / "other", [preceded(begins_units, early)])
    (tmp_path / "out").mkdir()
    files = find_journals([tmp_path / "run", tmp_path / "other"])
    told = judge_with(spark, files, tmp_path / "out", tmp_path / "out", options=Options(("DD-02",))).offences
    assert [(one.rule, one.subject, one.backend) for one in told] == [("DD-02", "soon", "reference")] * 2
    for one in told:
        assert [type(event) for event in one.events] == [Watch, Call, Return, Seen, Fault, Fault, Watch]
        assert {event.msg.key for event in one.events if isinstance(event, Call | Seen) and event.msg} == {"soon"}
