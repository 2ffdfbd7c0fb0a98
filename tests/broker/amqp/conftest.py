"""An AMQP server for the tests of a module, and a client that sends frames for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.broker.amqp.serving import Raw, Serving, raw, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """Yield a server that keeps its messages in memory."""
    with serving() as found:
        yield found


@pytest.fixture
def client(server: Serving) -> Iterator[Raw]:
    """Yield a client with an open connection and a session."""
    with raw(server) as found:
        yield found
