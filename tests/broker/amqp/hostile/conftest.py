"""One server under siege for the tests of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.broker.amqp.hostile.peers import besieged
from tests.broker.amqp.serving import Serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """A server; at the end its probe must have been served all along, and nothing of the others may be left."""
    with besieged() as serving:
        yield serving
