"""Tests of the folder of the results on another file system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.places.stores import use

from assay_pipeline.errors import OutputError, SparkFailedError
from assay_pipeline.places.remote import RemotePlace
from assay_pipeline.places.results import INCOMPLETE, results_folder, write_file

fs = pytest.importorskip("pyarrow.fs", reason="pyarrow is not installed")
OUT = RemotePlace("s3a://bucket", "/judged")
SIGN = "manifest.json"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a bucket, and return the local folder in which its files are."""
    use(monkeypatch, fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))
    return tmp_path


def names(folder: Path) -> set[str]:
    """Return the names of all files in a folder and below."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def judge(*files: str) -> None:
    """Write results."""
    with results_folder(OUT, SIGN) as begin:
        place = begin()
        for file in files:
            write_file(place / file, b"{}")


def test_results_take_the_place_of_an_earlier_judgement(store: Path) -> None:
    for table in ("examined", "offending"):
        judge(f"{table}/part", "verdicts.json", SIGN)
        assert names(store) == {f"judged/{name}" for name in (f"{table}/part", "verdicts.json", SIGN)}


def test_results_are_marked_until_they_are_complete(store: Path) -> None:
    judge("verdicts.json", SIGN)
    with results_folder(OUT, SIGN) as begin:
        assert names(store / "judged") == {"verdicts.json", SIGN, INCOMPLETE}
        begin()
        assert names(store / "judged") == {INCOMPLETE}
        write_file(OUT / SIGN, b"{}")
    assert names(store / "judged") == {SIGN}


def fail_after_a_table(error: BaseException) -> None:
    """Write a part of the results."""
    with results_folder(OUT, SIGN) as begin:
        write_file(begin() / "lines" / "part", b"")
        raise error


@pytest.mark.parametrize("error", [SparkFailedError("it died."), KeyboardInterrupt()])
@pytest.mark.parametrize("earlier", [False, True])
def test_an_error_leaves_nothing_incomplete(error: BaseException, earlier: bool, store: Path) -> None:
    if earlier:
        judge("old", SIGN)
    before = names(store)
    with pytest.raises(type(error)), results_folder(OUT, SIGN):
        raise error  # Spark did not start
    assert names(store) == before
    with pytest.raises(type(error)):
        fail_after_a_table(error)
    assert list(store.iterdir()) == []


def test_what_a_killed_judgement_left_is_replaced(store: Path) -> None:
    (store / "judged" / "lines").mkdir(parents=True)
    (store / "judged" / "lines" / "part").write_text("")
    (store / "judged" / INCOMPLETE).write_text("")
    judge("new", SIGN)
    assert names(store / "judged") == {"new", SIGN}


def test_what_no_judgement_wrote_is_not_replaced(store: Path) -> None:
    (store / "judged").mkdir()
    (store / "judged" / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="to s3a://bucket/judged: the folder holds files that are not an earlier"):
        judge(SIGN)
    assert names(store) == {"judged/thesis.txt"}


def test_a_file_in_the_way_is_named(store: Path) -> None:
    (store / "judged").write_text("")
    with pytest.raises(OutputError, match="it is a file"):
        judge(SIGN)
    assert names(store) == {"judged"}


def test_a_folder_that_cannot_be_written_is_named_before_spark_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    class ReadOnly:
        def __init__(self) -> None:
            self._system = fs._MockFileSystem()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._system, name)

        def open_output_stream(self, *_: object, **__: object) -> None:
            raise OSError("AWS Error ACCESS_DENIED during PutObject operation.")

    use(monkeypatch, ReadOnly())
    with pytest.raises(OutputError, match=r"s3a://bucket/judged: AWS Error ACCESS_DENIED.*; name another"):  # noqa: SIM117
        with results_folder(OUT, SIGN):
            pytest.fail("the folder cannot be written")
