"""Tests of folders on other file systems, with file systems of pyarrow that need no network."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from tests.pipeline.cases import CASES
from tests.pipeline.places.stores import use
from tests.pipeline.tales import write_run

from assay_pipeline import packages
from assay_pipeline.errors import NoJournalError, PackageMissingError
from assay_pipeline.journals import JournalFile, find_journals, open_lines
from assay_pipeline.places import remote
from assay_pipeline.places.copies import local_copies
from assay_pipeline.places.naming import place_at
from assay_pipeline.places.remote import RemotePlace, reason_of

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
fs = pytest.importorskip("pyarrow.fs", reason="pyarrow is not installed")
RUN = RemotePlace("s3a://bucket", "/runs/run 1+1 100%")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a bucket, and return the local folder in which its files are."""
    folder = tmp_path / "store"
    folder.mkdir()
    use(monkeypatch, fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()))
    return folder


def test_files_are_written_listed_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, fs._MockFileSystem())
    assert RUN.is_empty()
    assert not RUN.exists()
    (RUN / "a" / "b.txt").write_bytes(b"hello")
    (RUN / "c.txt").write_bytes(b"")
    assert (RUN.exists(), RUN.is_dir(), RUN.is_file(), RUN.is_empty()) == (True, True, False, False)
    assert RUN.sizes() == {"c.txt": 0}
    assert (RUN / "a").sizes() == {"b.txt": 5}
    with (RUN / "a" / "b.txt").open() as file:
        assert file.read() == b"hello"
    RUN.remove_entries(keep="c.txt")
    assert not (RUN / "a").exists()
    assert (RUN / "c.txt").is_file()
    for _ in range(2):
        (RUN / "c.txt").remove()
        RUN.remove()
        assert not RUN.exists()


@pytest.mark.parametrize("inner", ["", "journals"])
def test_the_journals_of_a_bucket_are_those_of_a_folder(inner: str, store: Path) -> None:
    here = store / RUN.path.lstrip("/")
    write_run(here / inner, [CASES[0].telling])
    (here / inner / "w.0001.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    (here / inner / "w.0001.jsonl").write_bytes(b"{}\n")
    (here / inner / ".w.0002.jsonl.gz").write_bytes(b"")
    (here / inner / "notes.txt").write_bytes(b"")
    found = find_journals([RUN, RemotePlace(RUN.root, RUN.path)])
    local = find_journals([here])
    assert len(found) == len(local) == 2
    assert [file.octets for file in found] == [file.octets for file in local]
    assert {file.folder for file in found} == {str(RUN)}
    assert [file.path.removeprefix(str(RUN)) for file in found] == [file.path.removeprefix(str(here)) for file in local]
    for one, other in zip(found, local, strict=True):
        with open_lines(one) as far, open_lines(other) as near:
            assert list(far) == list(near) != []
    with local_copies(place_at(file.path) for file in (*found, *local)) as paths:
        copies, originals = paths[: len(found)], paths[len(found) :]
        assert [path.read_bytes() for path in copies] == [path.read_bytes() for path in originals]
        assert originals == [Path(file.path) for file in local]
    assert not any(path.exists() for path in copies)


@pytest.mark.parametrize(
    ("path", "why"), [("/none", "does not exist"), ("/empty", "it holds no .jsonl file"), ("/file", "it is a file")]
)
def test_a_bucket_without_journals_is_named(path: str, why: str, store: Path) -> None:
    (store / "empty").mkdir()
    (store / "file").write_text("")
    with pytest.raises(NoJournalError, match=f"No journal to judge in s3a://bucket{path}: .*{why}"):
        find_journals([RemotePlace("s3a://bucket", path)])


class Refusing:
    """A file system that raises one error for each call."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        def refuse(*_arguments: object, **_options: object) -> None:
            raise self._error

        return refuse


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "[errno 13] no\nDetail: x"), "Permission denied"),
        (OSError("Bucket 'b' not found. To create buckets, ..."), "Bucket 'b' not found$"),
        (OSError("AWS Error ACCESS_DENIED: No response body.\nmore"), "AWS Error ACCESS_DENIED: No response body"),
        (pa.ArrowInvalid("Expected a path."), "Expected a path"),
        (OSError(), "no reason was given"),
    ],
)
def test_an_error_of_the_file_system_is_one_line(
    error: Exception, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Refusing(error))
    for act in (RUN.exists, RUN.sizes, RUN.open, RUN.remove, lambda: RUN.write_bytes(b"")):
        with pytest.raises(OSError, match=reason) as caught:
            act()
        assert "\n" not in reason_of(caught.value)
        assert "rrno" not in reason_of(caught.value)
    with pytest.raises(NoJournalError, match=r"it cannot be read \(.+[^.]\); name"):
        find_journals([RUN])
    with pytest.raises(NoJournalError, match="it cannot be read"), local_copies([RUN]):
        pass


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda _name: None)
    with pytest.raises(
        PackageMissingError, match=r"another file system needs the package pyarrow.*'assay-mq\[spark\]'"
    ):
        find_journals([RUN])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:5000/"}, ("http", "127.0.0.1:5000", "us-east-1")),
        ({"AWS_ENDPOINT_URL": "store.example"}, ("https", "store.example", "us-east-1")),
        ({"AWS_ENDPOINT_URL": "http://a", "AWS_DEFAULT_REGION": "eu-west-1"}, ("http", "a", "eu-west-1")),
        ({"AWS_DEFAULT_REGION": "eu-west-1", "AWS_REGION": "eu-west-2"}, (None, None, "eu-west-2")),
        ({}, (None, None, "region of bucket")),
    ],
)
def test_the_environment_names_the_s3_server(
    variables: dict[str, str], expected: tuple[str | None, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[dict[str, str]] = []
    for name in ("AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(fs, "S3FileSystem", lambda **options: made.append(options))
    monkeypatch.setattr(fs, "resolve_s3_region", lambda bucket: f"region of {bucket}")
    remote._s3("bucket")
    assert [tuple(options.get(name) for name in ("scheme", "endpoint_override", "region")) for options in made] == [
        expected
    ]


def test_a_journal_of_a_bucket_that_vanished_cannot_be_opened(store: Path) -> None:
    assert list(store.iterdir()) == []
    with pytest.raises(OSError, match="No such file"):
        open_lines(JournalFile(str(RUN), str(RUN / "main.jsonl"), 0))
