"""Defects of delayed messages in units of work (DD-25, DD-26)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Backout, Begin, Command, Commit, Disconnect, Put
from assay_broker.core.queues.homes import home_of
from assay_broker.core.records import MessageRemoved, MessageStored, Record, UnitResolved
from assay_broker.defects.delay.filters import first_link
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import SHIFT, dropped, handed_in, is_delayed, is_topic, left_ms, resent
from assay_broker.defects.shapes import Commands, commands, delayed_puts, filters, puts, read, reading
from assay_broker.defects.view import Sent, Unit, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind


@defect(commands, "uncommitted-from-own-hidden", "DD-25")
def _hidden_from_own(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Before its commit, a unit of work cannot get the messages that it has put itself."""
    return (replace(command, session=None),) if isinstance(command, Attach) else None


@defect(commands, "uncommitted-for-connection", "DD-25")
def _one_session(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Every session of a connection can get the uncommitted messages of the connection's units of work."""
    return (replace(command, session=0),) if isinstance(command, Attach | Begin) else None


@defect(made, "own-uncommitted-in-first-unit-only", "DD-25")
def _first_unit_only() -> Seams:
    """A session can get its own uncommitted messages in its first unit of work, but not in later ones."""
    begun: set[tuple[int, int | None]] = set()

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(command, Begin) or command.xid is not None:
            return None
        owner = command.connection, command.session
        again = owner in begun
        begun.add(owner)
        return (replace(command, session=None),) if again else None

    return commands(rewrite)


@defect(puts, "put-leaves-unit", "DD-25")
def _at_once(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """A send without a delay takes no part in its unit of work: any receiver gets the message at once."""
    if put.unit is None or is_topic(target) or is_delayed(put, now_ms):
        return None
    return (replace(put, unit=None),)


@defect(puts, "lost-at-commit", "DD-25", "DD-26")
def _lost_at_commit(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """At its commit, a unit of work loses the messages that it has sent."""
    return None if put.unit is None else (dropped(put, now_ms),)


def _after_backout(wanted: Callable[[Sent], bool]) -> Seams:
    """Make filters that deliver the messages that a unit of work sent to queues, although the unit was backed out.

    Args:
        wanted: Returns whether a message that the unit has sent is delivered.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Backout | Disconnect):
            return None
        late = _handed_in_again(command, view, wanted)
        return (command, *late) if late else None

    return commands(rewrite)


def _handed_in_again(command: Command, view: View, wanted: Callable[[Sent], bool]) -> Commands:
    sent = (one for unit in view.ended(command) for one in unit.sent if not is_topic(one.target) and wanted(one))
    return tuple(put for one in sent for put in handed_in(view, one.target, one.message))


@defect(commands, "consumed-in-own-unit-stays", "DD-25")
def _consumed_stays(command: Command, _now_ms: int, view: View) -> Commands | None:
    """After a commit, a message that the unit of work both sent and consumed is still on its queue."""
    if not isinstance(command, Commit):
        return None
    consumed = {delivery.message.message_id for unit in view.ended(command) for delivery in unit.taken}
    return (command, *_handed_in_again(command, view, lambda sent: sent.message.message_id in consumed))


@defect(reading, "uncommitted-survives-a-kill", "DD-26")
def _survives_a_kill(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """After a kill of the broker, a delayed message is staged although its unit of work was not committed."""
    sent = (one for unit in view.units.values() for one in unit.sent)
    lost = (one for one in sent if one.delayed and one.target.kind is AddressKind.QUEUE)
    ghosts = (
        MessageStored(
            key=SHIFT + number,
            home=home_of(one.target.name),
            message=one.message,
            arrived_ms=one.at_ms,
            expires_ms=None,
            due_ms=one.due_ms,
        )
        for number, one in enumerate(lost)
    )
    return (*records, *ghosts)


@defect(commands, "own-uncommitted-unselected", "DD-25")
def _unselected(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A receiver on a queue also gets the messages that its selector excludes."""
    on_queue = isinstance(command, Attach) and command.address.kind is AddressKind.QUEUE
    return (replace(command, selector=None),) if on_queue and isinstance(command, Attach) else None


@defect(reading, "uncommitted-put-survives-a-kill", "DD-25")
def _put_survives_a_kill(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """After a kill of the broker, a message is on its queue although its unit of work was not committed."""
    sent = (one for unit in view.units.values() for one in unit.sent)
    ghosts = (
        MessageStored(
            key=SHIFT + number,
            home=home_of(one.target.name),
            message=one.message,
            arrived_ms=one.at_ms,
            expires_ms=None,
            due_ms=None,
        )
        for number, one in enumerate(sent)
        if not one.delayed and one.target.kind is AddressKind.QUEUE
    )
    return (*records, *ghosts)


@defect(read, "in-doubt-delayed-lost-at-restart", "DD-26", "DD-36")
def _in_doubt_lost(record: Record) -> tuple[Record, ...]:
    """A restart loses the delayed messages of a branch in doubt."""
    lost = isinstance(record, MessageStored) and record.due_ms is not None and record.unit is not None
    return () if lost else (record,)


@defect(read, "in-doubt-staged-at-restart", "DD-26")
def _in_doubt_staged(record: Record) -> tuple[Record, ...]:
    """A restart stages delayed messages of a branch in doubt before its commit."""
    return (replace(record, unit=None) if isinstance(record, MessageStored) and record.due_ms is not None else record,)


def _leaves_unit(wanted: Callable[[Sent], bool]) -> Seams:
    """Make filters by which the delayed sends that `wanted` chooses take no part in their unit of work."""

    def rewrite(put: Put, sent: Sent, _view: View) -> Commands | None:
        return (replace(put, unit=None),) if put.unit is not None and wanted(sent) else None

    return delayed_puts(rewrite)


@defect(commands, "first-of-unit-backed-out", "DD-26")
def _first_backed_out(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A backout undoes only the first of several delayed messages of a unit of work."""
    if not isinstance(command, Backout):
        return None
    later = [one for unit in view.ended(command) for one in unit.sent if one.delayed][1:]
    return (command, *(put for one in later for put in handed_in(view, one.target, one.message)))


@defect(delayed_puts, "second-of-unit-lost", "DD-26")
def _second_lost(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker stages only the first of several delayed messages of a unit of work."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    before = unit is not None and any(one.delayed for one in unit.sent)
    return (dropped(put, sent.at_ms),) if before else None


@defect(commands, "commit-stages-for-all-sessions", "DD-26")
def _stages_others(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A commit also stages the uncommitted delayed messages of the connection's other sessions."""
    if not isinstance(command, Commit):
        return None
    others = (one for unit in _beside(command, view).values() for one in unit.sent if one.delayed)
    return (command, *(put for one in others for put in handed_in(view, one.target, one.message)))


@defect(commands, "backout-drops-for-all-sessions", "DD-26")
def _drops_others(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A backout also drops the uncommitted delayed messages of the connection's other sessions."""
    if not isinstance(command, Backout):
        return None
    again: list[Command] = []
    for number, unit in _beside(command, view).items():
        if any(one.delayed for one in unit.sent):
            again += [Backout(command.connection, None, number), Begin(command.connection, None, number)]
    return (command, *again)


def _beside(command: Commit | Backout, view: View) -> dict[int, Unit]:
    """Return the other open units of work of a command's connection, by number."""
    return {
        number: unit
        for (connection, number), unit in view.units.items()
        if connection == command.connection and number != command.unit
    }


@defect(delayed_puts, "delayed-of-unit-not-on-disk", "DD-26", "DD-27")
def _not_on_disk(put: Put, _sent: Sent, _view: View) -> Commands | None:
    """Delayed messages of a unit of work do not reach the disk."""
    return resent(put, durable=False) if put.unit is not None else None


@defect(made, "second-producers-outside-unit", "DD-26")
def _outside_unit() -> Seams:
    """Delayed sends of a connection's second and later producers take no part in their unit of work."""
    firsts: dict[int, int] = {}

    def rewrite(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
        if first_link(put, firsts) or put.unit is None or not left_ms(put.message, now_ms):
            return None
        return (replace(put, unit=None),)

    return puts(rewrite)


@defect(made, "rolled-back-delayed-kept-on-disk", "DD-26")
def _kept_on_disk() -> Seams:
    """After a restart, the broker delivers the delayed messages of a branch that was prepared and rolled back."""
    delayed: set[int] = set()

    def written(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        ended = any(isinstance(one, UnitResolved) for one in records)
        delayed.update(
            one.key for one in records if isinstance(one, MessageStored) and one.unit is not None and one.due_ms
        )
        return tuple(one for one in records if not (ended and isinstance(one, MessageRemoved) and one.key in delayed))

    return filters(written=written)


UNITS_DEFECTS = (
    _first_unit_only,
    _stages_others,
    _drops_others,
    _unselected,
    _put_survives_a_kill,
    _first_backed_out,
    _second_lost,
    _not_on_disk,
    Defect(
        name="light-delayed-leaves-unit",
        rules=("DD-26",),
        text="A non-persistent delayed message takes no part in its unit of work: it is staged at once.",
        apply=lambda: _leaves_unit(lambda sent: sent.message.durable is False),
    ),
    Defect(
        name="delayed-publication-leaves-unit",
        rules=("DD-26",),
        text="A delayed publication takes no part in its unit of work: it is staged at once.",
        apply=lambda: _leaves_unit(lambda sent: is_topic(sent.target)),
    ),
    _in_doubt_staged,
    _in_doubt_lost,
    _hidden_from_own,
    _one_session,
    _at_once,
    _lost_at_commit,
    _consumed_stays,
    Defect(
        name="stays-after-backout",
        rules=("DD-25",),
        text="Messages that a unit of work has sent without a delay stay although the unit was backed out.",
        apply=lambda: _after_backout(lambda sent: sent.message.delivery_time_ms is None),
    ),
    Defect(
        name="staged-by-backout",
        rules=("DD-26",),
        text="The delayed messages of a unit of work are staged when it is backed out.",
        apply=lambda: _after_backout(lambda sent: sent.message.delivery_time_ms is not None),
    ),
    _survives_a_kill,
    _outside_unit,
    _kept_on_disk,
)
