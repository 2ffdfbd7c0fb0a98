"""Defects by which a message is delivered before the end of its delay (DD-02)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Browse, Cancel, Command, Put
from assay_broker.core.effects import Answer, Browsed
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.delay.filters import commands_with_announced_queues, due_at, end_of_delay
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import (
    handed_in,
    is_delayed,
    is_durable,
    is_staged,
    is_topic,
    left_ms,
    resent,
    undelayed,
)
from assay_broker.defects.shapes import Commands, filters, puts, read, refusing, replies
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

_SECOND_MS = 1_000
_NOT_NOW = "It is not accepted now."
_BITS_31, _BITS_32 = 2**31, 2**32
_TOGETHER_MS = 500
_MANY = 20
_LONG = 65_536


@defect(puts, "early-delivery", "DD-02")
def _early(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers a delayed message after nine tenths of its delay."""
    due = end_of_delay(put, now_ms)
    if due is None:
        return None
    return resent(put, delivery_time_ms=due - max(1, (due - now_ms) // 10))


@defect(puts, "early-on-temporary-queues", "DD-02")
def _early_on_temporary(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker does not delay messages for a temporary queue."""
    temporary = target.kind is AddressKind.TEMPORARY_QUEUE
    return undelayed(put) if temporary and end_of_delay(put, now_ms) is not None else None


@defect(puts, "early-if-urgent", "DD-02")
def _early_if_urgent(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker does not delay messages of a priority above 4."""
    urgent = (put.message.priority or 0) > 4  # noqa: PLR2004 - JMS's default priority
    return undelayed(put) if urgent and end_of_delay(put, now_ms) is not None else None


@defect(puts, "early-for-selectors", "DD-02")
def _early_for_selectors(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """If a receiver with a selector is open on the target, the broker does not delay messages."""
    selecting = any(attach.selector for attach in view.on(target))
    return undelayed(put) if selecting and end_of_delay(put, now_ms) is not None else None


@defect(puts, "early-for-shared", "DD-02")
def _early_for_shared(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker does not delay a publication if its topic has an active shared subscriber."""
    shared = any(attach.shared for attach in view.on(target))
    return undelayed(put) if shared and end_of_delay(put, now_ms) is not None else None


@defect(puts, "early-for-live-subscribers", "DD-02")
def _early_for_live_subscribers(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker does not delay a publication if its topic has an active, unshared non-durable subscriber."""
    live = is_topic(target) and any(not attach.shared and not is_durable(attach) for attach in view.on(target))
    return undelayed(put) if live and end_of_delay(put, now_ms) is not None else None


@defect(puts, "delay-leaves-unit", "DD-02", "DD-26")
def _delay_leaves_unit(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """A delayed send takes no part in its unit of work: the message is delivered although the unit is backed out."""
    return (replace(put, unit=None),) if put.unit is not None and end_of_delay(put, now_ms) is not None else None


@defect(replies, "early-for-browsers", "DD-02")
def _early_for_browsers(answer: Answer, asked: Command, now_ms: int, view: View) -> Answer:
    """A browser of the target sees messages that are still delayed."""
    if not isinstance(asked, Browse) or answer.value is None:
        return answer
    delayed = (one for one in view.delayed.values() if one.target == asked.address and one.due_ms > now_ms)
    return replace(answer, value=(*answer.value, *(Browsed(one.message, 0) for one in delayed)))


@defect(made, "staged-in-order", "DD-02", "DD-03")
def _staged_in_order() -> Seams:
    """The broker releases staged messages in the order of their sends, not in the order of their due times."""
    latest: dict[Address, int] = {}

    def in_order(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
        due = end_of_delay(put, now_ms)
        if due is None:
            return None
        latest[target] = max(due, latest.get(target, 0))
        return resent(put, delivery_time_ms=latest[target])

    return puts(in_order)


@defect(read, "early-after-restart", "DD-02")
def _delay_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart ends the delay of stored messages."""
    return (replace(record, due_ms=None),) if isinstance(record, MessageStored) else (record,)


@defect(read, "long-bodies-early-after-restart", "DD-02")
def _long_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart ends the delay of stored messages with long bodies."""
    long = isinstance(record, MessageStored) and len(record.message.encoded or record.message.body or b"") > _LONG
    return (replace(record, due_ms=None),) if long and isinstance(record, MessageStored) else (record,)


@defect(puts, "delay-in-whole-seconds", "DD-02")
def _in_whole_seconds(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker cuts delays to whole seconds."""
    delay_ms = left_ms(put.message, now_ms)
    if not delay_ms % _SECOND_MS:
        return None
    return resent(put, delivery_time_ms=now_ms + delay_ms // _SECOND_MS * _SECOND_MS)


@defect(puts, "delay-in-32-bits", "DD-02")
def _in_32_bits(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker keeps only the lowest 32 bits of a delay in milliseconds."""
    delay_ms = left_ms(put.message, now_ms)
    if delay_ms < _BITS_32:
        return None
    return resent(put, delivery_time_ms=now_ms + delay_ms % _BITS_32)


@defect(puts, "early-for-durable-subscribers", "DD-02")
def _early_for_durable(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker does not delay a publication if its topic has no active non-durable subscriber."""
    live = any(not is_durable(attach) for attach in view.on(target))
    if not is_topic(target) or live or not left_ms(put.message, now_ms):
        return None
    return undelayed(put)


@defect(puts, "early-in-unit", "DD-02", "DD-27", "DD-26")
def _early_in_unit(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The commit of a unit of work delivers its delayed messages at once."""
    if put.unit is None or not left_ms(put.message, now_ms):
        return None
    return undelayed(put)


@defect(made, "early-for-late-receivers", "DD-02")
def _early_for_late_receivers() -> Seams:
    """When the first receiver opens on a queue during a delay, it gets the delayed message at once."""
    staged: dict[Address, list[Message]] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            if (
                target is not None
                and not is_topic(target)
                and command.unit is None
                and left_ms(command.message, now_ms)
            ):
                staged.setdefault(target, []).append(command.message)
        if not isinstance(command, Attach) or view.on(command.address):
            return None
        waiting = staged.pop(command.address, ())
        early = [message for message in waiting if (message.delivery_time_ms or 0) > now_ms]
        unstaged = (Cancel(command.connection, None, message.message_id or "") for message in early)
        undelayed = (replace(message, delivery_time_ms=None) for message in early)
        return (*unstaged, *handed_in(view, command.address, *undelayed), command)

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        staged.clear()
        return tuple(records)

    return filters(rewrite, read=start)


def _delayed_refused(put: Put, _target: Address, now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.RESOURCE_PROBLEM if is_delayed(put, now_ms) else None


@defect(made, "delay-of-the-first-producer", "DD-02")
def _first_delay() -> Seams:
    """Delayed messages of a connection's other producers get the delay of the connection's first delayed message."""
    first: dict[int, tuple[int, int]] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        delay_ms = left_ms(put.message, now_ms)
        if not delay_ms:
            return None
        link, first_ms = first.setdefault(put.connection, (put.link, delay_ms))
        return None if link == put.link else resent(put, delivery_time_ms=now_ms + first_ms)

    return puts(rewrite)


@defect(commands_with_announced_queues, "undelayed-to-another-member", "DD-02")
def _undelayed_there(command: Command, now_ms: int, view: View, known: set[str]) -> Commands | None:
    """The broker does not delay messages for another queue manager's clustered queue."""
    sent = view.sent(command, now_ms)
    return undelayed(sent.put) if sent is not None and sent.delayed and sent.target.name in known else None


@defect(puts, "non-persistent-early", "DD-02")
def _early_if_light(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers a non-persistent message after three quarters of its delay."""
    rest_ms = left_ms(put.message, now_ms)
    return due_at(put, now_ms + rest_ms * 3 // 4) if not put.message.durable and rest_ms else None


@defect(puts, "delay-in-31-bits", "DD-02")
def _in_31_bits(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """A delay from 2^31 to 2^32 - 1 milliseconds counts as a negative delay, so the message is not delayed."""
    return due_at(put, None) if _BITS_31 <= left_ms(put.message, now_ms) < _BITS_32 else None


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
        return due_at(put, earlier[0]) if earlier else None

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
            return due_at(put, None)
        waiting.append(put.message.delivery_time_ms or 0)
        return None

    return puts(overflow)


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
    return next((due_at(put, one.due_ms) for one in unit.sent if one.delayed), None)


@defect(puts, "plain-messages-undelayed", "DD-02")
def _undelayed(put: Put, _target: Address, _now_ms: int, _view: View) -> Commands | None:
    """The broker delivers a delayed message at once if the message has no properties."""
    plain = not put.message.properties and put.message.delivery_time_ms is not None
    return undelayed(put) if plain else None


EARLY_DEFECTS = (
    _early,
    _early_on_temporary,
    _early_for_browsers,
    _delay_forgotten,
    _long_forgotten,
    _delay_leaves_unit,
    _early_if_urgent,
    _early_for_selectors,
    _early_for_shared,
    _early_for_live_subscribers,
    _staged_in_order,
    _in_whole_seconds,
    _in_32_bits,
    _early_for_durable,
    _early_in_unit,
    _early_for_late_receivers,
    Defect(
        name="delayed-refused",
        rules=("DD-02", "DD-03", "DD-48", "DD-56"),
        text="The broker refuses every delayed send.",
        apply=lambda: refusing(_delayed_refused, _NOT_NOW),
    ),
    _first_delay,
    _undelayed_there,
    _early_if_light,
    _in_31_bits,
    _moved_along,
    _early_when_many_wait,
    _publication_due,
    _due_in_seconds,
    _one_delay_for_all,
    _undelayed,
)
