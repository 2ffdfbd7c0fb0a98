"""Tests of scenarios in several processes that wait for each other, so that one of them causes a fault for all."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay_adapters.faults.meeting import Meeting, MeetingContainer, container_of
from assay_adapters.ports.backend import BackendError, SharedFaultError
from assay_sdk.runners.real import RealRunner

FORK = multiprocessing.get_context("fork")


class Notes:
    """A file in which all processes of a test write their actions, in order."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "notes"
        self._file.touch()

    def write(self, what: str) -> None:
        with self._file.open("a", encoding="utf-8") as file:
            file.write(f"{what}\n")

    def read(self) -> list[str]:
        return self._file.read_text("utf-8").splitlines()

    def wait_for(self, what: str, times: int = 1) -> None:
        deadline = time.monotonic() + 120
        while self.read().count(what) < times:
            assert time.monotonic() < deadline, f"{what!r} was not noted in time: {self.read()}"
            time.sleep(0.01)  # another process writes the notes, and nothing signals that


class Scene:
    """The processes of one test, which all take part in the same meeting."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "meeting.json"
        self.notes = Notes(folder)
        self._processes: list[multiprocessing.process.BaseProcess] = []

    def begin(self, part: Callable[[Meeting], None]) -> multiprocessing.process.BaseProcess:
        process = FORK.Process(target=lambda: part(Meeting(self.file, RealRunner())))
        process.start()
        self._processes.append(process)
        return process

    def enter(self, meeting: Meeting) -> MeetingContainer:
        return meeting.enter(self._start, lambda shared: self.notes.write(f"removes {shared.id}"))

    def restart(self, meeting: Meeting) -> None:
        meeting.gather()
        meeting.end(lambda: self.notes.write("ends"))
        meeting.begin_again(lambda: self.notes.write("starts"))
        self.notes.write("is back")

    def _start(self) -> MeetingContainer:
        self.notes.write("makes a container")
        return MeetingContainer(f"container of {os.getpid()}", 5672)

    def join(self) -> list[int | None]:
        for process in self._processes:
            process.join(120)
        return [process.exitcode for process in self._processes]

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.join()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.end()


def test_one_process_restarts_the_broker_for_all(scene: Scene) -> None:
    def part(meeting: Meeting) -> None:
        scene.enter(meeting)
        scene.notes.write("is in")
        scene.notes.wait_for("is in", 3)
        for _ in range(5):
            scene.restart(meeting)
        meeting.leave()

    for _ in range(3):
        scene.begin(part)
    assert scene.join() == [0, 0, 0]
    done = [note for note in scene.notes.read() if note not in {"is in", "is back"}]
    assert done == ["makes a container", *["ends", "starts"] * 5]


def test_a_fault_waits_for_a_scenario_that_does_not_want_it_yet(scene: Scene) -> None:
    def late(meeting: Meeting) -> None:
        scene.enter(meeting)
        scene.notes.write("is in")
        scene.notes.wait_for("asks")
        scene.notes.write("acts")
        meeting.leave()

    def early(meeting: Meeting) -> None:
        scene.notes.wait_for("is in")
        scene.enter(meeting)
        scene.notes.write("asks")
        scene.restart(meeting)

    scene.begin(late)
    scene.begin(early)
    assert scene.join() == [0, 0]
    assert scene.notes.read()[-4:] == ["acts", "ends", "starts", "is back"]


def test_all_members_act_at_the_same_moment_and_learn_when_the_broker_was_struck(scene: Scene) -> None:
    def part(meeting: Meeting) -> None:
        scene.enter(meeting)
        scene.notes.write("is in")
        scene.notes.wait_for("is in", 3)
        meeting.gather()
        acted_ns = time.monotonic_ns()
        scene.notes.write(f"acts {acted_ns}")
        struck_ns = meeting.end(lambda: scene.notes.write("ends"))
        assert struck_ns >= acted_ns
        scene.notes.write(f"struck {struck_ns}")
        meeting.begin_again(lambda: scene.notes.write("starts"))
        meeting.leave()

    for _ in range(3):
        scene.begin(part)
    assert scene.join() == [0, 0, 0]
    notes = scene.notes.read()
    acted = [int(note.partition(" ")[2]) for note in notes if note.startswith("acts")]
    struck = {int(note.partition(" ")[2]) for note in notes if note.startswith("struck")}
    assert len(acted) == 3
    assert len(struck) == 1
    assert max(acted) <= struck.pop()
    assert notes.index("ends") > max(place for place, note in enumerate(notes) if note.startswith("acts"))


def test_a_scenario_enters_after_the_fault(scene: Scene) -> None:
    def first(meeting: Meeting) -> None:
        scene.enter(meeting)
        meeting.gather()
        meeting.end(lambda: scene.notes.write("ends"))
        scene.notes.wait_for("wants in")
        meeting.begin_again(lambda: scene.notes.write("starts"))

    def second(meeting: Meeting) -> None:
        scene.notes.wait_for("ends")
        scene.notes.write("wants in")
        scene.enter(meeting)
        scene.notes.write("is in")

    scene.begin(first)
    scene.begin(second)
    assert scene.join() == [0, 0]
    assert scene.notes.read() == ["makes a container", "ends", "wants in", "starts", "is in"]


@pytest.mark.parametrize("asks", [False, True], ids=["between two steps", "while it asks"])
def test_a_process_that_dies_holds_up_nobody(scene: Scene, asks: bool) -> None:
    def dies(meeting: Meeting) -> None:
        scene.enter(meeting)
        scene.notes.write("is in")
        if asks:
            meeting.gather()
        else:
            scene.notes.wait_for("never")

    def lives(meeting: Meeting) -> None:
        scene.notes.wait_for("is in")
        scene.enter(meeting)
        scene.notes.write("has come")
        scene.notes.wait_for("is dead")
        scene.restart(meeting)

    dying = scene.begin(dies)
    scene.begin(lives)
    scene.notes.wait_for("has come")
    dying.kill()
    dying.join()
    scene.notes.write("is dead")
    assert scene.join()[1] == 0
    assert scene.notes.read()[-3:] == ["ends", "starts", "is back"]


def test_all_members_learn_that_the_broker_did_not_come_back(scene: Scene) -> None:
    def fail() -> None:
        raise BackendError("the broker does not answer")

    def part(meeting: Meeting) -> None:
        scene.enter(meeting)
        scene.notes.write("is in")
        scene.notes.wait_for("is in", 2)
        meeting.gather()
        try:
            meeting.end(lambda: scene.notes.write("ends"))
            meeting.begin_again(fail)
        except SharedFaultError as error:
            scene.notes.write(str(error))
        scene.notes.wait_for("the broker does not answer", 2)
        meeting.leave()

    for _ in range(2):
        scene.begin(part)
    assert scene.join() == [0, 0]
    shared = container_of(scene.file)
    assert shared is not None
    scene.begin(scene.enter)
    assert scene.join()[-1] == 0
    assert scene.notes.read()[-2:] == [f"removes {shared.id}", "makes a container"]


def test_the_file_names_no_container_before_a_scenario_has_entered(tmp_path: Path) -> None:
    assert container_of(tmp_path / "restart.json") is None
