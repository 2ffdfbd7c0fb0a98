"""The AMQP driver with Apache Artemis behind it; one container for all tests of the file."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest
from tests.contract.suite import DriverContract
from tests.contract.world import SOON_MS, World
from tests.waiting import until

from assay_adapters.brokers.amqp.backend import ProductBackend
from assay_adapters.brokers.artemis.product import ARTEMIS
from assay_adapters.ports.backend import Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import Endpoint
from assay_sdk import InvalidClientIdRuntimeError, UnsupportedRuntimeError
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.runners.real import RealRunner


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    backend = ProductBackend(ARTEMIS)
    found = backend.probe()
    if isinstance(found, Unavailable):
        if "docker" in os.environ.get("ASSAY_REQUIRE", "").split(","):
            pytest.fail(f"ASSAY_REQUIRE names docker, but {found.reason}")
        pytest.skip(found.reason)
    instance = backend.provision(Needs())
    assert not isinstance(instance, Unsupported)
    yield instance.endpoint("amqp")
    backend.close()


@pytest.mark.docker
class TestArtemis(DriverContract):
    """The contract in real time, over AMQP and TCP, with a broker of another project."""

    @pytest.fixture
    def world(self, endpoint: Endpoint) -> Iterator[World]:
        runner = RealRunner()
        yield World(
            url=endpoint.url, runner=runner, driver=AmqpDriver, token=uuid.uuid4().hex[:8], login=endpoint.login
        )
        runner.close()

    def test_taking_a_message_back_is_refused_before_anything_is_sent(self, world: World) -> None:
        with world.connect() as ctx:
            receipt = ctx.create_producer(world.queue(), delivery_delay=100).send("x")
            with pytest.raises(UnsupportedRuntimeError, match="this connection has no cancel"):
                receipt.cancel()
            with pytest.raises(UnsupportedRuntimeError, match="this connection has no cancel"):
                ctx.cancel(receipt.message_id)

    def test_a_client_id_belongs_to_one_connection_at_a_time(self, world: World) -> None:
        with world.connect("c"), pytest.raises(InvalidClientIdRuntimeError):
            world.connect("c")

        def taken() -> bool:
            try:
                world.connect("c").close()
            except InvalidClientIdRuntimeError:
                return False
            return True

        until(taken, "Artemis lets go of the client id of a closed connection")

    def test_a_browser_shows_and_leaves(self, world: World) -> None:
        """Artemis may answer a drain before it has sent the browser every message, so the last may be missing."""
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue())
            for text in "ab":
                producer.send(text)
            browser = ctx.create_browser(world.queue())

            def shown() -> bool:
                bodies = [message.body for message in browser]
                assert bodies == ["a", "b"][: len(bodies)]
                return len(bodies) == 2

            for _ in range(2):
                until(shown, "Artemis shows both messages to a browser")
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "a"
