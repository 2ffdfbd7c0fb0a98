"""Defects of acknowledgement, redelivery and units of work, for a client that has received several messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, pairwise
from types import MappingProxyType

from msgspec.structs import replace

from assay_broker.core.commands import Command, Disconnect, Put, Settle
from assay_broker.core.effects import Deliver, Effect
from assay_broker.core.records import MessageRemoved, MessageStored, Record
from assay_broker.core.states.tables import Tables
from assay_broker.core.states.units import UnitAction, UnitInput, UnitState
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import SHIFT, accepted, dropped, handed_in
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, read_together, writing
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Outcome

_SEVERAL = 3
_SIX = 6
_TWENTIETH = 20
_TRIES = 2
_NEXT_BUT_ONE = 2


@defect(deliveries, "redelivered-unmarked", "BT-09", "PD-18")
def _unmarked(delivery: Deliver, _view: View) -> Deliver:
    """The broker does not mark redelivered messages as redelivered."""
    return replace(delivery, redelivered=False, count=0)


@defect(commands, "half-returned", "BT-08", "BT-12")
def _half_returned(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """When a receiver returns several messages at once, the broker redelivers only the later half of them."""
    if not isinstance(command, Settle) or command.outcome is not Outcome.MODIFIED or len(command.deliveries) == 1:
        return None
    half = len(command.deliveries) // 2
    kept = replace(command, token=None, deliveries=command.deliveries[:half], outcome=Outcome.ACCEPTED)
    return (kept, replace(command, deliveries=command.deliveries[half:]))


@defect(writing, "one-between-goes-too", "BT-08", "DD-03")
def _one_between(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
    """When the store removes two messages together, it also removes a message that arrived between them."""
    gone = sorted(record.key for record in records if isinstance(record, MessageRemoved))
    between = (first + 1 for first, last in pairwise(gone) if last - first == _NEXT_BUT_ONE)
    return (*records, *map(MessageRemoved, between))


def _last_only(*, in_unit: bool) -> Seams:
    def last(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(command, Settle) or command.outcome is not Outcome.ACCEPTED:
            return None
        if (command.unit is not None) is not in_unit or len(command.deliveries) == 1:
            return None
        return (replace(command, deliveries=command.deliveries[-1:]),)

    return commands(last)


@defect(commands, "lost-with-the-line", "BT-08")
def _lost_with_the_line(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection is lost, two or more unacknowledged messages of one receiver count as consumed."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    several = {link for link, held in view.held_by_link(command).items() if len(held) > 1}
    return accepted(command, view, lambda _attach, delivery: delivery.link in several)


def _last_twice(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection is lost, return the last message of each receiver that holds several to its queue twice."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    several = [held[-1] for held in view.held_by_link(command).values() if len(held) > 1]
    return (command, *(one for last in several for one in handed_in(view, last.origin, last.message)))


@defect(made, "twentieth-loss-brings-last-twice", "BT-09")
def _twentieth_loss_twice() -> Seams:
    """At every twentieth loss of a connection, the last of several unacknowledged messages is redelivered twice."""
    losses = count(1)

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Disconnect) or command.clean:
            return None
        several = any(len(held) > 1 for held in view.held_by_link(command).values())
        return _last_twice(command, now_ms, view) if several and next(losses) % _TWENTIETH == 0 else None

    return commands(rewrite)


@defect(commands, "unit-loses-what-it-sends-after-several", "BT-12")
def _sends_after_several_lost(command: Command, now_ms: int, view: View) -> Commands | None:
    """The broker loses the messages that a unit of work sends after it has received several messages."""
    if not isinstance(command, Put) or command.unit is None:
        return None
    unit = view.units.get((command.connection, command.unit))
    return (dropped(command, now_ms),) if unit is not None and len(unit.taken) > 1 else None


@defect(commands, "acknowledges-six-at-most", "BT-16")
def _six_at_most(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """When a client acknowledges several messages at once, the broker removes only the first six of them."""
    if not isinstance(command, Settle) or command.outcome is not Outcome.ACCEPTED or len(command.deliveries) <= _SIX:
        return None
    return (replace(command, deliveries=command.deliveries[:_SIX]),)


@defect(deliveries, "no-third-try", "BT-12")
def _no_third_try(delivery: Deliver, _view: View) -> Deliver | None:
    """The broker does not redeliver a message after two failed deliveries."""
    return delivery if delivery.count < _TRIES else None


def _in_reverse(effects: tuple[Effect, ...], _now_ms: int) -> tuple[Effect, ...]:
    again = [effect for effect in effects if isinstance(effect, Deliver) and effect.redelivered]
    return tuple(again.pop() if isinstance(effect, Deliver) and effect.redelivered else effect for effect in effects)


@defect(read_together, "last-of-several-recovered-twice", "BT-09")
def _last_of_several_twice(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, a queue that held several messages holds the last of them twice."""
    gone = {record.key for record in records if isinstance(record, MessageRemoved)}
    homes: dict[str, list[MessageStored]] = {}
    for record in records:
        if isinstance(record, MessageStored) and record.key not in gone:
            homes.setdefault(record.home, []).append(record)
    again = (stored[-1] for stored in homes.values() if len(stored) >= _SEVERAL)
    return (*records, *(replace(stored, key=stored.key + SHIFT) for stored in again))


def _rollback_commits(tables: Tables) -> Tables:
    cells = {**tables.units, (UnitState.OPEN, UnitInput.BACKOUT): (UnitState.COMMITTING, UnitAction.APPLY)}
    return replace(tables, units=MappingProxyType(cells))


@defect(made, "unit-consumes-at-once", "BT-12")
def _consumes_at_once() -> Seams:
    """After a kill of the broker, messages that a unit of work consumed and did not commit are gone."""
    gone: set[str | None] = set()

    def read(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        gone.update(one.message.message_id for unit in view.units.values() for one in unit.taken)
        return tuple(record for record in records if not _is_on_queue(record, gone))

    return filters(read=read)


def _is_on_queue(record: Record, ids: set[str | None]) -> bool:
    if not isinstance(record, MessageStored):
        return False
    return record.home.startswith("queue://") and record.message.message_id in ids


BATCH_DEFECTS = (
    _last_of_several_twice,
    _unmarked,
    _half_returned,
    _lost_with_the_line,
    _one_between,
    Defect(
        name="lost-with-the-line-twice",
        rules=("BT-09",),
        text="When a connection is lost, the last of a receiver's unacknowledged messages is redelivered twice.",
        apply=lambda: commands(_last_twice),
    ),
    _twentieth_loss_twice,
    _sends_after_several_lost,
    Defect(
        name="acknowledges-last-only",
        rules=("BT-16",),
        text="When a client acknowledges several messages at once, only the last of them counts as acknowledged.",
        apply=lambda: _last_only(in_unit=False),
    ),
    _six_at_most,
    _no_third_try,
    Defect(
        name="returned-in-reverse",
        rules=("BT-12",),
        text="When a receiver returns several messages at once, the broker redelivers them in reverse order.",
        apply=lambda: Seams(effects=_in_reverse),
    ),
    Defect(
        name="commits-last-only",
        rules=("BT-12",),
        text="Of several messages that a unit of work accepts at once, the commit consumes only the last.",
        apply=lambda: _last_only(in_unit=True),
    ),
    Defect(
        name="rollback-commits",
        rules=("BT-12",),
        text="A backout commits the unit of work.",
        apply=lambda: Seams(tables=_rollback_commits),
    ),
    _consumes_at_once,
)
