"""Tests of a run's folder: the next run removes earlier runs' files, and no others."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from assay_steps.plugin.folder import (
    DEFECTS,
    EARLIER,
    JOURNALS,
    JUNIT,
    LOG,
    REPORT,
    VERDICTS,
    FolderError,
    make_room,
    room,
)


def wrote(out: Path, text: str = "earlier") -> Path:
    """Write the files of an earlier run, and return their folder."""
    for folder in (JOURNALS, REPORT):
        (out / folder).mkdir(parents=True, exist_ok=True)
    (out / JOURNALS / "main.jsonl").write_text(text)
    for name in (VERDICTS, JUNIT, LOG):
        (out / name).write_text(text)
    return out


def test_an_earlier_runs_output_gives_way(tmp_path: Path) -> None:
    make_room(wrote(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == [JOURNALS, LOG]
    assert list((tmp_path / JOURNALS).iterdir()) == []


def test_the_kill_matrix_that_a_user_put_there_stays(tmp_path: Path) -> None:
    (wrote(tmp_path) / DEFECTS).write_text("{}")
    make_room(tmp_path)
    with room(tmp_path):
        make_room(tmp_path)
    assert (tmp_path / DEFECTS).read_text() == "{}"


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with room(wrote(tmp_path)):
        (tmp_path / VERDICTS).write_text("mine")
        with pytest.raises(
            FolderError, match=r"another run is writing to it.*name an empty or a new folder with --out"
        ):
            room(tmp_path).__enter__()
        assert (tmp_path / VERDICTS).read_text() == "mine"
    with room(tmp_path):
        pass


@pytest.mark.parametrize("name", ["thesis.tex", "journal", "artemis"])
def test_what_no_run_wrote_is_refused_and_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine").write_text("mine")
    with pytest.raises(FolderError, match=f"it holds '{name}', which no run wrote"):
        make_room(tmp_path)
    with pytest.raises(FolderError, match="name an empty or a new folder with --out"), room(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_backends_folder_with_something_foreign_in_it_is_refused(tmp_path: Path) -> None:
    (wrote(tmp_path / "artemis") / "mine").write_text("mine")
    with pytest.raises(FolderError, match="'artemis'"):
        make_room(tmp_path)


def test_a_run_that_comes_about_replaces_the_earlier_one(tmp_path: Path) -> None:
    with room(wrote(tmp_path)):
        make_room(tmp_path)
        (tmp_path / VERDICTS).write_text("new")
    assert (tmp_path / VERDICTS).read_text() == "new"
    assert not (tmp_path / JUNIT).exists()
    assert not (tmp_path / EARLIER).exists()


def ended(out: Path, error: BaseException, verdicts: str | None) -> None:
    """End a run by an error, with or without verdicts."""
    with room(out):
        make_room(out)
        if verdicts is not None:
            (out / VERDICTS).write_text(verdicts)
        raise error


def test_a_run_that_does_not_come_about_leaves_the_earlier_one(tmp_path: Path) -> None:
    with pytest.raises(LookupError):
        ended(wrote(tmp_path), LookupError(), "new")
    assert (tmp_path / VERDICTS).read_text() == (tmp_path / JUNIT).read_text() == "earlier"
    assert not (tmp_path / EARLIER).exists()


def test_a_folder_that_was_made_for_a_run_that_does_not_come_about_is_gone(tmp_path: Path) -> None:
    with pytest.raises(LookupError):
        ended(tmp_path / "deep" / "out", LookupError(), None)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("verdicts", "stays"), [("new", "new"), (None, "earlier")])
def test_ctrl_c_keeps_what_has_verdicts(tmp_path: Path, verdicts: str | None, stays: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        ended(wrote(tmp_path), KeyboardInterrupt(), verdicts)
    assert (tmp_path / VERDICTS).read_text() == stays


def test_what_a_killed_run_put_aside_is_swept_by_the_next(tmp_path: Path) -> None:
    wrote(tmp_path / EARLIER)
    with room(tmp_path):
        make_room(tmp_path)
    assert not (tmp_path / EARLIER).exists()


def _reports_on_a_full_disk(out: Path) -> None:
    with room(out):
        (out / REPORT / "rules").mkdir(parents=True)
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_report_that_was_not_finished_does_not_hide_the_error_that_ended_the_run(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        _reports_on_a_full_disk(tmp_path / "out")
