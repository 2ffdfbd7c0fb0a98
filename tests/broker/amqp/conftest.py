"""Fixtures: a server for the tests of a module, and a raw client for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.broker.amqp.serving import Raw, Serving, raw, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """Provide a server with its messages in memory."""
    with serving() as found:
        yield found


@pytest.fixture
def client(server: Serving) -> Iterator[Raw]:
    """Provide a raw client with an open connection and a session."""
    with raw(server) as found:
        yield found
