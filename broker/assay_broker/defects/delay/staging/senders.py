"""Defects of delayed sends that depend on their sender, its unit of work, or the subscribers."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, ClearQueue
from assay_broker.core.commands import Command, Disconnect, Put
from assay_broker.core.effects import Deliver
from assay_broker.core.messages.bodies import body_size
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.records import Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import (
    cancelled,
    change_of,
    dropped,
    is_delayed,
    is_durable,
    is_staged,
    is_topic,
    left_ms,
    resent,
)
from assay_broker.defects.shapes import (
    Commands,
    commands,
    delayed_puts,
    deliveries,
    filters,
    puts,
    read,
    refusing,
    shown,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc

_DAY_MS = 86_400_000
_SHORT_MS = 2_000
_NOT_NOW = "It is not accepted now."


def _delayed_refused(put: Put, _target: Address, now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.RESOURCE_PROBLEM if is_delayed(put, now_ms) else None


def _light_refused(put: Put, _target: Address, now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.RESOURCE_PROBLEM if is_delayed(put, now_ms) and put.message.durable is False else None


def _mortal_refused(put: Put, _target: Address, now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.RESOURCE_PROBLEM if is_delayed(put, now_ms) and put.message.expiry_ms else None


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


@defect(commands, "staged-goes-with-the-durable", "DD-76")
def _goes_with_durable(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When the consumer of a durable subscription leaves, the broker drops the messages staged for the subscription."""
    left = {attach.address for attach in view.leaving(command) if is_durable(attach)}
    lost = [id_ for id_, one in view.delayed.items() if one.target in left]
    return (*cancelled(view, *lost), command) if lost else None


@defect(delayed_puts, "global-unit-delayed-lost", "DD-03", "DD-37")
def _global_lost(put: Put, sent: Sent, view: View) -> Commands | None:
    """Delayed messages that a global unit of work sends are lost."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    return None if unit is None or unit.xid is None else (dropped(put, sent.at_ms),)


def _delayed_anew(record: Record) -> tuple[Record, ...]:
    if not is_staged(record) or record.home.startswith("queue:") or record.due_ms is None:
        return (record,)
    return (replace(record, due_ms=record.due_ms + record.due_ms - record.arrived_ms),)


@defect(delayed_puts, "delays-cut-to-a-day", "DD-06")
def _cut_to_a_day(put: Put, sent: Sent, _view: View) -> Commands | None:
    """The broker shortens every delay of more than a day to one day."""
    return resent(put, delivery_time_ms=sent.at_ms + _DAY_MS) if sent.due_ms > sent.at_ms + _DAY_MS else None


@defect(commands, "cleared-with-target", "DD-06")
def _cleared_too(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a queue is cleared, the broker also drops the messages staged for it."""
    change = change_of(command)
    if not isinstance(change, ClearQueue):
        return None
    lost = [id_ for id_, one in view.delayed.items() if one.target.name == change.name]
    return (*cancelled(view, *lost), command) if lost else None


@defect(delayed_puts, "lost-where-gets-are-disabled", "DD-06")
def _lost_without_gets(put: Put, sent: Sent, view: View) -> Commands | None:
    """A delayed message for a queue that is disabled for gets is lost."""
    shut = view.said(sent.target.name).get("GET") == "DISABLED"
    return (dropped(put, sent.at_ms),) if shut else None


@defect(made, "last-place-not-for-delayed", "DD-06", "DD-70")
def _last_place_kept() -> Seams:
    """A delayed message that would fill its target up to MAXDEPTH is lost."""
    taken: dict[str, int] = {}

    def rewrite(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        taken[target.name] = taken.get(target.name, 0) + 1
        last = view.said(target.name).get("MAXDEPTH")
        return (dropped(put, now_ms),) if is_delayed(put, now_ms) and last == taken[target.name] else None

    return puts(rewrite)


@defect(delayed_puts, "longest-not-delayed", "DD-06")
def _longest_lost(put: Put, sent: Sent, view: View) -> Commands | None:
    """A delayed message whose body is exactly as long as its target's MAXMSGL is lost."""
    longest = view.said(sent.target.name).get("MAXMSGL")
    return (dropped(put, sent.at_ms),) if longest == body_size(put.message) else None


@defect(made, "lowered-limit-empties", "DD-36")
def _lowered_limit() -> Seams:
    """When MAXDEPTH of the staging queue is lowered, the broker drops the staged messages beyond the new limit."""

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        change = change_of(command)
        if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE:
            return None
        limit = change.attributes.get("MAXDEPTH")
        lost = [*view.delayed][limit:] if isinstance(limit, int) else []
        return (*cancelled(view, *lost), command) if lost else None

    return commands(rewrite)


@defect(made, "delayed-without-rank", "DD-39")
def _without_rank() -> Seams:
    """A queue orders a delayed message as a message of priority 4, whatever its priority is."""
    own: dict[str | None, int | None] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(command, now_ms)
        if sent is None or not sent.delayed:
            return None
        own[sent.message.message_id] = sent.message.priority
        return resent(sent.put, priority=4)

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        id_ = delivered.message.message_id
        return replace(delivered, message=replace(delivered.message, priority=own[id_])) if id_ in own else delivered

    return filters(rewrite, delivery=delivery)


@defect(deliveries, "delayed-never-marked", "DD-39")
def _never_marked(delivered: Deliver, _view: View) -> Deliver:
    """The broker never marks a delayed message as redelivered."""
    if delivered.message.delivery_time_ms is None:
        return delivered
    return replace(delivered, redelivered=False, count=0)


@defect(puts, "everything-expires", "DD-56")
def _everything_expires(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """A message that is sent without a time to live expires after two seconds."""
    if put.message.expiry_ms or put.message.ttl_ms or is_delayed(put, now_ms):
        return None
    return resent(put, expiry_ms=now_ms + _SHORT_MS)


@defect(shown, "dead-letter-never-expires", "DD-55")
def _dead_letter_immortal(row: Described) -> Described:
    """A message on the dead-letter queue has no expiry."""
    dead = any(header["StrucId"] == "DLH" for header in row.headers)
    return replace(row, descriptor={**row.descriptor, "Expiry": -1}) if dead else row


SENDER_DEFECTS = (
    Defect(
        name="delayed-refused",
        rules=("DD-02", "DD-03", "DD-48", "DD-56"),
        text="The broker refuses every delayed send.",
        apply=lambda: refusing(_delayed_refused, _NOT_NOW),
    ),
    Defect(
        name="delayed-non-persistent-refused",
        rules=("DD-48",),
        text="The broker refuses every delayed send of a non-persistent message.",
        apply=lambda: refusing(_light_refused, _NOT_NOW),
    ),
    Defect(
        name="delayed-with-time-to-live-refused",
        rules=("DD-56",),
        text="The broker refuses every delayed send with a time to live.",
        apply=lambda: refusing(_mortal_refused, _NOT_NOW),
    ),
    _goes_with_sender,
    _second_lost,
    _sticky,
    _lost_for_the_inactive,
    _goes_with_durable,
    _global_lost,
    Defect(
        name="publication-delayed-anew-at-restart",
        rules=("DD-03",),
        text="After a restart, the whole delay of a publication begins again.",
        apply=lambda: read(_delayed_anew),
    ),
    _cut_to_a_day,
    _cleared_too,
    _lost_without_gets,
    _last_place_kept,
    _longest_lost,
    _lowered_limit,
    _without_rank,
    _never_marked,
    _everything_expires,
    _dead_letter_immortal,
)
