"""Tests of the driver contract: the AMQP driver with the reference broker's server, in memory and on SQLite."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.amqp.serving import serving
from tests.contract.cancel import CancelContract
from tests.contract.suite import DriverContract
from tests.contract.temporaries import TemporaryContract
from tests.contract.world import World

from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.runners.real import RealRunner


class TestServer(DriverContract, CancelContract, TemporaryContract):
    """The contract in real time, over AMQP and TCP, with the server in this process."""

    @pytest.fixture(params=["memory", "sqlite"])
    def world(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
        kept = request.param == "sqlite"
        with serving(store=lambda _: SqliteStore(tmp_path, "ASSAY") if kept else MemoryStore()) as server:
            runner = RealRunner()
            yield World(url=server.url, runner=runner, driver=AmqpDriver, token=uuid.uuid4().hex[:8])
            runner.close()
