"""Tests of the log of unflushed changes, with a model and with single cases; no file system is mounted."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from assay_adapters.disks.content import BLOCK
from assay_adapters.disks.undo import UndoLog

NAMES = st.sampled_from(["a", "b", "one", "one/c", "two", "two/c"])
"""Paths; each of them may become a file or a folder."""
PLACES = st.integers(0, 5)
"""The place of a file in the sorted list of files, modulo its length."""
OFFSETS = st.sampled_from([0, 1, 100, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 700])
LENGTHS = st.sampled_from([1, 200, BLOCK, BLOCK + 3, 3 * BLOCK])

Files = dict[str, bytes | None]
"""The octets of each file by its path; None for a folder."""


def found(folder: Path) -> Files:
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")}


class Tree:
    """A model of names and octets: what would be left if all changes of folders and sizes were durable."""

    def __init__(self) -> None:
        self.names: dict[str, int | None] = {}
        self.octets: dict[int, bytes] = {}

    def files(self, octets: dict[int, bytes]) -> Files:
        return {name: None if number is None else octets[number] for name, number in self.names.items()}

    def below(self, path: str) -> list[str]:
        return [name for name in self.names if name.startswith(f"{path}/")]


class Programs(RuleBasedStateMachine):
    """Random changes of a folder; a loss of power must leave what the model says."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp())
        self.folder, removed = self.top / "content", self.top / "removed"
        self.folder.mkdir()
        removed.mkdir()
        self.log = UndoLog(removed)
        self.tree = Tree()
        self.durable = Tree()
        self.now: dict[int, bytes] = {}
        self.last = 0

    def teardown(self) -> None:
        self.log.undo()
        shutil.rmtree(self.top)

    # --- the rules

    @initialize()
    def begin(self) -> None:
        for path in ("a", "b"):
            self.create(path)
        self.write(0, 0, 2 * BLOCK + 100, 1)
        self.flush(0)

    @rule(path=NAMES)
    def create(self, path: str) -> None:
        if self.attempt(lambda: os.close(self.log.create(self.at(path), 0o644))):
            self.last += 1
            self.tree.names[path] = self.last
            self.tree.octets[self.last] = self.now[self.last] = b""

    @rule(path=NAMES)
    def mkdir(self, path: str) -> None:
        if self.attempt(lambda: self.log.mkdir(self.at(path), 0o755)):
            self.tree.names[path] = None

    @rule(place=PLACES)
    def unlink(self, place: int) -> None:
        path = self.file(place)
        if path:
            self.log.unlink(self.at(path))
            del self.tree.names[path]

    @rule(path=NAMES)
    def rmdir(self, path: str) -> None:
        if self.attempt(lambda: self.log.rmdir(self.at(path))):
            del self.tree.names[path]

    @rule(old=NAMES, new=NAMES)
    def rename(self, old: str, new: str) -> None:
        if not self.attempt(lambda: self.log.rename(self.at(old), self.at(new))) or old == new:
            return
        if self.tree.names[old] is not None and self.tree.names[old] == self.tree.names.get(new):
            return  # two names of one file
        for name in [old, *self.tree.below(old)]:
            self.tree.names[new + name.removeprefix(old)] = self.tree.names.pop(name)

    @rule(place=PLACES, new=NAMES)
    def link(self, place: int, new: str) -> None:
        path = self.file(place)
        if path and self.attempt(lambda: self.log.link(self.at(path), self.at(new))):
            self.tree.names[new] = self.tree.names[path]

    @rule(place=PLACES, at=OFFSETS, length=LENGTHS, octet=st.integers(0, 255))
    def write(self, place: int, at: int, length: int, octet: int) -> None:
        path = self.file(place)
        if path:
            octets = bytes([octet]) * length
            self.open(path, lambda descriptor: self.log.write(descriptor, octets, at))
            former = self.now[self.number(path)]
            self.now[self.number(path)] = former[:at].ljust(at, b"\0") + octets + former[at + length :]

    @rule(place=PLACES, size=OFFSETS)
    def truncate(self, place: int, size: int) -> None:
        path = self.file(place)
        if path:
            self.open(path, lambda descriptor: self.log.truncate(descriptor, size))
            for octets in (self.now, self.tree.octets):
                octets[self.number(path)] = octets[self.number(path)][:size].ljust(size, b"\0")

    @rule(place=PLACES, at=OFFSETS, length=LENGTHS)
    def allocate(self, place: int, at: int, length: int) -> None:
        path = self.file(place)
        if path:
            self.open(path, lambda descriptor: self.log.allocate(descriptor, at, length))
            for octets in (self.now, self.tree.octets):
                octets[self.number(path)] = octets[self.number(path)].ljust(at + length, b"\0")

    @rule(place=PLACES)
    def flush(self, place: int) -> None:
        path = self.file(place)
        if path:
            self.open(path, self.log.flush)
            self.tree.octets[self.number(path)] = self.now[self.number(path)]
            self.durable = deepcopy(self.tree)

    @rule()
    def flush_folder(self) -> None:
        self.log.flush_folder()
        self.durable = deepcopy(self.tree)

    @rule()
    def lose_power(self) -> None:
        self.log.undo()
        self.tree = deepcopy(self.durable)
        self.now = dict(self.tree.octets)

    @invariant()
    def the_files_are_those_of_the_model(self) -> None:
        assert found(self.folder) == self.tree.files(self.now)

    # --- helpers

    def at(self, path: str) -> str:
        return str(self.folder / path)

    def file(self, place: int) -> str:
        """Return the path of an existing file; an empty text if none exists."""
        files = sorted(name for name, number in self.tree.names.items() if number is not None)
        return files[place % len(files)] if files else ""

    def number(self, path: str) -> int:
        number = self.tree.names[path]
        assert number is not None
        return number

    def attempt(self, change: Callable[[], None]) -> bool:
        """Return whether the machine permits a change."""
        try:
            change()
        except OSError:
            return False
        return True

    def open(self, path: str, use: Callable[[int], object]) -> None:
        descriptor = os.open(self.at(path), os.O_RDWR)
        try:
            use(descriptor)
        finally:
            os.close(descriptor)


TestPrograms = Programs.TestCase
TestPrograms.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)


# --- single cases ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "content").mkdir()
    (tmp_path / "removed").mkdir()
    return tmp_path / "content"


@pytest.fixture
def log(folder: Path) -> UndoLog:
    return UndoLog(folder.parent / "removed")


def durable_file(log: UndoLog, path: Path, octets: bytes) -> int:
    descriptor = log.create(str(path), 0o600)
    log.write(descriptor, octets, 0)
    log.flush(descriptor)
    return descriptor


def removed(folder: Path) -> list[str]:
    return [path.name for path in (folder.parent / "removed").iterdir()]


def test_a_file_renamed_without_a_flush_is_empty_under_its_durable_name(log: UndoLog, folder: Path) -> None:
    descriptor = log.create(str(folder / "new"), 0o600)
    log.write(descriptor, b"octets", 0)
    log.rename(str(folder / "new"), str(folder / "name"))
    log.flush_folder()
    log.undo()
    assert found(folder) == {"name": b""}


def test_a_flush_through_another_descriptor_after_a_rename_keeps_the_octets(log: UndoLog, folder: Path) -> None:
    first = log.create(str(folder / "new"), 0o600)
    log.write(first, b"octets", 0)
    log.rename(str(folder / "new"), str(folder / "name"))
    log.flush(os.open(folder / "name", os.O_RDONLY))
    log.undo()
    assert found(folder) == {"name": b"octets"}


def test_removed_files_are_deleted_when_their_removal_is_durable(log: UndoLog, folder: Path) -> None:
    descriptor = durable_file(log, folder / "a", b"a")
    log.write(descriptor, b"b", 0)
    log.unlink(str(folder / "a"))
    assert len(removed(folder)) == len(log._contents) == 1
    log.flush_folder()
    assert (removed(folder), log._contents) == ([], {})


def test_the_octets_of_a_file_stay_unflushed_when_one_of_its_names_is_removed(log: UndoLog, folder: Path) -> None:
    descriptor = durable_file(log, folder / "a", b"old")
    log.link(str(folder / "a"), str(folder / "b"))
    log.write(descriptor, b"new", 0)
    log.unlink(str(folder / "a"))
    log.flush_folder()
    log.undo()
    assert found(folder) == {"b": b"old"}


def test_a_durable_truncation_of_changed_blocks_stays(log: UndoLog, folder: Path) -> None:
    descriptor = durable_file(log, folder / "a", b"1" * (2 * BLOCK))
    log.write(descriptor, b"2" * (2 * BLOCK), 0)
    log.truncate(descriptor, BLOCK - 1)
    log.flush_folder()
    log.undo()
    assert found(folder) == {"a": b"1" * (BLOCK - 1)}


def test_a_hidden_file_exists_until_it_is_forgotten_and_its_removal_is_durable(log: UndoLog, folder: Path) -> None:
    durable_file(log, folder / "a", b"a")
    log.hide(str(folder / "a"), "hidden-1")
    log.flush_folder()
    assert Path(log.hidden_path("hidden-1")).read_bytes() == b"a"
    log.forget("hidden-1")
    durable_file(log, folder / "b", b"b")
    log.hide(str(folder / "b"), "hidden-2")
    log.forget("hidden-2")
    assert removed(folder) == ["hidden-2"]
    log.undo()
    assert found(folder) == {"b": b"b"}


def test_a_hidden_file_that_came_back_cannot_be_forgotten(log: UndoLog, folder: Path) -> None:
    durable_file(log, folder / "a", b"a")
    log.hide(str(folder / "a"), "hidden")
    log.undo()
    log.forget("hidden")
    assert found(folder) == {"a": b"a"}


def test_changes_of_a_hidden_file_that_is_deleted_have_no_effect(log: UndoLog, folder: Path) -> None:
    descriptor = durable_file(log, folder / "a", b"a")
    log.hide(str(folder / "a"), "hidden")
    log.flush_folder()
    log.truncate(descriptor, 0)
    log.forget("hidden")
    other = durable_file(log, folder / "b", b"b")
    log.write(other, b"c", 0)
    log.undo()
    assert found(folder) == {"b": b"b"}


def test_a_flush_between_the_two_parts_of_a_rename_makes_both_durable(log: UndoLog, folder: Path) -> None:
    durable_file(log, folder / "a", b"old")
    durable_file(log, folder / "b", b"new")
    log.hide(str(folder / "a"), "hidden")
    log.flush_folder()  # by another thread
    log.rename(str(folder / "b"), str(folder / "a"))
    log.undo()
    assert found(folder) == {"a": b"new"}


def test_a_rename_over_an_open_file_is_undone_as_a_whole(log: UndoLog, folder: Path) -> None:
    durable_file(log, folder / "a", b"old")
    durable_file(log, folder / "b", b"new")
    log.hide(str(folder / "a"), "hidden")
    log.rename(str(folder / "b"), str(folder / "a"))
    log.undo()
    assert found(folder) == {"a": b"old", "b": b"new"}


def test_nothing_becomes_durable_after_a_stop(log: UndoLog, folder: Path) -> None:
    descriptor = durable_file(log, folder / "a", b"a")
    log.write(descriptor, b"b", 0)
    log.stop()
    for change in (log.flush_folder, lambda: log.flush(descriptor), lambda: log.unlink(str(folder / "a"))):
        with pytest.raises(OSError, match="the disk has stopped"):
            change()
    log.undo()
    assert found(folder) == {"a": b"a"}
    log.write(descriptor, b"c", 0)
    log.flush(descriptor)
    log.undo()
    assert found(folder) == {"a": b"c"}


def test_links_pipes_and_removed_folders_come_and_go_with_the_changes(log: UndoLog, folder: Path) -> None:
    log.mkdir(str(folder / "folder"), 0o711)
    log.flush_folder()
    log.rmdir(str(folder / "folder"))
    log.symlink("a", str(folder / "link"))
    log.mknod(str(folder / "pipe"), 0o10600, 0)
    log.undo()
    assert found(folder) == {"folder": None}
    assert (folder / "folder").stat().st_mode & 0o777 == 0o711


def test_a_rename_to_the_same_name_or_file_changes_nothing(log: UndoLog, folder: Path) -> None:
    durable_file(log, folder / "a", b"a")
    log.link(str(folder / "a"), str(folder / "b"))
    log.mkdir(str(folder / "folder"), 0o700)
    log.flush_folder()
    for old, new in (("a", "a"), ("a", "b"), ("folder", "folder")):
        log.rename(str(folder / old), str(folder / new))
    log.undo()
    assert found(folder) == {"a": b"a", "b": b"a", "folder": None}


def test_a_refused_rename_over_a_file_changes_nothing(log: UndoLog, folder: Path) -> None:
    durable_file(log, folder / "a", b"a")
    with pytest.raises(FileNotFoundError):
        log.rename(str(folder / "absent"), str(folder / "a"))
    log.mkdir(str(folder / "folder"), 0o700)
    with pytest.raises(NotADirectoryError):
        log.rename(str(folder / "folder"), str(folder / "a"))
    assert removed(folder) == []
    assert found(folder) == {"a": b"a", "folder": None}


def test_former_octets_are_stored_once_for_each_block(log: UndoLog, folder: Path) -> None:
    descriptor = durable_file(log, folder / "a", b"1" * (3 * BLOCK))
    for octet in b"23456":
        log.write(descriptor, bytes([octet]) * (2 * BLOCK), 100)
    (content,) = log._contents.values()
    assert sum(map(len, content._blocks.values())) == 3 * BLOCK
    log.undo()
    assert found(folder) == {"a": b"1" * (3 * BLOCK)}
