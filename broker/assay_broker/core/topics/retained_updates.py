"""Changes of retained publications: functions that set, clear and recover them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from msgspec.structs import replace

from assay_broker.core.messages.alterations import with_number
from assay_broker.core.objects.factory import RETAINED_QUEUE
from assay_broker.core.records import RetainedSet
from assay_broker.core.refusals import refusal
from assay_broker.core.state import State
from assay_broker.core.topics.retained import (
    NO_CONNECTION,
    RETAIN,
    RETAIN_PUBLICATION,
    RetainedPublication,
    Retention,
)
from assay_broker.core.turn import Turn
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc


def check_retainable(state: State, topic: Address, now_ms: int) -> None:
    """Refuse a publication that asks for retention, if SYSTEM.RETAINED.PUB.QUEUE does not allow the retention.

    Raises:
        RefusalError: SYSTEM.RETAINED.PUB.QUEUE is missing, disabled for puts, or full; no subscriber gets the
            publication.
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
    """Set a topic's retained publication.

    Args:
        state: The queue manager.
        turn: The present turn.
        kept: The topic and the publisher.
        message: The publication.
        expires_ms: When the publication expires, in milliseconds since the epoch; None for never.
    """
    if _full(state, kept.topic):
        for topic in state.retained.expired(turn.now_ms):
            clear_retained(state, turn, topic)
            _settle(state, topic)
    recorded = bool(message.durable) and kept.topic.kind is AddressKind.TOPIC
    marked = with_number(message, RETAIN, RETAIN_PUBLICATION)
    _keep(
        state,
        turn,
        RetainedPublication(kept=kept, message=marked, expires_ms=expires_ms, recorded=recorded, batch=0),
    )


def clear_retained(state: State, turn: Turn, topic: Address) -> None:
    """Remove a topic's retained publication, if it has one."""
    found = state.retained.at(topic)
    if found is not None and found.message is not None:
        _keep(state, turn, replace(found, message=None, expires_ms=None, recorded=False, batch=0))


def _keep(state: State, turn: Turn, publication: RetainedPublication) -> None:
    """Set a topic's retained publication, and record the change if necessary.

    A record is necessary if the new publication must be in the store, or if the replaced publication may be there.
    """
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
    """Remove a topic's cleared publication from memory, if the store has confirmed that it is cleared."""
    found = state.retained.at(topic)
    if found is not None and found.message is None and not state.gate(found.batch):
        state.retained.forget(topic)


def _restore(state: State, topic: Address, before: RetainedPublication | None, _turn: Turn) -> None:
    """Undo `_keep`: restore the topic's former retained publication, if any; later changes are already undone."""
    if before is None:
        state.retained.forget(topic)
    else:
        state.retained.keep(before)


def restore_retained(state: State, turn: Turn, records: Iterable[RetainedSet]) -> None:
    """Recover the retained publications from the store's records, and remove those that have expired."""
    for record in records:
        state.retained.forget(record.topic)
        if record.message is None:
            continue
        state.retained.keep(
            RetainedPublication(
                kept=Retention(record.topic, NO_CONNECTION, record.client_id),
                message=record.message,
                expires_ms=record.expires_ms,
                recorded=True,
                batch=0,
            )
        )
    for topic in state.retained.expired(turn.now_ms):
        clear_retained(state, turn, topic)
