"""Fixture: a server for the tests of a module with hostile peers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.broker.amqp.hostile.peers import besieged
from tests.broker.amqp.serving import Serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """Provide a server; check at the end that it has served its probe, and keeps no objects of the other peers."""
    with besieged() as serving:
        yield serving
