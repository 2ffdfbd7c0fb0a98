"""Defects of sends that were refused or backed out and still count towards the staging queue's MAXDEPTH."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.core.commands import (
    Backout,
    BackOutBranch,
    Command,
    Commit,
    Disconnect,
    PrepareBranch,
    Put,
)
from assay_broker.core.effects import Answer
from assay_broker.core.messages.bodies import opened
from assay_broker.defects.model import defect, made
from assay_broker.defects.persistence.storage.store_refusals import kept_although_refused
from assay_broker.defects.sends import HOLD, dropped, handed_in, is_topic
from assay_broker.defects.shapes import Commands, commands, filters
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc

# DD-19


@defect(made, "refused-takes-a-place", "DD-19")
def _refused_takes_a_place() -> Seams:
    """A delayed send that is refused because a queue is full counts towards the staging queue's MAXDEPTH."""
    refused_ones: list[Message] = []

    def command(passing: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(passing, now_ms)
        if sent is None or not sent.delayed or not refused_ones:
            return None
        ghosts = tuple(replace(one, durable=False) for one in refused_ones)
        refused_ones.clear()
        return (*handed_in(view, HOLD, *ghosts), passing)

    def note(answer: Answer, asked: Command, now_ms: int, view: View) -> Answer:
        sent = view.sent(asked, now_ms)
        if sent is not None and sent.message.delivery_time_ms and answer.refused and answer.refused.mqrc == Mqrc.Q_FULL:
            refused_ones.append(opened(sent.message))
        return answer

    return filters(command, answer=note)


@defect(made, "store-refused-stays-staged", "DD-19")
def _store_refused_stays() -> Seams:
    """The broker stages a delayed message although the store refused to record the send or the commit."""
    return kept_although_refused(lambda sent: sent.delayed)


@defect(made, "refused-send-undoes-unit", "DD-19")
def _refused_undoes_unit() -> Seams:
    """If a delayed send in a unit of work was refused, the commit backs the unit of work out."""
    spoilt: set[tuple[int, int]] = set()

    def command(passing: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(passing, Commit) or (passing.connection, passing.unit) not in spoilt:
            return None
        return (Backout(passing.connection, passing.token, passing.unit),)

    def note(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
        if isinstance(asked, Put) and asked.unit is not None and asked.message.delivery_time_ms and answer.refused:
            spoilt.add((asked.connection, asked.unit))
        return answer

    return filters(command, answer=note)


# DD-36


@defect(made, "backed-out-branch-keeps-places", "DD-36")
def _branch_keeps_places() -> Seams:
    """Delayed messages of a branch that is backed out after its prepare still count towards MAXDEPTH."""
    prepared: dict[bytes, list[Message]] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, PrepareBranch):
            prepared[command.xid] = [one.message for unit in view.ended(command) for one in unit.sent if one.delayed]
        if not isinstance(command, BackOutBranch):
            return None
        kept = prepared.pop(command.xid, [])
        return (command, *handed_in(view, HOLD, *kept)) if kept else None

    return commands(rewrite)


@defect(commands, "lost-work-keeps-places", "DD-36")
def _lost_work_keeps_places(command: Command, _now_ms: int, view: View) -> Commands | None:
    """Delayed messages of a unit of work that is not committed still count towards the staging queue's MAXDEPTH."""
    if not isinstance(command, Backout | BackOutBranch | Disconnect):
        return None
    kept = [one.message for unit in view.ended(command) for one in unit.sent if one.delayed]
    return (command, *handed_in(view, HOLD, *kept)) if kept else None


@defect(made, "publications-of-unit-uncounted", "DD-36")
def _uncounted_publications() -> Seams:
    """A delayed publication of a unit of work does not count towards the staging queue's MAXDEPTH before the commit."""

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        sent = view.sent(command, now_ms)
        if sent is not None and sent.put.unit is not None and sent.delayed and is_topic(sent.target):
            return (dropped(sent.put, now_ms),)
        if not isinstance(command, Commit):
            return None
        late = [one for unit in view.ended(command) for one in unit.sent if one.delayed and is_topic(one.target)]
        return (command, *(put for one in late for put in handed_in(view, one.target, one.message))) if late else None

    return commands(rewrite)


PLACE_DEFECTS = (
    _refused_takes_a_place,
    _store_refused_stays,
    _refused_undoes_unit,
    _branch_keeps_places,
    _lost_work_keeps_places,
    _uncounted_publications,
)
