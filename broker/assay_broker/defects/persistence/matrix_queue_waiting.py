"""Defects with persistent messages that wait on a queue for a long time, or together with others (PD-20)."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TypeGuard

from msgspec.structs import replace

from assay_broker.core.commands import Attach, AttachSender, Command, Commit, Disconnect, Flow, Put, StoreFailed
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.queues.homes import name_at
from assay_broker.core.records import MessageMarked, MessageRemoved, MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import altered_body, lost_at_second_restart
from assay_broker.defects.sends import is_delayed, is_topic
from assay_broker.defects.shapes import (
    Commands,
    commands,
    filters,
    puts,
    read,
    read_together,
    replies,
    writing,
    written,
)
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc, refused

_PATIENCE_MS = 500
_NOWHERE = Address(AddressKind.QUEUE, "x" * 49)
"""An address to which no client can attach, because the name is longer than the 48 characters of an object's name."""


@defect(made, "lone-message-stuck", "PD-20")
def _lone_stuck() -> Seams:
    """A waiting consumer gets the first persistent message of a queue only when a second message follows."""
    counts: dict[Address, int] = {}
    stuck: dict[Address, Deliver] = {}
    just_put: list[Address] = []

    def note(command: Command, _now_ms: int, view: View) -> None:
        target = view.target(command)
        just_put[:] = [] if target is None else [target]
        if target is not None:
            counts[target] = counts.get(target, 0) + 1

    def effects(passing: tuple[Effect, ...], _now_ms: int, _view: View) -> tuple[Effect, ...]:
        if not just_put or is_topic(just_put[0]):
            return passing
        target = just_put[0]
        if counts[target] > 1:
            held = stuck.pop(target, None)
            return passing if held is None else (held, *passing)
        first = [one for one in passing if isinstance(one, Deliver) and one.origin == target and one.message.durable]
        stuck.update((target, one) for one in first)
        return tuple(effect for effect in passing if effect not in first)

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        stuck.clear()
        return tuple(records)

    return filters(note, effects=effects, read=start)


@defect(puts, "impatient", "PD-20", "PD-25")
def _impatient(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker drops a persistent message that no consumer takes within half a second."""
    message = put.message
    if not message.durable or message.expiry_ms or view.on(target) or is_delayed(put, now_ms):
        return None
    return (replace(put, message=replace(message, expiry_ms=now_ms + _PATIENCE_MS)),)


@defect(read, "altered-on-disk", "PD-20")
def _altered_on_disk(record: Record) -> tuple[Record, ...]:
    """A restart alters the bodies of messages on queues."""
    if isinstance(record, MessageStored) and record.home.startswith("queue://"):
        return (replace(record, message=altered_body(record.message)),)
    return (record,)


def _waits_on_queue(stored: MessageStored) -> bool:
    return stored.due_ms is None and stored.home.startswith("queue://")


@defect(read, "mortal-lost-at-restart", "PD-20")
def _mortal_lost(record: Record) -> tuple[Record, ...]:
    """A restart loses persistent messages with a time to live."""
    mortal = isinstance(record, MessageStored) and _waits_on_queue(record) and record.expires_ms is not None
    return () if mortal else (record,)


@defect(read_together, "returned-lost-at-restart", "PD-20")
def _returned_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses persistent messages that a consumer returned."""
    returned = {record.key for record in records if isinstance(record, MessageMarked)}
    return tuple(record for record in records if not isinstance(record, MessageStored) or record.key not in returned)


@defect(written, "acknowledged-comes-back", "PD-20", "PD-24")
def _removals_forgotten(record: Record) -> tuple[Record, ...]:
    """After a restart, acknowledged persistent messages are back."""
    return () if isinstance(record, MessageRemoved) else (record,)


@defect(made, "second-queue-of-unit-unwritten", "PD-20")
def _second_queue_unwritten() -> Seams:
    """After a restart, messages that a committed unit of work consumed from its second queue are back."""
    homes: dict[int, str] = {}

    def learn(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        homes.update((record.key, record.home) for record in records if isinstance(record, MessageStored))
        return tuple(records)

    def written(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        learn(records, view)
        removed = [homes.get(record.key) for record in records if isinstance(record, MessageRemoved)]
        if not isinstance(view.last, Commit) or not removed:
            return tuple(records)
        return tuple(
            record
            for record in records
            if not isinstance(record, MessageRemoved) or homes.get(record.key) == removed[0]
        )

    return filters(read=learn, written=written)


@defect(made, "removal-of-returned-unwritten", "PD-20")
def _returned_unwritten() -> Seams:
    """After a restart, consumed messages that had been redelivered are back."""
    returned: set[int] = set()

    def learn(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        returned.update(record.key for record in records if isinstance(record, MessageMarked))
        return tuple(records)

    def written(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        learn(records, view)
        return tuple(one for one in records if not isinstance(one, MessageRemoved) or one.key not in returned)

    return filters(read=learn, written=written)


@defect(replies, "answered-with-the-batch-before", "PD-20")
def _answered_with_the_one_before(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
    """The broker answers a send when all earlier records are on disk, without waiting for the send's own record."""
    early = isinstance(asked, Put) and answer.after is not None and answer.after > 1
    return replace(answer, after=answer.after - 1) if early and answer.after is not None else answer


@defect(made, "held-at-a-stop-unmarked", "PD-20")
def _held_at_a_stop_unmarked() -> Seams:
    """If the broker is stopped normally, messages that consumers hold have no redelivered mark after the start.

    The commands of a stop are the ends of its connections, and no other command follows them.
    """
    marked: set[int] = set()

    def note(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(command, Disconnect):
            marked.clear()
        return None

    def written(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        marked.update(record.key for record in records if isinstance(record, MessageMarked))
        return tuple(records)

    def unmark(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        return tuple(one for one in records if not isinstance(one, MessageMarked) or one.key not in marked)

    return filters(note, read=unmark, written=written)


@defect(writing, "removal-takes-what-lies-between", "PD-20")
def _takes_between(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
    """When the store removes several messages together, it also removes all messages stored between them."""
    removed = [record.key for record in records if isinstance(record, MessageRemoved)]
    if not removed:
        return tuple(records)
    between = set(range(min(removed), max(removed))) - {*removed}
    return (*records, *(MessageRemoved(key) for key in sorted(between)))


@defect(made, "queue-lost-at-restart", "PD-20")
def _queue_lost() -> Seams:
    """A restart loses the queues that hold persistent messages, and the broker then refuses links to these queues."""
    lost: set[str | None] = set()

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        removed = {record.key for record in records if isinstance(record, MessageRemoved)}
        stored = [record for record in records if isinstance(record, MessageStored) and record.key not in removed]
        lost.update(name_at(record.home) for record in stored)
        lost.discard(None)
        return tuple(
            record for record in records if not isinstance(record, MessageStored) or name_at(record.home) not in lost
        )

    def to_nowhere(command: Command, _now_ms: int, _view: View) -> Commands | None:
        return (replace(command, address=_NOWHERE),) if _is_link_to(lost, command) else None

    def told(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
        if not _is_link_to(lost, asked):
            return answer
        return replace(answer, refused=refused(Mqrc.UNKNOWN_OBJECT_NAME, "There is no such queue."))

    return filters(to_nowhere, answer=told, read=start)


def _is_link_to(names: Container[str | None], command: Command) -> TypeGuard[Attach | AttachSender]:
    if not isinstance(command, Attach | AttachSender) or command.address is None:
        return False
    return command.address.kind is AddressKind.QUEUE and command.address.name in names


@defect(commands, "credit-lost-with-refused-write", "PD-20", "PD-24", "PD-26")
def _credit_lost(command: Command, _now_ms: int, view: View) -> Commands | None:
    """At each refusal of the store, each consumer loses the credit for one message."""
    if not isinstance(command, StoreFailed):
        return None
    return (command, *(Flow(connection, None, link, -1) for connection, link in view.receivers))


PERSISTENCE_MATRIX_QUEUE_WAITING_DEFECTS = (
    _lone_stuck,
    _impatient,
    _altered_on_disk,
    Defect(
        name="lost-at-second-restart",
        rules=("PD-20",),
        text="Persistent messages on queues outlive one restart and are gone after the second.",
        apply=lambda: lost_at_second_restart(_waits_on_queue),
    ),
    _mortal_lost,
    _queue_lost,
    _returned_lost,
    _removals_forgotten,
    _second_queue_unwritten,
    _returned_unwritten,
    _answered_with_the_one_before,
    _held_at_a_stop_unmarked,
    _takes_between,
    _credit_lost,
)
