"""Judgements whose journals and results are named by URIs, with Spark.

Hadoop's file system ``viewfs`` shows local folders under URIs of another scheme.  So Spark reads and writes these URIs
as those of a remote file system, without a network.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec
import pytest
from tests.pipeline.cases import CASES
from tests.pipeline.places.stores import use
from tests.pipeline.tales import write_run

from assay_evidence.files.parts import compress
from assay_pipeline import job, register
from assay_pipeline.job import MANIFEST, Manifest, Options, Pages, Result, judge_runs
from assay_pipeline.places.results import INCOMPLETE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

fs = pytest.importorskip("pyarrow.fs", reason="pyarrow is not installed")
pytestmark = pytest.mark.spark
NAMES = ("two words", "Prüfung €", "100% a%20b", "a+b", "[a] {b} *?")
RULES = ("DD-02", "DD-39")
OPTIONS = Options(RULES, oracle=True, pages=Pages(lambda _measures: "measures", lambda _offences: "offences"))
HOST = "viewfs://assay"


@pytest.fixture
def ours(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """Let `judge_runs` use the session of the tests, because a start takes seconds."""
    monkeypatch.setattr(job, "spark_session", lambda _master, octets, conf: nullcontext(spark))  # noqa: ARG005 - its signature
    return spark


@pytest.fixture
def store(ours: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a remote file system for Spark and Assay, and return the local folder in which its files are."""
    folder = tmp_path / "store"
    folder.mkdir()
    ours.conf.set("fs.viewfs.mounttable.assay.linkFallback", folder.as_uri())
    ours.conf.set("fs.viewfs.impl.disable.cache", "true")
    use(monkeypatch, fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()))
    return folder


def write_runs(root: Path) -> list[str]:
    """Write a run under each of the names; one of them has a compressed part. Return the names of the folders."""
    for number, name in enumerate(NAMES):
        path = write_run(root / name, [case.telling for case in CASES if case.rule == RULES[number % 2]])
        if number == 0:
            part = path.with_name(path.name.replace(".jsonl", ".0001.jsonl"))
            path.rename(part)
            compress(part)
    return [quote(name) for name in NAMES]


def check(result: Result, out: Path, runs: list[str]) -> None:
    """Check that the results are complete and name the journals."""
    assert result.disagreements == ()
    assert [run.folder for run in result.runs] == sorted(runs)
    assert all(run.damage == () for run in result.runs)
    assert result.exit_code == 1  # breaches are among the cases
    manifest = msgspec.json.decode((out / MANIFEST).read_bytes(), type=Manifest)
    assert {file.folder for file in manifest.journals} == set(runs)
    assert all((out / entry["file"]).is_file() for entry in manifest.verdicts)
    assert (out / "offences.html").read_text() == "offences"
    assert {path.name for path in out.iterdir()} >= {"examined", "offending", "history", "quarantine", "missing"}
    assert not {path.name for path in out.iterdir()} & {INCOMPLETE, "lines"}


@pytest.mark.usefixtures("ours")
def test_file_uris_are_as_good_as_paths(tmp_path: Path) -> None:
    root = tmp_path / "runs"
    write_runs(root)
    out = tmp_path / NAMES[2] / NAMES[4]
    result = judge_runs([(root / name).as_uri() for name in NAMES], out.as_uri(), options=OPTIONS)
    check(result, out, [str(root / name) for name in NAMES])
    assert result.out == out


def test_a_remote_file_system_is_as_good_as_a_local_one(store: Path) -> None:
    runs = write_runs(store / "runs")
    out = store / "judged 100%"
    for _ in range(2):
        result = judge_runs(
            [f"{HOST}/runs/{name}" for name in runs],
            f"{HOST}/judged%20100%25",
            options=OPTIONS,
        )
        check(result, out, [f"{HOST}/runs/{name}" for name in NAMES])
    assert str(result.out) == f"{HOST}/judged 100%"
    assert {path.name for path in store.iterdir()} == {"runs", out.name}


def test_the_data_source_takes_file_uris(ours: SparkSession, tmp_path: Path) -> None:
    write_runs(tmp_path)
    register(ours)
    for name in NAMES:
        lines = ours.read.format("assay").load((tmp_path / name).as_uri())
        assert {row.folder for row in lines.select("folder").distinct().collect()} == {str(tmp_path / name)}
