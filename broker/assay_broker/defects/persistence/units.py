"""Defects of uncommitted units of work on queues and durable subscriptions, and of the delivery mode in a unit."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Backout, BackOutBranch, Command, Commit, CommitBranch, Disconnect, Put
from assay_broker.core.messages.bodies import opened
from assay_broker.core.queues.homes import home_of, name_at
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import HOLD, handed_in, is_topic, resent
from assay_broker.defects.shapes import Commands, commands, filters, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address


@defect(made, "rolled-back-there-after-restart", "PD-20")
def _undone_there_after_restart() -> Seams:
    """After a restart, messages that a unit of work sent and did not commit are on their queue.

    Until the restart, the defect keeps the messages on a queue of its own, with their destinations as reply-to.
    """

    def keep(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Backout | Disconnect):
            return None
        sent = [one for unit in view.ended(command) for one in unit.sent if not is_topic(one.target)]
        undone = (replace(opened(one.message), durable=True, reply_to=one.target) for one in sent)
        return (command, *handed_in(view, HOLD, *undone)) if sent else None

    def back(record: Record) -> Record:
        if not isinstance(record, MessageStored) or name_at(record.home) != HOLD.name:
            return record
        target = record.message.reply_to
        return record if target is None else replace(record, home=home_of(target.name))

    return filters(keep, read=lambda records, _view: tuple(map(back, records)))


@defect(commands, "uncommitted-from-queue-consumed", "PD-18")
def _uncommitted_consumed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a unit of work ends without a commit, the messages that it received from queues are consumed."""
    if not isinstance(command, Backout | Disconnect):
        return None
    return _committed(command, view, topics=False)


@defect(commands, "uncommitted-publications-lost-with-the-line", "PD-24")
def _lost_with_the_line(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection is lost, publications that its uncommitted units of work received are consumed."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    return _committed(command, view, topics=True)


def _committed(command: Backout | Disconnect, view: View, *, topics: bool) -> Commands | None:
    """Replace a backout by a commit, or put commits before a disconnection, for units that have received messages.

    Args:
        command: The command that ends the units of work.
        view: The defect's view.
        topics: True to commit units that received publications, False to commit units that received from queues.
    """
    units = [
        number
        for (connection, number), unit in view.units.items()
        if connection == command.connection
        and any(unit is one for one in view.ended(command))
        and any(is_topic(one.origin) is topics for one in unit.taken)
    ]
    if not units:
        return None
    if isinstance(command, Backout):
        return (Commit(command.connection, command.token, command.unit),)
    return (*(Commit(command.connection, None, number) for number in units), command)


@defect(puts, "unit-takes-mode-of-first-send", "PD-20")
def _mode_of_first(put: Put, _target: Address, _now_ms: int, view: View) -> Commands | None:
    """If the first message that a unit of work sends is non-persistent, all its messages become non-persistent."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    if unit is None or not unit.sent or unit.sent[0].message.durable is not False:
        return None
    return resent(put, durable=False) if put.message.durable else None


@defect(puts, "unit-takes-mode-of-any-send", "PD-20")
def _mode_of_any(put: Put, _target: Address, _now_ms: int, view: View) -> Commands | None:
    """All messages that a unit of work sends after a non-persistent one are non-persistent."""
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    if unit is None or all(one.message.durable is not False for one in unit.sent):
        return None
    return resent(put, durable=False) if put.message.durable else None


@defect(made, "gone-subscriber-undoes-unit", "PD-11")
def _gone_undoes_unit() -> Seams:
    """A commit backs the unit of work out if a subscriber has left since the unit published a message for it."""
    of_units: dict[tuple[int, int], list[Attach]] = {}
    of_branches: dict[bytes, list[Attach]] = {}

    def present(command: Command) -> list[Attach]:
        match command:
            case Commit():
                return of_units.pop((command.connection, command.unit), [])
            case CommitBranch():
                return of_branches.pop(command.xid, [])
            case _:
                return []

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if isinstance(command, Put) and command.unit is not None and target is not None and is_topic(target):
            number = command.connection, command.unit
            unit = view.units.get(number)
            xid = None if unit is None else unit.xid
            listeners = of_units.setdefault(number, []) if xid is None else of_branches.setdefault(xid, [])
            listeners.extend(view.on(target))
        if all(view.receivers.get((one.connection, one.link)) is one for one in present(command)):
            return None
        if isinstance(command, Commit):
            return (Backout(command.connection, command.token, command.unit),)
        if isinstance(command, CommitBranch):
            return (BackOutBranch(command.connection, command.token, command.xid),)
        return None

    return commands(rewrite)


def _first_of_unit_on_disk(records: Sequence[Record]) -> tuple[Record, ...]:
    """Keep only the first message of a batch of records, with all its copies.

    Only a unit of work writes several messages in one batch.
    """
    first = next((record.message.message_id for record in records if isinstance(record, MessageStored)), None)
    return tuple(
        record for record in records if not isinstance(record, MessageStored) or record.message.message_id == first
    )


UNIT_OF_WORK_DEFECTS = (
    _gone_undoes_unit,
    _mode_of_first,
    _mode_of_any,
    _undone_there_after_restart,
    _uncommitted_consumed,
    _lost_with_the_line,
    Defect(
        name="first-of-unit-on-disk",
        rules=("PD-20",),
        text="Of several persistent messages that a unit of work sends only the first reaches the disk.",
        apply=lambda: Seams(written=_first_of_unit_on_disk),
    ),
)
