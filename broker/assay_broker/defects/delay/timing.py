"""Defects of when a delayed message comes that take one more condition to show."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import (
    Backout,
    Command,
    Commit,
    Detach,
    Disconnect,
    Put,
    Settle,
)
from assay_broker.core.effects import Deliver
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.answers import refusing
from assay_broker.defects.known_objects import Delayed, Known, delayed_puts
from assay_broker.defects.model import (
    Defect,
    Held,
    Watch,
    commands,
    handed_in,
    is_topic,
    puts,
    read,
)
from assay_broker.defects.objects import Objects
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc

_AGENT = -31  # a connection of the defects' own
_SHIFT = 10**9
_BITS_31, _BITS_32 = 2**31, 2**32
_HOUR_MS = 3_600_000
_LATE_MS = 8_000
"""More than a run in real time lets pass."""
_TOGETHER_MS = 500
_MANY = 20


def left_ms(message: Message, now_ms: int) -> int:
    """How long a message is still to be delayed."""
    return max(0, (message.delivery_time_ms or 0) - now_ms)


def _due(put: Put, due_ms: int | None) -> tuple[Command, ...]:
    """The same send, due at another time; None for one without a delay."""
    return (replace(put, message=replace(put.message, delivery_time_ms=due_ms)),)


def _is_staged(record: Record) -> bool:
    return isinstance(record, MessageStored) and record.due_ms is not None


# DD-02


def _early_if_light(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    rest_ms = left_ms(put.message, now_ms)
    return _due(put, now_ms + rest_ms * 3 // 4) if not put.message.durable and rest_ms else None


def _in_31_bits(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    return _due(put, None) if _BITS_31 <= left_ms(put.message, now_ms) < _BITS_32 else None


def _moved_along() -> Seams:
    """Whatever is due shortly after another message is moved with that one."""
    known: list[int] = []

    def join(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if not left_ms(put.message, now_ms):
            return None
        due_ms = put.message.delivery_time_ms or 0
        earlier = [one for one in known if now_ms < one < due_ms <= one + _TOGETHER_MS]
        known.append(due_ms)
        return _due(put, earlier[0]) if earlier else None

    return puts(join)


def _early_when_many_wait() -> Seams:
    waiting: list[int] = []

    def overflow(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if not left_ms(put.message, now_ms):
            return None
        waiting[:] = [due_ms for due_ms in waiting if due_ms > now_ms]
        if len(waiting) >= _MANY:
            return _due(put, None)
        waiting.append(put.message.delivery_time_ms or 0)
        return None

    return puts(overflow)


def _early_through_topic_alias(put: Put, sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    return _due(put, None) if known.objects.said(sent.target.name, "TARGTYPE") == "TOPIC" else None


def _publication_due(record: Record) -> tuple[Record, ...]:
    if not isinstance(record, MessageStored) or not _is_staged(record):
        return (record,)
    return (replace(record, due_ms=0) if record.home.startswith(SUBSCRIPTION_HOME) else record,)


def _one_delay_for_all() -> Seams:
    """Every delayed message of a unit of work is due with its first."""
    first: dict[tuple[int, int], int] = {}

    def rewrite(command: Command, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
        if isinstance(command, Commit | Backout):
            first.pop((command.connection, command.unit), None)
        if not isinstance(command, Put) or command.unit is None or not left_ms(command.message, now_ms):
            return None
        due_ms = command.message.delivery_time_ms or 0
        return _due(command, first.setdefault((command.connection, command.unit), due_ms))

    return commands(rewrite)


# DD-03


def _anew_after_restart() -> Seams:
    """The delay of what is staged begins again with the queue manager."""
    last_ms = 0

    def note(command: Command, now_ms: int) -> tuple[Command, ...]:
        nonlocal last_ms
        last_ms = now_ms
        return (command,)

    def begin(records: Sequence[Record]) -> tuple[Record, ...]:
        return tuple(
            replace(one, due_ms=max(last_ms, one.arrived_ms) + one.due_ms - one.arrived_ms)
            if isinstance(one, MessageStored) and one.due_ms is not None
            else one
            for one in records
        )

    return Seams(command=note, read=begin)


def _one_moved_after_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """Of what is staged the first is found, and the rest stays until somebody takes it."""
    staged = [one.key for one in records if isinstance(one, MessageStored) and _is_staged(one)]
    return tuple(
        replace(one, due_ms=(one.due_ms or 0) + _SHIFT)
        if isinstance(one, MessageStored) and _is_staged(one) and one.key != staged[0]
        else one
        for one in records
    )


def _delayed_again() -> Seams:
    """What comes back from a receiver after a delay is delayed once more."""
    held = Held()
    accepted: dict[tuple[int, int], list[Settle]] = {}

    def staged_again(returned: Sequence[Deliver], now_ms: int) -> tuple[Command, ...]:
        return tuple(
            command
            for one in returned
            for command in handed_in(_AGENT, one.origin, replace(one.message, delivery_time_ms=now_ms + _HOUR_MS))
        )

    def rewrite(command: Command, now_ms: int) -> tuple[Command, ...]:
        back: list[Deliver] = []
        if isinstance(command, Settle) and command.outcome in {Outcome.MODIFIED, Outcome.RELEASED}:
            back = list(held.settled(command))
        elif isinstance(command, Detach | Disconnect):
            back = [one for some in held.of(command).values() for one in some]
        elif isinstance(command, Commit | Backout):
            for settled in accepted.pop((command.connection, command.unit), ()):
                if isinstance(command, Commit):
                    held.note(settled)
        late = [one for one in back if one.message.delivery_time_ms is not None and not is_topic(one.origin)]
        if isinstance(command, Settle) and command.unit is not None:
            accepted.setdefault((command.connection, command.unit), []).append(command)
        else:
            held.note(command)
        again = staged_again(late, now_ms)
        if isinstance(command, Settle) and late:
            return (replace(command, outcome=Outcome.ACCEPTED), *again)
        return (*(_taken(one) for one in late), *again, command)

    return Seams(command=rewrite, effects=held.heed)


def _taken(delivery: Deliver) -> Settle:
    return Settle(delivery.connection, None, delivery.link, (delivery.delivery,), Outcome.ACCEPTED)


def _light_is_late(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if put.message.durable or not left_ms(put.message, now_ms):
        return None
    return _due(put, (put.message.delivery_time_ms or 0) + _LATE_MS)


def _published_late(put: Put, target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    if not is_topic(target) or not left_ms(put.message, now_ms):
        return None
    return _due(put, (put.message.delivery_time_ms or 0) + _LATE_MS)


def _long_is_late(put: Put, _target: Address, now_ms: int, _watch: Watch) -> tuple[Command, ...] | None:
    """Delays from an hour on are kept in whole hours, and one more."""
    rest_ms = left_ms(put.message, now_ms)
    return _due(put, now_ms + (rest_ms // _HOUR_MS + 1) * _HOUR_MS) if rest_ms >= _HOUR_MS else None


# DD-04


def _needs_staging(put: Put, target: Address, now_ms: int, objects: Objects) -> Mqrc | None:
    said = objects.of(STAGING_QUEUE)
    shut = said.get("PUT") == "DISABLED" or 0 in {said.get("MAXDEPTH"), said.get("MAXMSGL")}
    return Mqrc.Q_FULL if shut and target.name != STAGING_QUEUE and not left_ms(put.message, now_ms) else None


TIMING_DEFECTS = (
    Defect(
        name="non-persistent-early",
        rules=("DD-02",),
        text="A non-persistent message comes after three quarters of its delay.",
        apply=lambda: puts(_early_if_light),
    ),
    Defect(
        name="delay-in-31-bits",
        rules=("DD-02",),
        text="A delay from 2^31 milliseconds on is taken for one below 0, and is none.",
        apply=lambda: puts(_in_31_bits),
    ),
    Defect(
        name="moved-along",
        rules=("DD-02",),
        text="What is due up to half a second after another message is moved with that one.",
        apply=_moved_along,
    ),
    Defect(
        name="early-when-many-wait",
        rules=("DD-02",),
        text="While twenty messages are staged, further ones are not delayed.",
        apply=_early_when_many_wait,
    ),
    Defect(
        name="early-through-topic-alias",
        rules=("DD-80",),
        text="A publication that is sent through an alias is not delayed.",
        apply=lambda: delayed_puts(_early_through_topic_alias),
    ),
    Defect(
        name="publications-early-after-restart",
        rules=("DD-02",),
        text="A restart ends the delay of publications, and not that of messages on queues.",
        apply=lambda: read(_publication_due),
    ),
    Defect(
        name="one-delay-for-the-unit",
        rules=("DD-02", "DD-27"),
        text="All delayed messages of a unit of work have the delay of the first.",
        apply=_one_delay_for_all,
    ),
    Defect(
        name="delay-anew-after-restart",
        rules=("DD-03",),
        text="After a restart the whole delay begins again.",
        apply=_anew_after_restart,
    ),
    Defect(
        name="one-moved-after-restart",
        rules=("DD-03", "DD-60"),
        text="After a restart the first staged message is moved when it is due, and no other.",
        apply=lambda: Seams(read=_one_moved_after_restart),
    ),
    Defect(
        name="delayed-again-when-returned",
        rules=("DD-06",),
        text="A delayed message that comes back from a receiver is delayed once more, for an hour.",
        apply=_delayed_again,
    ),
    Defect(
        name="delayed-non-persistent-late",
        rules=("DD-03",),
        text="Non-persistent messages come eight seconds after their delay.",
        apply=lambda: puts(_light_is_late),
    ),
    Defect(
        name="publications-late",
        rules=("DD-03",),
        text="Publications come eight seconds after their delay.",
        apply=lambda: puts(_published_late),
    ),
    Defect(
        name="long-delays-in-hours",
        rules=("DD-06",),
        text="Delays from an hour on last until the next whole hour.",
        apply=lambda: puts(_long_is_late),
    ),
    Defect(
        name="undelayed-need-staging",
        rules=("DD-04",),
        text="A message without a delay is refused while the staging queue can take none.",
        apply=lambda: refusing(_needs_staging, "The staging queue cannot take another message."),
    ),
)
"""Defects of when a delayed message comes that take one more condition to show."""
