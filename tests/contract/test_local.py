"""The local driver with the reference broker behind a Unix socket, in real time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.cancel import CancelContract
from tests.contract.suite import DriverContract
from tests.contract.temporaries import TemporaryContract
from tests.contract.world import World

from assay_broker.inprocess import InProcessDriver
from assay_broker.local import LocalServer
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk.drivers.local import LocalDriver
from assay_sdk.runners.real import RealRunner


class TestLocal(DriverContract, CancelContract, TemporaryContract):
    """The contract in real time over a Unix socket; broker and client each have a runner."""

    @pytest.fixture
    def world(self, tmp_path: Path) -> Iterator[World]:
        theirs, ours = RealRunner(), RealRunner()
        server = LocalServer(tmp_path / "s", InProcessDriver(QueueManager(theirs, MemoryStore())), theirs)
        yield World(url=server.url, runner=ours, driver=LocalDriver, token="x")
        server.close()
        theirs.run_until(lambda: server.closed, None)
        ours.close()
        theirs.close()
