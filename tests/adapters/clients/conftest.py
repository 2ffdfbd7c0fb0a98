"""The client that the tests of the SDK behind the `Client` port share."""

from __future__ import annotations

import pytest
from tests.adapters.clients.worlds import FACES, World


@pytest.fixture(params=FACES)
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)
