"""Defects of the time at which a delayed message is delivered; each occurs only under a further condition."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Command, Detach, Disconnect, Put, Settle
from assay_broker.core.effects import Deliver
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import SHIFT, handed_in, is_staged, is_topic, left_ms, resent
from assay_broker.defects.shapes import Commands, commands, delayed_puts, puts, read, read_together, reading, refusing
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc

_BITS_31, _BITS_32 = 2**31, 2**32
_SECOND_MS = 1_000
_HOUR_MS = 3_600_000
_LATE_MS = 8_000
"""A lateness, in milliseconds, above the limit of a run in real time."""
_TOGETHER_MS = 500
_MANY = 20


def _due(put: Put, due_ms: int | None) -> Commands:
    """Return a send with another end of its delay.

    Args:
        put: The send.
        due_ms: The end of the delay in milliseconds since the epoch; None for no delay.
    """
    return resent(put, delivery_time_ms=due_ms)


# DD-02


@defect(puts, "non-persistent-early", "DD-02")
def _early_if_light(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers a non-persistent message after three quarters of its delay."""
    rest_ms = left_ms(put.message, now_ms)
    return _due(put, now_ms + rest_ms * 3 // 4) if not put.message.durable and rest_ms else None


@defect(puts, "delay-in-31-bits", "DD-02")
def _in_31_bits(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """A delay of 2^31 milliseconds or more counts as a negative delay, so the message is not delayed."""
    return _due(put, None) if _BITS_31 <= left_ms(put.message, now_ms) < _BITS_32 else None


@defect(made, "moved-along", "DD-02")
def _moved_along() -> Seams:
    """The broker releases a message together with a message that is due up to half a second earlier."""
    known: list[int] = []

    def join(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if not left_ms(put.message, now_ms):
            return None
        due_ms = put.message.delivery_time_ms or 0
        earlier = [one for one in known if now_ms < one < due_ms <= one + _TOGETHER_MS]
        known.append(due_ms)
        return _due(put, earlier[0]) if earlier else None

    return puts(join)


@defect(made, "early-when-many-wait", "DD-02")
def _early_when_many_wait() -> Seams:
    """While twenty or more messages are staged, the broker does not delay further messages."""
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


@defect(delayed_puts, "early-through-topic-alias", "DD-80")
def _early_through_topic_alias(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker does not delay a publication that is sent through a topic alias."""
    return _due(put, None) if view.said(sent.target.name).get("TARGTYPE") == "TOPIC" else None


@defect(read, "publications-early-after-restart", "DD-02")
def _publication_due(record: Record) -> tuple[Record, ...]:
    """A restart ends the delay of publications, but not the delay of messages for queues."""
    if not isinstance(record, MessageStored) or not is_staged(record):
        return (record,)
    return (replace(record, due_ms=0) if record.home.startswith(SUBSCRIPTION_HOME) else record,)


@defect(read, "due-in-seconds-after-restart", "DD-02")
def _due_in_seconds(record: Record) -> tuple[Record, ...]:
    """A restart cuts the delays of staged messages to whole seconds."""
    if not isinstance(record, MessageStored) or record.due_ms is None:
        return (record,)
    return (replace(record, due_ms=record.due_ms - (record.due_ms - record.arrived_ms) % _SECOND_MS),)


@defect(puts, "one-delay-for-the-unit", "DD-02", "DD-27")
def _one_delay_for_all(put: Put, _target: Address, now_ms: int, view: View) -> Commands | None:
    """All delayed messages of a unit of work become due at the same time as the first of them."""
    unit = view.units.get((put.connection, put.unit or 0))
    if put.unit is None or unit is None or not left_ms(put.message, now_ms):
        return None
    return next((_due(put, one.due_ms) for one in unit.sent if one.delayed), None)


# DD-03


@defect(reading, "delay-anew-after-restart", "DD-03")
def _anew_after_restart(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """After a restart, the whole delay of a staged message begins again."""
    return tuple(
        replace(one, due_ms=max(view.last_ms, one.arrived_ms) + (one.due_ms or 0) - one.arrived_ms)
        if is_staged(one)
        else one
        for one in records
    )


@defect(read_together, "one-moved-after-restart", "DD-03", "DD-60")
def _one_moved_after_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, the broker releases only the first staged message."""
    staged = [one.key for one in records if isinstance(one, MessageStored) and is_staged(one)]
    return tuple(
        replace(one, due_ms=(one.due_ms or 0) + SHIFT)
        if isinstance(one, MessageStored) and is_staged(one) and one.key != staged[0]
        else one
        for one in records
    )


@defect(commands, "delayed-again-when-returned", "DD-06")
def _delayed_again(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker delays a delayed message for another hour when a receiver returns it."""
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


@defect(puts, "delayed-non-persistent-late", "DD-03")
def _light_is_late(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers non-persistent messages eight seconds after the end of their delay."""
    if put.message.durable or not left_ms(put.message, now_ms):
        return None
    return _due(put, (put.message.delivery_time_ms or 0) + _LATE_MS)


@defect(puts, "publications-late", "DD-03")
def _published_late(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers publications eight seconds after the end of their delay."""
    if not is_topic(target) or not left_ms(put.message, now_ms):
        return None
    return _due(put, (put.message.delivery_time_ms or 0) + _LATE_MS)


@defect(puts, "long-delays-in-hours", "DD-06")
def _long_is_late(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker rounds delays of an hour or more up to the next whole hour."""
    rest_ms = left_ms(put.message, now_ms)
    return _due(put, now_ms + (rest_ms // _HOUR_MS + 1) * _HOUR_MS) if rest_ms >= _HOUR_MS else None


# DD-04


def _needs_staging(put: Put, target: Address, now_ms: int, view: View) -> Mqrc | None:
    said = view.said(STAGING_QUEUE)
    shut = said.get("PUT") == "DISABLED" or 0 in {said.get("MAXDEPTH"), said.get("MAXMSGL")}
    return Mqrc.Q_FULL if shut and target.name != STAGING_QUEUE and not left_ms(put.message, now_ms) else None


TIMING_DEFECTS = (
    _early_if_light,
    _in_31_bits,
    _moved_along,
    _early_when_many_wait,
    _early_through_topic_alias,
    _publication_due,
    _due_in_seconds,
    _one_delay_for_all,
    _anew_after_restart,
    _one_moved_after_restart,
    _delayed_again,
    _light_is_late,
    _published_late,
    _long_is_late,
    Defect(
        name="undelayed-need-staging",
        rules=("DD-04",),
        text="The broker refuses messages without a delay while the staging queue cannot take messages.",
        apply=lambda: refusing(_needs_staging, "The staging queue cannot take another message."),
    ),
)
