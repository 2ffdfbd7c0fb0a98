"""Tests of the removal of folders and processes that ended runs have left; `tests/cli/commands` has containers."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
from tests.waiting import until

from assay_adapters import leftovers
from assay_adapters.leftovers import FOLDER_VARIABLE, remove_before_a_run, remove_leftovers
from assay_adapters.owners import Owner, folder_prefix


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")


def folder_of_an_ended_process(kind: str) -> Path:
    pid = os.posix_spawnp("true", ["true"], os.environ)
    name = folder_prefix(kind).replace(Owner.of(os.getpid()).name, Owner.of(pid).name)
    os.waitpid(pid, 0)
    return Path(tempfile.mkdtemp(prefix=name))


def sleeper(folder: Path) -> int:
    """Start a process of a folder, and wait until the system shows its environment, which comes after the spawn."""
    pid = os.posix_spawnp("sleep", ["sleep", "600"], os.environ | {FOLDER_VARIABLE: str(folder)}, setsid=True)
    until(lambda: FOLDER_VARIABLE.encode() in Path(f"/proc/{pid}/environ").read_bytes(), "the environment is shown")
    return pid


def test_the_processes_and_the_folder_of_an_ended_run_are_removed() -> None:
    left = folder_of_an_ended_process("url")
    (left / "data").mkdir()
    (left / "data" / "log").write_text("started")
    pid = sleeper(left)
    removed = remove_leftovers()
    assert (removed.processes, removed.folders) == ((pid,), (left,))
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    assert not left.exists()
    assert remove_leftovers().folders == ()


def test_what_belongs_to_a_running_process_stays() -> None:
    mine = Path(tempfile.mkdtemp(prefix=folder_prefix("url")))
    pid = sleeper(mine)
    try:
        removed = remove_leftovers()
        assert (removed.processes, removed.folders, removed.running) == ((), (), 1)
        assert mine.exists()
        os.kill(pid, 0)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def test_without_docker_the_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert remove_leftovers().unasked.startswith("Docker does not answer")
    monkeypatch.setattr(leftovers, "find_spec", lambda _name: None)
    assert remove_leftovers().unasked == "the package docker is not installed"


def test_a_run_asks_docker_only_if_another_run_has_left_a_folder() -> None:
    assert remove_before_a_run().unasked == ""
    left = folder_of_an_ended_process("container")
    assert remove_before_a_run().unasked.startswith("Docker does not answer")
    assert not left.exists()
