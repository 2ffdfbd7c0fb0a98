from __future__ import annotations

import msgspec
import pytest
from tests.broker.stores.samples import TOPIC, kept, stored

from assay_broker.core.records import (
    MessageRemoved,
    MessageStored,
    RetainedSet,
)
from assay_broker.stores import StoreError
from assay_broker.stores.memory import MemoryStore
from assay_sdk.model.message import Message


def test_a_full_disk_takes_nothing_but_removals() -> None:
    capacity = len(msgspec.msgpack.encode(stored(1, "x" * 100))) * 3 // 2
    store = MemoryStore(capacity_bytes=capacity)
    store.write([stored(1, "x" * 100)])
    store.flush()
    with pytest.raises(StoreError, match=f"{capacity} bytes is full"):
        store.write([stored(2, "x" * 100)])
    store.write([MessageRemoved(1)])
    store.flush()
    store.write([stored(2, "x" * 100)])
    store.flush()
    assert [record.key for record in kept(store) if isinstance(record, MessageStored)] == [2]


def test_a_full_disk_takes_no_part_of_a_batch() -> None:
    size = len(msgspec.msgpack.encode(stored(1, "x" * 100)))
    store = MemoryStore(capacity_bytes=size * 3 // 2)
    with pytest.raises(StoreError):
        store.write([stored(1, "x" * 100), stored(2, "x" * 100)])
    store.flush()
    assert kept(store) == ()


def test_a_full_disk_takes_no_retained_publication_but_lets_one_be_cleared() -> None:
    store = MemoryStore(capacity_bytes=400)
    store.write([RetainedSet(topic=TOPIC, message=Message(body="x"))])
    with pytest.raises(StoreError):
        store.write([RetainedSet(topic=TOPIC, message=Message(body="x" * 400))])
    store.write([RetainedSet(topic=TOPIC, message=None)])
    store.flush()
    assert kept(store) == ()
