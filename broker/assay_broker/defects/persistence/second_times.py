"""Defects of second deliveries, of the second queue of a unit of work, and of messages that were returned."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Command, Commit, Detach, Disconnect, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.records import MessageMarked, MessageRemoved, MessageStored, Record
from assay_broker.defects.model import defect, made
from assay_broker.defects.shapes import Commands, deliveries, filters, replies
from assay_broker.defects.view import View
from assay_broker.seams import Seams


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


@defect(deliveries, "second-delivery-before-flush", "PD-24")
def _second_before_flush(delivery: Deliver, view: View) -> Deliver | None:
    """While a subscriber has an unacknowledged message, it gets its next message before that message is on disk."""
    held = view.held(Detach(delivery.connection, None, delivery.link))
    return replace(delivery, after=None) if len(held) > 1 else delivery


@defect(replies, "answered-with-the-batch-before", "PD-20")
def _answered_with_the_one_before(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
    """The broker answers a send when all earlier records are on disk, without waiting for the send's own record."""
    early = isinstance(asked, Put) and answer.after is not None and answer.after > 1
    return replace(answer, after=answer.after - 1) if early and answer.after is not None else answer


@defect(made, "held-at-a-stop-unmarked", "PD-20")
def _held_at_a_stop_unmarked() -> Seams:
    """If the broker is stopped in order, messages that consumers hold have no redelivered mark after the start.

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


SECOND_TIME_DEFECTS = (
    _second_queue_unwritten,
    _returned_unwritten,
    _second_before_flush,
    _answered_with_the_one_before,
    _held_at_a_stop_unmarked,
)
