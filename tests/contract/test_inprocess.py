"""The in-process driver with the reference broker behind it, under both clocks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contract.cancel import CancelContract
from tests.contract.suite import DriverContract
from tests.contract.temporaries import TemporaryContract
from tests.contract.world import World

from assay_broker.inprocess import InProcessDriver
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk.runners.real import RealRunner
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import Runner


def world_of(runner: Runner) -> World:
    queue_manager = QueueManager(runner, MemoryStore())
    return World(url="in-process://qm", runner=runner, driver=lambda: InProcessDriver(queue_manager), token="x")


class TestInVirtualTime(DriverContract, CancelContract, TemporaryContract):
    """The contract in virtual time: one thread, and a clock that jumps to the next job that is due."""

    @pytest.fixture
    def world(self) -> World:
        return world_of(VirtualRunner())


class TestInRealTime(DriverContract, CancelContract, TemporaryContract):
    """The contract in real time: the engine's jobs run on the loop's thread, the application on another thread."""

    @pytest.fixture
    def world(self) -> Iterator[World]:
        runner = RealRunner()
        yield world_of(runner)
        runner.close()
