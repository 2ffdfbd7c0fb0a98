"""Defects of messages that wait on queues and subscriptions, and of their records in the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Put
from assay_broker.core.effects import Deliver, Effect
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import MessageMarked, MessageRemoved, MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import as_text, dropped, is_delayed, is_topic, resent, twice
from assay_broker.defects.shapes import Commands, deliveries, filters, puts, read, read_together, written
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message

_PATIENCE_MS = 500
_LATE_MS = 8_000
"""A lateness, in milliseconds, above the limit of a run in real time."""


def _altered(message: Message) -> Message:
    message = opened(message)
    return replace(message, body=message.body + "?") if isinstance(message.body, str) else message


@defect(deliveries, "bytes-delivered-as-text", "PD-32")
def _bytes_as_text(delivery: Deliver, _view: View) -> Deliver:
    """The broker delivers a body of bytes as a text, without the octets that are not UTF-8."""
    return replace(delivery, message=as_text(delivery.message))


# PD-18: a queue without a consumer


@defect(made, "second-unwatched-dropped", "PD-18")
def _second_dropped() -> Seams:
    """A queue without a consumer keeps only the first message and drops further messages."""
    counts: dict[Address, int] = {}

    def drop(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        if is_topic(target) or view.on(target) or is_delayed(put, now_ms):
            return None
        counts[target] = counts.get(target, 0) + 1
        return None if counts[target] == 1 else (dropped(put, now_ms),)

    return puts(drop)


@defect(made, "queue-ends-with-consumer", "PD-18")
def _ends_with_consumer() -> Seams:
    """A queue whose consumers have left drops new messages, like a topic."""
    consumed: set[Address] = set()

    def drop(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach):
            consumed.add(command.address)
        target = view.target(command)
        if not isinstance(command, Put) or target is None or is_topic(target) or is_delayed(command, now_ms):
            return None
        return (dropped(command, now_ms),) if target in consumed and not view.on(target) else None

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        consumed.clear()
        return tuple(records)

    return filters(drop, read=start)


# PD-20, PD-24, PD-25: persistent messages


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
        return (replace(record, message=_altered(record.message)),)
    return (record,)


def lost_at_second_restart(lost: Callable[[MessageStored], bool]) -> Seams:
    """Make filters that drop the messages chosen by `lost`, at the second start after the messages were stored."""
    starts: dict[int, int] = {}

    def once(record: Record) -> tuple[Record, ...]:
        if not isinstance(record, MessageStored) or not lost(record):
            return (record,)
        starts[record.key] = starts.get(record.key, 0) + 1
        return (record,) if starts[record.key] == 1 else ()

    return read(once)


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


@defect(puts, "twice-to-one-durable", "PD-24")
def _twice_to_one_durable(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """If a topic's only subscriber is durable, the subscriber gets persistent publications twice."""
    there = view.on(target)
    durable = len(there) == 1 and there[0].name is not None and not there[0].shared
    hit = durable and is_topic(target) and put.message.durable and not is_delayed(put, now_ms)
    return twice(put) if hit else None


# PD-21, PD-29, PD-32: non-persistent messages


@defect(puts, "non-persistent-late", "PD-21")
def _late(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A waiting consumer gets non-persistent messages eight seconds late."""
    if put.message.durable or is_topic(target) or not view.on(target) or is_delayed(put, now_ms):
        return None
    return resent(put, delivery_time_ms=now_ms + _LATE_MS)


@defect(puts, "parked-non-persistent-altered", "PD-29", "PD-32")
def _parked_altered(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """The broker alters the body of a non-persistent message for a destination without a consumer."""
    if put.message.durable or view.on(target):
        return None
    return (replace(put, message=_altered(put.message)),)


WAITING_MESSAGE_DEFECTS = (
    _bytes_as_text,
    _second_dropped,
    _ends_with_consumer,
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
    _returned_lost,
    _removals_forgotten,
    _twice_to_one_durable,
    _late,
    _parked_altered,
)
