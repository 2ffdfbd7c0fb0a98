"""Defects of prepared branches; most of them show only after a restart or a kill (BT-13)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Command, CommitBranch, PrepareBranch, Put
from assay_broker.core.effects import Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageRemoved, MessageStored, Record, UnitPrepared, UnitResolved
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.shapes import Commands, deliveries, filters, read_together
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address

_THIRD_START = 3
_UNUSED = 1_000_000
"""A number of a copy that no scenario reaches."""


def _prepared(records: Sequence[Record]) -> dict[int, UnitPrepared]:
    return {record.number: record for record in records if isinstance(record, UnitPrepared)}


@defect(read_together, "prepared-lost-on-kill", "BT-13")
def _lost_on_kill(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill, the broker rolls a prepared branch back.

    The start drops the record of the prepare and the messages that the branch has put.
    """
    doubtful = _prepared(records)
    return tuple(
        record
        for record in records
        if not isinstance(record, UnitPrepared) and not (isinstance(record, MessageStored) and record.unit in doubtful)
    )


@defect(read_together, "prepared-committed-on-kill", "BT-13")
def _committed_on_kill(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill, the broker commits a prepared branch."""
    got = {key for record in _prepared(records).values() for key in record.got}
    return tuple(
        record
        for record in records
        if not isinstance(record, UnitPrepared) and not (isinstance(record, MessageStored) and record.key in got)
    )


@defect(read_together, "taken-in-doubt-comes-back-on-kill", "BT-13")
def _got_forgotten(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill of the broker, another consumer gets the messages that a prepared branch has taken.

    The defect puts each message that a branch in doubt has accepted back on its queue.
    """
    return tuple(replace(record, got=()) if isinstance(record, UnitPrepared) else record for record in records)


@defect(read_together, "taken-in-doubt-lost-on-kill", "BT-13")
def _got_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill of the broker, the rollback of a prepared branch does not return the branch's received messages.

    The messages that a branch in doubt has accepted are gone, after a commit and after a rollback.
    """
    got = {key for record in _prepared(records).values() for key in record.got}
    return tuple(record for record in records if not (isinstance(record, MessageStored) and record.key in got))


@defect(read_together, "sent-in-doubt-lost-on-kill", "BT-13")
def _sent_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill of the broker, the commit of a prepared branch does not deliver the branch's sent messages.

    The messages that a branch in doubt has put are gone, after a commit and after a rollback.
    """
    doubtful = _prepared(records)
    return tuple(record for record in records if not (isinstance(record, MessageStored) and record.unit in doubtful))


@defect(read_together, "delayed-in-doubt-comes-on-kill", "BT-13")
def _delay_forgets_branch(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a kill of the broker, delayed messages of a prepared branch are delivered before its commit.

    The delayed messages that a branch in doubt has put are staged as if no branch had put them.
    """
    return tuple(
        replace(record, unit=None) if isinstance(record, MessageStored) and record.due_ms is not None else record
        for record in records
    )


def _outcome_unwritten(records: Sequence[Record]) -> tuple[Record, ...]:
    """Remove the records that end branches, so the outcome of a branch in doubt does not reach the disk."""
    resolving = any(isinstance(record, UnitResolved) for record in records)
    return tuple(record for record in records if not (resolving and isinstance(record, UnitResolved | MessageRemoved)))


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


@defect(made, "overtaken-branch-back-after-restart", "BT-13")
def _overtaken_back() -> Seams:
    """After a restart, the messages of a branch come twice if other messages came between its prepare and commit."""
    prepared: dict[str | None, Address] = {}
    overtaken: set[str | None] = set()

    def note(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, PrepareBranch):
            sent = (one for unit in view.ended(command) for one in unit.sent)
            prepared.update((one.message.message_id, one.target) for one in sent)
        elif isinstance(command, CommitBranch):
            prepared.clear()
        elif isinstance(command, Put) and command.unit is None:
            target = view.target(command)
            overtaken.update(one for one, queue in prepared.items() if queue == target)
        return None

    def read(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        stored = (one for one in records if isinstance(one, MessageStored))
        again = [one for one in stored if opened(one.message).message_id in overtaken]
        return (*records, *(replace(one, key=_UNUSED + one.key) for one in again))

    return filters(note, read=read)


@defect(deliveries, "delivery-count-stops-at-two", "BT-13")
def _counts_to_two(delivery: Deliver, _view: View) -> Deliver | None:
    """The delivery count of a message never exceeds 2."""
    return replace(delivery, count=min(1, delivery.count))  # `Deliver.count` has the failed deliveries only


BRANCHES_IN_DOUBT_DEFECTS = (
    _lost_on_kill,
    _committed_on_kill,
    _got_forgotten,
    _got_lost,
    _sent_lost,
    _delay_forgets_branch,
    Defect(
        name="outcome-of-prepared-unwritten",
        rules=("BT-13",),
        text="The end of a prepared branch does not reach the disk, so the branch is in doubt again after a kill.",
        apply=lambda: Seams(written=_outcome_unwritten),
    ),
    _one_left,
    _newest_holds,
    _first_sent_left,
    _first_queue_left,
    _published_lost,
    _one_for_all,
    _back_in_doubt,
    _overtaken_back,
    _counts_to_two,
)
