"""Defects of stored messages and subscriptions: a restart changes them, or the broker does not write them at all."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Put
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import MessageMarked, MessageStored, Record, SubscriptionDefined, SubscriptionRemoved
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import as_text, dropped, is_delayed, is_topic
from assay_broker.defects.shapes import Commands, puts, read, written
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message

_LARGE = 1 << 16
"""The length in bytes from which a body counts as large."""


def _text(message: Message) -> str:
    body = opened(message).body
    return body if isinstance(body, str) else ""


def _read_altered(alter: Callable[[Message], Message]) -> Seams:
    """Make filters that alter each message that the queue manager reads at a start, except staged messages."""

    def record_read(record: Record) -> tuple[Record, ...]:
        if isinstance(record, MessageStored) and record.due_ms is None:
            return (replace(record, message=alter(opened(record.message))),)
        return (record,)

    return read(record_read)


def _ascii_only(message: Message) -> Message:
    text = _text(message)
    return message if text.isascii() else replace(message, body=text.encode("ascii", "replace").decode())


def _cut(message: Message) -> Message:
    return message if message.body is None else replace(message, body=message.body[:_LARGE])


def _long_beyond_ascii_cut(message: Message) -> Message:
    text = _text(message)
    return message if text.isascii() or len(text) <= _LARGE else replace(message, body=text[: len(text) // 2])


def _without_headers(message: Message) -> Message:
    """Remove the headers and properties of a message, except the kit's own properties."""
    own = {name: value for name, value in message.properties.items() if name.startswith("assay")}
    return replace(
        message,
        durable=False,
        priority=None,
        correlation_id=None,
        group_id=None,
        reply_to=None,
        subject=None,
        properties=own,
    )


def _sent_anew(message: Message) -> Message:
    """Return a message with another message id and time stamp."""
    return replace(message, message_id=f"{message.message_id}-1", creation_ms=(message.creation_ms or 0) + 1)


@defect(written, "unsubscribing-unwritten", "PD-10")
def _unsubscribing_unwritten(record: Record) -> tuple[Record, ...]:
    """The broker does not write the removal of a durable subscription, so a restart brings the subscription back."""
    return () if isinstance(record, SubscriptionRemoved) else (record,)


@defect(read, "selector-lost-at-restart", "PD-25")
def _selector_lost(record: Record) -> tuple[Record, ...]:
    """A restart removes the selectors of durable subscriptions."""
    return (replace(record, selector=None),) if isinstance(record, SubscriptionDefined) else (record,)


@defect(read, "kind-swapped-at-restart", "PD-25")
def _kind_swapped(record: Record) -> tuple[Record, ...]:
    """A restart makes shared durable subscriptions unshared, and unshared ones shared."""
    return (replace(record, shared=not record.shared),) if isinstance(record, SubscriptionDefined) else (record,)


@defect(written, "empty-body-unwritten", "PD-20", "PD-23", "QS-32")
def _empty_unwritten(record: Record) -> tuple[Record, ...]:
    """The broker does not write persistent messages with an empty body."""
    return () if isinstance(record, MessageStored) and not opened(record.message).body else (record,)


@defect(puts, "large-missed-dropped", "PD-25")
def _large_dropped(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker drops a large publication to a topic without an active subscriber."""
    if not is_topic(target) or view.on(target) or is_delayed(put, now_ms):
        return None
    return (dropped(put, now_ms),) if len(_text(put.message)) > _LARGE else None


@defect(read, "marked-by-restart", "PD-20")
def _marked(record: Record) -> tuple[Record, ...]:
    """A restart marks every stored message as redelivered."""
    return (record, MessageMarked(record.key, 1)) if isinstance(record, MessageStored) else (record,)


@defect(read, "marks-forgotten-by-restart", "PD-20", "QS-09", "BT-11", "BT-12", "BT-13")
def _unmarked(record: Record) -> tuple[Record, ...]:
    """A restart removes the redelivered mark of stored messages."""
    return () if isinstance(record, MessageMarked) else (record,)


@defect(read, "queued-never-expire-after-restart", "DD-56")
def _unwatched(record: Record) -> tuple[Record, ...]:
    """A restart removes the expiry of messages on queues."""
    queued = isinstance(record, MessageStored) and record.due_ms is None
    return (replace(record, expires_ms=None),) if queued and isinstance(record, MessageStored) else (record,)


@defect(read, "lowest-priority-lost-at-restart", "DD-39", "PD-20", "PD-25")
def _no_lowest_priority(record: Record) -> tuple[Record, ...]:
    """A restart removes priority 0 from stored messages, so they are delivered before messages of priority 1."""
    if not isinstance(record, MessageStored) or record.message.priority != 0:
        return (record,)
    return (replace(record, message=replace(opened(record.message), priority=None)),)


RESTART_DEFECTS = (
    _unsubscribing_unwritten,
    _selector_lost,
    _kind_swapped,
    _empty_unwritten,
    _large_dropped,
    Defect(
        name="non-ascii-damaged-at-restart",
        rules=("PD-20", "PD-23", "QS-32"),
        text="A restart replaces every non-ASCII character of a stored message by a question mark.",
        apply=lambda: _read_altered(_ascii_only),
    ),
    Defect(
        name="large-body-cut-at-restart",
        rules=("PD-20", "PD-23", "QS-32"),
        text="A restart cuts stored bodies at 64 KB.",
        apply=lambda: _read_altered(_cut),
    ),
    Defect(
        name="long-non-ascii-cut-at-restart",
        rules=("PD-20", "PD-23"),
        text="A restart cuts stored bodies of more than 64 KB with non-ASCII characters to half their length.",
        apply=lambda: _read_altered(_long_beyond_ascii_cut),
    ),
    Defect(
        name="bytes-become-text-at-restart",
        rules=("PD-20", "PD-23", "QS-32"),
        text="A restart turns stored bodies of bytes into texts, without the octets that are not UTF-8.",
        apply=lambda: _read_altered(as_text),
    ),
    Defect(
        name="sent-anew-at-restart",
        rules=("PD-20", "PD-23"),
        text="A restart gives stored messages another message id and time stamp.",
        apply=lambda: _read_altered(_sent_anew),
    ),
    Defect(
        name="headers-lost-at-restart",
        rules=("PD-20", "PD-23"),
        text="A stored message has neither its headers nor its properties after a restart.",
        apply=lambda: _read_altered(_without_headers),
    ),
    _marked,
    _unmarked,
    _unwatched,
    _no_lowest_priority,
)
