"""Defects in the delivery of messages after their delay (DD-03, DD-04, DD-27)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import Browse, Cancel, Command, Disconnect, FromMember, PrepareBranch, Put
from assay_broker.core.effects import Deliver
from assay_broker.core.networks.parcels import Carry
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.delay.filters import arrivals, due_at, end_of_delay, first_link, sent_at_commit
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import (
    SHIFT,
    as_text,
    cancelled,
    dropped,
    is_delayed,
    is_durable,
    is_topic,
    left_ms,
    resent,
    twice,
)
from assay_broker.defects.shapes import (
    Commands,
    commands,
    delayed_messages,
    delayed_puts,
    filters,
    puts,
    refusing,
    written,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

_FAR_MS = 10**12
_SECOND_MS = 1_000
_STAGED_AT_MOST = 8
_LATER_MS = 15_000
_LATE_MS = 8_000
"""How late a message is delivered, in milliseconds; longer than the steps allow in real time."""


@defect(puts, "delayed-for-temporary-queue-lost", "DD-03")
def _temporary_lost(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """Delayed messages for a temporary queue are lost."""
    temporary = target.kind is AddressKind.TEMPORARY_QUEUE and end_of_delay(put, now_ms) is not None
    return (dropped(put, now_ms),) if temporary else None


@defect(puts, "never-for-late-receivers", "DD-03")
def _only_for_waiting(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker never delivers a delayed message if its queue had no receiver when the client sent the message."""
    if end_of_delay(put, now_ms) is None or is_topic(target) or view.on(target):
        return None
    return resent(put, delivery_time_ms=now_ms + _FAR_MS)


@defect(puts, "late-release", "DD-03")
def _late(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker releases delayed messages for queues half a minute late."""
    due = end_of_delay(put, now_ms)
    if due is None or is_topic(target):
        return None
    return resent(put, delivery_time_ms=due + 30_000)


@defect(puts, "staged-without-delay", "DD-04")
def _staged_without_delay(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker also stages messages without a delay and delivers them three seconds late."""
    if put.message.delivery_time_ms is not None or is_topic(target) or put.unit is not None:
        return None
    return resent(put, delivery_time_ms=now_ms + 3_000)


@defect(made, "staged-lost-by-browsing", "DD-03")
def _lost_by_browsing() -> Seams:
    """When a client browses a queue, the broker drops the messages that are staged for it."""
    staged: dict[Address, list[str]] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put) and left_ms(command.message, now_ms):
            target, message_id = view.target(command), command.message.message_id
            if target is not None and message_id is not None:
                staged.setdefault(target, []).append(message_id)
        if not isinstance(command, Browse):
            return None
        return (command, *(Cancel(command.connection, None, one) for one in staged.pop(command.address, ())))

    return commands(rewrite)


@defect(made, "staging-overflows", "DD-03")
def _overflows() -> Seams:
    """The broker stages up to eight messages for a destination, and accepts and drops further delayed messages."""
    staged: dict[Address, list[int]] = {}

    def drop(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
        if not left_ms(put.message, now_ms):
            return None
        still = staged[target] = [due for due in staged.get(target, ()) if due > now_ms]
        if len(still) >= _STAGED_AT_MOST:
            return (dropped(put, now_ms),)
        still.append(put.message.delivery_time_ms or 0)
        return None

    return puts(drop)


@defect(puts, "released-twice", "DD-03")
def _released_twice(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A message is delivered twice if its delay is at most a second and its target had a receiver at the send."""
    awaited = put.unit is None and bool(view.on(target))
    return twice(put) if awaited and 0 < left_ms(put.message, now_ms) <= _SECOND_MS else None


@defect(delayed_puts, "one-staged-for-each-moment", "DD-03")
def _one_for_each_moment(put: Put, sent: Sent, view: View) -> Commands | None:
    """If several delays for one destination end in the same millisecond, the broker keeps only the last message."""
    same = (id_ for id_, one in view.delayed.items() if (one.target, one.due_ms) == (sent.target, sent.due_ms))
    lost = cancelled(view, *same)
    return (*lost, put) if lost else None


@defect(made, "behind-the-delayed", "DD-04")
def _behind_the_delayed() -> Seams:
    """A queue keeps the order of its sends, so a message without a delay waits behind a delayed one."""
    latest: dict[Address, int] = {}

    def wait(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
        if left_ms(put.message, now_ms):
            latest[target] = max(put.message.delivery_time_ms or 0, latest.get(target, 0))
            return None
        if latest.get(target, 0) <= now_ms:
            return None
        return resent(put, delivery_time_ms=latest[target] + 1)

    return puts(wait)


@defect(puts, "publications-staged", "DD-04")
def _publications_staged(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker also stages publications without a delay and delivers them three seconds late."""
    if not is_topic(target) or left_ms(put.message, now_ms) or put.unit is not None:
        return None
    return resent(put, delivery_time_ms=now_ms + 3_000)


def _due_later(message: Message, by_ms: int) -> Message:
    return replace(message, delivery_time_ms=(message.delivery_time_ms or 0) + by_ms)


@defect(delayed_puts, "branch-delays-longer", "DD-27")
def _branch_longer(put: Put, sent: Sent, view: View) -> Commands | None:
    """A delay in a branch of a global unit of work lasts some seconds longer."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    return resent(put, delivery_time_ms=sent.due_ms + _LATER_MS) if unit is not None and unit.xid is not None else None


def _lost_if_late(message: Message, by_ms: int) -> Message:
    """Make a message expire at once if its delay was over before the commit."""
    delay_ms = (message.delivery_time_ms or 0) - (message.creation_ms or 0)
    return message if by_ms < delay_ms else replace(message, delivery_time_ms=None, expiry_ms=1)


@defect(delayed_messages, "staged-bytes-become-text", "DD-03", "DD-39")
def _text(message: Message) -> Message:
    """A delayed message with a body of bytes becomes a text message, with U+FFFD for octets that are not UTF-8."""
    return as_text(message)


@defect(commands, "staged-goes-with-sender", "DD-03")
def _goes_with_sender(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the connection of a sender ends, the broker drops the sender's staged messages."""
    if not isinstance(command, Disconnect):
        return None
    lost = [id_ for id_, one in view.delayed.items() if one.put.connection == command.connection]
    return (*cancelled(view, *lost), command) if lost else None


@defect(made, "second-delayed-send-lost", "DD-03")
def _second_lost() -> Seams:
    """Of the delayed messages of one sender only the first is delivered."""
    seen: set[tuple[int, int]] = set()

    def rewrite(put: Put, sent: Sent, _view: View) -> Commands | None:
        link = put.connection, put.link
        if link in seen:
            return (dropped(put, sent.at_ms),)
        seen.add(link)
        return None

    return delayed_puts(rewrite)


@defect(made, "delay-sticks-to-sender", "DD-04")
def _sticky() -> Seams:
    """A producer that has sent with a delay sends all its further messages with that delay."""
    delays: dict[tuple[int, int], int] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        link = put.connection, put.link
        if left_ms(put.message, now_ms):
            delays[link] = left_ms(put.message, now_ms)
            return None
        return resent(put, delivery_time_ms=now_ms + delays[link]) if link in delays else None

    return puts(rewrite)


@defect(made, "publication-lost-for-the-inactive", "DD-03")
def _lost_for_the_inactive() -> Seams:
    """A delayed publication is lost when a durable subscription to its topic has no consumer."""
    durable: dict[Address, set[tuple[int, int]]] = {}

    def rewrite(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        known = durable.setdefault(target, set())
        active = {key for key, one in view.receivers.items() if one.address == target and is_durable(one)}
        known |= active
        return (dropped(put, now_ms),) if is_delayed(put, now_ms) and known - active else None

    def noted(command: Command, now_ms: int, view: View) -> Commands | None:
        for key, one in view.receivers.items():
            if is_topic(one.address) and is_durable(one):
                durable.setdefault(one.address, set()).add(key)
        target = view.target(command)
        return rewrite(command, target, now_ms, view) if isinstance(command, Put) and target is not None else None

    return commands(noted)


@defect(delayed_puts, "global-unit-delayed-lost", "DD-03", "DD-37")
def _global_lost(put: Put, sent: Sent, view: View) -> Commands | None:
    """Delayed messages that a global unit of work sends are lost."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    return None if unit is None or unit.xid is None else (dropped(put, sent.at_ms),)


@defect(made, "delay-spreads-to-other-producers", "DD-04")
def _spreads() -> Seams:
    """A message without a delay gets the delay of the last delayed message of another producer on its connection."""
    last: dict[int, tuple[int, int]] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        delay_ms = left_ms(put.message, now_ms)
        if delay_ms:
            last[put.connection] = put.link, delay_ms
            return None
        link, other_ms = last.get(put.connection, (put.link, 0))
        return None if link == put.link else resent(put, delivery_time_ms=now_ms + other_ms)

    return puts(rewrite)


@defect(made, "second-producers-not-persistent", "DD-03")
def _not_persistent() -> Seams:
    """Delayed messages of a connection's second and later producers are non-persistent."""
    firsts: dict[int, int] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if first_link(put, firsts) or not left_ms(put.message, now_ms):
            return None
        return resent(put, durable=False)

    return puts(rewrite)


@defect(arrivals, "lost-at-another-member", "DD-03", "DD-11", "DD-26", "DD-50", "DD-52", "DD-56", "DD-70")
def _lost(_command: FromMember, _parcel: Carry, _view: View) -> Commands:
    """A delayed message for another queue manager's clustered queue is lost between the queue managers."""
    return ()


@defect(arrivals, "twice-at-another-member", "DD-03", "DD-11")
def _twice(command: FromMember, parcel: Carry, _view: View) -> Commands:
    """Another queue manager's clustered queue gets each delayed message twice."""
    return (command, replace(command, parcel=replace(parcel, number=parcel.number + SHIFT)))


@defect(puts, "delayed-non-persistent-late", "DD-03")
def _light_is_late(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers non-persistent messages eight seconds after the end of their delay."""
    if put.message.durable or not left_ms(put.message, now_ms):
        return None
    return due_at(put, (put.message.delivery_time_ms or 0) + _LATE_MS)


@defect(puts, "publications-late", "DD-03")
def _published_late(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers publications eight seconds after the end of their delay."""
    if not is_topic(target) or not left_ms(put.message, now_ms):
        return None
    return due_at(put, (put.message.delivery_time_ms or 0) + _LATE_MS)


def _needs_staging(put: Put, target: Address, now_ms: int, view: View) -> Mqrc | None:
    said = view.said(STAGING_QUEUE)
    shut = said.get("PUT") == "DISABLED" or 0 in {said.get("MAXDEPTH"), said.get("MAXMSGL")}
    return Mqrc.Q_FULL if shut and target.name != STAGING_QUEUE and not left_ms(put.message, now_ms) else None


@defect(written, "plain-messages-not-stored", "DD-03", "PD-20")
def _not_stored(record: Record) -> tuple[Record, ...]:
    """The broker does not write a message to disk if the message has no properties."""
    return () if isinstance(record, MessageStored) and not record.message.properties else (record,)


@defect(made, "late-prepare-loses-delayed", "DD-27")
def _late_prepare_loses() -> Seams:
    """A delayed message is lost if its branch is prepared after the end of the delay."""
    lost: set[str | None] = set()

    def note(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, PrepareBranch):
            sent = (one for unit in view.ended(command) for one in unit.sent)
            lost.update(one.message.message_id for one in sent if one.delayed and one.due_ms <= now_ms)
        return None

    def delivered(delivery: Deliver, _view: View) -> Deliver | None:
        return None if delivery.message.message_id in lost else delivery

    return filters(note, delivery=delivered)


DELIVERY_DEFECTS = (
    _temporary_lost,
    _only_for_waiting,
    _late,
    _staged_without_delay,
    _lost_by_browsing,
    _overflows,
    _released_twice,
    _one_for_each_moment,
    _behind_the_delayed,
    _publications_staged,
    _branch_longer,
    Defect(
        name="late-commit-loses-light",
        rules=("DD-27",),
        text="A non-persistent message is lost if its delay is over before the commit.",
        apply=lambda: sent_at_commit(lambda sent: sent.delayed and sent.message.durable is False, _lost_if_late),
    ),
    Defect(
        name="delay-from-commit",
        rules=("DD-27",),
        text="The delay counts from the commit and not from the send.",
        apply=lambda: sent_at_commit(lambda sent: sent.delayed, _due_later),
    ),
    Defect(
        name="publication-delay-from-commit",
        rules=("DD-27",),
        text="The delay of a publication counts from the commit, and that of a message to a queue from the send.",
        apply=lambda: sent_at_commit(lambda sent: sent.delayed and is_topic(sent.target), _due_later),
    ),
    _text,
    _goes_with_sender,
    _second_lost,
    _sticky,
    _lost_for_the_inactive,
    _global_lost,
    _spreads,
    _not_persistent,
    _lost,
    _twice,
    _light_is_late,
    _published_late,
    Defect(
        name="undelayed-need-staging",
        rules=("DD-04",),
        text="The broker refuses messages without a delay while the staging queue cannot take messages.",
        apply=lambda: refusing(_needs_staging, "The staging queue cannot take another message."),
    ),
    _not_stored,
    _late_prepare_loses,
)
