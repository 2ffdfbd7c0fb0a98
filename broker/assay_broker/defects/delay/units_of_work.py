"""Defects of units of work: from when what they sent counts, and what of them is on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Backout, Cancel, Command, Commit, Disconnect, Put, Settle
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, Held, Watch, commands, is_topic
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message

_FAR_MS = 10**12


def _sent_at_commit(wanted: Callable[[Put, Address, int], bool], later: Callable[[Message, int], Message]) -> Seams:
    """What a unit of work sends is staged out of reach, and sent afresh right after the commit.

    Args:
        wanted: Whether it does so with this send, to this destination, at this time.
        later: The message that is sent afresh, so many milliseconds after its send.
    """
    sent: dict[tuple[int, int], list[tuple[Put, int]]] = {}

    def rewrite(command: Command, now_ms: int, watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Put) and command.unit is not None:
            target = watch.target(command)
            if target is None or not wanted(command, target, now_ms):
                return None
            sent.setdefault((command.connection, command.unit), []).append((command, now_ms))
            message = replace(command.message, delivery_time_ms=now_ms + _FAR_MS, expiry_ms=None, ttl_ms=None)
            return (replace(command, message=message),)
        if isinstance(command, Backout):
            sent.pop((command.connection, command.unit), None)
        if not isinstance(command, Commit):
            return None
        after: list[Command] = []
        for put, sent_ms in sent.pop((command.connection, command.unit), ()):
            after += [
                Cancel(put.connection, None, put.message.message_id or ""),
                Put(put.connection, None, put.link, later(put.message, now_ms - sent_ms)),
            ]
        return (command, *after)

    return commands(rewrite)


# DD-27


def _is_delayed(put: Put, _target: Address, now_ms: int) -> bool:
    return (put.message.delivery_time_ms or 0) > now_ms


def _is_delayed_publication(put: Put, target: Address, now_ms: int) -> bool:
    return is_topic(target) and _is_delayed(put, target, now_ms)


def _due_later(message: Message, by_ms: int) -> Message:
    return replace(message, delivery_time_ms=(message.delivery_time_ms or 0) + by_ms)


# DD-56


def _has_expiry(put: Put, _target: Address, _now_ms: int) -> bool:
    return bool(put.message.expiry_ms)


def _expires_later(message: Message, by_ms: int) -> Message:
    return replace(message, expiry_ms=(message.expiry_ms or 0) + by_ms)


# PD-20


def _first_of_unit_on_disk(records: Sequence[Record]) -> tuple[Record, ...]:
    """Of a batch of records only one message's copies are written; several at once come from a unit of work only."""
    first = next((record.message.message_id for record in records if isinstance(record, MessageStored)), None)
    return tuple(
        record for record in records if not isinstance(record, MessageStored) or record.message.message_id == first
    )


# BT-12


def _consumes_at_once() -> Seams:
    """What an open unit of work has taken from a queue is not recovered when the queue manager is killed."""
    held = Held()
    taken: dict[tuple[int, int], set[str | None]] = {}

    def command(passing: Command, _now_ms: int) -> tuple[Command, ...]:
        if isinstance(passing, Settle) and passing.unit is not None:
            ids = {delivery.message.message_id for delivery in held.settled(passing)}
            taken.setdefault((passing.connection, passing.unit), set()).update(ids)
        elif isinstance(passing, Commit | Backout):
            taken.pop((passing.connection, passing.unit), None)
        elif isinstance(passing, Disconnect):
            for unit in [unit for unit in taken if unit[0] == passing.connection]:
                del taken[unit]
        held.note(passing)
        return (passing,)

    def read(records: Sequence[Record]) -> tuple[Record, ...]:
        gone = {message_id for ids in taken.values() for message_id in ids}
        return tuple(record for record in records if not _is_on_queue(record, gone))

    return Seams(command=command, effects=held.heed, read=read)


def _is_on_queue(record: Record, ids: set[str | None]) -> bool:
    if not isinstance(record, MessageStored):
        return False
    return record.home.startswith("queue://") and record.message.message_id in ids


UNIT_DEFECTS = (
    Defect(
        name="delay-from-commit",
        rules=("DD-27",),
        text="The delay counts from the commit and not from the send.",
        apply=lambda: _sent_at_commit(_is_delayed, _due_later),
    ),
    Defect(
        name="publication-delay-from-commit",
        rules=("DD-27",),
        text="The delay of a publication counts from the commit, and that of a message to a queue from the send.",
        apply=lambda: _sent_at_commit(_is_delayed_publication, _due_later),
    ),
    Defect(
        name="ttl-from-commit",
        rules=("DD-56",),
        text="The time to live of what a unit of work sends counts from the commit and not from the send.",
        apply=lambda: _sent_at_commit(_has_expiry, _expires_later),
    ),
    Defect(
        name="first-of-unit-on-disk",
        rules=("PD-20",),
        text="Of several persistent messages that a unit of work sends only the first reaches the disk.",
        apply=lambda: Seams(written=_first_of_unit_on_disk),
    ),
    Defect(
        name="unit-consumes-at-once",
        rules=("BT-12",),
        text="What a unit of work has taken and not committed is gone when the broker is killed.",
        apply=_consumes_at_once,
    ),
)
