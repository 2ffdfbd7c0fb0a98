"""Defects of when a delayed message comes that take one more condition to show."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import (
    Command,
    Detach,
    Disconnect,
    Put,
    Settle,
)
from assay_broker.core.effects import Deliver
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect
from assay_broker.defects.sends import SHIFT, handed_in, is_staged, is_topic, left_ms, resent
from assay_broker.defects.shapes import Commands, commands, delayed_puts, filters, puts, read, read_together, refusing
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc

_BITS_31, _BITS_32 = 2**31, 2**32
_HOUR_MS = 3_600_000
_LATE_MS = 8_000
"""More than a run in real time lets pass."""
_TOGETHER_MS = 500
_MANY = 20


def _due(put: Put, due_ms: int | None) -> Commands:
    """The same send, due at another time; None for one without a delay."""
    return resent(put, delivery_time_ms=due_ms)


# DD-02


def _early_if_light(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    rest_ms = left_ms(put.message, now_ms)
    return _due(put, now_ms + rest_ms * 3 // 4) if not put.message.durable and rest_ms else None


def _in_31_bits(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    return _due(put, None) if _BITS_31 <= left_ms(put.message, now_ms) < _BITS_32 else None


def _moved_along() -> Seams:
    """Whatever is due shortly after another message is moved with that one."""
    known: list[int] = []

    def join(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if not left_ms(put.message, now_ms):
            return None
        due_ms = put.message.delivery_time_ms or 0
        earlier = [one for one in known if now_ms < one < due_ms <= one + _TOGETHER_MS]
        known.append(due_ms)
        return _due(put, earlier[0]) if earlier else None

    return puts(join)


def _early_when_many_wait() -> Seams:
    waiting: list[int] = []

    def overflow(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if not left_ms(put.message, now_ms):
            return None
        waiting[:] = [due_ms for due_ms in waiting if due_ms > now_ms]
        if len(waiting) >= _MANY:
            return _due(put, None)
        waiting.append(put.message.delivery_time_ms or 0)
        return None

    return puts(overflow)


def _early_through_topic_alias(put: Put, sent: Sent, view: View) -> Commands | None:
    return _due(put, None) if view.said(sent.target.name).get("TARGTYPE") == "TOPIC" else None


def _publication_due(record: Record) -> tuple[Record, ...]:
    if not isinstance(record, MessageStored) or not is_staged(record):
        return (record,)
    return (replace(record, due_ms=0) if record.home.startswith(SUBSCRIPTION_HOME) else record,)


def _one_delay_for_all(put: Put, _target: Address, now_ms: int, view: View) -> Commands | None:
    """Every delayed message of a unit of work is due with its first."""
    unit = view.units.get((put.connection, put.unit or 0))
    if put.unit is None or unit is None or not left_ms(put.message, now_ms):
        return None
    return next((_due(put, one.due_ms) for one in unit.sent if one.delayed), None)


# DD-03


def _anew_after_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """The delay of what is staged begins again with the queue manager."""
    return tuple(
        replace(one, due_ms=max(view.last_ms, one.arrived_ms) + (one.due_ms or 0) - one.arrived_ms)
        if is_staged(one)
        else one
        for one in records
    )


def _one_moved_after_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """Of what is staged the first is found, and the rest stays until somebody takes it."""
    staged = [one.key for one in records if isinstance(one, MessageStored) and is_staged(one)]
    return tuple(
        replace(one, due_ms=(one.due_ms or 0) + SHIFT)
        if isinstance(one, MessageStored) and is_staged(one) and one.key != staged[0]
        else one
        for one in records
    )


def _delayed_again(command: Command, now_ms: int, view: View) -> Commands | None:
    """What comes back from a receiver after a delay is delayed once more."""
    back: Sequence[Deliver] = ()
    if isinstance(command, Detach | Disconnect) or (
        isinstance(command, Settle) and command.outcome in {Outcome.MODIFIED, Outcome.RELEASED}
    ):
        back = view.unsettled(command)
    late = [one for one in back if one.message.delivery_time_ms is not None and not is_topic(one.origin)]
    again = tuple(
        put
        for one in late
        for put in handed_in(view, one.origin, replace(one.message, delivery_time_ms=now_ms + _HOUR_MS))
    )
    if isinstance(command, Settle) and late:
        return (replace(command, outcome=Outcome.ACCEPTED), *again)
    return (*(_taken(one) for one in late), *again, command)


def _taken(delivery: Deliver) -> Settle:
    return Settle(delivery.connection, None, delivery.link, (delivery.delivery,), Outcome.ACCEPTED)


def _light_is_late(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    if put.message.durable or not left_ms(put.message, now_ms):
        return None
    return _due(put, (put.message.delivery_time_ms or 0) + _LATE_MS)


def _published_late(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    if not is_topic(target) or not left_ms(put.message, now_ms):
        return None
    return _due(put, (put.message.delivery_time_ms or 0) + _LATE_MS)


def _long_is_late(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """Delays from an hour on are kept in whole hours, and one more."""
    rest_ms = left_ms(put.message, now_ms)
    return _due(put, now_ms + (rest_ms // _HOUR_MS + 1) * _HOUR_MS) if rest_ms >= _HOUR_MS else None


# DD-04


def _needs_staging(put: Put, target: Address, now_ms: int, view: View) -> Mqrc | None:
    said = view.said(STAGING_QUEUE)
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
        apply=lambda: puts(_one_delay_for_all),
    ),
    Defect(
        name="delay-anew-after-restart",
        rules=("DD-03",),
        text="After a restart the whole delay begins again.",
        apply=lambda: filters(read=_anew_after_restart),
    ),
    Defect(
        name="one-moved-after-restart",
        rules=("DD-03", "DD-60"),
        text="After a restart the first staged message is moved when it is due, and no other.",
        apply=lambda: read_together(_one_moved_after_restart),
    ),
    Defect(
        name="delayed-again-when-returned",
        rules=("DD-06",),
        text="A delayed message that comes back from a receiver is delayed once more, for an hour.",
        apply=lambda: commands(_delayed_again),
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
