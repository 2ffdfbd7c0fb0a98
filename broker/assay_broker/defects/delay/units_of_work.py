"""Defects of units of work: when their sends count as sent, and which of their records reach the disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Cancel, Command, Commit, Put
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import is_topic, resent
from assay_broker.defects.shapes import Commands, commands, filters
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Message

_FAR_MS = 10**12


def _sent_at_commit(wanted: Callable[[Sent], bool], later: Callable[[Message, int], Message]) -> Seams:
    """Filters that stage a unit of work's sends out of reach, and send them again right after the commit.

    Args:
        wanted: Which sends.
        later: Makes the message that is sent again, told how many milliseconds after the first send.
    """

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(command, now_ms)
        if sent is not None and sent.put.unit is not None:
            far_ms = now_ms + _FAR_MS
            return resent(sent.put, delivery_time_ms=far_ms, expiry_ms=None, ttl_ms=None) if wanted(sent) else None
        if not isinstance(command, Commit):
            return None
        after: list[Command] = []
        for one in (one for unit in view.ended(command) for one in unit.sent if wanted(one)):
            after += [
                Cancel(one.put.connection, None, one.message.message_id or ""),
                Put(one.put.connection, None, one.put.link, later(one.message, now_ms - one.at_ms)),
            ]
        return (command, *after)

    return commands(rewrite)


# DD-27


def _due_later(message: Message, by_ms: int) -> Message:
    return replace(message, delivery_time_ms=(message.delivery_time_ms or 0) + by_ms)


# DD-56


def _expires_later(message: Message, by_ms: int) -> Message:
    return replace(message, expiry_ms=(message.expiry_ms or 0) + by_ms)


# PD-20


def _first_of_unit_on_disk(records: Sequence[Record]) -> tuple[Record, ...]:
    """Write only one message's copies of a batch of records; only a unit of work writes several messages at once."""
    first = next((record.message.message_id for record in records if isinstance(record, MessageStored)), None)
    return tuple(
        record for record in records if not isinstance(record, MessageStored) or record.message.message_id == first
    )


# BT-12


@defect(made, "unit-consumes-at-once", "BT-12")
def _consumes_at_once() -> Seams:
    """What a unit of work has taken and not committed is gone when the broker is killed."""
    gone: set[str | None] = set()

    def read(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        gone.update(one.message.message_id for unit in view.units.values() for one in unit.taken)
        return tuple(record for record in records if not _is_on_queue(record, gone))

    return filters(read=read)


def _is_on_queue(record: Record, ids: set[str | None]) -> bool:
    if not isinstance(record, MessageStored):
        return False
    return record.home.startswith("queue://") and record.message.message_id in ids


UNIT_DEFECTS = (
    Defect(
        name="delay-from-commit",
        rules=("DD-27",),
        text="The delay counts from the commit and not from the send.",
        apply=lambda: _sent_at_commit(lambda sent: sent.delayed, _due_later),
    ),
    Defect(
        name="publication-delay-from-commit",
        rules=("DD-27",),
        text="The delay of a publication counts from the commit, and that of a message to a queue from the send.",
        apply=lambda: _sent_at_commit(lambda sent: sent.delayed and is_topic(sent.target), _due_later),
    ),
    Defect(
        name="ttl-from-commit",
        rules=("DD-56",),
        text="The time to live of what a unit of work sends counts from the commit and not from the send.",
        apply=lambda: _sent_at_commit(lambda sent: bool(sent.message.expiry_ms), _expires_later),
    ),
    Defect(
        name="first-of-unit-on-disk",
        rules=("PD-20",),
        text="Of several persistent messages that a unit of work sends only the first reaches the disk.",
        apply=lambda: Seams(written=_first_of_unit_on_disk),
    ),
    _consumes_at_once,
)
