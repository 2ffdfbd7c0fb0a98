"""Defects of the checks of a delayed send, and of the broker's answer to it."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, DefineObject
from assay_broker.core.commands import Administer, Command, Put
from assay_broker.core.effects import Answer
from assay_broker.core.messages.bodies import opened
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import handed_in, is_delayed, is_topic, undelayed, unlimited
from assay_broker.defects.shapes import (
    Commands,
    Judge,
    answers,
    commands,
    delayed_puts,
    filters,
    puts,
    puts_without_destination,
    refusing,
    retold,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message
from assay_sdk.model.properties import LAST_IN_GROUP, RETAIN
from assay_sdk.model.reasons import Mqrc, refused

_NINE = 9
_TARGET_REASONS = frozenset({Mqrc.PUT_INHIBITED, Mqrc.Q_FULL, Mqrc.MSG_TOO_BIG_FOR_Q})


def _is_retained(message: Message) -> bool:
    return message.properties.get(RETAIN) == 1


def _is_grouped(message: Message) -> bool:
    return bool(message.group_id) or message.group_sequence is not None or LAST_IN_GROUP in message.properties


# DD-10


@defect(puts, "old-level-delays", "DD-10")
def _old_level_delays(put: Put, _target: Address, now_ms: int, view: View) -> Commands | None:
    """A queue manager older than level 8.0 accepts delayed messages and delivers them at once."""
    return undelayed(put) if not view.settings.delays and is_delayed(put, now_ms) else None


# DD-11


@defect(puts, "clustered-delays", "DD-11")
def _clustered_delays(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A clustered queue accepts delayed messages whatever its DEFBIND, and delivers them at once."""
    return undelayed(put) if is_delayed(put, now_ms) and view.said(target.name).get("CLUSTER") else None


def _in_a_cluster(_put: Put, target: Address, _now_ms: int, view: View) -> Mqrc | None:
    return Mqrc.OPTIONS_ERROR if view.said(target.name).get("CLUSTER") else None


def _bound_in_no_cluster(put: Put, target: Address, now_ms: int, view: View) -> Mqrc | None:
    bound = view.said(target.name).get("DEFBIND") and not view.said(target.name).get("CLUSTER")
    return Mqrc.OPTIONS_ERROR if bound and is_delayed(put, now_ms) else None


# DD-16, DD-17


@defect(puts, "retained-delays", "DD-16")
def _retained_delays(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker accepts a retained publication with a delay and publishes it at once."""
    return undelayed(put) if _is_retained(put.message) and is_delayed(put, now_ms) else None


@defect(puts, "grouped-delays", "DD-17")
def _grouped_delays(put: Put, _target: Address, now_ms: int, _view: View) -> Commands | None:
    """The broker accepts a delayed message in a group and delivers it at once."""
    return undelayed(put) if _is_grouped(put.message) and is_delayed(put, now_ms) else None


def _retained(put: Put, _target: Address, _now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.OPTIONS_ERROR if _is_retained(put.message) else None


def _grouped(put: Put, _target: Address, _now_ms: int, _view: View) -> Mqrc | None:
    return Mqrc.OPTIONS_ERROR if _is_grouped(put.message) else None


# DD-19, DD-21, DD-78


def _failed(answer: Answer, *, staging: bool) -> bool:
    """Check whether an answer refuses a message because of the staging queue, or because of the target.

    Args:
        answer: The answer.
        staging: True to look for a refusal of the staging queue, False for a refusal of the target.
    """
    why = answer.refused
    return why is not None and why.mqrc in _TARGET_REASONS and (STAGING_QUEUE in why.objects) is staging


def _put_when_due(tell: Callable[[Answer], Answer], *, staging: bool = False) -> Seams:
    """Make filters that put a delayed message when its delay is over, although its target refused it at the send.

    Args:
        tell: Rewrites the refusal that the sender gets.
        staging: Whether messages that the staging queue has refused are put, too.
    """
    waiting: list[Sent] = []

    def retell(sent: Sent, answer: Answer) -> Answer:
        wanted = _failed(answer, staging=False) or (staging and _failed(answer, staging=True))
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
    return _accepted(answer) if _failed(answer, staging=True) else answer


@defect(answers, "target-always-full", "DD-78")
def _always_full(sent: Sent, answer: Answer) -> Answer:
    """If the target cannot take a delayed message, the sender always gets the reason MQRC_Q_FULL."""
    why = answer.refused
    if sent.message.delivery_time_ms is None or why is None or not _failed(answer, staging=False):
        return answer
    return replace(answer, refused=refused(Mqrc.Q_FULL, why.text, *why.objects))


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


def _get_disabled(_put: Put, target: Address, _now_ms: int, view: View) -> Mqrc | None:
    return Mqrc.PUT_INHIBITED if view.said(target.name).get("GET") == "DISABLED" else None


@defect(commands, "limits-one-less", "DD-19", "DD-78")
def _less_than_said(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A queue takes one message less than MAXDEPTH, and only messages that are one byte shorter than MAXMSGL."""
    if not isinstance(command, Administer) or not isinstance(command.change, DefineObject | AlterObject):
        return None
    said = {
        keyword: value - 1 if keyword in {"MAXDEPTH", "MAXMSGL"} and isinstance(value, int) and value else value
        for keyword, value in command.change.attributes.items()
    }
    return (replace(command, change=replace(command.change, attributes=said)),)


@defect(made, "depth-counts-all", "DD-78")
def _counting_all() -> Seams:
    """A queue refuses delayed messages as full once MAXDEPTH messages have been sent to it, consumed or not."""
    sent: dict[Address, int] = {}

    def judge(put: Put, target: Address, now_ms: int, view: View) -> Mqrc | None:
        before = sent.get(target, 0)
        sent[target] = before + 1
        most = view.said(target.name).get("MAXDEPTH")
        full = isinstance(most, int) and before >= most
        return Mqrc.Q_FULL if full and is_delayed(put, now_ms) else None

    return refusing(judge, "The queue is full.")


@defect(delayed_puts, "clustered-through-alias", "DD-11")
def _alias_in_no_cluster(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker accepts a delayed message for an alias of a clustered queue and delivers it at once."""
    base = view.said(sent.target.name).get("TARGET")
    if not isinstance(base, str) or not view.said(base).get("CLUSTER"):
        return None
    return undelayed(put)


@defect(delayed_puts, "target-not-checked-in-unit", "DD-78")
def _unchecked_in_unit(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker does not check the limits of a delayed message's target at a send in a unit of work."""
    return None if put.unit is None else unlimited(put, sent.target.name, view)


@defect(delayed_puts, "target-not-checked-for-non-persistent", "DD-78")
def _light_unchecked(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker does not check the limits of a non-persistent delayed message's target at the send."""
    return unlimited(put, sent.target.name, view) if put.message.durable is False else None


# several rules


def _without_delays(judge: Judge) -> Seams:
    return refusing(judge, "Delivery delay is not supported.")


@defect(
    _without_delays,
    "every-delay-refused",
    "DD-11",
    "DD-27",
    "DD-30",
    "DD-51",
    "DD-78",
    "DD-82",
)
def _every_delay(put: Put, _target: Address, now_ms: int, _view: View) -> Mqrc | None:
    """The broker refuses every delayed send."""
    return Mqrc.OPTIONS_ERROR if is_delayed(put, now_ms) else None


# DD-19


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


def _open_unit_sent(view: View, wanted: Callable[[Sent], bool]) -> bool:
    return any(wanted(one) for unit in view.units.values() for one in unit.sent)


@defect(delayed_puts, "staging-places-of-units-free", "DD-19")
def _places_free(put: Put, _sent: Sent, view: View) -> Commands | None:
    """Delayed messages of open units of work do not count towards the staging queue's MAXDEPTH."""
    taken = put.unit is None and _open_unit_sent(view, lambda one: one.delayed)
    return unlimited(put, STAGING_QUEUE, view) if taken else None


# DD-78


@defect(delayed_puts, "places-of-units-free", "DD-78")
def _queue_places_free(put: Put, sent: Sent, view: View) -> Commands | None:
    """When the broker checks a delayed message's target, it does not count the messages of open units of work."""
    taken = put.unit is None and _open_unit_sent(view, lambda one: one.target == sent.target)
    return unlimited(put, sent.target.name, view) if taken else None


@defect(delayed_puts, "characters-counted", "DD-78")
def _characters_counted(put: Put, sent: Sent, view: View) -> Commands | None:
    """MAXMSGL counts the characters of a delayed message, not its bytes."""
    most, text = view.said(sent.target.name).get("MAXMSGL"), opened(put.message).body
    fits = isinstance(most, int) and isinstance(text, str) and len(text) <= most
    return unlimited(put, sent.target.name, view) if fits else None


@defect(delayed_puts, "special-messages-unchecked", "DD-78")
def _special_unchecked(put: Put, sent: Sent, view: View) -> Commands | None:
    """A full queue accepts delayed messages of priority 9, with a time to live, with properties or without a body."""
    message = opened(put.message)
    special = message.priority == _NINE or message.expiry_ms or "colour" in message.properties or not message.body
    return unlimited(put, sent.target.name, view) if special else None


@defect(puts_without_destination, "target-unchecked-without-destination", "DD-78")
def _unchecked_without_destination(sent: Sent, view: View) -> Commands | None:
    """The broker does not check a delayed message's target if the producer was opened without a destination."""
    return unlimited(sent.put, sent.target.name, view) if sent.delayed else None


@defect(made, "target-checked-once", "DD-78")
def _checked_once() -> Seams:
    """The broker checks a producer's target at the first delayed send only."""
    known: set[tuple[int, int]] = set()

    def rewrite(put: Put, sent: Sent, view: View) -> Commands | None:
        link = put.connection, put.link
        again = link in known
        known.add(link)
        return unlimited(put, sent.target.name, view) if again else None

    return delayed_puts(rewrite)


SEND_CHECK_DEFECTS = (
    _every_delay,
    _places_kept,
    _places_free,
    _queue_places_free,
    _characters_counted,
    _special_unchecked,
    _unchecked_without_destination,
    _checked_once,
    _old_level_delays,
    _clustered_delays,
    Defect(
        name="clustered-refused",
        rules=("DD-11",),
        text="A clustered queue refuses every message, delayed or not.",
        apply=lambda: refusing(_in_a_cluster, "The queue is in a cluster."),
    ),
    Defect(
        name="delay-needs-cluster",
        rules=("DD-11",),
        text="A queue that has a DEFBIND and is not clustered refuses delayed messages.",
        apply=lambda: refusing(_bound_in_no_cluster, "The queue's DEFBIND does not allow it."),
    ),
    _retained_delays,
    Defect(
        name="retained-refused",
        rules=("DD-16",),
        text="The broker refuses retained publications, with a delay or without.",
        apply=lambda: refusing(_retained, "A retained publication is not possible."),
    ),
    _grouped_delays,
    Defect(
        name="grouped-refused",
        rules=("DD-17",),
        text="The broker refuses messages in groups, with a delay or without.",
        apply=lambda: refusing(_grouped, "A message group is not possible."),
    ),
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
    _always_full,
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
    Defect(
        name="get-disabled-refuses-puts",
        rules=("DD-78",),
        text="A queue that is disabled for gets refuses puts too.",
        apply=lambda: refusing(_get_disabled, "The queue is disabled."),
    ),
    _less_than_said,
    _counting_all,
    _alias_in_no_cluster,
    _unchecked_in_unit,
    _light_unchecked,
)
