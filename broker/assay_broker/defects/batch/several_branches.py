"""Defects of branches for which several branches, several messages or a second restart are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject
from assay_broker.core.commands import (
    Administer,
    BackOutBranch,
    Begin,
    Command,
    CommitBranch,
    Disconnect,
    Put,
    RecoverBranches,
    Settle,
)
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.objects.model import Kind
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record, UnitPrepared, UnitResolved
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import is_topic
from assay_broker.defects.shapes import Commands, commands, filters, read_together, replies, writing
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.xa import XaStart

_THIRD_START = 3


def _doubtful(records: Sequence[Record]) -> list[UnitPrepared]:
    return [record for record in records if isinstance(record, UnitPrepared)]


@defect(read_together, "newest-in-doubt-kept", "BT-13")
def _one_left(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, only the newest of several branches in doubt is still in doubt."""
    lost = {unit.number for unit in _doubtful(records)[:-1]}
    return tuple(
        record
        for record in records
        if not (isinstance(record, UnitPrepared) and record.number in lost)
        and not (isinstance(record, MessageStored) and record.unit in lost)
    )


@defect(read_together, "newest-in-doubt-holds", "BT-13")
def _newest_holds(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, only the newest of several branches in doubt holds the messages that it took."""
    newest = max((unit.number for unit in _doubtful(records)), default=0)
    return tuple(
        replace(record, got=()) if isinstance(record, UnitPrepared) and record.number != newest else record
        for record in records
    )


@defect(read_together, "first-sent-in-doubt-kept", "BT-13")
def _first_sent_left(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, the broker has only the first of the messages that a branch in doubt has sent."""
    lost = {key for unit in _doubtful(records) for key in unit.sent[1:]}
    return tuple(
        replace(record, sent=record.sent[:1]) if isinstance(record, UnitPrepared) else record
        for record in records
        if not (isinstance(record, MessageStored) and record.key in lost)
    )


@defect(read_together, "first-queue-in-doubt-kept", "BT-13")
def _first_queue_left(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, other consumers get the messages that a branch in doubt took from its second queue."""
    homes = {record.key: record.home for record in records if isinstance(record, MessageStored)}

    def first(unit: UnitPrepared) -> UnitPrepared:
        return replace(unit, got=tuple(key for key in unit.got if homes.get(key) == homes.get(unit.got[0])))

    return tuple(first(record) if isinstance(record, UnitPrepared) else record for record in records)


@defect(read_together, "published-in-doubt-lost", "BT-13")
def _published_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, the messages that a branch in doubt has published are lost."""
    lost = {
        record.key
        for record in records
        if isinstance(record, MessageStored) and record.unit is not None and record.home.startswith(SUBSCRIPTION_HOME)
    }

    def without(unit: UnitPrepared) -> UnitPrepared:
        return replace(unit, sent=tuple(key for key in unit.sent if key not in lost))

    kept = (record for record in records if not (isinstance(record, MessageStored) and record.key in lost))
    return tuple(without(record) if isinstance(record, UnitPrepared) else record for record in kept)


@defect(made, "one-commit-for-all-in-doubt", "BT-13")
def _one_for_all() -> Seams:
    """After a restart, the commit of one branch in doubt also commits all other branches in doubt."""
    doubtful: list[bytes] = []

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(command, CommitBranch) or command.xid not in doubtful:
            return None
        others = (xid for xid in doubtful if xid != command.xid)
        return (command, *(CommitBranch(command.connection, None, xid) for xid in others))

    def read(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        doubtful[:] = [unit.xid for unit in _doubtful(records)]
        return tuple(records)

    return filters(rewrite, read=read)


@defect(commands, "prepared-lost-with-goodbye", "BT-13")
def _lost_with_goodbye(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a client closes the connection that prepared a branch, the broker rolls the branch back."""
    if not isinstance(command, Disconnect) or not command.clean:
        return None
    return (*(BackOutBranch(command.connection, None, xid) for xid in view.prepared(command.connection)), command)


@defect(replies, "active-named-in-doubt", "BT-13")
def _names_active(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
    """A transaction manager that asks for the branches in doubt also gets branches that are not prepared.

    The answer also contains the branches in which a session is working at the time.
    """
    if not isinstance(asked, RecoverBranches):
        return answer
    xids = tuple(one for one in answer.value if isinstance(one, bytes)) if isinstance(answer.value, tuple) else ()
    return replace(answer, value=(*xids, *view.working))


@defect(made, "ended-in-doubt-again", "BT-13")
def _back_in_doubt() -> Seams:
    """After the second restart, a branch that has ended is in doubt again."""
    prepared: dict[int, UnitPrepared] = {}
    ended: dict[int, UnitPrepared] = {}

    def written(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        for record in records:
            if isinstance(record, UnitPrepared):
                prepared[record.number] = replace(record, sent=(), got=())
            elif isinstance(record, UnitResolved) and record.number in prepared:
                ended[record.number] = prepared[record.number]
        return tuple(records)

    def read(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        return (*records, *ended.values()) if view.starts >= _THIRD_START else tuple(records)

    return filters(written=written, read=read)


@defect(writing, "one-phase-unwritten", "BT-13")
def _one_phase_unwritten(records: Sequence[Record], view: View) -> tuple[Record, ...]:
    """The broker answers a commit in one phase and does not write it to disk."""
    return () if isinstance(view.last, CommitBranch) and view.last.one_phase else tuple(records)


@defect(made, "one-phase-publishes-to-one", "BT-13")
def _publishes_to_one() -> Seams:
    """After a commit in one phase, each publication of the branch reaches only one subscriber."""
    first: dict[str | None, tuple[int, int] | None] = {}

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, CommitBranch) and command.one_phase:
            sent = (one for unit in view.ended(command) for one in unit.sent if is_topic(one.target))
            first.update((one.message.message_id, None) for one in sent)
        return None

    def delivered(delivery: Deliver, _view: View) -> Deliver | None:
        id_, link = delivery.message.message_id, (delivery.connection, delivery.link)
        if id_ not in first:
            return delivery
        first[id_] = first[id_] or link
        return delivery if first[id_] == link else None

    return filters(note, delivery=delivered)


@defect(made, "work-after-joining-outside-branch", "BT-13")
def _joined_outside() -> Seams:
    """The work that a session does in a branch after it has joined or resumed the branch is not part of the branch."""
    outside: set[tuple[int, int]] = set()

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Begin) and command.start is not XaStart.NEW:
            outside.add((command.connection, command.unit))
        if not isinstance(command, Put | Settle) or command.unit is None:
            return None
        return (replace(command, unit=None),) if (command.connection, command.unit) in outside else None

    return commands(rewrite)


@defect(made, "places-of-rolled-back-branches-taken", "BT-13")
def _places_taken() -> Seams:
    """Messages of a branch that was rolled back still count towards MAXDEPTH of their queues."""
    units: dict[bytes, tuple[int, int]] = {}
    sent: dict[tuple[int, int], list[str]] = {}
    lost: Counter[str] = Counter()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Begin) and command.xid is not None:
            units[command.xid] = command.connection, command.unit
        if isinstance(command, BackOutBranch) and command.xid in units:
            lost.update(sent.pop(units.pop(command.xid), ()))
        target = view.target(command)
        if not isinstance(command, Put) or target is None or is_topic(target):
            return None
        if command.unit is not None:
            sent.setdefault((command.connection, command.unit), []).append(target.name)
            return None
        places = view.said(target.name).get("MAXDEPTH")
        if not isinstance(places, int) or not 0 < places <= lost[target.name]:
            return None
        full, free = (AlterObject(Kind.QLOCAL, target.name, {"MAXDEPTH": depth}) for depth in (0, places))
        return (Administer(command.connection, None, full), command, Administer(command.connection, None, free))

    return commands(rewrite)


SEVERAL_BRANCHES_DEFECTS = (
    _places_taken,
    _joined_outside,
    _publishes_to_one,
    _one_left,
    _newest_holds,
    _first_sent_left,
    _first_queue_left,
    _published_lost,
    _one_for_all,
    _lost_with_goodbye,
    _names_active,
    _back_in_doubt,
    _one_phase_unwritten,
)
