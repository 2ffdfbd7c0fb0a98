"""Defects in the checks of the staging queue at a send (DD-19, DD-21)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, DefineObject
from assay_broker.core.commands import Administer, Backout, Command, Commit, Put
from assay_broker.core.effects import Answer
from assay_broker.core.messages.bodies import opened
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.defects.delay.filters import failed
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import kept_although_refused
from assay_broker.defects.sends import HOLD, handed_in, is_delayed, is_topic, unlimited
from assay_broker.defects.shapes import Commands, answers, commands, delayed_puts, filters, refusing, retold
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.reasons import Mqrc

_TARGET_REASONS = frozenset({Mqrc.PUT_INHIBITED, Mqrc.Q_FULL, Mqrc.MSG_TOO_BIG_FOR_Q})


def _put_when_due(tell: Callable[[Answer], Answer], *, staging: bool = False) -> Seams:
    """Make filters that put a delayed message when its delay is over, although its target refused it at the send.

    Args:
        tell: Rewrites the refusal that the sender gets.
        staging: Whether messages that the staging queue has refused are put, too.
    """
    waiting: list[Sent] = []

    def retell(sent: Sent, answer: Answer) -> Answer:
        wanted = failed(answer, staging=False) or (staging and failed(answer, staging=True))
        if sent.message.delivery_time_ms is None or is_topic(sent.target) or not wanted:
            return answer
        waiting.append(sent)
        return tell(answer)

    def before(command: Command, now_ms: int, view: View) -> Commands | None:
        due = [one for one in waiting if one.due_ms <= now_ms]
        waiting[:] = [one for one in waiting if one.due_ms > now_ms]
        return (*(put for one in due for put in handed_in(view, one.target, _due_now(one.message))), command)

    return filters(before, effects=retold(retell))


def _due_now(message: Message) -> Message:
    return replace(message, delivery_time_ms=None)


def _accepted(answer: Answer) -> Answer:
    return replace(answer, refused=None)


@defect(answers, "staging-failure-swallowed", "DD-19", "DD-21")
def _staging_ignored(_sent: Sent, answer: Answer) -> Answer:
    """The broker accepts and loses delayed messages that the staging queue cannot take."""
    return _accepted(answer) if failed(answer, staging=True) else answer


@defect(answers, "delayed-refusal-terse", "DD-19", "DD-21")
def _terse(sent: Sent, answer: Answer) -> Answer:
    """The text of a delayed message's refusal does not explain the failure."""
    if sent.message.delivery_time_ms is None or answer.refused is None:
        return answer
    return replace(answer, refused=replace(answer.refused, text="The message could not be sent."))


def _blaming(*, staging: bool) -> Callable[[Sent, Answer], Answer]:
    def blame(sent: Sent, answer: Answer) -> Answer:
        why = answer.refused
        if sent.message.delivery_time_ms is None or why is None or why.mqrc not in _TARGET_REASONS:
            return answer
        name = STAGING_QUEUE if staging else sent.target.name
        text = f"{Mqrc(why.mqrc).label}: {name} cannot take the message."
        return replace(answer, refused=replace(why, text=text, objects=(name,)))

    return blame


@defect(commands, "limits-one-less", "DD-19", "DD-78")
def _less_than_said(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A queue takes one message less than MAXDEPTH, and only messages that are shorter than MAXMSGL."""
    if not isinstance(command, Administer) or not isinstance(command.change, DefineObject | AlterObject):
        return None
    said = {
        keyword: value - 1 if keyword in {"MAXDEPTH", "MAXMSGL"} and isinstance(value, int) and value else value
        for keyword, value in command.change.attributes.items()
    }
    return (replace(command, change=replace(command.change, attributes=said)),)


@defect(made, "staging-places-of-units-kept", "DD-19")
def _places_kept() -> Seams:
    """Each delayed message of a unit of work counts towards the staging queue's MAXDEPTH for ever."""
    taken = 0

    def judge(put: Put, _target: Address, now_ms: int, view: View) -> Mqrc | None:
        nonlocal taken
        most = view.said(STAGING_QUEUE).get("MAXDEPTH")
        if not is_delayed(put, now_ms) or not isinstance(most, int):
            return None
        full = taken >= most
        taken += put.unit is not None
        return Mqrc.Q_FULL if full else None

    return refusing(judge, "The queue is full.")


@defect(delayed_puts, "staging-places-of-units-free", "DD-19")
def _places_free(put: Put, _sent: Sent, view: View) -> Commands | None:
    """Delayed messages of open units of work do not count towards the staging queue's MAXDEPTH."""
    taken = put.unit is None and any(one.delayed for one in view.uncommitted())
    return unlimited(put, STAGING_QUEUE, view) if taken else None


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


SEND_CHECKS_DEFECTS = (
    _places_kept,
    _places_free,
    Defect(
        name="target-not-checked",
        rules=("DD-19", "DD-21", "DD-78"),
        text="The broker checks the target of a delayed message when the delay is over and not at the send.",
        apply=lambda: _put_when_due(_accepted),
    ),
    Defect(
        name="refused-comes-later",
        rules=("DD-19", "DD-78"),
        text="The broker puts a refused delayed message to its target when its delay is over.",
        apply=lambda: _put_when_due(lambda answer: answer, staging=True),
    ),
    _staging_ignored,
    _terse,
    Defect(
        name="blame-on-target",
        rules=("DD-21",),
        text="The refusal of a delayed message names the target, even if the staging queue is at fault.",
        apply=lambda: answers(_blaming(staging=False)),
    ),
    Defect(
        name="blame-on-staging",
        rules=("DD-21",),
        text="The refusal of a delayed message names the staging queue, even if the target is at fault.",
        apply=lambda: answers(_blaming(staging=True)),
    ),
    _less_than_said,
    _refused_takes_a_place,
    _store_refused_stays,
    _refused_undoes_unit,
)
