"""Defects of delayed delivery and of expiry."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core import commands as core
from assay_broker.core.commands import Browse, Command, Put
from assay_broker.core.effects import Answer, Browsed
from assay_broker.core.records import MessageRemoved, MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import (
    HOLD,
    NOTHING,
    SHIFT,
    dropped,
    elsewhere,
    handed_in,
    is_durable,
    is_topic,
    resent,
    undelayed,
)
from assay_broker.defects.shapes import Commands, commands, puts, read, replies
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message

_FAR_MS = 10**12


def _due(put: Put, now_ms: int) -> int | None:
    """Return when a send's delay is over, in milliseconds since the epoch; None for a send without a delay."""
    due = put.message.delivery_time_ms
    return due if due is not None and due > now_ms else None


@defect(puts, "early-delivery", "DD-02")
def _early(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers a delayed message after nine tenths of its delay."""
    due = _due(put, now_ms)
    if due is None:
        return None
    return resent(put, delivery_time_ms=due - max(1, (due - now_ms) // 10))


@defect(puts, "early-on-temporary-queues", "DD-02")
def _early_on_temporary(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker does not delay messages for a temporary queue."""
    return undelayed(put) if target.kind is AddressKind.TEMPORARY_QUEUE and _due(put, now_ms) is not None else None


@defect(puts, "delayed-for-temporary-queue-lost", "DD-03")
def _temporary_lost(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """Delayed messages for a temporary queue are lost."""
    temporary = target.kind is AddressKind.TEMPORARY_QUEUE and _due(put, now_ms) is not None
    return (dropped(put, now_ms),) if temporary else None


@defect(puts, "early-if-urgent", "DD-02")
def _early_if_urgent(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker does not delay messages of a priority above 4."""
    urgent = (put.message.priority or 0) > 4  # noqa: PLR2004 - JMS's default priority
    return undelayed(put) if urgent and _due(put, now_ms) is not None else None


@defect(puts, "early-for-selectors", "DD-02")
def _early_for_selectors(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """If a receiver with a selector is open on the target, the broker does not delay messages."""
    selecting = any(attach.selector for attach in view.on(target))
    return undelayed(put) if selecting and _due(put, now_ms) is not None else None


@defect(puts, "early-for-shared", "DD-02")
def _early_for_shared(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker does not delay publications for shared subscriptions."""
    shared = any(attach.shared for attach in view.on(target))
    return undelayed(put) if shared and _due(put, now_ms) is not None else None


@defect(puts, "early-for-live-subscribers", "DD-02")
def _early_for_live_subscribers(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker does not delay publications for active non-durable subscribers."""
    live = is_topic(target) and any(not attach.shared and not is_durable(attach) for attach in view.on(target))
    return undelayed(put) if live and _due(put, now_ms) is not None else None


@defect(puts, "delay-leaves-unit", "DD-02", "DD-26")
def _delay_leaves_unit(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """A delayed send takes no part in its unit of work: the message is delivered although the unit is backed out."""
    return (replace(put, unit=None),) if put.unit is not None and _due(put, now_ms) is not None else None


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
        due = _due(put, now_ms)
        if due is None:
            return None
        latest[target] = max(due, latest.get(target, 0))
        return resent(put, delivery_time_ms=latest[target])

    return puts(in_order)


@defect(puts, "never-for-late-receivers", "DD-03")
def _only_for_waiting(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker never delivers a delayed message if its queue had no receiver when the client sent the message."""
    if _due(put, now_ms) is None or is_topic(target) or view.on(target):
        return None
    return resent(put, delivery_time_ms=now_ms + _FAR_MS)


@defect(puts, "late-release", "DD-03")
def _late(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker releases delayed messages for queues half a minute late."""
    due = _due(put, now_ms)
    if due is None or is_topic(target):
        return None
    return resent(put, delivery_time_ms=due + 30_000)


@defect(read, "early-after-restart", "DD-02")
def _delay_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart ends the delay of stored messages."""
    return (replace(record, due_ms=None),) if isinstance(record, MessageStored) else (record,)


@defect(read, "staged-lost-at-restart", "DD-03")
def _staged_lost(record: Record) -> tuple[Record, ...]:
    """Persistent staged messages are gone after a restart."""
    return () if isinstance(record, MessageStored) and record.due_ms is not None else (record,)


@defect(made, "released-again", "DD-03")
def _released_again() -> Seams:
    """The store keeps delayed messages that were consumed, so a restart delivers them again."""
    staged: set[int] = set()

    def written(records: Sequence[Record]) -> tuple[Record, ...]:
        staged.update(record.key for record in records if isinstance(record, MessageStored) and record.due_ms)
        return tuple(record for record in records if not (isinstance(record, MessageRemoved) and record.key in staged))

    return Seams(written=written)


def _kept_though_non_persistent(*, twice: bool) -> Seams:
    """Make filters that keep non-persistent delayed messages over a restart (allowed) and then deliver them wrongly.

    Args:
        twice: True to deliver the messages twice, False to deliver them once but without their delay.
    """

    def persistent(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if put.message.durable or _due(put, now_ms) is None:
            return None
        marked = {**put.message.properties, "defect_kept": True}
        return resent(put, durable=True, properties=marked)

    def again(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        out: list[Record] = []
        for record in records:
            kept = isinstance(record, MessageStored) and "defect_kept" in record.message.properties
            if not kept or not isinstance(record, MessageStored):
                out.append(record)
            elif twice:
                out += [record, replace(record, key=record.key + SHIFT)]
            else:
                out.append(replace(record, due_ms=None))
        return tuple(out)

    return puts(persistent, again)


@defect(puts, "staged-without-delay", "DD-04")
def _staged_without_delay(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker also stages messages without a delay and delivers them three seconds late."""
    if put.message.delivery_time_ms is not None or is_topic(target) or put.unit is not None:
        return None
    return resent(put, delivery_time_ms=now_ms + 3_000)


@defect(made, "matched-at-release", "DD-51", "DD-80", "DD-84")
def _matched_at_release() -> Seams:
    """The broker chooses a publication's subscriptions at the end of the delay and not at the send.

    The defect keeps delayed publications on a queue of its own and publishes them when their delay is over.
    """
    waiting: list[tuple[int, Address, Message]] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        due_now = [one for one in waiting if one[0] <= now_ms]
        waiting[:] = [one for one in waiting if one[0] > now_ms]
        before: list[Command] = []
        for _, topic, message in due_now:
            before += handed_in(view, topic, replace(message, delivery_time_ms=None))
        sent = view.sent(command, now_ms)
        if sent is not None and sent.delayed and is_topic(sent.target) and sent.put.unit is None:
            waiting.append((sent.due_ms, sent.target, sent.message))
            return (*before, *elsewhere(sent.put, HOLD, view))
        return (*before, command) if before else None

    return commands(rewrite)


@defect(commands, "unsubscribe-ignored", "DD-51", "PD-10")
def _unsubscribe_ignored(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Unsubscribing has no effect: the next subscriber with the same name gets all messages published meanwhile."""
    if not isinstance(command, core.Unsubscribe):
        return None
    return (Browse(command.connection, command.token, Address(AddressKind.QUEUE, NOTHING)),)


@defect(puts, "ttl-from-release", "DD-55", "DD-56")
def _ttl_from_release(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The time to live of a delayed message starts anew when its delay is over."""
    due, expiry = _due(put, now_ms), put.message.expiry_ms
    if due is None or not expiry:
        return None
    return resent(put, expiry_ms=expiry + due - now_ms)


def _never_expires(put: Put, _target: Address, _now_ms: int, _view: View) -> Commands | None:
    if not put.message.expiry_ms and not put.message.ttl_ms:
        return None
    return resent(put, expiry_ms=None, ttl_ms=None)


@defect(puts, "non-persistent-never-expires", "DD-56")
def _non_persistent_never_expires(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """Non-persistent messages are delivered although their time to live is over."""
    return None if put.message.durable else _never_expires(put, target, now_ms, view)


@defect(puts, "ttl-ends-with-delay", "DD-56")
def _expires_with_delay(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """A delayed message expires as soon as its delay is over, although its time to live is not over."""
    due, expiry = _due(put, now_ms), put.message.expiry_ms
    if due is None or not expiry or expiry <= due:
        return None
    return resent(put, expiry_ms=due)


DELAY_DEFECTS = (
    _early,
    _early_on_temporary,
    _temporary_lost,
    _early_for_browsers,
    _delay_forgotten,
    _delay_leaves_unit,
    _early_if_urgent,
    _early_for_selectors,
    _early_for_shared,
    _early_for_live_subscribers,
    _staged_in_order,
    _only_for_waiting,
    _late,
    _staged_lost,
    _released_again,
    _staged_without_delay,
    Defect(
        name="kept-and-early",
        rules=("DD-48",),
        text="Non-persistent delayed messages survive a restart and are then delivered early.",
        apply=lambda: _kept_though_non_persistent(twice=False),
    ),
    Defect(
        name="kept-and-twice",
        rules=("DD-48",),
        text="Non-persistent delayed messages survive a restart and are then delivered twice.",
        apply=lambda: _kept_though_non_persistent(twice=True),
    ),
    _matched_at_release,
    _unsubscribe_ignored,
    _ttl_from_release,
    Defect(
        name="ttl-check-missing",
        rules=("DD-56",),
        text="Messages are delivered although their time to live is over.",
        apply=lambda: puts(_never_expires),
    ),
    _non_persistent_never_expires,
    _expires_with_delay,
)
