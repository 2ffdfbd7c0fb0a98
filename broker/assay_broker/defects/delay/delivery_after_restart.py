"""Defects in the delivery of delayed messages after a restart or a kill (DD-03, DD-27)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Command, FromMember
from assay_broker.core.effects import Effect, ToMember
from assay_broker.core.networks.parcels import Carry, Outstanding, Taken
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageRemoved, MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import lost_at_second_restart
from assay_broker.defects.sends import SHIFT, is_staged
from assay_broker.defects.shapes import Commands, commands, filters, read, read_together, reading, writing
from assay_broker.defects.view import View
from assay_broker.seams import Seams


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


@defect(read, "staged-publications-lost-at-restart", "DD-03")
def _publications_lost(record: Record) -> tuple[Record, ...]:
    """A restart loses persistent delayed publications, but keeps delayed messages for queues."""
    lost = is_staged(record) and record.home.startswith("subscription://")
    return () if lost else (record,)


@defect(read_together, "staged-for-patterns-lost-at-restart", "DD-03")
def _patterns_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses persistent delayed publications for subscriptions to topic patterns."""
    homes = {
        f"{SUBSCRIPTION_HOME}{one.number}"
        for one in records
        if isinstance(one, SubscriptionDefined) and {"#", "+"} & {*one.topic.name}
    }
    return tuple(one for one in records if not (is_staged(one) and one.home in homes))


@defect(read_together, "staged-twice-at-restart", "DD-03")
def _staged_twice(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart recovers each stored delayed message twice."""
    out: list[Record] = []
    for record in records:
        out.append(record)
        if is_staged(record):
            out.append(replace(record, key=record.key + SHIFT))
    return tuple(out)


@defect(made, "moved-publication-stays-stored", "DD-03")
def _moved_stays() -> Seams:
    """A released publication stays in the store as staged, so the broker releases it again after a restart."""
    staged: set[int] = set()

    def keep(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        staged.update(one.key for one in records if is_staged(one) and one.home.startswith(SUBSCRIPTION_HOME))
        return tuple(one for one in records if not (isinstance(one, MessageRemoved) and one.key in staged))

    return writing(keep)


@defect(reading, "prepared-delays-forgotten", "DD-27")
def _prepared_forgotten(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
    """After a kill of the broker, the delayed messages of a prepared branch are due at once."""
    return tuple(
        replace(one, due_ms=one.arrived_ms)
        if isinstance(one, MessageStored) and one.unit is not None and one.due_ms is not None
        else one
        for one in records
    )


def _delayed_anew(record: Record) -> tuple[Record, ...]:
    if not is_staged(record) or record.home.startswith("queue:") or record.due_ms is None:
        return (record,)
    return (replace(record, due_ms=record.due_ms + record.due_ms - record.arrived_ms),)


def _is_greeting(command: Command) -> bool:
    return isinstance(command, FromMember) and isinstance(command.parcel, Outstanding) and command.parcel.answer


@defect(made, "not-sent-again-to-member", "DD-03", "DD-81")
def _not_sent_again() -> Seams:
    """The broker does not resend a message to a queue manager that was down when the broker first sent it."""
    greeted = False

    def asked(command: Command, _now_ms: int, _view: View) -> None:
        nonlocal greeted
        greeted = _is_greeting(command)

    def effects(passing: tuple[Effect, ...], _now_ms: int, _view: View) -> tuple[Effect, ...]:
        dropped_now = greeted
        return tuple(
            one for one in passing if not (dropped_now and isinstance(one, ToMember) and isinstance(one.parcel, Carry))
        )

    return filters(asked, effects=effects)


@defect(commands, "receipts-of-others-unheard", "DD-03")
def _receipts_unheard(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker ignores another queue manager's confirmations, and resends the messages when that one restarts."""
    return () if isinstance(command, FromMember) and isinstance(command.parcel, Taken) else None


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


DELIVERY_AFTER_RESTART_DEFECTS = (
    _staged_lost,
    _released_again,
    Defect(
        name="staged-lost-at-second-restart",
        rules=("DD-03",),
        text="Persistent delayed messages outlive one restart during their delay and are gone after the second.",
        apply=lambda: lost_at_second_restart(is_staged),
    ),
    _publications_lost,
    _patterns_lost,
    _staged_twice,
    _moved_stays,
    _prepared_forgotten,
    Defect(
        name="publication-delayed-anew-at-restart",
        rules=("DD-03",),
        text="After a restart, the whole delay of a publication begins again.",
        apply=lambda: read(_delayed_anew),
    ),
    _not_sent_again,
    _receipts_unheard,
    _anew_after_restart,
    _one_moved_after_restart,
)
