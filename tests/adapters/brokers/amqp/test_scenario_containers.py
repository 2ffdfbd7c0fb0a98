"""Tests of the containers of scenarios, without Docker and without a disk of the kit."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from tests.waiting import until

from assay_adapters.brokers.amqp.scenario_containers import JointContainer, OwnContainer
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.faults import Kill
from assay_sdk.runners.real import RealRunner


class Boxes:
    """A stand-in for Docker: the listeners of its containers, by id."""

    def __init__(self) -> None:
        self.listeners: dict[str, socket.socket] = {}
        self.numbers = itertools.count()

    def box(self) -> Any:
        return cast("Any", Box(self))

    def close(self) -> None:
        for listener in self.listeners.values():
            listener.close()


class Box:
    """A container that cannot be killed."""

    admin_port = None

    def __init__(self, boxes: Boxes) -> None:
        self._boxes = boxes
        self.id = ""
        self.port = 0

    def start(self, _owner_pid: int | None = None) -> None:
        self.id = f"box-{next(self._boxes.numbers)}"
        self._boxes.listeners[self.id] = socket.create_server((LOOPBACK, 0))
        self.attach(self.id, 0, None)

    def attach(self, container: str, _port: int, _admin_port: int | None) -> None:
        if container not in self._boxes.listeners:
            raise BackendError(f"there is no container {container}")
        self.id, self.port = container, self._boxes.listeners[container].getsockname()[1]

    def find_process(self) -> None:
        pass

    def exit_code(self) -> None:
        pass

    def kill(self) -> None:
        raise BackendError("it cannot be killed")

    def remove(self) -> None:
        self._boxes.listeners.pop(self.id).close()


@pytest.fixture
def boxes() -> Iterator[Boxes]:
    made = Boxes()
    yield made
    made.close()


@pytest.fixture
def joint(boxes: Boxes, tmp_path: Path) -> Iterator[JointContainer]:
    runner = RealRunner()
    made = JointContainer(tmp_path / "kill.json", boxes.box, None, runner)
    yield made
    made.close()
    runner.close()


def fail(joint: JointContainer) -> None:
    """Run a scenario whose kill fails."""
    proxy = joint.enter()
    injection = joint.faults(proxy).inject(Kill())
    assert not isinstance(injection, Unsupported)
    with pytest.raises(BackendError, match="it cannot be killed"):
        injection.wait()
    assert not proxy.is_open
    joint.meeting.leave()


def test_after_a_kill_that_failed_the_next_scenario_reaches_a_new_broker(boxes: Boxes, joint: JointContainer) -> None:
    fail(joint)
    proxy = joint.enter()
    assert proxy.is_open
    with socket.create_connection((LOOPBACK, proxy.port)):
        until(lambda: proxy.connections == 1, "the proxy has connected to the broker")
    assert list(boxes.listeners) == ["box-1"]


def test_a_broker_that_is_gone_already_holds_up_no_later_scenario(boxes: Boxes, joint: JointContainer) -> None:
    fail(joint)
    boxes.listeners.pop("box-0").close()
    assert joint.enter().is_open
    assert list(boxes.listeners) == ["box-1"]


class Folder:
    """A stand-in for a disk of the kit: a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs = False
        self.did: list[str] = []

    def start(self) -> None:
        self.runs = True

    def sync(self) -> None:
        self.did.append("sync")

    def slow(self, delay_ms: int) -> None:
        self.did.append(f"slow {delay_ms}")

    def close(self) -> None:
        self.did.append("close")


def test_a_container_on_a_disk_is_removed_with_it(boxes: Boxes, tmp_path: Path) -> None:
    disk = Folder(tmp_path)
    (tmp_path / "journal").touch()
    with closing(RealRunner()) as runner:
        own = OwnContainer(lambda _disk: boxes.box(), runner, cast("Any", disk))
        assert not own.is_broken
        own.faults()
        assert disk.did == ["sync", "slow 0"]
        disk.runs = False
        assert own.is_broken
        own.remove()
    assert disk.did[-1] == "close"
    assert not boxes.listeners


def test_a_broker_that_does_not_use_its_disk_is_an_error_and_leaves_nothing(boxes: Boxes, tmp_path: Path) -> None:
    disk = Folder(tmp_path)
    with closing(RealRunner()) as runner, pytest.raises(BackendError, match="keeps no file on the kit's disk"):
        OwnContainer(lambda _disk: boxes.box(), runner, cast("Any", disk))
    assert disk.did == ["close"]
    assert not boxes.listeners


def test_a_container_that_cannot_be_made_leaves_no_disk(tmp_path: Path) -> None:
    def refuse(_disk: object) -> Any:
        raise BackendError("no Docker daemon answers")

    disk = Folder(tmp_path)
    with closing(RealRunner()) as runner, pytest.raises(BackendError, match="no Docker daemon"):
        OwnContainer(refuse, runner, cast("Any", disk))
    assert disk.did == ["close"]
