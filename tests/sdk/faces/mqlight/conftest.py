"""Fixture: a broker for each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.sdk.faces.mqlight.worlds import World

from assay_broker.inprocess import in_process_broker


@pytest.fixture
def world() -> Iterator[World]:
    with in_process_broker() as broker:
        yield World(broker)
