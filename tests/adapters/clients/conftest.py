"""The fixture `world`: a client of each face, with a scripted wire."""

from __future__ import annotations

import pytest
from tests.adapters.clients.worlds import FACES, World


@pytest.fixture(params=FACES)
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)
