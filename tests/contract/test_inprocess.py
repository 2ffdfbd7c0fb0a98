from __future__ import annotations

import pytest
from tests.contract.suite import DriverContract, World

from assay_broker.inprocess import InProcessDriver
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk.runners.virtual import VirtualRunner


class TestInProcess(DriverContract):
    """The in-process driver with the reference broker behind it, in virtual time."""

    @pytest.fixture
    def world(self) -> World:
        runner = VirtualRunner()
        queue_manager = QueueManager(runner, MemoryStore())
        return World(url="in-process://qm", runner=runner, driver=lambda: InProcessDriver(queue_manager), token="x")
