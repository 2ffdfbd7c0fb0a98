"""The slots of a store, each of which holds one record. A new record fills one slot, or empties some slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from itertools import chain
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar, cast

from assay_broker.core.records import (
    AuthoritySet,
    MemberTold,
    MessageMarked,
    MessageRemoved,
    MessageStored,
    ObjectDefined,
    ObjectRemoved,
    ParcelForgotten,
    ParcelTaken,
    Record,
    RetainedSet,
    SubscriptionDefined,
    SubscriptionRemoved,
    UnitCompleted,
    UnitPrepared,
    UnitResolved,
)


class Kind(IntEnum):
    """The kinds of slots.  Slots of messages and of their marks have numbers; all others have names."""

    MESSAGE = 0
    MARK = 1
    SUBSCRIPTION = 2
    RETAINED = 3
    OBJECT = 4
    AUTHORITY = 5
    TOLD = 6
    TAKEN = 7
    UNIT = 8


T = TypeVar("T")

NUMBERED = frozenset({Kind.MESSAGE, Kind.MARK})
_COUNTED = frozenset({Kind.MESSAGE, Kind.UNIT, Kind.SUBSCRIPTION})
GROWING = frozenset({Kind.MESSAGE, Kind.SUBSCRIPTION, Kind.RETAINED})
"""The kinds of slots that a full disk refuses to fill; records of other kinds are small or help to free space."""


class Slot(NamedTuple):
    """The place of one record in the store.

    Args:
        kind: The kind of the slot.
        name: The slot's name within its kind: a number for the kinds in `NUMBERED`, a text for others.
    """

    kind: Kind
    name: int | str


class Change(NamedTuple):
    """The effect of a record on slots: the slot that the record fills, and the slots that it empties.

    Args:
        takes: The slot that holds the record from now on; None if the record fills no slot.
        empties: The slots that are empty from now on.
    """

    takes: Slot | None
    empties: tuple[Slot, ...] = ()

    @property
    def adds(self) -> bool:
        """Whether a full disk refuses the record."""
        return self.takes is not None and self.takes.kind in GROWING


def change_of(record: Record) -> Change:
    """Return the effect of a record on slots."""
    return _CHANGES[type(record)](record)


class Newest(Generic[T]):
    """The newest contents of the slots that some records changed; None for a slot that is now empty.

    Messages change far more often than other slots, so messages and marks have their numbers as keys, without a `Slot`.
    """

    def __init__(self) -> None:
        self.messages: dict[int, T | None] = {}
        """The contents of the message slots, by the messages' numbers."""
        self.marks: dict[int, T | None] = {}
        """The contents of the mark slots, by the messages' numbers."""
        self.named: dict[Slot, T | None] = {}
        """The contents of all other slots, in the order in which they were filled."""

    def __bool__(self) -> bool:
        """Return whether any slot changed."""
        return bool(self.messages or self.marks or self.named)

    def add(self, record: Record, held: T | None) -> None:
        """Apply a record to the slots.

        Args:
            record: The record.
            held: The new content of the slot that the record fills; None if it fills no slot.
        """
        if isinstance(record, MessageStored):
            self.messages[record.key] = held
        elif isinstance(record, MessageRemoved):
            self.messages[record.key] = self.marks[record.key] = None
        elif isinstance(record, MessageMarked):
            self.marks[record.key] = held
        else:
            taken, emptied = change_of(record)
            self.named.update(dict.fromkeys(emptied))
            if taken is not None:
                self.named.pop(taken, None)
                self.named[taken] = held

    def values(self) -> Iterator[T]:
        """Yield the contents of the slots that are not empty."""
        for held in chain(self.messages.values(), self.marks.values(), self.named.values()):
            if held is not None:
                yield held


def _stored(record: MessageStored) -> Change:
    return Change(Slot(Kind.MESSAGE, record.key))


def _removed(record: MessageRemoved) -> Change:
    return Change(None, (Slot(Kind.MESSAGE, record.key), Slot(Kind.MARK, record.key)))


def _marked(record: MessageMarked) -> Change:
    return Change(Slot(Kind.MARK, record.key))


def _subscribed(record: SubscriptionDefined) -> Change:
    return Change(_subscription(record.number))


def _unsubscribed(record: SubscriptionRemoved) -> Change:
    return Change(None, (_subscription(record.number),))


def _subscription(number: int) -> Slot:
    return Slot(Kind.SUBSCRIPTION, str(number))


def _retained(record: RetainedSet) -> Change:
    slot = Slot(Kind.RETAINED, str(record.topic))
    return Change(None, (slot,)) if record.message is None else Change(slot)


def _doubtful(record: UnitPrepared | UnitCompleted) -> Change:
    return Change(_unit(record.number))


def _resolved(record: UnitResolved) -> Change:
    return Change(None, (_unit(record.number),))


def _unit(number: int) -> Slot:
    return Slot(Kind.UNIT, str(number))


def _defined(record: ObjectDefined) -> Change:
    return Change(_object(record.definition.namespace, record.definition.name))


def _undefined(record: ObjectRemoved) -> Change:
    # The record of the removal fills the slot. Otherwise the next start would define the object of the settings again.
    return Change(_object(record.namespace, record.name))


def _object(namespace: str, name: str) -> Slot:
    return Slot(Kind.OBJECT, f"{namespace}({name})")


def _authorised(record: AuthoritySet) -> Change:
    one = record.record
    return Change(Slot(Kind.AUTHORITY, f"{one.object_type}({one.profile}) {one.group}({one.entity})"))


def _told(record: MemberTold) -> Change:
    return Change(Slot(Kind.TOLD, record.member))


def _taken(record: ParcelTaken) -> Change:
    return Change(_parcel(record.member, record.number))


def _forgotten(record: ParcelForgotten) -> Change:
    return Change(None, (_parcel(record.member, record.number),))


def _parcel(member: str, number: int) -> Slot:
    return Slot(Kind.TAKEN, f"{member}?{number}")


class Numbers(NamedTuple):
    """The highest numbers used so far; the core never uses a number twice, even after the message or subscription ends.

    Args:
        copies: The highest number of a message or a branch in doubt, which share one sequence.
        subscriptions: The highest number of a durable subscription.
    """

    copies: int = 0
    subscriptions: int = 0

    def after(self, slot: Slot | None) -> Numbers:
        """Return the highest numbers after a slot is filled.

        Args:
            slot: The slot; if it is None, or its kind has no numbers, the highest numbers stay as they are.
        """
        if slot is None or slot.kind not in _COUNTED:
            return self
        number = int(slot.name)
        if slot.kind is Kind.SUBSCRIPTION:
            return self if number <= self.subscriptions else Numbers(self.copies, number)
        return self if number <= self.copies else Numbers(number, self.subscriptions)

    def removals(self) -> tuple[Record, ...]:
        """Return removal records with the next free numbers; they tell recovery which numbers are in use."""
        copies = (MessageRemoved(self.copies + 1),) if self.copies else ()
        return (*copies, SubscriptionRemoved(self.subscriptions + 1)) if self.subscriptions else copies


# The cast is needed because the type of a mapping cannot say that each function takes the type in its key.
_CHANGES: Mapping[type[Record], Callable[[Any], Change]] = MappingProxyType(
    cast(
        "dict[type[Record], Callable[[Any], Change]]",
        {
            MessageStored: _stored,
            MessageRemoved: _removed,
            MessageMarked: _marked,
            SubscriptionDefined: _subscribed,
            SubscriptionRemoved: _unsubscribed,
            RetainedSet: _retained,
            UnitPrepared: _doubtful,
            UnitCompleted: _doubtful,
            UnitResolved: _resolved,
            ObjectDefined: _defined,
            ObjectRemoved: _undefined,
            AuthoritySet: _authorised,
            MemberTold: _told,
            ParcelTaken: _taken,
            ParcelForgotten: _forgotten,
        },
    )
)
