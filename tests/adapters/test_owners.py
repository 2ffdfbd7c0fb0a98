"""Tests of owners: the names of processes in labels and folders, and whether the processes have ended."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from msgspec import structs

from assay_adapters.owners import Owner, folder_prefix, owned_folders


def ended() -> Owner:
    """Return a child process that has ended and was reaped by this process."""
    pid = os.posix_spawnp("true", ["true"], os.environ)
    owner = Owner.of(pid)
    os.waitpid(pid, 0)
    return owner


def test_a_running_process_has_not_ended() -> None:
    me = Owner.of(os.getpid())
    assert not me.has_ended
    assert not Owner.of(1).has_ended
    assert Owner.named(me.name) == me


def test_a_process_has_ended_also_while_its_parent_has_not_collected_it() -> None:
    assert ended().has_ended
    pid = os.posix_spawnp("true", ["true"], os.environ)
    owner = Owner.of(pid)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert owner.has_ended
    os.waitpid(pid, 0)


def test_another_process_with_the_same_id_is_another_owner() -> None:
    me = Owner.of(os.getpid())
    assert structs.replace(me, start=me.start - 1).has_ended


def test_a_process_of_another_machine_or_namespace_is_never_taken_for_ended() -> None:
    assert not structs.replace(ended(), place="00000000").has_ended


@pytest.mark.parametrize("text", ["", "something else", "machine:0123456789abcdef/12", "0123456-1-2", "01234567-1-2-"])
def test_any_other_text_names_no_owner(text: str) -> None:
    assert Owner.named(text) is None


def test_folders_of_the_kit_are_found_with_their_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = Path(tempfile.mkdtemp(prefix=folder_prefix("store")))
    (tmp_path / "assay-out").mkdir()
    (tmp_path / "assay-turn-1000-0123456789abcdef").touch()
    (tmp_path / mine.name.replace("store", "file")).touch()
    (tmp_path / mine.name.replace("store", "link")).symlink_to(mine)
    (found,) = owned_folders()
    assert (found.path, found.owner) == (mine, Owner.of(os.getpid()))
