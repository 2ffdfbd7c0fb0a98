from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.broker.stores.samples import DEFINED, TOPIC, kept, stored

from assay_broker.core.records import (
    MessageMarked,
    MessageRemoved,
    Record,
    RetainedSet,
    SubscriptionRemoved,
    UnitPrepared,
    UnitResolved,
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
    assert kept(store) == ()
    store.flush()
    assert kept(store) == records


def test_what_is_not_flushed_is_dropped(store: Either) -> None:
    store.write([stored(1)])
    store.flush()
    store.write([stored(2), MessageRemoved(1)])
    store.drop()
    assert kept(store) == (stored(1),)


def test_what_is_removed_takes_no_room(store: Either) -> None:
    store.write([DEFINED, stored(1), MessageMarked(1, 1), MessageRemoved(1), SubscriptionRemoved(1)])
    store.flush()
    assert kept(store) == ()
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
    assert kept(store) == (beside, second)
    store.write([RetainedSet(topic=other, message=None)])
    store.flush()
    assert kept(store) == (second,)


def test_a_queue_manager_that_starts_knows_which_numbers_were_given_to_what_has_gone(store: Either) -> None:
    for highest in (1, 7, 2_500):
        prepared = UnitPrepared(number=highest + 1, xid=b"x", prepared_ms=1)
        store.write([stored(highest), prepared, replace(DEFINED, number=highest + 2)])
        store.write([MessageRemoved(highest), UnitResolved(highest + 1), SubscriptionRemoved(highest + 2)])
        store.flush()
        store.write([stored(10_000)])
        store.drop()
        assert kept(store) == ()
        tombs = store.load()
        assert [one.key > highest + 1 for one in tombs if isinstance(one, MessageRemoved)] == [True]
        assert [one.number > highest + 2 for one in tombs if isinstance(one, SubscriptionRemoved)] == [True]


def test_no_number_that_was_given_is_told_to_be_gone_while_it_is_there(store: Either) -> None:
    for key in range(1, 1_003):
        store.write([stored(key)])
    store.flush()
    gone = {one.key for one in store.load() if isinstance(one, MessageRemoved)}
    assert len(kept(store)) == 1_002
    assert not gone & set(range(1, 1_003))
