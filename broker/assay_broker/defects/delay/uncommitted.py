"""Defects of what a unit of work has not committed: which receivers get it, and what the end of the unit does to it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Backout, Begin, Command, Commit, Disconnect, Put
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import dropped, handed_in, is_delayed, is_topic
from assay_broker.defects.shapes import Commands, commands, puts
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address


@defect(commands, "uncommitted-from-own-hidden", "DD-25")
def _hidden_from_own(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A unit of work cannot get what it has put itself before its commit."""
    return (replace(command, session=None),) if isinstance(command, Attach) else None


@defect(commands, "uncommitted-for-connection", "DD-25")
def _one_session(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """What a unit of work has put and not committed is there for every session of its connection."""
    return (replace(command, session=0),) if isinstance(command, Attach | Begin) else None


@defect(puts, "put-leaves-unit", "DD-25")
def _at_once(put: Put, target: Address, now_ms: int, _view: View) -> Commands | None:
    """A send without a delay takes no part in its unit of work: everybody gets it at once."""
    if put.unit is None or is_topic(target) or is_delayed(put, now_ms):
        return None
    return (replace(put, unit=None),)


@defect(puts, "lost-at-commit", "DD-25", "DD-26")
def _lost_at_commit(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """What a unit of work has sent is lost."""
    return None if put.unit is None else (dropped(put, now_ms),)


def _after_backout(wanted: Callable[[Sent], bool]) -> Seams:
    """Filters that hand in again what a unit of work has sent to queues when it is backed out."""

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
    """What a unit of work has both sent and consumed is there after its commit."""
    if not isinstance(command, Commit):
        return None
    consumed = {delivery.message.message_id for unit in view.ended(command) for delivery in unit.taken}
    return (command, *_handed_in_again(command, view, lambda sent: sent.message.message_id in consumed))


UNCOMMITTED_DEFECTS = (
    _hidden_from_own,
    _one_session,
    _at_once,
    _lost_at_commit,
    _consumed_stays,
    Defect(
        name="stays-after-backout",
        rules=("DD-25",),
        text="What a unit of work has sent without a delay stays although it was backed out.",
        apply=lambda: _after_backout(lambda sent: sent.message.delivery_time_ms is None),
    ),
    Defect(
        name="staged-by-backout",
        rules=("DD-26",),
        text="The delayed messages of a unit of work are staged when it is backed out.",
        apply=lambda: _after_backout(lambda sent: sent.message.delivery_time_ms is not None),
    ),
)
