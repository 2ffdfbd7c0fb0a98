"""Fixture: a scripted broker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.sdk.drivers.stomp.peer import Peer


@pytest.fixture
def peer() -> Iterator[Peer]:
    """Provide a scripted broker."""
    found = Peer()
    yield found
    found.close()
