"""Defects of the staging queue's limits: which messages count towards MAXDEPTH, and which bytes towards MAXMSGL."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject
from assay_broker.core.commands import Administer, Backout, Command, Commit, Put
from assay_broker.core.effects import Answer
from assay_broker.core.messages.bodies import body_of
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import is_topic, unlimited
from assay_broker.defects.shapes import Commands, changes, commands, delayed_puts, replies
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.reasons import Mqrc, refused


def _with_limit(put: Put, view: View, keyword: str, further: int) -> Commands | None:
    """Wrap a send in alterations that raise a limit of the staging queue during the send.

    Args:
        put: The send.
        view: The defect's view.
        keyword: The limit's keyword.
        further: The number by which the limit is raised.

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


_SWAPPED = {Mqrc.Q_FULL: Mqrc.MSG_TOO_BIG_FOR_Q, Mqrc.MSG_TOO_BIG_FOR_Q: Mqrc.Q_FULL}


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


LIMIT_DEFECTS = (
    _units_unlimited,
    _open_units_forgotten,
    _places_kept,
    _publications_unlimited,
    _overdue_forgotten,
    _expired_counted,
    _in_characters,
    _swapped,
    _zero_unlimited,
)
