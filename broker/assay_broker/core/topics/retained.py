"""Retained publications: at most one for each topic string, for subscribers that come later.

A publisher asks for it with the property JMS_IBM_Retain = 1; on a queue the property says nothing.  Whoever subscribes
when it is published gets it as any other publication, without the property; whoever makes a subscription later gets it
at once, with the property, by which IBM's JMS client lets an application tell the one from the other.  An empty one is
a publication like any other; `clear_retained` removes one.  A persistent one is there again after a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.messages.altering import with_number, without_property
from assay_broker.core.objects.factory import RETAINED_QUEUE
from assay_broker.core.records import RetainedSet
from assay_broker.core.refusals import refusal
from assay_broker.core.topics.topic_strings import Patterns, has_wildcards
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

if TYPE_CHECKING:
    from assay_broker.core.state import State
    from assay_broker.core.turn import Turn

RETAIN = "JMS_IBM_Retain"
_RETAIN_PUBLICATION = 1
_NO_CONNECTION = 0


class Retention(Struct, frozen=True):
    """Where a publication is kept, and who sent it.

    Args:
        topic: The topic.
        connection: Who publishes; 0 once that is long ago.
        client_id: Under which client id; None without one.
    """

    topic: Address
    connection: int
    client_id: str | None


class RetainedPublication(Struct, frozen=True, kw_only=True):
    """What a topic keeps.

    Args:
        kept: Where, and who sent it.
        message: The publication, marked as retained; None when it was cleared and the store has still to say so.
        expires_ms: When it expires; None never.
        recorded: Whether the store holds it.
        batch: The batch that says so; 0 for none.
    """

    kept: Retention
    message: Message | None
    expires_ms: int | None
    recorded: bool
    batch: int

    def there(self, now_ms: int) -> bool:
        """Whether a new subscriber is given it."""
        return self.message is not None and (self.expires_ms is None or self.expires_ms > now_ms)


class Retained:
    """All retained publications, in the order of their publishing."""

    def __init__(self) -> None:
        self._by_topic: dict[Address, RetainedPublication] = {}

    def __len__(self) -> int:
        return len(self._by_topic)

    def at(self, topic: Address) -> RetainedPublication | None:
        """What a topic keeps; None for nothing."""
        return self._by_topic.get(topic)

    def keep(self, publication: RetainedPublication) -> None:
        """A topic keeps this one instead of any other."""
        self._by_topic.pop(publication.kept.topic, None)
        self._by_topic[publication.kept.topic] = publication

    def forget(self, topic: Address) -> None:
        """A topic keeps nothing any more."""
        self._by_topic.pop(topic, None)

    def expired(self, now_ms: int) -> tuple[Address, ...]:
        """The topics whose publication nobody is given any more."""
        return tuple(topic for topic, one in self._by_topic.items() if not one.there(now_ms))

    def fitting(self, topic: Address, now_ms: int) -> tuple[RetainedPublication, ...]:
        """What a new subscription to a topic, wildcards or not, is given."""
        return tuple(one for one in self._under(topic) if one.there(now_ms))

    def _under(self, topic: Address) -> Iterator[RetainedPublication]:
        if topic.kind is not AddressKind.TOPIC or not has_wildcards(topic.name):
            if topic in self._by_topic:
                yield self._by_topic[topic]
            return
        pattern: Patterns[Address] = Patterns()
        pattern.add(topic.name, 0, topic)
        for at, one in self._by_topic.items():
            if at.kind is AddressKind.TOPIC and topic in pattern.fitting(at.name):
                yield one


class Given(Struct, frozen=True):
    """A retained publication on its way to a new subscriber.

    Args:
        batch: The batch that it waits for; 0 for none.
    """

    message: Message
    expires_ms: int | None
    batch: int


def asks_retention(message: Message) -> bool:
    """Whether a publisher wants a publication retained; 1, a number, is the only value that says so."""
    value = message.properties.get(RETAIN)
    return type(value) is int and value == _RETAIN_PUBLICATION


def without_mark(message: Message) -> Message:
    """A publication as those get it who subscribe already."""
    return without_property(message, RETAIN)


def check_retainable(state: State, topic: Address, now_ms: int) -> None:
    """Refuse a publication that cannot be retained; then nobody gets it.

    Raises:
        RefusalError: The queue of retained publications is missing, disabled for puts, or full.
    """
    store = state.objects.queue(RETAINED_QUEUE)
    if store is None:
        why = "is not defined"
    elif store.says("PUT", "DISABLED"):
        why = "is disabled for puts"
    elif _full(state, topic) and len(state.retained.expired(now_ms)) == 0:
        why = f"holds {len(state.retained)} publications already; clear one"
    else:
        return
    raise refusal(Mqrc.PUT_NOT_RETAINED, f"{RETAINED_QUEUE} {why}.", RETAINED_QUEUE)


def _full(state: State, topic: Address) -> bool:
    store = state.objects.queue(RETAINED_QUEUE)
    limit = 0 if store is None else store.number("MAXDEPTH")
    return state.retained.at(topic) is None and len(state.retained) >= limit


def retain(state: State, turn: Turn, kept: Retention, message: Message, expires_ms: int | None) -> None:
    """Keep a publication as its topic's retained one."""
    if _full(state, kept.topic):
        for topic in state.retained.expired(turn.now_ms):
            clear_retained(state, turn, topic)
            _settle(state, topic)
    recorded = bool(message.durable) and kept.topic.kind is AddressKind.TOPIC
    marked = with_number(message, RETAIN, _RETAIN_PUBLICATION)
    _keep(
        state,
        turn,
        RetainedPublication(kept=kept, message=marked, expires_ms=expires_ms, recorded=recorded, batch=0),
    )


def clear_retained(state: State, turn: Turn, topic: Address) -> None:
    """Remove what a topic keeps; nothing happens when it keeps nothing."""
    found = state.retained.at(topic)
    if found is not None and found.message is not None:
        _keep(state, turn, replace(found, message=None, expires_ms=None, recorded=False, batch=0))


def _keep(state: State, turn: Turn, publication: RetainedPublication) -> None:
    """Keep it, and say so to the store unless the store would have it that way by itself."""
    topic = publication.kept.topic
    before = state.retained.at(topic)
    if publication.recorded or (before is not None and (before.recorded or state.gate(before.batch))):
        record = RetainedSet(
            topic=topic,
            message=publication.message if publication.recorded else None,
            expires_ms=publication.expires_ms,
            client_id=publication.kept.client_id,
        )
        batch = turn.record(record, partial(_restore, state, topic, before))
        publication = replace(publication, batch=batch)
    state.retained.keep(publication)
    _settle(state, topic)


def _settle(state: State, topic: Address) -> None:
    """Forget a topic whose publication was cleared, once the store has said so."""
    found = state.retained.at(topic)
    if found is not None and found.message is None and not state.gate(found.batch):
        state.retained.forget(topic)


def _restore(state: State, topic: Address, before: RetainedPublication | None, _turn: Turn) -> None:
    """Undo `_keep`: a change that came later has been undone already."""
    if before is None:
        state.retained.forget(topic)
    else:
        state.retained.keep(before)


def restore_retained(state: State, turn: Turn, records: Iterable[RetainedSet]) -> None:
    """Take up what the store holds; what expired meanwhile is removed from it."""
    for record in records:
        state.retained.forget(record.topic)
        if record.message is None:
            continue
        state.retained.keep(
            RetainedPublication(
                kept=Retention(record.topic, _NO_CONNECTION, record.client_id),
                message=record.message,
                expires_ms=record.expires_ms,
                recorded=True,
                batch=0,
            )
        )
    for topic in state.retained.expired(turn.now_ms):
        clear_retained(state, turn, topic)
