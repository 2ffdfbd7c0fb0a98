"""Fixtures: a server for the tests of a module, and raw clients for each test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from tests.broker.stomp.serving import Raw, StompServing, raw, serving

_NUMBERS = count(1)


@pytest.fixture(scope="module")
def server() -> Iterator[StompServing]:
    """Provide a server with its messages in memory."""
    with serving() as found:
        yield found


@pytest.fixture
def client(server: StompServing) -> Iterator[Raw]:
    """Provide a client with an open connection of version 1.2."""
    with raw(server) as found:
        yield found


@pytest.fixture
def other(server: StompServing) -> Iterator[Raw]:
    """Provide a second client with an open connection of version 1.2."""
    with raw(server) as found:
        yield found


@pytest.fixture
def queue() -> str:
    """Provide the destination of a queue that no other test uses."""
    return f"/queue/test-{next(_NUMBERS)}"
