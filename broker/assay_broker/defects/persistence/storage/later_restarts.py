"""Defects of a second restart, of a restart during a unit of work, and of expiry or client ids over a restart."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import ClearQueue
from assay_broker.core.commands import Administer, Backout, Command, Commit, Connect, Disconnect, Put, Settle
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import MessageRemoved, MessageStored, Record, RetainedSet, SubscriptionDefined
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import is_delayed, is_durable, is_topic, resent
from assay_broker.defects.shapes import Commands, commands, filters, puts, read, written
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address


@defect(made, "recovered-removals-unwritten", "PD-20", "PD-24")
def _recovered_removals_unwritten() -> Seams:
    """A message that survived one restart and was then consumed comes back at the next restart."""
    old: set[int] = set()

    def learn(records: Sequence[Record]) -> tuple[Record, ...]:
        old.update(record.key for record in records if isinstance(record, MessageStored))
        return tuple(records)

    def written(records: Sequence[Record]) -> tuple[Record, ...]:
        return tuple(one for one in records if not isinstance(one, MessageRemoved) or one.key not in old)

    return Seams(read=learn, written=written)


@defect(made, "second-restart-loses-older", "PD-20", "PD-23", "PD-25")
def _second_restart_loses() -> Seams:
    """A restart loses messages and durable subscriptions that survived an earlier restart."""
    known: set[tuple[type[Record], int]] = set()

    def lose(records: Sequence[Record]) -> tuple[Record, ...]:
        kept: list[Record] = []
        for record in records:
            if isinstance(record, MessageStored | SubscriptionDefined):
                name = type(record), record.key if isinstance(record, MessageStored) else record.number
                if name in known:
                    continue
                known.add(name)
            kept.append(record)
        return tuple(kept)

    return Seams(read=lose)


@defect(made, "unit-loses-what-it-took-at-restart", "PD-20")
def _unit_loses_taken() -> Seams:
    """A restart loses messages that a unit of work received and did not commit, even after a rollback."""
    taken: set[str | None] = set()

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Settle) and command.unit is not None:
            taken.update(one.message.message_id for one in view.held(command))
        elif isinstance(command, Commit):
            taken.difference_update(one.message.message_id for unit in view.ended(command) for one in unit.taken)
        return None

    def lose(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        return tuple(
            one for one in records if not isinstance(one, MessageStored) or one.message.message_id not in taken
        )

    return filters(note, read=lose)


@defect(read, "expiry-lost-at-restart", "PD-20", "PD-25")
def _expiry_lost(record: Record) -> tuple[Record, ...]:
    """After a restart, a stored message never expires."""
    if not isinstance(record, MessageStored) or record.expires_ms is None:
        return (record,)
    lasting = replace(opened(record.message), ttl_ms=None, expiry_ms=None)
    return (replace(record, expires_ms=None, message=lasting),)


@defect(read, "shared-client-forgotten-at-restart", "PD-25")
def _client_forgotten(record: Record) -> tuple[Record, ...]:
    """After a restart, a shared durable subscription has no client id."""
    shared = isinstance(record, SubscriptionDefined) and record.shared
    return (replace(record, client_id=None),) if isinstance(record, SubscriptionDefined) and shared else (record,)


@defect(puts, "mixed-publication-not-on-disk", "PD-23")
def _mixed_not_on_disk(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker writes no publications to disk for durable subscribers while the topic has a non-durable one."""
    live = [attach for attach in view.on(target) if not is_durable(attach)] if is_topic(target) else []
    return resent(put, durable=False) if live and put.message.durable and not is_delayed(put, now_ms) else None


@defect(commands, "rolled-back-publication-kept", "PD-21", "PD-23")
def _rolled_back_kept(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A rollback commits the messages that the unit of work sent."""
    if not isinstance(command, Backout) or not any(unit.sent for unit in view.ended(command)):
        return None
    return (Commit(command.connection, command.token, command.unit),)


@defect(made, "queue-cleared-with-its-last-user", "PD-18", "PD-32")
def _cleared_with_last_user() -> Seams:
    """A queue loses its messages when the last connection that used it closes."""
    senders: dict[int, set[Address]] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if isinstance(command, Put) and target is not None and not is_topic(target):
            senders.setdefault(command.connection, set()).add(target)
        if not isinstance(command, Disconnect) or not command.clean:
            return None
        left = senders.pop(command.connection, set())
        unused = [one for one in left if not view.on(one) and not any(one in others for others in senders.values())]
        clears = tuple(Administer(view.agent, None, ClearQueue(one.name)) for one in unused)
        return (command, Connect(view.agent, None), *clears) if clears else None

    return commands(rewrite)


@defect(written, "replaced-retained-back-after-restart", "PD-27")
def _replaced_back(record: Record) -> tuple[Record, ...]:
    """A persistent retained publication that a non-persistent one has replaced is there again after a restart."""
    return () if isinstance(record, RetainedSet) and record.message is None else (record,)


LATER_RESTART_DEFECTS = (
    _replaced_back,
    _recovered_removals_unwritten,
    _second_restart_loses,
    _unit_loses_taken,
    _expiry_lost,
    _client_forgotten,
    _mixed_not_on_disk,
    _rolled_back_kept,
    _cleared_with_last_user,
)
