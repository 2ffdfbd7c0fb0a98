"""Defects in the limits of the staging queue (DD-36)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject
from assay_broker.core.commands import (
    Administer,
    Backout,
    BackOutBranch,
    Command,
    Commit,
    Disconnect,
    PrepareBranch,
    Put,
)
from assay_broker.core.effects import Answer
from assay_broker.core.messages.bodies import body_of
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.records import ObjectDefined, Record
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import HOLD, NOTHING, cancelled, change_of, dropped, handed_in, is_topic, unlimited
from assay_broker.defects.shapes import Commands, changes, commands, delayed_puts, read, replies
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc, refused

_HEADER_BYTES = 4_096
_LIMITS: dict[str, Value] = {"MAXDEPTH": 999_999_999, "MAXMSGL": 104_857_600}
_SWAPPED = {Mqrc.Q_FULL: Mqrc.MSG_TOO_BIG_FOR_Q, Mqrc.MSG_TOO_BIG_FOR_Q: Mqrc.Q_FULL}


def _altered(change: Change) -> dict[str, Value] | None:
    """Return the attributes that a change gives to the staging queue; None for any other change."""
    if isinstance(change, AlterObject) and change.name == STAGING_QUEUE:
        return change.attributes
    return None


def _alter(attributes: dict[str, Value]) -> AlterObject:
    return AlterObject(Kind.QLOCAL, STAGING_QUEUE, attributes)


def _beside(put: Put, before: dict[str, Value], after: dict[str, Value]) -> Commands:
    """Wrap a send in two alterations of the staging queue.

    Args:
        put: The send.
        before: The attributes during the send.
        after: The attributes after the send.
    """
    return (
        Administer(put.connection, None, _alter(before)),
        put,
        Administer(put.connection, None, _alter(after)),
    )


def _said_limits(view: View) -> dict[str, Value]:
    said = view.said(STAGING_QUEUE)
    return {keyword: said[keyword] for keyword in _LIMITS if keyword in said}


@defect(delayed_puts, "staging-limits-ignored", "DD-36")
def _unlimited(put: Put, _sent: Sent, view: View) -> Commands | None:
    """An administrator can set MAXDEPTH and MAXMSGL of the staging queue, but these limits have no effect."""
    limits = _said_limits(view)
    return _beside(put, {keyword: _LIMITS[keyword] for keyword in limits}, limits) if limits else None


@defect(made, "staging-places-never-freed", "DD-36")
def _never_freed() -> Seams:
    """A message that has left the staging queue still counts towards MAXDEPTH of that queue."""
    taken: list[None] = []

    def no_place(put: Put, _sent: Sent, view: View) -> Commands | None:
        limit = _said_limits(view).get("MAXDEPTH")
        if not isinstance(limit, int):
            return None
        taken.append(None)
        return _beside(put, {"MAXDEPTH": 0}, {"MAXDEPTH": limit}) if len(taken) > limit else None

    return delayed_puts(no_place)


def _less(keyword: str, by: int) -> Seams:
    def lowered(change: Change, _view: View) -> Change | None:
        attributes = _altered(change)
        limit = None if attributes is None else attributes.get(keyword)
        if attributes is None or not isinstance(limit, int):
            return None
        return _alter({**attributes, keyword: max(0, limit - by)})

    return changes(lowered)


@defect(changes, "staging-limits-fixed", "DD-36")
def _first_counts(change: Change, view: View) -> Change | None:
    """An administrator can alter the limits of the staging queue only once."""
    attributes, before = _altered(change), _said_limits(view)
    return None if attributes is None or not before else _alter({**attributes, **before})


@defect(changes, "staging-queue-unalterable", "DD-36")
def _unalterable(change: Change, _view: View) -> Change | None:
    """The staging queue cannot be altered."""
    return None if _altered(change) is None else AlterObject(Kind.QLOCAL, NOTHING, {})


@defect(read, "staging-limits-forgotten-at-restart", "DD-36")
def _limits_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart resets the staging queue's attributes to their defaults."""
    forgotten = isinstance(record, ObjectDefined) and record.definition.name == STAGING_QUEUE
    return () if forgotten else (record,)


@defect(delayed_puts, "non-persistent-not-counted", "DD-36")
def _light_does_not_count(put: Put, _sent: Sent, view: View) -> Commands | None:
    """The limits of the staging queue do not apply to non-persistent messages."""
    return unlimited(put, STAGING_QUEUE, view) if put.message.durable is False else None


def _with_limit(put: Put, view: View, keyword: str, further: int) -> Commands | None:
    """Wrap a send in alterations that change a limit of the staging queue during the send.

    Args:
        put: The send.
        view: The defect's view.
        keyword: The limit's keyword.
        further: The number that is added to the limit; negative to lower the limit.

    Returns:
        The commands; None if the queue has no such limit, or `further` is 0.
    """
    limit = view.said(STAGING_QUEUE).get(keyword)
    if not isinstance(limit, int) or further == 0:
        return None

    def altered(value: int) -> Command:
        return Administer(put.connection, None, AlterObject(Kind.QLOCAL, STAGING_QUEUE, {keyword: max(0, value)}))

    return (altered(limit + further), put, altered(limit))


@defect(delayed_puts, "units-pass-the-limit", "DD-36")
def _units_unlimited(put: Put, _sent: Sent, view: View) -> Commands | None:
    """The limits of the staging queue do not apply to sends in units of work."""
    return None if put.unit is None else unlimited(put, STAGING_QUEUE, view)


@defect(delayed_puts, "open-units-not-counted", "DD-36")
def _open_units_forgotten(put: Put, _sent: Sent, view: View) -> Commands | None:
    """Delayed messages of open units of work do not count towards MAXDEPTH."""
    waiting = sum(one.delayed for unit in view.units.values() for one in unit.sent)
    return _with_limit(put, view, "MAXDEPTH", waiting)


@defect(made, "ended-units-keep-places", "DD-36")
def _places_kept() -> Seams:
    """After the end of a unit of work, its delayed messages still count towards the staging queue's MAXDEPTH."""
    kept = 0

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        nonlocal kept
        if isinstance(command, Commit | Backout):
            kept += sum(one.delayed for unit in view.ended(command) for one in unit.sent)
        sent = view.sent(command, now_ms)
        return None if sent is None or not sent.delayed else _with_limit(sent.put, view, "MAXDEPTH", -kept)

    return commands(rewrite)


@defect(delayed_puts, "publications-not-limited", "DD-36")
def _publications_unlimited(put: Put, sent: Sent, view: View) -> Commands | None:
    """The limits of the staging queue do not apply to publications."""
    return unlimited(put, STAGING_QUEUE, view) if is_topic(sent.target) else None


def _by_time(counted: Callable[[Sent, int], bool], worth: int) -> Callable[[Put, Sent, View], Commands | None]:
    def limited(put: Put, sent: Sent, view: View) -> Commands | None:
        number = sum(counted(one, sent.at_ms) for one in view.delayed.values())
        return _with_limit(put, view, "MAXDEPTH", worth * number)

    return limited


@defect(made, "overdue-not-counted", "DD-36")
def _overdue_forgotten() -> Seams:
    """A staged message whose delay is over does not count towards the staging queue's MAXDEPTH."""
    return delayed_puts(_by_time(lambda one, now_ms: one.due_ms < now_ms, 1))


@defect(made, "expired-keeps-place", "DD-36")
def _expired_counted() -> Seams:
    """A message that has expired on the staging queue still counts towards MAXDEPTH of that queue."""
    return delayed_puts(_by_time(lambda one, now_ms: 0 < (one.message.expiry_ms or 0) < now_ms, -1))


@defect(delayed_puts, "staging-length-in-characters", "DD-36")
def _in_characters(put: Put, _sent: Sent, view: View) -> Commands | None:
    """MAXMSGL of the staging queue counts characters and not bytes."""
    body = body_of(put.message)
    further = len(body.encode()) - len(body) if isinstance(body, str) else 0
    return _with_limit(put, view, "MAXMSGL", further)


@defect(replies, "staging-reasons-swapped", "DD-36")
def _swapped(answer: Answer, _asked: Command, _now_ms: int, view: View) -> Answer:
    """The refusals for a full staging queue and for a message that is too long for it are exchanged."""
    told = answer.refused
    _, sent = view.asked(answer)
    if told is None or sent is None or not sent.delayed or told.mqrc not in _SWAPPED:
        return answer
    return replace(answer, refused=refused(_SWAPPED[Mqrc(told.mqrc)], told.text, *told.objects))


@defect(changes, "depth-of-zero-is-unlimited", "DD-36", "DD-78")
def _zero_unlimited(change: Change, _view: View) -> Change | None:
    """A queue with MAXDEPTH(0) accepts any number of messages."""
    if not isinstance(change, AlterObject | DefineObject) or change.attributes.get("MAXDEPTH") != 0:
        return None
    return replace(change, attributes={**change.attributes, "MAXDEPTH": 999_999_999})


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


@defect(made, "lowered-limit-empties", "DD-36")
def _lowered_limit() -> Seams:
    """When MAXDEPTH of the staging queue is lowered, the broker drops the staged messages beyond the new limit."""

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        change = change_of(command)
        if not isinstance(change, AlterObject) or change.name != STAGING_QUEUE:
            return None
        limit = change.attributes.get("MAXDEPTH")
        lost = [*view.delayed][limit:] if isinstance(limit, int) else []
        return (*cancelled(view, *lost), command) if lost else None

    return commands(rewrite)


STAGING_QUEUE_LIMITS_DEFECTS = (
    _unlimited,
    Defect(
        name="staging-depth-one-less",
        rules=("DD-36",),
        text="The staging queue holds one message less than its MAXDEPTH.",
        apply=lambda: _less("MAXDEPTH", 1),
    ),
    Defect(
        name="staging-header-counted-in-pages",
        rules=("DD-36",),
        text="MAXMSGL of the staging queue counts the staging header as four kilobytes.",
        apply=lambda: _less("MAXMSGL", _HEADER_BYTES),
    ),
    _first_counts,
    _unalterable,
    _never_freed,
    _limits_forgotten,
    _light_does_not_count,
    _units_unlimited,
    _open_units_forgotten,
    _places_kept,
    _publications_unlimited,
    _overdue_forgotten,
    _expired_counted,
    _in_characters,
    _swapped,
    _zero_unlimited,
    _branch_keeps_places,
    _lost_work_keeps_places,
    _uncounted_publications,
    _lowered_limit,
)
