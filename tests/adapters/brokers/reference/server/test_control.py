"""Tests of the faults that the kit injects into a server's store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.stores.samples import stored

from assay_adapters.brokers.reference.server.fork_server.control import FalteringStore
from assay_broker.stores import StoreError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FalteringStore]:
    made = FalteringStore(tmp_path / "data", "ASSAY")
    yield made
    made.abandon()


def keys(store: FalteringStore) -> set[int]:
    return {getattr(record, "key", 0) for record in store.load()}


def test_it_fails_as_often_as_the_kit_has_asked_and_keeps_nothing_of_that(store: FalteringStore) -> None:
    store.failing = 1
    store.write([stored(1)])
    with pytest.raises(StoreError, match="The kit made the store fail"):
        store.flush()
    store.write([stored(2)])
    store.flush()
    assert 1 not in keys(store)
    assert 2 in keys(store)
