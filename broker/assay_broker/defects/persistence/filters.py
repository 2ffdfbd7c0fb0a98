"""Filters for the defects of several features of persistence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import (
    Attach,
    Backout,
    Command,
    Commit,
    Disconnect,
    Put,
    Stored,
    StoreFailed,
    Unsubscribe,
)
from assay_broker.core.effects import Answer, Deliver, Effect
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.sends import SHIFT, handed_in, is_delayed, is_durable, is_topic, twice
from assay_broker.defects.shapes import Commands, commands, filters, puts, read
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc

_STORE_REASONS = frozenset({Mqrc.STORAGE_MEDIUM_FULL, Mqrc.BACKED_OUT})


def refused_by_store(answer: Answer) -> bool:
    """Return whether the core refused a command because the store could not take its records."""
    return answer.refused is not None and answer.refused.mqrc in _STORE_REASONS


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


def without(home: str) -> Callable[[Record], tuple[Record, ...]]:
    """Make a function that removes the records of unstaged messages whose home begins with `home`."""

    def drop(record: Record) -> tuple[Record, ...]:
        plain = isinstance(record, MessageStored) and record.due_ms is None and record.home.startswith(home)
        return () if plain else (record,)

    return drop


def kept_non_persistent(*, twice: bool, topic: bool = False, delayed: bool = False, in_unit: bool = False) -> Seams:
    """Make filters that store non-persistent messages, so that a restart delivers them once or twice.

    Args:
        twice: Whether a restart delivers them twice.
        topic: Whether publications are stored; False for messages to queues.
        delayed: Whether delayed messages are stored; False for undelayed messages.
        in_unit: True to store only messages of units of work; False to store messages in and outside of units, but
            none for a queue with a receiver.
    """
    stored: set[str] = set()

    def persist(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        message = put.message
        if message.durable or is_topic(target) is not topic or message.message_id is None:
            return None
        if is_delayed(put, now_ms) is not delayed:
            return None
        if put.unit is None if in_unit else view.on(target) and not topic:
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


def altered_body(message: Message) -> Message:
    """Return a message with another body, if the body is a text."""
    message = opened(message)
    return replace(message, body=message.body + "?") if isinstance(message.body, str) else message


def lost_at_second_restart(lost: Callable[[MessageStored], bool]) -> Seams:
    """Make filters that drop the messages chosen by `lost`, at the second start after the messages were stored."""
    starts: dict[int, int] = {}

    def once(record: Record) -> tuple[Record, ...]:
        if not isinstance(record, MessageStored) or not lost(record):
            return (record,)
        starts[record.key] = starts.get(record.key, 0) + 1
        return (record,) if starts[record.key] == 1 else ()

    return read(once)


def kept_although_refused(chosen: Callable[[Sent], bool]) -> Seams:
    """Make filters that put a message although the store has refused to record the send or the commit.

    The message is put at the next command.

    Args:
        chosen: Chooses the sends.
    """
    asked: dict[tuple[int, int | None], list[Sent]] = {}
    kept: list[Sent] = []

    def command(passing: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(passing, now_ms)
        if isinstance(passing, Commit):
            of_unit = [one for unit in view.ended(passing) for one in unit.sent if chosen(one)]
            asked[passing.connection, passing.token] = of_unit
        elif sent is not None and sent.put.unit is None and chosen(sent):
            asked[sent.put.connection, sent.put.token] = [sent]
        if not kept:
            return None
        again = [put for one in kept for put in handed_in(view, one.target, one.message)]
        kept.clear()
        return (*again, passing)

    def effects(passing: tuple[Effect, ...], _now_ms: int, _view: View) -> tuple[Effect, ...]:
        for effect in passing:
            if isinstance(effect, Answer) and refused_by_store(effect):
                kept.extend(asked.pop((effect.connection, effect.token), []))
        return passing

    return filters(command, effects=effects)


def after_refusal(follow: Callable[[Command, View], Commands]) -> Seams:
    """Make filters that add commands when the store has refused the record of an attach or of an unsubscription.

    Args:
        follow: Returns the commands to add, from the refused command and the defect's view.
    """
    last: list[Command] = []

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach | Unsubscribe):
            last[:] = [command]
        if not isinstance(command, Stored | StoreFailed) or not last:
            return None
        asked = last.pop()
        return (command, *follow(asked, view)) if isinstance(command, StoreFailed) else None

    return commands(rewrite)


def replays(wanted: Callable[[Message], bool], *, first: bool = False, though_heard: bool = False) -> Seams:
    """Make filters that deliver an earlier publication to a new non-durable subscriber.

    Args:
        wanted: Chooses publications by their messages.
        first: True to deliver the topic's first wanted publication; False for the last one.
        though_heard: Whether the filters also deliver the publication while the topic has other subscribers.
    """
    kept: dict[Address, Message] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            delayed = is_delayed(command, now_ms)
            if target is not None and is_topic(target) and not delayed and wanted(command.message):
                kept[target] = kept.get(target, command.message) if first else command.message
        if not isinstance(command, Attach) or is_durable(command):
            return None
        if view.on(command.address) and not though_heard:
            return None
        message = kept.pop(command.address, None)
        if message is None:
            return None
        return (command, *handed_in(view, command.address, message))

    return commands(rewrite)


def text_of(message: Message) -> str:
    """Return the text of a message; empty for a body that is no text."""
    body = opened(message).body
    return body if isinstance(body, str) else ""


def committed_units(command: Backout | Disconnect, view: View, *, topics: bool) -> Commands | None:
    """Replace a backout by a commit, or put commits before a disconnection, for units that have received messages.

    Args:
        command: The command that ends the units of work.
        view: The defect's view.
        topics: True to commit units that received publications, False to commit units that received from queues.

    Returns:
        The commands; None if the command ends no such unit.
    """
    units = [
        number
        for (connection, number), unit in view.units.items()
        if connection == command.connection
        and any(unit is one for one in view.ended(command))
        and any(is_topic(one.origin) is topics for one in unit.taken)
    ]
    if not units:
        return None
    if isinstance(command, Backout):
        return (Commit(command.connection, command.token, command.unit),)
    return (*(Commit(command.connection, None, number) for number in units), command)
