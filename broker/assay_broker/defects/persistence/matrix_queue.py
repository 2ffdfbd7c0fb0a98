"""Defects with persistent and non-persistent messages of queues (PD-20 to PD-22, PD-31, PD-32)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Backout, Command, Commit, Disconnect, Put, Settle
from assay_broker.core.effects import Answer, Deliver, Effect, Persist
from assay_broker.core.messages.bodies import opened
from assay_broker.core.queues.homes import home_of, name_at
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import kept_non_persistent, non_persistent_twice, without
from assay_broker.defects.sends import HOLD, as_text, handed_in, is_delayed, is_topic, resent
from assay_broker.defects.shapes import Commands, answers, commands, deliveries, filters, puts, read_together, written
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address

_LATE_MS = 8_000
"""How late a message is delivered, in milliseconds; longer than the steps allow in real time."""


@defect(answers, "answers-before-flush", "PD-20")
def _answers_before_flush(_sent: Sent, answer: Answer) -> Answer:
    """The broker answers a persistent send before the message is on disk."""
    return replace(answer, after=None)


@defect(made, "later-answer-before-flush", "PD-20")
def _later_before_flush() -> Seams:
    """While records wait for a flush, the broker answers further persistent sends before their messages are on disk."""
    written_ms = -1

    def effects(passing: tuple[Effect, ...], now_ms: int, view: View) -> tuple[Effect, ...]:
        nonlocal written_ms
        waiting = written_ms == now_ms
        if any(isinstance(effect, Persist) for effect in passing):
            written_ms = now_ms
        return tuple(early(effect, view) for effect in passing) if waiting else passing

    def early(effect: Effect, view: View) -> Effect:
        is_sends = isinstance(effect, Answer) and view.asked(effect)[1] is not None
        return replace(effect, after=None) if is_sends else effect

    return filters(effects=effects)


@defect(read_together, "first-lost-at-restart", "PD-20")
def _first_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses the first of several stored messages."""
    stored = [record for record in records if isinstance(record, MessageStored)]
    lost = stored[0] if len(stored) > 1 else None
    return tuple(record for record in records if record is not lost)


@defect(commands, "returned-non-persistent-on-disk", "PD-31")
def _returned_on_disk(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker writes a non-persistent message to disk when its consumer returns it."""
    if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED:
        return None
    returned = [one.message for one in view.held(command) if not one.message.durable]
    written = handed_in(view, HOLD, *(replace(message, durable=True) for message in returned))
    return (command, *written) if returned else None


@defect(commands, "rolled-back-non-persistent-on-disk", "PD-31")
def _rolled_back_on_disk(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker writes a non-persistent message to disk when a unit of work that received it is rolled back."""
    if not isinstance(command, Backout):
        return None
    taken = [one.message for unit in view.ended(command) for one in unit.taken if not one.message.durable]
    written = handed_in(view, HOLD, *(replace(message, durable=True) for message in taken))
    return (command, *written) if taken else None


@defect(commands, "held-non-persistent-comes-twice", "PD-21")
def _held_comes_twice(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection is lost, its unacknowledged non-persistent messages return to the queue twice."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    held = [one for one in view.held(command) if not one.message.durable and not is_topic(one.origin)]
    copies = [sent for one in held for sent in handed_in(view, one.origin, one.message)]
    return (command, *copies) if held else None


@defect(deliveries, "bytes-delivered-as-text", "PD-32")
def _bytes_as_text(delivery: Deliver, _view: View) -> Deliver:
    """The broker delivers a body of bytes as a text, with U+FFFD for octets that are not UTF-8."""
    return replace(delivery, message=as_text(delivery.message))


@defect(puts, "non-persistent-late", "PD-21")
def _late(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A waiting consumer gets non-persistent messages eight seconds late."""
    if put.message.durable or is_topic(target) or not view.on(target) or is_delayed(put, now_ms):
        return None
    return resent(put, delivery_time_ms=now_ms + _LATE_MS)


@defect(commands, "rolled-back-publication-kept", "PD-21", "PD-23")
def _rolled_back_kept(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A rollback commits the messages that the unit of work sent."""
    if not isinstance(command, Backout) or not any(unit.sent for unit in view.ended(command)):
        return None
    return (Commit(command.connection, command.token, command.unit),)


@defect(made, "rolled-back-there-after-restart", "PD-20")
def _undone_there_after_restart() -> Seams:
    """After a restart, messages that a unit of work sent and did not commit are on their queue.

    Until the restart, the defect keeps the messages on a queue of its own, with their destinations as reply-to.
    """

    def keep(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Backout | Disconnect):
            return None
        sent = [one for unit in view.ended(command) for one in unit.sent if not is_topic(one.target)]
        undone = (replace(opened(one.message), durable=True, reply_to=one.target) for one in sent)
        return (command, *handed_in(view, HOLD, *undone)) if sent else None

    def back(record: Record) -> Record:
        if not isinstance(record, MessageStored) or name_at(record.home) != HOLD.name:
            return record
        target = record.message.reply_to
        return record if target is None else replace(record, home=home_of(target.name))

    return filters(keep, read=lambda records, _view: tuple(map(back, records)))


@defect(puts, "unit-takes-mode-of-first-send", "PD-20")
def _mode_of_first(put: Put, _target: Address, _now_ms: int, view: View) -> Commands | None:
    """If the first message that a unit of work sends is non-persistent, all its messages become non-persistent."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    if unit is None or not unit.sent or unit.sent[0].message.durable is not False:
        return None
    return resent(put, durable=False) if put.message.durable else None


@defect(puts, "unit-takes-mode-of-any-send", "PD-20")
def _mode_of_any(put: Put, _target: Address, _now_ms: int, view: View) -> Commands | None:
    """All messages that a unit of work sends after a non-persistent one are non-persistent."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    if unit is None or all(one.message.durable is not False for one in unit.sent):
        return None
    return resent(put, durable=False) if put.message.durable else None


def _first_of_unit_on_disk(records: Sequence[Record]) -> tuple[Record, ...]:
    """Keep only the first message of a batch of records, with all its copies.

    Only a unit of work writes several messages in one batch.
    """
    first = next((record.message.message_id for record in records if isinstance(record, MessageStored)), None)
    return tuple(
        record for record in records if not isinstance(record, MessageStored) or record.message.message_id == first
    )


PERSISTENCE_MATRIX_QUEUE_DEFECTS = (
    _answers_before_flush,
    _later_before_flush,
    Defect(
        name="loses-on-kill",
        rules=("PD-20",),
        text="Persistent messages on queues never reach the disk.",
        apply=lambda: written(without("queue://")),
    ),
    _first_lost,
    Defect(
        name="non-persistent-twice",
        rules=("PD-21",),
        text="A waiting consumer of a queue gets non-persistent messages twice.",
        apply=lambda: puts(non_persistent_twice(topic=False, watched=True)),
    ),
    Defect(
        name="kept-non-persistent-twice",
        rules=("PD-22", "PD-31"),
        text="Non-persistent messages on a queue survive a restart and are then delivered twice.",
        apply=lambda: kept_non_persistent(twice=True),
    ),
    Defect(
        name="persists-non-persistent",
        rules=("PD-31",),
        text="The broker writes non-persistent messages to disk.",
        apply=lambda: kept_non_persistent(twice=False),
    ),
    Defect(
        name="persists-delayed-non-persistent",
        rules=("PD-31",),
        text="The broker writes delayed non-persistent messages to disk.",
        apply=lambda: kept_non_persistent(twice=False, delayed=True),
    ),
    Defect(
        name="unit-keeps-non-persistent-twice",
        rules=("PD-22", "PD-31"),
        text="Non-persistent messages of a unit of work survive a restart and are then delivered twice.",
        apply=lambda: kept_non_persistent(twice=True, in_unit=True),
    ),
    _returned_on_disk,
    _rolled_back_on_disk,
    Defect(
        name="waiting-non-persistent-twice",
        rules=("PD-32",),
        text="If a queue has no consumer, the broker delivers its non-persistent messages twice.",
        apply=lambda: puts(non_persistent_twice(topic=False, watched=False)),
    ),
    _held_comes_twice,
    _bytes_as_text,
    _late,
    _rolled_back_kept,
    _mode_of_first,
    _mode_of_any,
    _undone_there_after_restart,
    Defect(
        name="first-of-unit-on-disk",
        rules=("PD-20",),
        text="Of several persistent messages that a unit of work sends only the first reaches the disk.",
        apply=lambda: Seams(written=_first_of_unit_on_disk),
    ),
)
