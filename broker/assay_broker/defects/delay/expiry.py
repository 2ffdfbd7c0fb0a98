"""Defects in the expiry of delayed messages (DD-56)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Command, Put, Stored, StoreFailed, Tick
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import MessageRemoved, MessageStored, Record
from assay_broker.defects.delay.filters import end_of_delay, sent_at_commit
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import handed_in, is_delayed, left_ms, resent, unheard
from assay_broker.defects.shapes import Commands, filters, puts, read, refusing
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc

_SHORT_MS = 2_000
_NOT_NOW = "It is not accepted now."


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
    due, expiry = end_of_delay(put, now_ms), put.message.expiry_ms
    if due is None or not expiry or expiry <= due:
        return None
    return resent(put, expiry_ms=due)


@defect(puts, "edge-released-twice", "DD-56")
def _edge_twice(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker delivers a message twice if its time to live ends at the same moment as its delay.

    The defect stands for a broker in which the clean-up of expired messages and the release both deliver the message.
    """
    due, expiry = put.message.delivery_time_ms, put.message.expiry_ms
    if not left_ms(put.message, now_ms) or due is None or not expiry or abs(expiry - due) > 1:
        return None
    released = replace(put, message=replace(put.message, expiry_ms=None, ttl_ms=None))
    return (released, unheard(released))


def _expires_later(message: Message, by_ms: int) -> Message:
    return replace(message, expiry_ms=(message.expiry_ms or 0) + by_ms)


def _mortal_refused(put: Put, _target: Address, now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.RESOURCE_PROBLEM if is_delayed(put, now_ms) and put.message.expiry_ms else None


@defect(puts, "everything-expires", "DD-56")
def _everything_expires(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """A message that is sent without a delay and without a time to live expires after two seconds."""
    if put.message.expiry_ms or put.message.ttl_ms or is_delayed(put, now_ms):
        return None
    return resent(put, expiry_ms=now_ms + _SHORT_MS)


@defect(puts, "plain-messages-never-expire", "DD-56")
def _never_expire(put: Put, _target: Address, _now_ms: int, _view: View) -> Commands | None:
    """The broker ignores the time to live of messages without properties."""
    return None if put.message.properties else resent(put, ttl_ms=None, expiry_ms=None)


@defect(read, "queued-never-expire-after-restart", "DD-56")
def _unwatched(record: Record) -> tuple[Record, ...]:
    """A restart removes the expiry of messages on queues."""
    queued = isinstance(record, MessageStored) and record.due_ms is None
    return (replace(record, expires_ms=None),) if queued and isinstance(record, MessageStored) else (record,)


@defect(made, "refused-expiry-ends-time-to-live", "DD-56")
def _refused_expiry() -> Seams:
    """If the store refuses to remove an expired message, the message stays on its queue and never expires."""
    stored: dict[int, MessageStored] = {}
    targets: dict[str | None, Address] = {}
    expired: list[MessageStored] = []

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if isinstance(command, Put) and target is not None:
            targets[command.message.message_id] = target
        if not isinstance(command, Stored | StoreFailed):
            return None
        kept = [opened(one.message) for one in expired if one.message.message_id in targets]
        expired.clear()
        if isinstance(command, Stored):
            return None
        endless = [replace(one, expiry_ms=None, ttl_ms=None, delivery_time_ms=None) for one in kept]
        return (command, *(put for one in endless for put in handed_in(view, targets[one.message_id], one)))

    def written(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        for record in records:
            if isinstance(record, MessageStored):
                stored[record.key] = record
            elif isinstance(record, MessageRemoved) and isinstance(view.last, Tick):
                one = stored.get(record.key)
                if one is not None and one.expires_ms is not None and one.expires_ms <= view.last_ms:
                    expired.append(one)
        return tuple(records)

    return filters(rewrite, written=written)


EXPIRY_DEFECTS = (
    Defect(
        name="ttl-check-missing",
        rules=("DD-56",),
        text="Messages are delivered although their time to live is over.",
        apply=lambda: puts(_never_expires),
    ),
    _non_persistent_never_expires,
    _expires_with_delay,
    _edge_twice,
    Defect(
        name="ttl-from-commit",
        rules=("DD-56",),
        text="The time to live of messages that a unit of work sends counts from the commit and not from the send.",
        apply=lambda: sent_at_commit(lambda sent: bool(sent.message.expiry_ms), _expires_later),
    ),
    Defect(
        name="delayed-with-time-to-live-refused",
        rules=("DD-56",),
        text="The broker refuses every delayed send with a time to live.",
        apply=lambda: refusing(_mortal_refused, _NOT_NOW),
    ),
    _everything_expires,
    _never_expire,
    _unwatched,
    _refused_expiry,
)
