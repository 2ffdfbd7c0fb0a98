"""Tests of the reference broker's image: permissions, output, health and end."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from typing import Any

import pytest

from assay_adapters.containers.container import docker_client, probe_image
from assay_adapters.containers.removal import sweep
from assay_adapters.ports.backend import Unavailable
from assay_sdk import DeliveryMode, Queue, connect
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.errors import JmsError
from assay_sdk.faces.caller import shared_runner

testcontainers = pytest.importorskip("testcontainers", reason="testcontainers is not installed")

from assay_adapters.brokers.reference.container.container import (  # noqa: E402  it needs what may be missing
    IMAGE_VARIABLE,
    ReferenceBrokerContainer,
    default_image,
)

ORDERS = Queue("ORDERS", str)


def test_the_image_is_this_versions_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(IMAGE_VARIABLE, raising=False)
    assert default_image().startswith("assay/reference:")
    monkeypatch.setenv(IMAGE_VARIABLE, "somewhere/else:1")
    assert default_image() == "somewhere/else:1"


@pytest.fixture(scope="module")
def image() -> None:
    probed = probe_image((default_image(),), "The reference broker", remedy="build it with images/build reference")
    if isinstance(probed, Unavailable):
        text = f"{probed.reason}; {probed.remedy}"
        if "docker" in os.environ.get("ASSAY_REQUIRE", "").split(","):
            pytest.fail(f"ASSAY_REQUIRE names docker, but {text}")
        pytest.skip(text)


@pytest.fixture(scope="module")
def broker(image: None) -> Generator[ReferenceBrokerContainer]:  # noqa: ARG001  it has to be there
    with ReferenceBrokerContainer() as broker:
        yield broker
    assert sweep(mine=True) == ()


@pytest.mark.docker
class TestWithDocker:
    pytestmark = pytest.mark.usefixtures("image")

    def test_a_client_who_logs_in_is_served_and_nobody_else(self, broker: ReferenceBrokerContainer) -> None:
        with connect(broker.amqp_url, login=broker.login, driver=AmqpDriver()) as context:
            context.create_producer(ORDERS).send("nails")
            with context.create_consumer(ORDERS) as consumer:
                message = consumer.receive(timeout=5_000)
        assert message is not None
        assert message.body == "nails"
        with pytest.raises(JmsError):
            connect(broker.amqp_url, driver=AmqpDriver())

    def test_it_is_not_root_and_writes_nothing_outside_its_volume(self, broker: ReferenceBrokerContainer) -> None:
        code, out = execute(broker, "import os; print(os.getuid())")
        assert (code, out) == (0, "10001")
        for place in ("/etc/x", "/opt/assay/x", "/usr/x"):
            assert execute(broker, f"open({place!r}, 'w')")[0] != 0
        assert broker.get_wrapped_container().attrs["HostConfig"]["ReadonlyRootfs"]

    def test_it_says_that_it_is_healthy(self, broker: ReferenceBrokerContainer) -> None:
        runner = shared_runner()
        deadline_ns = runner.clock.monotonic_ns() + 120 * 10**9
        while health(broker) != "healthy" and runner.clock.monotonic_ns() < deadline_ns:
            runner.run_until(lambda: False, runner.clock.monotonic_ns() + 100_000_000)
        assert health(broker) == "healthy"

    def test_its_log_is_for_machines_and_knows_no_password(self, broker: ReferenceBrokerContainer) -> None:
        log = broker.get_wrapped_container().logs(stdout=False).decode()
        assert [json.loads(line)["message"] for line in log.splitlines()]
        assert broker.login.password not in log
        assert broker.admin.password not in log

    def test_it_stops_in_order_and_killed_it_has_all_that_was_answered(self, broker: ReferenceBrokerContainer) -> None:
        container = broker.get_wrapped_container()
        for end in ("SIGTERM", "SIGKILL"):
            with connect(broker.amqp_url, login=broker.login, driver=AmqpDriver()) as context:
                context.create_producer(ORDERS, delivery_mode=DeliveryMode.PERSISTENT).send(end)
            container.kill(signal=end)
            ended = container.wait(timeout=120)
            assert ended["StatusCode"] == (0 if end == "SIGTERM" else 128 + 9)
            container.start()
            broker.await_ready()
            with (
                connect(broker.amqp_url, login=broker.login, driver=AmqpDriver()) as context,
                context.create_consumer(ORDERS) as consumer,
            ):
                message = consumer.receive(timeout=5_000)
            assert message is not None
            assert message.body == end

    def test_arguments_go_to_the_broker_and_a_mistake_shows_its_sentence(self) -> None:
        with pytest.raises(TimeoutError, match="there is no platform 'vms'"):
            ReferenceBrokerContainer(None, "--platform", "vms", name=(name := f"assay-vms-{os.getpid()}")).start()
        with docker_client() as client:
            assert client.containers.list(all=True, filters={"name": name}) == []


def execute(broker: ReferenceBrokerContainer, program: str) -> tuple[int, str]:
    """Run a Python program in the container, and return its exit code and output."""
    result: Any = broker.get_wrapped_container().exec_run(["python", "-c", program])
    return int(result.exit_code), result.output.decode().strip()


def health(broker: ReferenceBrokerContainer) -> str:
    """Return Docker's health status of the container."""
    container = broker.get_wrapped_container()
    container.reload()
    return str(container.attrs["State"]["Health"]["Status"])
