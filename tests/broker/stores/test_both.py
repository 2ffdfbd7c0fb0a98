from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.stores.samples import DEFINED, TOPIC, stored

from assay_broker.core.records import (
    MessageMarked,
    MessageRemoved,
    Record,
    RetainedSet,
    SubscriptionRemoved,
)
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.model.message import Address, AddressKind, Message

Either = MemoryStore | SqliteStore


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Either]:
    if request.param == "memory":
        yield MemoryStore()
        return
    made = SqliteStore(tmp_path / "QM", "QM")
    yield made
    made.close()


def test_what_is_flushed_can_be_loaded_as_it_was(store: Either) -> None:
    records: tuple[Record, ...] = (DEFINED, stored(1), MessageMarked(1, 3))
    store.write(records)
    assert store.load() == ()
    store.flush()
    assert store.load() == records


def test_what_is_not_flushed_is_dropped(store: Either) -> None:
    store.write([stored(1)])
    store.flush()
    store.write([stored(2), MessageRemoved(1)])
    store.drop()
    assert store.load() == (stored(1),)


def test_what_is_removed_takes_no_room(store: Either) -> None:
    store.write([DEFINED, stored(1), MessageMarked(1, 1), MessageRemoved(1), SubscriptionRemoved(1)])
    store.flush()
    assert store.load() == ()
    assert not store.holds(b"body")


@pytest.mark.parametrize("flushed", [True, False])
def test_it_knows_which_octets_it_holds(store: Either, *, flushed: bool) -> None:
    store.write([stored(1, "needle")])
    if flushed:
        store.flush()
    assert store.holds(b"needle")
    assert not store.holds(b"haystack")


def test_an_observer_is_told_each_write_flush_and_drop(store: Either) -> None:
    told: list[tuple[str, int]] = []
    store.observe(lambda operation, records: told.append((operation, len(records))))
    store.write([stored(1), stored(2)])
    store.flush()
    store.write([stored(3)])
    store.drop()
    assert told == [("write", 1), ("write", 1), ("flush", 2), ("write", 1), ("drop", 1)]


def test_a_retained_publication_takes_the_place_of_the_one_before_and_goes_when_it_is_cleared(
    store: Either,
) -> None:
    other = Address(AddressKind.TOPIC, "OTHER")
    second = RetainedSet(topic=TOPIC, message=Message(body="second"), expires_ms=5, client_id="c")
    beside = RetainedSet(topic=other, message=Message(body="beside"))
    store.write([RetainedSet(topic=TOPIC, message=Message(body="first")), beside, second])
    store.flush()
    assert store.load() == (beside, second)
    store.write([RetainedSet(topic=other, message=None)])
    store.flush()
    assert store.load() == (second,)
