"""A server for tests with hostile clients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.broker.amqp.hostile.peers import besieged
from tests.broker.amqp.serving import Serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """Yield a server; at the end, check that it always served its probe and keeps nothing of other clients."""
    with besieged() as serving:
        yield serving
