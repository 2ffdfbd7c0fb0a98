from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay_broker.core.records import (
    MessageMarked,
    MessageRemoved,
    MessageStored,
    Record,
    RetainedSet,
    SubscriptionDefined,
    SubscriptionRemoved,
)
from assay_broker.stores import slots
from assay_broker.stores.slots import NUMBERED, Change, Kind, Newest, Slot, change_of
from assay_sdk.model.message import Address, AddressKind, Message

TOPIC = Address(AddressKind.TOPIC, "T")
STORED = MessageStored(key=7, home="queue://Q", message=Message(), arrived_ms=1, expires_ms=None, due_ms=None)
DEFINED = SubscriptionDefined(
    number=3, client_id=None, name="s", topic=TOPIC, selector=None, no_local=False, shared=False
)


def test_every_kind_of_record_has_its_place() -> None:
    assert set(get_args(Record)) == set(slots._CHANGES)


@pytest.mark.parametrize(
    ("record", "expected", "adds"),
    [
        (STORED, Change(Slot(Kind.MESSAGE, 7)), True),
        (MessageMarked(7, 2), Change(Slot(Kind.MARK, 7)), False),
        (MessageRemoved(7), Change(None, (Slot(Kind.MESSAGE, 7), Slot(Kind.MARK, 7))), False),
        (DEFINED, Change(Slot(Kind.SUBSCRIPTION, "3")), True),
        (SubscriptionRemoved(3), Change(None, (Slot(Kind.SUBSCRIPTION, "3"),)), False),
        (RetainedSet(topic=TOPIC, message=Message()), Change(Slot(Kind.RETAINED, "topic://T")), True),
        (RetainedSet(topic=TOPIC, message=None), Change(None, (Slot(Kind.RETAINED, "topic://T"),)), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_record_takes_its_slot_or_empties_it_and_only_what_grows_needs_room(
    *, record: Record, expected: Change, adds: bool
) -> None:
    assert change_of(record) == expected
    assert change_of(record).adds is adds


_NUMBERS = st.integers(1, 4)
_RECORDS = st.one_of(
    _NUMBERS.map(lambda key: replace(STORED, key=key)),
    _NUMBERS.map(MessageRemoved),
    st.builds(MessageMarked, _NUMBERS, _NUMBERS),
    _NUMBERS.map(lambda number: replace(DEFINED, number=number)),
    _NUMBERS.map(SubscriptionRemoved),
    st.sampled_from((Message(), None)).map(lambda message: RetainedSet(topic=TOPIC, message=message)),
)


@given(st.lists(_RECORDS, max_size=20))
def test_the_newest_are_what_one_record_after_the_other_leaves(records: list[Record]) -> None:
    newest: Newest[int] = Newest()
    slots: dict[Slot, int | None] = {}
    for place, record in enumerate(records):
        change = change_of(record)
        newest.add(record, None if change.takes is None else place)
        slots.update(dict.fromkeys(change.empties))
        if change.takes is not None:
            slots.pop(change.takes, None)
            slots[change.takes] = place

    numbered = ((Kind.MESSAGE, newest.messages), (Kind.MARK, newest.marks))
    found = {Slot(kind, number): place for kind, places in numbered for number, place in places.items()}
    assert found | newest.named == slots
    named = [slot for slot in slots if slot.kind not in NUMBERED]
    assert [slot for slot in newest.named if newest.named[slot] is not None] == [
        slot for slot in named if slots[slot] is not None
    ], "in the order in which they came to hold it"
    assert sorted(newest.values()) == sorted(place for place in slots.values() if place is not None)
