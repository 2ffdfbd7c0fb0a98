"""Defects at the end of a delay that show only under a further condition, and in the choice of subscriptions."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change
from assay_broker.core.commands import Attach, Command, Commit, FromMember, Put
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.messages.reports import options
from assay_broker.core.networks.parcels import Carry
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME, home_of
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import (
    HOLD,
    SHIFT,
    cancelled,
    change_of,
    dropped,
    elsewhere,
    handed_in,
    is_delayed,
    is_durable,
    is_topic,
    unheard,
    with_options,
)
from assay_broker.defects.shapes import Commands, changes, commands, delayed_messages, puts, read, read_together, shown
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.report_options import MQMT_REPORT, Mqro

_PATIENCE_MS = 8_000
_OTHER_ID = "ID:" + "CD" * 24


def _without(record: Record, dropped: Mqro, *, expiring: bool = False) -> tuple[Record, ...]:
    """Remove report options from the record of a staged message; any other record stays as it is.

    Args:
        record: The record.
        dropped: The options to remove.
        expiring: Whether to change only messages with an expiry.
    """
    if not isinstance(record, MessageStored) or record.due_ms is None or (expiring and record.expires_ms is None):
        return (record,)
    return (replace(record, message=with_options(record.message, options(record.message) & ~dropped)),)


# DD-51


@defect(commands, "publication-matched-at-commit", "DD-51")
def _matched_at_commit(command: Command, now_ms: int, view: View) -> Commands | None:
    """For delayed publications in a unit of work, the broker chooses the subscriptions at the commit."""
    if isinstance(command, Commit):
        sent = (one for unit in view.ended(command) for one in unit.sent if one.delayed and is_topic(one.target))
        return (*(unheard(one.put) for one in sent), command)
    now = view.sent(command, now_ms)
    if now is None or now.put.unit is None or not now.delayed or not is_topic(now.target):
        return None
    return elsewhere(now.put, HOLD, view)


@defect(read_together, "publication-matched-at-restart", "DD-51")
def _matched_at_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart also stages delayed publications for durable subscriptions that were created during the delay."""
    subscriptions = [one for one in records if isinstance(one, SubscriptionDefined)]
    staged = [
        one
        for one in records
        if isinstance(one, MessageStored) and one.due_ms is not None and one.home.startswith(SUBSCRIPTION_HOME)
    ]
    have = {(one.message.message_id, one.home) for one in staged}
    further = (
        replace(one, key=one.key + SHIFT * defined.number, home=f"{SUBSCRIPTION_HOME}{defined.number}")
        for one in staged
        for defined in subscriptions
        if defined.topic == one.message.to
        and (one.message.message_id, f"{SUBSCRIPTION_HOME}{defined.number}") not in have
    )
    return (*records, *further)


@defect(commands, "staged-goes-with-one-sharer", "DD-51", "DD-76")
def _goes_with_a_sharer(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When one of several subscribers leaves a shared subscription, the subscription's staged messages are lost."""
    left = {attach.address for attach in view.leaving(command) if attach.shared}
    lost = [id_ for id_, one in view.delayed.items() if one.target in left]
    return (*cancelled(view, *lost), command) if lost else None


# DD-57, DD-70, DD-71, DD-73


@defect(read, "expired-while-down-unreported", "DD-57")
def _expired_while_down(record: Record) -> tuple[Record, ...]:
    """After a restart, the broker sends no expiration report when a staged message expires."""
    return _without(record, Mqro.EXPIRATION_WITH_FULL_DATA, expiring=True)


@defect(read, "discard-forgotten-at-restart", "DD-70")
def _discard_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart removes the option MQRO_DISCARD_MSG from staged messages."""
    return _without(record, Mqro.DISCARD_MSG)


@defect(changes, "alias-never-shut", "DD-70")
def _alias_never_shut(change: Change, view: View) -> Change | None:
    """An alias cannot be disabled for puts while a message is staged for it."""
    if not isinstance(change, AlterObject) or change.kind is not Kind.QALIAS or "PUT" not in change.attributes:
        return None
    staged = any(one.target.name == change.name for one in view.delayed.values())
    return replace(change, attributes={}) if staged else None


@defect(shown, "dead-letter-under-staging-ids", "DD-70")
def _under_other_ids(described: Described) -> Described:
    """A message on the dead-letter queue has the message id and correlation id that it had on the staging queue."""
    if not any(header["StrucId"] == "DLH" for header in described.headers):
        return described
    if described.message.delivery_time_ms is None:
        return described
    ids = {"MsgId": native_id(_OTHER_ID).hex(), "CorrelId": native_id(described.message.message_id).hex()}
    return replace(described, descriptor={**described.descriptor, **ids})


@defect(made, "dead-letters-name-the-first-target", "DD-70")
def _target_of_the_first() -> Seams:
    """The dead-letter header of each message names the target of the first message on the dead-letter queue."""
    first: list[Value] = []

    def named(described: Described) -> Described:
        for header in described.headers:
            if header["StrucId"] == "DLH" and not first:
                first.append(header["DestQName"])
        headers = tuple(
            {**header, "DestQName": first[0]} if header["StrucId"] == "DLH" else header for header in described.headers
        )
        return replace(described, headers=headers)

    return shown(named)


@defect(made, "reported-to-the-first", "DD-72")
def _replies_to_the_first() -> Seams:
    """The broker sends reports on all delayed messages to the reply-to queue of the first delayed message."""
    first: list[Address] = []

    def replying(message: Message) -> Message:
        if message.reply_to is None:
            return message
        first.append(message.reply_to)
        return replace(message, reply_to=first[0])

    return delayed_messages(replying)


@defect(read_together, "one-copy-after-restart", "DD-80")
def _one_copy_after_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses all but one of the staged copies of a delayed publication."""
    found: set[str | None] = set()
    kept: list[Record] = []
    for record in records:
        if isinstance(record, MessageStored) and record.due_ms is not None:
            if record.message.message_id in found:
                continue
            found.add(record.message.message_id)
        kept.append(record)
    return tuple(kept)


@defect(commands, "one-is-tried-again", "DD-71")
def _one_is_kept(command: Command, now_ms: int, view: View) -> Commands | None:
    """When a target is enabled for puts, the broker delivers only one of the overdue messages for it."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.attributes.get("PUT") != "ENABLED":
        return None
    late = [id_ for id_, one in view.delayed.items() if one.target.name == change.name and one.due_ms <= now_ms]
    return (*cancelled(view, *late[1:]), command) if len(late) > 1 else None


@defect(commands, "given-up-in-the-end", "DD-71")
def _given_up(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker drops a message that it cannot put to its target within eight seconds after the delay."""
    late = [id_ for id_, one in view.delayed.items() if one.due_ms + _PATIENCE_MS <= now_ms]
    return (*cancelled(view, *late), command) if late else None


@defect(shown, "dead-lettered-report-bare", "DD-73")
def _dead_letter_report_bare(described: Described) -> Described:
    """A report on the dead-letter queue has no data of the original message."""
    dead = any(header["StrucId"] == "DLH" for header in described.headers)
    if not dead or described.descriptor.get("MsgType") != MQMT_REPORT:
        return described
    return replace(described, message=replace(described.message, body=None))


# DD-76


@defect(made, "gone-at-restart-dead-lettered", "DD-76")
def _left_at_restart() -> Seams:
    """The broker dead-letters a delayed publication whose non-durable subscription ended with a restart."""
    passing: dict[str, Message] = {}

    def note(put: Put, target: Address, now_ms: int, view: View) -> None:
        if is_topic(target) and is_delayed(put, now_ms) and not all(is_durable(attach) for attach in view.on(target)):
            passing[put.message.message_id or ""] = put.message

    def begin(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        lost = [*passing.values()]
        passing.clear()
        dead = (
            MessageStored(
                key=SHIFT + number,
                home=home_of(DEAD_LETTER_QUEUE),
                message=message,
                arrived_ms=message.delivery_time_ms or 0,
                expires_ms=None,
                due_ms=None,
            )
            for number, message in enumerate(lost)
        )
        return (*records, *dead)

    return puts(note, begin)


# DD-81


@defect(commands, "proxy-publication-waits-again", "DD-81")
def _waits_again(command: Command, now_ms: int, view: View) -> Commands | None:
    """A queue manager that gets a delayed publication from another queue manager delays it for the same time again."""
    parcel = command.parcel if isinstance(command, FromMember) else None
    if not isinstance(command, FromMember) or not isinstance(parcel, Carry):
        return None
    message = parcel.message
    if message.delivery_time_ms is None or parcel.target.kind is not AddressKind.TOPIC:
        return None
    waits_ms = message.delivery_time_ms - (message.creation_ms or message.delivery_time_ms)
    again = handed_in(view, parcel.target, replace(message, delivery_time_ms=now_ms + waits_ms))
    return (*again, replace(command, parcel=replace(parcel, expires_ms=now_ms)))


@defect(made, "unmatched-without-a-sharer", "DD-51", "DD-80")
def _unmatched_without_sharer() -> Seams:
    """The broker drops delayed publications while a shared durable subscription has no subscriber."""
    shared: list[Attach] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and command.shared and is_durable(command):
            shared.append(command)
        now = view.sent(command, now_ms)
        if now is None or not now.delayed or not is_topic(now.target) or not shared:
            return None
        present = {one.name for known in shared for one in view.on(known.address) if one.shared}
        return None if present.issuperset(one.name for one in shared) else (dropped(now.put, now_ms),)

    return commands(rewrite)


@defect(read_together, "dead-letter-header-lost-by-restart", "DD-70", "DD-73")
def _header_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses the dead-letter headers of the messages on the dead-letter queue."""
    return tuple(replace(one, dead=None) if isinstance(one, MessageStored) else one for one in records)


RELEASE_DEFECTS = (
    _matched_at_commit,
    _matched_at_restart,
    _goes_with_a_sharer,
    _expired_while_down,
    _alias_never_shut,
    _under_other_ids,
    _discard_forgotten,
    _target_of_the_first,
    _replies_to_the_first,
    _one_copy_after_restart,
    _one_is_kept,
    _given_up,
    _dead_letter_report_bare,
    _left_at_restart,
    _waits_again,
    _unmatched_without_sharer,
    _header_lost,
)
