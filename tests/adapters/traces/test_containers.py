"""Tests of the log and the past of a container, with a fake of Docker and with Docker itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.waiting import until

from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.containers.container import Container, ContainerSpec, probe_image
from assay_adapters.ports.backend import Unavailable
from assay_adapters.traces import containers as traced
from assay_adapters.traces.containers import ContainerTrace, at_port, named
from assay_adapters.traces.history import STARTED, History
from assay_sdk.runners.real import RealRunner

pytest.importorskip("docker", reason="the Python package docker is not installed")

RUNNING = {"Running": True, "ExitCode": 0, "StartedAt": "2026-11-26T13:00:01.5Z"}
ENDED = {"Running": False, "ExitCode": 137, "StartedAt": "2026-11-26T13:05:00Z"}


class FakeContainer:
    """A fake of Docker's container object."""

    short_id, name = "3f2a1b0c9d8e", "brave_box"

    def __init__(self, state: dict[str, object], port: int = 20_123) -> None:
        self.attrs = {
            "State": state,
            "Config": {"Image": "acme/mq:1.2"},
            "Image": "sha256:0123456789abcdef",
            "Created": "2026-11-26T13:00:00.25Z",
            "HostConfig": {
                "PortBindings": {"5672/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(port)}], "1/tcp": None}
            },
        }
        self.written = b""

    def reload(self) -> None:
        """Do nothing."""

    def logs(self, *, since: float, timestamps: bool, tail: int) -> bytes:
        assert timestamps
        assert (since > 0, tail) == (True, traced.READ_LIMIT)
        return self.written


class FakeDocker:
    """A fake of Docker's client, with these containers."""

    def __init__(self, *containers: FakeContainer) -> None:
        self.containers = self
        self._all = containers

    def list(self, **_options: object) -> list[FakeContainer]:
        return list(self._all)

    def get(self, name: str) -> FakeContainer | None:
        return next((one for one in self._all if one.name == name), None)


def with_docker(monkeypatch: pytest.MonkeyPatch, *containers: FakeContainer) -> None:
    @contextmanager
    def client() -> Iterator[Any]:
        yield FakeDocker(*containers)

    monkeypatch.setattr(traced, "docker_client", client)


def test_the_container_is_named_with_image_digest_and_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with_docker(monkeypatch, FakeContainer(RUNNING, 20_124), FakeContainer(ENDED))
    assert ContainerTrace(at_port(20_124)).name == "container 3f2a1b0c9d8e (brave_box) of acme/mq:1.2 (0123456789ab)"
    assert ContainerTrace(at_port(20_123)).name.endswith(", which has ended (exit code 137)")
    assert ContainerTrace(named("brave_box")).name.startswith("container 3f2a1b0c9d8e")
    assert ContainerTrace(at_port(1)).name == "a container that Docker does not show any more"


def test_the_past_is_the_kits_or_else_dockers(monkeypatch: pytest.MonkeyPatch) -> None:
    history = History(STARTED)
    history.note("killed")
    with_docker(monkeypatch, FakeContainer(RUNNING), FakeContainer(ENDED, 20_124))
    assert [deed.what for deed in ContainerTrace(at_port(20_123), history).past()] == ["started", "killed"]
    (started,) = ContainerTrace(at_port(20_123)).past()
    assert (started.what, started.wall_ns) == ("started", 1_795_698_001_500_000_000)
    assert [deed.what for deed in ContainerTrace(at_port(20_124)).past()] == ["started", "started again"]


def test_each_line_of_the_log_has_dockers_time(monkeypatch: pytest.MonkeyPatch) -> None:
    box = FakeContainer(RUNNING)
    with_docker(monkeypatch, box)
    read = ContainerTrace(at_port(20_123), secrets=["hunter2"]).log_from_now()
    box.written = (
        b"2000-01-01T00:00:00.1Z earlier\n2999-01-01T00:00:00.5Z got hunter2 from a client\n2999-01-01T00:00:01Z \n"
    )
    (line,) = read()
    assert line.text == "got *** from a client"
    assert line.wall_ns == 32_472_144_000_500_000_000


def test_without_docker_nothing_is_known_and_nothing_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    trace = ContainerTrace(at_port(20_123))
    assert trace.log_from_now()() == ()
    assert trace.past() == ()
    assert trace.name == "a container that Docker does not show any more"


@pytest.mark.docker
def test_a_killed_container_still_has_its_log_and_its_identity() -> None:
    image = ARTEMIS.images[0]
    if isinstance(probe_image((image,), "", remedy=""), Unavailable):
        pytest.skip(f"there is no Docker daemon with {image}: build it with images/build artemis")
    runner = RealRunner()
    box = Container(ContainerSpec(image=image, port=5672, title="It"), runner, lambda _port: True)
    trace = ContainerTrace(at_port(box.port))
    read = trace.log_from_now()
    try:
        box.start()
        assert trace.name.endswith(")")
        assert [deed.what for deed in trace.past()] == ["started"]
        until(lambda: bool(read()), "the broker writes to its log", 60)
        box.kill()
        assert trace.name.endswith(", which has ended (exit code 137)")
        assert read()
        assert all(line.wall_ns for line in read())
    finally:
        box.remove()
        runner.close()
    assert trace.past() == ()
