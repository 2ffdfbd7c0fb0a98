"""Defects of queues, and of the messages that are kept on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Command, Put, Settle
from assay_broker.core.effects import Answer, Deliver, Effect, Persist
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import HOLD, SHIFT, handed_in, is_delayed, is_topic, twice, unheard
from assay_broker.defects.shapes import Commands, answers, commands, filters, puts, read_together, written
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address


@defect(puts, "queue-broadcasts", "PD-18")
def _to_each_consumer(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """A queue delivers each message to each of its consumers."""
    consumers = 0 if is_topic(target) else len(view.on(target))
    return (put, *(unheard(put) for _ in range(consumers - 1))) if consumers > 1 else None


def non_persistent_twice(*, topic: bool, watched: bool) -> Callable[..., Commands | None]:
    """Make a function that repeats non-persistent sends.

    Args:
        topic: True to repeat sends to topics, False to repeat sends to queues.
        watched: True to repeat sends to destinations with a receiver, False for destinations without a receiver.
    """

    def again(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
        if put.message.durable or is_topic(target) is not topic or bool(view.on(target)) is not watched:
            return None
        return twice(put)

    return again


@defect(answers, "answers-before-flush", "PD-20")
def _answers_before_flush(_sent: Sent, answer: Answer) -> Answer:
    """The broker answers a persistent send before the message is on disk."""
    return replace(answer, after=None)


@defect(made, "later-answer-before-flush", "PD-20")
def _later_before_flush() -> Seams:
    """While records wait for a flush, the broker answers further persistent sends before they are on disk."""
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


def without(home: str) -> Callable[[Record], tuple[Record, ...]]:
    """Make a function that removes the records of unstaged messages whose home begins with `home`."""

    def drop(record: Record) -> tuple[Record, ...]:
        plain = isinstance(record, MessageStored) and record.due_ms is None and record.home.startswith(home)
        return () if plain else (record,)

    return drop


@defect(read_together, "first-lost-at-restart", "PD-20")
def _first_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses the first of several stored messages."""
    stored = [record for record in records if isinstance(record, MessageStored)]
    return tuple(record for record in records if record is not stored[0] or record is stored[-1])


def _kept_non_persistent(*, twice: bool, topic: bool = False, delayed: bool = False) -> Seams:
    """Make filters that store non-persistent messages, so that a restart delivers them once or twice.

    Args:
        twice: Whether a restart delivers them twice.
        topic: Whether publications are stored; False for messages to queues.
        delayed: Whether delayed messages are stored; False for undelayed messages.
    """
    stored: set[str] = set()

    def persist(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        message = put.message
        if message.durable or is_topic(target) is not topic or message.message_id is None:
            return None
        if is_delayed(put, now_ms) is not delayed:
            return None
        if view.on(target) and not topic:
            return None
        stored.add(message.message_id)
        return (replace(put, message=replace(message, durable=True)),)

    def delivered(delivery: Deliver, _view: View) -> Deliver:
        if delivery.message.message_id not in stored:
            return delivery
        return replace(delivery, message=replace(delivery.message, durable=False))

    def again(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        doubled = [
            replace(record, key=record.key + SHIFT)
            for record in records
            if twice and isinstance(record, MessageStored) and record.message.message_id in stored
        ]
        return (*records, *doubled)

    return puts(persist, again, delivered)


@defect(commands, "returned-non-persistent-on-disk", "PD-31")
def _returned_on_disk(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker writes a non-persistent message to disk when its consumer returns it."""
    if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED:
        return None
    returned = [one.message for one in view.held(command) if not one.message.durable]
    written = handed_in(view, HOLD, *(replace(message, durable=True) for message in returned))
    return (command, *written) if returned else None


QUEUE_DEFECTS = (
    _to_each_consumer,
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
        apply=lambda: _kept_non_persistent(twice=True),
    ),
    Defect(
        name="persists-non-persistent",
        rules=("PD-31",),
        text="The broker writes non-persistent messages to disk.",
        apply=lambda: _kept_non_persistent(twice=False),
    ),
    Defect(
        name="persists-delayed-non-persistent",
        rules=("PD-31",),
        text="The broker writes delayed non-persistent messages to disk.",
        apply=lambda: _kept_non_persistent(twice=False, delayed=True),
    ),
    _returned_on_disk,
    Defect(
        name="kept-publication-twice",
        rules=("PD-30", "PD-31"),
        text="Non-persistent publications survive a restart and are then delivered twice.",
        apply=lambda: _kept_non_persistent(twice=True, topic=True),
    ),
    Defect(
        name="persists-publications",
        rules=("PD-30", "PD-31"),
        text="The broker writes non-persistent publications to disk.",
        apply=lambda: _kept_non_persistent(twice=False, topic=True),
    ),
    Defect(
        name="waiting-non-persistent-twice",
        rules=("PD-32",),
        text="If a queue has no consumer, the broker delivers its non-persistent messages twice.",
        apply=lambda: puts(non_persistent_twice(topic=False, watched=False)),
    ),
)
