"""Defects of the messages that durable subscriptions store while their subscribers are inactive."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Put
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import dropped, is_delayed, is_durable, is_topic
from assay_broker.defects.shapes import Commands, commands, puts, read
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address

_KEPT_AT_MOST = 6


def _home(subscription: SubscriptionDefined) -> str:
    return f"subscription://{subscription.number}"


@defect(made, "backlog-overflows", "PD-13")
def _overflows() -> Seams:
    """The broker stores only six publications for a topic's inactive subscribers, and silently drops further ones."""
    counts: dict[Address, int] = {}

    def drop(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
        if not is_topic(target) or is_delayed(put, now_ms):
            return None
        counts[target] = 0 if view.on(target) else counts.get(target, 0) + 1
        return (dropped(put, now_ms),) if counts[target] > _KEPT_AT_MOST else None

    return puts(drop)


@defect(made, "selective-backlog-dropped", "PD-25")
def _selective_dropped() -> Seams:
    """A durable subscription with a selector stores no messages while its subscriber is inactive."""
    selecting: set[Address] = set()

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and is_durable(command) and command.selector:
            selecting.add(command.address)
        target = view.target(command)
        if not isinstance(command, Put) or target not in selecting or view.on(target) or is_delayed(command, now_ms):
            return None
        return (dropped(command, now_ms),)

    return commands(rewrite)


@defect(read, "backlog-reversed-by-restart", "PD-15")
def _newest_first(record: Record) -> tuple[Record, ...]:
    """A restart reverses the order of the messages that a durable subscription has stored.

    The broker orders the messages that it reads at a start by their arrival; a record's key grows with each arrival.
    """
    if isinstance(record, MessageStored) and record.home.startswith("subscription://"):
        return (replace(record, arrived_ms=-record.key),)
    return (record,)


@defect(made, "selective-not-on-disk", "PD-23")
def _selective_not_on_disk() -> Seams:
    """Messages of durable subscriptions with a selector never reach the disk."""
    selective: set[str] = set()

    def learn(records: Sequence[Record]) -> tuple[Record, ...]:
        found = (record for record in records if isinstance(record, SubscriptionDefined) and record.selector)
        selective.update(_home(subscription) for subscription in found)
        return tuple(records)

    def written(records: Sequence[Record]) -> tuple[Record, ...]:
        return tuple(
            record for record in learn(records) if not isinstance(record, MessageStored) or record.home not in selective
        )

    return Seams(written=written, read=learn)


@defect(read, "shared-lost-at-restart", "PD-25")
def _shared_lost(record: Record) -> tuple[Record, ...]:
    """A restart loses shared durable subscriptions."""
    return () if isinstance(record, SubscriptionDefined) and record.shared else (record,)


BACKLOG_DEFECTS = (
    _overflows,
    _selective_dropped,
    _newest_first,
    _selective_not_on_disk,
    _shared_lost,
)
