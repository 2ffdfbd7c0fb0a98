"""The AMQP driver with the reference broker's server process, so both ends of the connection are the kit's code."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from tests.contract.cancel import CancelContract
from tests.contract.suite import DriverContract
from tests.contract.temporaries import TemporaryContract
from tests.contract.world import World

from assay_adapters.brokers.reference.server.backend import ReferenceServerBackend
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import Endpoint
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.runners.real import RealRunner


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    backend = ReferenceServerBackend()
    instance = backend.provision(Needs())
    assert not isinstance(instance, Unsupported)
    yield instance.endpoint("amqp")
    backend.close()


class TestReferenceServer(DriverContract, CancelContract, TemporaryContract):
    """The contract in real time, over AMQP and TCP, with the server in its own process."""

    @pytest.fixture
    def world(self, endpoint: Endpoint) -> Iterator[World]:
        runner = RealRunner()
        yield World(
            url=endpoint.url, runner=runner, driver=AmqpDriver, token=uuid.uuid4().hex[:8], login=endpoint.login
        )
        runner.close()
