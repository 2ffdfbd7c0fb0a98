from __future__ import annotations

from typing import get_args

import pytest

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
from assay_broker.stores.slots import Change, Kind, Slot, change_of
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
