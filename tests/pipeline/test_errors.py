from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from tests.pipeline.cases import CASES
from tests.pipeline.tales import write_run

from assay_pipeline import job, session
from assay_pipeline.errors import (
    JavaMissingError,
    JournalGoneError,
    NoInvariantError,
    NoJournalError,
    OutputError,
    PackageMissingError,
    PipelineError,
    PlaceError,
    SparkFailedError,
    SparkMissingError,
    UnreachableMasterError,
    reason,
)
from assay_pipeline.job import MANIFEST, Result, judge_runs
from assay_pipeline.session import java


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run" / "journals", [CASES[0].telling]).parent.parent


def test_without_java_the_user_is_told_what_to_install(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(JavaMissingError, match=r"no java is on the path: install it \(Debian: openjdk"):
        judge_runs([run], tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize(
    ("says", "found"), [('openjdk version "11.0.2"', "is older"), ("hello", "does not say its version")]
)
def test_a_java_that_will_not_do_is_named(
    says: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JavaMissingError, match=found):
        java.find_java()


def test_without_pyspark_the_extra_is_named(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_spec", lambda _name: None)
    with pytest.raises(SparkMissingError, match=r"pip install 'assay-mq\[spark\]'"):
        judge_runs([run], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("folder", "why"), [("nowhere", "the folder does not exist"), ("empty", "no .jsonl file"), ("file", "is a file")]
)
def test_a_folder_without_journals_is_named(folder: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    with pytest.raises(NoJournalError, match=why):
        judge_runs([tmp_path / folder], tmp_path / "out")


def test_no_folder_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NoJournalError, match="no folder was named"):
        judge_runs([], tmp_path / "out")


def test_a_folder_with_something_else_in_it_is_not_replaced(run: Path, tmp_path: Path) -> None:
    precious = tmp_path / "out" / "thesis.txt"
    precious.parent.mkdir()
    precious.write_text("years of work")
    with pytest.raises(OutputError, match="files that are not an earlier judgement"):
        judge_runs([run], tmp_path / "out")
    assert precious.read_text() == "years of work"


def test_a_file_in_the_way_of_the_output_is_named(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match="it is a file"):
        judge_runs([run], tmp_path / "out")
    with pytest.raises(OutputError, match="name another folder with --out"):
        judge_runs([run], tmp_path / "out" / "inner")


def test_a_judgement_that_breaks_off_leaves_nothing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def dying(_master: str, *, octets: int, conf: object) -> Iterator[None]:  # noqa: ARG001 - part of the signature
        assert octets > 0
        raise SparkFailedError("it died.")
        yield

    monkeypatch.setattr(job, "spark_session", dying)
    with pytest.raises(SparkFailedError):
        judge_runs([run], tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_judgement_takes_the_place_of_an_earlier_one(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(_spark: None, _files: object, place: Path, out: Path, **_options: object) -> Result:
        (place / MANIFEST).write_text("{}")
        (place / f"made-{len(list(tmp_path.iterdir()))}").write_text("")
        return Result(out, ())

    monkeypatch.setattr(job, "spark_session", lambda _master, octets, conf: nullcontext((octets, conf)))
    monkeypatch.setattr(job, "judge_with", judged)
    for left in ({MANIFEST, "made-2"}, {MANIFEST, "made-3"}):
        assert judge_runs([run], tmp_path / "out").runs == ()
        assert {path.name for path in (tmp_path / "out").iterdir()} == left
    assert {path.name for path in tmp_path.iterdir()} == {"run", "out"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("it died\n", "it died"),
        ("\n", "it gave no reason"),
        (
            "Multiple failures (3):\n\n\tat Stage.run\nCaused by: A: broken\n\tat B\nCaused by: No space left",
            "Multiple failures (3): No space left",
        ),
        ("No space left\n\tat B\nCaused by: No space left", "No space left"),
    ],
)
def test_the_reason_of_spark_is_its_first_line_with_the_last_cause(text: str, told: str) -> None:
    assert reason(text) == told


def test_every_error_is_one_sentence() -> None:
    errors: list[PipelineError] = [
        SparkMissingError(),
        PackageMissingError("A Spark Connect server needs", "grpc", "connect"),
        UnreachableMasterError("sc://127.0.0.1:15002"),
        JournalGoneError(Path("a")),
        JavaMissingError("no java is on the path"),
        NoInvariantError("DD-42"),
        NoJournalError(Path("a"), "it is a file"),
        PlaceError("s3a://bucket", "it names no folder"),
        OutputError(Path("a"), "it is a file"),
        SparkFailedError("its virtual machine has died."),
    ]
    for error in errors:
        assert "\n" not in str(error)
        assert str(error).endswith(".")
