"""Tests of the base class of containers: probes, ports, removal of old containers, and error messages."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.containers import removal
from assay_adapters.containers.container import (
    OWNER_LABEL,
    STOP_LIMIT_S,
    Container,
    ContainerSpec,
    docker_client,
    kill_now,
    owner,
    probe_image,
    process_of,
)
from assay_adapters.containers.removal import sweep
from assay_adapters.ports.backend import Available, BackendError, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_sdk.model.capabilities import Capability
from assay_sdk.runners.real import RealRunner


@pytest.fixture
def runner() -> Iterator[RealRunner]:
    runner = RealRunner()
    yield runner
    runner.close()


def test_without_a_daemon_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    probed = ProductBackend(ARTEMIS).probe()
    assert isinstance(probed, Unavailable)
    assert "no Docker daemon answers" in probed.reason
    assert "start-docker" in probed.remedy


def test_without_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_adapters.packages.find_spec", lambda _name: None)
    probed = ProductBackend(ARTEMIS).probe()
    assert isinstance(probed, Unavailable)
    assert "assay-mq[amqp,containers]" in probed.remedy


def test_provisioning_without_a_daemon_is_one_sentence(monkeypatch: pytest.MonkeyPatch, runner: RealRunner) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(BackendError, match=r"^Apache Artemis cannot be started: no Docker daemon answers"):
        ProductBackend(ARTEMIS, runner=runner).provision(Needs())


def test_what_artemis_lacks_is_unsupported_with_its_source() -> None:
    backend = ProductBackend(ARTEMIS)
    for capability in Capability:
        assert (capability in backend.capabilities) is not (capability in backend.lacks)
    answer = backend.provision(Needs(capabilities=frozenset({Capability.STAGING_QUEUE})))
    assert isinstance(answer, Unsupported)
    assert answer.source == backend.lacks[Capability.STAGING_QUEUE]
    assert isinstance(backend.provision(Needs(platform="zos")), Unsupported)


def test_the_image_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ARTEMIS.image_variable, "registry.example/artemis:9.8.7-special")
    assert ProductBackend(ARTEMIS).environment.version == "9.8.7"


def test_an_unknown_face_is_named_with_the_known_ones() -> None:
    with pytest.raises(LookupError, match="simplified, classic"):
        ProductBackend(ARTEMIS).identity("stomp")
    assert ProductBackend(ARTEMIS).identity("classic").face == "classic"


@pytest.mark.parametrize(("status", "faster"), [(404, True), (409, True), (500, False)])
def test_a_container_that_another_process_removes_is_left_to_it(status: int, *, faster: bool) -> None:
    docker = pytest.importorskip("docker", reason="the Python package docker is not installed")
    response = requests.Response()
    response.status_code = status

    class Contested:
        def remove(self, **_options: object) -> None:
            raise docker.errors.APIError("no", response)

    if faster:
        assert not removal._remove(Contested())
    else:
        with pytest.raises(docker.errors.APIError):
            removal._remove(Contested())


@pytest.mark.docker
class TestWithDocker:
    @pytest.fixture(autouse=True)
    def _daemon(self) -> None:
        if isinstance(probe_image((ARTEMIS.images[0],), "", remedy=""), Unavailable):
            pytest.skip(f"there is no Docker daemon with {ARTEMIS.images[0]}: build it with images/build artemis")

    def test_an_image_that_is_nowhere_is_named_with_what_to_do(self) -> None:
        probed = probe_image(("localhost:1/no/such:image",), "It", remedy="build it")
        assert isinstance(probed, Unavailable)
        assert "localhost:1/no/such:image" in probed.reason
        assert probed.remedy == "build it"

    def test_the_first_image_that_is_here_is_taken(self) -> None:
        probed = probe_image(("localhost:1/no/such:image", ARTEMIS.images[0]), "It", remedy="")
        assert not isinstance(probed, Unavailable)
        assert probed[0] == ARTEMIS.images[0]
        assert isinstance(probed[1], Available)

    def test_a_container_that_dies_while_starting_shows_its_last_lines_and_is_gone(self, runner: RealRunner) -> None:
        spec = ContainerSpec(
            image=ARTEMIS.images[0], port=5672, environment={"JAVA_TOOL_OPTIONS": "-XX:NoSuchOption"}, title="It"
        )
        with pytest.raises(BackendError, match=r"(?s)It ended while starting \(exit code 1\).*NoSuchOption"):
            Container(spec, runner, lambda _port: False).start()
        assert sweep(mine=True) == ()

    def test_a_container_that_does_not_answer_in_time_says_so_and_is_gone(self, runner: RealRunner) -> None:
        spec = ContainerSpec(image=ARTEMIS.images[0], port=5672, title="It", start_limit_s=0)
        with pytest.raises(BackendError, match="did not answer within 0 s"):
            Container(spec, runner, lambda _port: False).start()
        assert sweep(mine=True) == ()

    @pytest.mark.parametrize("moment", ["made", "waited for"])
    def test_ctrl_c_while_a_container_starts_leaves_none(
        self, runner: RealRunner, monkeypatch: pytest.MonkeyPatch, moment: str
    ) -> None:
        from testcontainers.core.docker_client import DockerClient

        made = DockerClient.create

        def press(*arguments: Any, **options: Any) -> Any:
            signal.raise_signal(signal.SIGINT)
            return made(*arguments, **options)

        def waited(_port: int) -> bool:
            signal.raise_signal(signal.SIGINT)
            return False

        if moment == "made":
            monkeypatch.setattr(DockerClient, "create", press)
        container = Container(ContainerSpec(image=ARTEMIS.images[0], port=5672, title="It"), runner, waited)
        with pytest.raises(KeyboardInterrupt):
            container.start()
        assert sweep(mine=True) == ()

    def test_what_this_process_left_is_swept_on_demand(self, runner: RealRunner) -> None:
        container = Container(ContainerSpec(image=ARTEMIS.images[0], port=5672, title="It"), runner, lambda _port: True)
        container.start()
        assert sweep() == ()
        assert len(sweep(mine=True)) == 1
        container.remove()
        with pytest.raises(BackendError, match="it has no container"):
            container.kill()

    def test_a_kill_ends_the_process_itself_and_a_restart_has_another_one(self, runner: RealRunner) -> None:
        container = Container(ContainerSpec(image=ARTEMIS.images[0], port=5672, title="It"), runner, lambda _port: True)
        container.start()
        try:
            with docker_client() as client:
                ours = client.containers.list(filters={"label": f"{OWNER_LABEL}={owner()}"})
                pid = process_of(ours[0])
                container.kill()
                assert container.exit_code() == 128 + signal.SIGKILL
                assert process_of(ours[0]) is None
                container.resume()
                assert process_of(ours[0]) != pid
        finally:
            container.remove()


class FakeContainer:
    """A fake of Docker's container object."""

    id = "50184c6b1d5ddc40"

    def __init__(self, pid: int) -> None:
        self.attrs = {"State": {"Pid": pid}}
        self.asked: list[str] = []

    def reload(self) -> None:
        self.asked.append("reload")

    def kill(self, signal: str) -> None:
        self.asked.append(f"kill {signal}")

    def wait(self, timeout: int) -> None:
        self.asked.append(f"wait {timeout}")


@pytest.mark.parametrize("pid", [0, os.getpid(), 2**22 + 1], ids=["none", "this", "beyond all"])
def test_a_process_that_is_not_the_containers_is_left_alone(pid: int) -> None:
    container = FakeContainer(pid)
    assert process_of(container) is None
    kill_now(container, None)
    assert container.asked == ["reload", "kill KILL", f"wait {STOP_LIMIT_S}"]
