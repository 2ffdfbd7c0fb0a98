"""Tests of the driver contract: the STOMP driver with the reference broker's server."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping

import pytest
from tests.broker.stomp.serving import StompServing, serving
from tests.contract.suite import DriverContract
from tests.contract.temporaries import TemporaryContract
from tests.contract.world import World

from assay_sdk.drivers.stomp import StompDriver
from assay_sdk.runners.real import RealRunner

LACKS: Mapping[str, str] = {
    "test_a_late_answer_is_refused_however_it_is_sent": (
        "STOMP has no frame that deletes a temporary destination, so the broker keeps it until its connection ends"
    ),
}
"""The tests of the contract that STOMP cannot pass, with the reasons.

`CancelContract` is not part of the suite, because STOMP has no frame that cancels a delayed message."""


@pytest.fixture(scope="module")
def server() -> Iterator[StompServing]:
    with serving() as found:
        yield found


class TestStomp(DriverContract, TemporaryContract):
    """The contract in real time, over STOMP and TCP, with the server in this process."""

    @pytest.fixture(autouse=True)
    def lack(self, request: pytest.FixtureRequest) -> None:
        """Expect a failure where STOMP lacks something."""
        reason = LACKS.get(request.node.originalname)
        if reason is not None:
            request.applymarker(pytest.mark.xfail(reason=reason, strict=True))

    @pytest.fixture
    def world(self, server: StompServing) -> Iterator[World]:
        runner = RealRunner()
        url = f"stomp://127.0.0.1:{server.port}"
        yield World(url=url, runner=runner, driver=StompDriver, token=uuid.uuid4().hex[:8])
        runner.close()
