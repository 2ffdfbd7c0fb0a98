"""Defects of delayed messages that branches of global units of work send."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Put
from assay_broker.core.messages.bodies import opened
from assay_broker.core.records import MessageRemoved, MessageStored, Record, UnitResolved
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import resent
from assay_broker.defects.shapes import Commands, delayed_puts, filters
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams


def _in_branch(put: Put, view: View) -> bool:
    unit = None if put.unit is None else view.units.get((put.connection, put.unit))
    return unit is not None and unit.xid is not None


@defect(delayed_puts, "delayed-of-branch-never-expires", "DD-55", "DD-56")
def _immortal(put: Put, _sent: Sent, view: View) -> Commands | None:
    """A delayed message of a branch of a global unit of work does not expire."""
    return resent(put, expiry_ms=None, ttl_ms=None) if _in_branch(put, view) else None


@defect(delayed_puts, "delayed-of-branch-bare", "DD-39")
def _bare(put: Put, _sent: Sent, view: View) -> Commands | None:
    """A delayed message of a branch loses its ids, reply-to, type and priority."""
    if not _in_branch(put, view):
        return None
    message = opened(put.message)
    bare = replace(message, message_id=None, correlation_id=None, reply_to=None, subject=None, priority=None)
    return (replace(put, message=bare),)


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


BRANCH_OF_DELAYED_DEFECTS = (_immortal, _bare, _kept_on_disk)
