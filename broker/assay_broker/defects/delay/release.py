"""Defects of the end of a delay that take one more condition to show, and of whom a publication is for."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change
from assay_broker.core.commands import (
    Command,
    Commit,
    FromMember,
    Put,
)
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.messages.reports import options
from assay_broker.core.networks.parcels import Carry
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME, home_of
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import Defect
from assay_broker.defects.sends import (
    HOLD,
    SHIFT,
    cancelled,
    change_of,
    elsewhere,
    handed_in,
    is_delayed,
    is_durable,
    is_topic,
    unheard,
    with_options,
)
from assay_broker.defects.shapes import (
    Commands,
    changes,
    commands,
    delayed_messages,
    filters,
    puts,
    read,
    read_together,
    shown,
)
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.report_options import MQMT_REPORT, Mqro

_PATIENCE_MS = 8_000
_OTHER_ID = "ID:" + "CD" * 24


def _without(record: Record, dropped: Mqro, *, expiring: bool = False) -> tuple[Record, ...]:
    """A staged message's record without some report options."""
    if not isinstance(record, MessageStored) or record.due_ms is None or (expiring and record.expires_ms is None):
        return (record,)
    return (replace(record, message=with_options(record.message, options(record.message) & ~dropped)),)


# DD-51


def _matched_at_commit(command: Command, now_ms: int, view: View) -> Commands | None:
    """A delayed publication of a unit of work is matched when that is committed."""
    if isinstance(command, Commit):
        sent = (one for unit in view.ended(command) for one in unit.sent if one.delayed and is_topic(one.target))
        return (*(unheard(one.put) for one in sent), command)
    now = view.sent(command, now_ms)
    if now is None or now.put.unit is None or not now.delayed or not is_topic(now.target):
        return None
    return elsewhere(now.put, HOLD, view)


def _matched_at_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """A start stages what waits for one durable subscription for every other one on its topic, too."""
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


def _goes_with_a_sharer(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a client that shares a subscription leaves, what is staged for its topic is dropped."""
    left = {attach.address for attach in view.leaving(command) if attach.shared}
    lost = [id_ for id_, one in view.delayed.items() if one.target in left]
    return (*cancelled(view, *lost), command) if lost else None


# DD-57, DD-70, DD-71, DD-73


def _expired_while_down(record: Record) -> tuple[Record, ...]:
    return _without(record, Mqro.EXPIRATION_WITH_FULL_DATA, expiring=True)


def _discard_forgotten(record: Record) -> tuple[Record, ...]:
    return _without(record, Mqro.DISCARD_MSG)


def _alias_never_shut(change: Change, view: View) -> Change | None:
    """An alias for which something is staged stays enabled for puts, whatever an administrator says."""
    if not isinstance(change, AlterObject) or change.kind is not Kind.QALIAS or "PUT" not in change.attributes:
        return None
    staged = any(one.target.name == change.name for one in view.delayed.values())
    return replace(change, attributes={}) if staged else None


def _under_other_ids(described: Described) -> Described:
    if not any(header["StrucId"] == "DLH" for header in described.headers):
        return described
    if described.message.delivery_time_ms is None:
        return described
    ids = {"MsgId": native_id(_OTHER_ID).hex(), "CorrelId": native_id(described.message.message_id).hex()}
    return replace(described, descriptor={**described.descriptor, **ids})


def _target_of_the_first() -> Seams:
    """Every dead letter names the target of the first."""
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


def _replies_to_the_first() -> Seams:
    """Every report on a delayed message goes where the first was to go."""
    first: list[Address] = []

    def replying(message: Message) -> Message:
        if message.reply_to is None:
            return message
        first.append(message.reply_to)
        return replace(message, reply_to=first[0])

    return delayed_messages(replying)


def _one_copy_after_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """Of the staged copies of a publication a start finds the first."""
    found: set[str | None] = set()
    kept: list[Record] = []
    for record in records:
        if isinstance(record, MessageStored) and record.due_ms is not None:
            if record.message.message_id in found:
                continue
            found.add(record.message.message_id)
        kept.append(record)
    return tuple(kept)


def _one_is_kept(command: Command, now_ms: int, view: View) -> Commands | None:
    """Of what waits past its delay for a queue that is enabled again, only the first message is found."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.attributes.get("PUT") != "ENABLED":
        return None
    late = [id_ for id_, one in view.delayed.items() if one.target.name == change.name and one.due_ms <= now_ms]
    return (*cancelled(view, *late[1:]), command) if len(late) > 1 else None


def _given_up(command: Command, now_ms: int, view: View) -> Commands | None:
    """What could not be put for so long after its delay is dropped."""
    late = [id_ for id_, one in view.delayed.items() if one.due_ms + _PATIENCE_MS <= now_ms]
    return (*cancelled(view, *late), command) if late else None


def _dead_letter_report_bare(described: Described) -> Described:
    dead = any(header["StrucId"] == "DLH" for header in described.headers)
    if not dead or described.descriptor.get("MsgType") != MQMT_REPORT:
        return described
    return replace(described, message=replace(described.message, body=None))


# DD-76


def _left_at_restart() -> Seams:
    """A publication that was staged for a subscriber without a durable subscription is dead-lettered at the start."""
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


def _waits_again(command: Command, now_ms: int, view: View) -> Commands | None:
    """A publication that was delayed at one queue manager is delayed as long again at the other."""
    parcel = command.parcel if isinstance(command, FromMember) else None
    if not isinstance(command, FromMember) or not isinstance(parcel, Carry):
        return None
    message = parcel.message
    if message.delivery_time_ms is None or parcel.target.kind is not AddressKind.TOPIC:
        return None
    waits_ms = message.delivery_time_ms - (message.creation_ms or message.delivery_time_ms)
    again = handed_in(view, parcel.target, replace(message, delivery_time_ms=now_ms + waits_ms))
    return (*again, replace(command, parcel=replace(parcel, expires_ms=now_ms)))


RELEASE_DEFECTS = (
    Defect(
        name="publication-matched-at-commit",
        rules=("DD-51",),
        text="A delayed publication of a unit of work is matched at the commit.",
        apply=lambda: commands(_matched_at_commit),
    ),
    Defect(
        name="publication-matched-at-restart",
        rules=("DD-51",),
        text="A restart stages delayed publications for durable subscriptions that came during the delay.",
        apply=lambda: read_together(_matched_at_restart),
    ),
    Defect(
        name="staged-goes-with-one-sharer",
        rules=("DD-51",),
        text="When one of several leaves a shared subscription, what is staged for it is dropped.",
        apply=lambda: filters(_goes_with_a_sharer),
    ),
    Defect(
        name="expired-while-down-unreported",
        rules=("DD-57",),
        text="What expires on the staging queue after a restart is not reported.",
        apply=lambda: read(_expired_while_down),
    ),
    Defect(
        name="alias-never-shut",
        rules=("DD-70",),
        text="An alias for which something is staged cannot be disabled for puts.",
        apply=lambda: changes(_alias_never_shut),
    ),
    Defect(
        name="dead-letter-under-staging-ids",
        rules=("DD-70",),
        text="A dead letter bears the ids under which it was staged.",
        apply=lambda: shown(_under_other_ids),
    ),
    Defect(
        name="discard-forgotten-at-restart",
        rules=("DD-70",),
        text="After a restart, staged messages do not ask to be discarded any more.",
        apply=lambda: read(_discard_forgotten),
    ),
    Defect(
        name="dead-letters-name-the-first-target",
        rules=("DD-70",),
        text="Every dead letter names the target of the first one.",
        apply=_target_of_the_first,
    ),
    Defect(
        name="reported-to-the-first",
        rules=("DD-72",),
        text="Reports on delayed messages go to the reply-to queue of the first of them.",
        apply=_replies_to_the_first,
    ),
    Defect(
        name="one-copy-after-restart",
        rules=("DD-80",),
        text="After a restart one of the copies of a delayed publication is found, and the others are lost.",
        apply=lambda: read_together(_one_copy_after_restart),
    ),
    Defect(
        name="one-is-tried-again",
        rules=("DD-71",),
        text="Of several messages that wait for a queue past their delays, one survives.",
        apply=lambda: filters(_one_is_kept),
    ),
    Defect(
        name="given-up-in-the-end",
        rules=("DD-71",),
        text="A message that could not be put for eight seconds is dropped.",
        apply=lambda: filters(_given_up),
    ),
    Defect(
        name="dead-lettered-report-bare",
        rules=("DD-73",),
        text="A report on the dead-letter queue has lost its data.",
        apply=lambda: shown(_dead_letter_report_bare),
    ),
    Defect(
        name="gone-at-restart-dead-lettered",
        rules=("DD-76",),
        text="A publication whose subscriber has gone with a restart is dead-lettered.",
        apply=_left_at_restart,
    ),
    Defect(
        name="proxy-publication-waits-again",
        rules=("DD-81",),
        text="A delayed publication is delayed as long again at the other queue manager.",
        apply=lambda: commands(_waits_again),
    ),
)
"""Defects of the end of a delay that take one more condition to show, and of whom a publication is for."""
