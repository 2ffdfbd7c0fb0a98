"""Defects of delayed publications: how many are staged, and which topics allow them."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject
from assay_broker.core.commands import Command, Put
from assay_broker.core.effects import Answer
from assay_broker.core.objects.factory import BASE_TOPIC, STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_broker.defects.model import Defect, defect
from assay_broker.defects.sends import HOLD, browses, cancelled, change_of, handed_in, is_topic, published, resent, rows
from assay_broker.defects.shapes import Commands, changes, commands, delayed_puts, replies
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams

_REACHES = ("PMSGDLV", "NPMSGDLV")
_ALL: dict[str, Value] = dict.fromkeys(_REACHES, "ALLAVAIL")


@defect(replies, "one-staged-for-all", "DD-80")
def _one_for_all(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
    """A delayed publication is staged once, however many subscriptions it is for."""
    if not browses(asked, STAGING_QUEUE):
        return answer
    return replace(answer, value=tuple({row.message.message_id: row for row in rows(answer)}.values()))


def _further(put: Put, copies: int, view: View) -> Commands | None:
    """The send, with further copies staged for a queue that nobody reads; None for no copies."""
    return (put, *handed_in(view, HOLD, *(put.message,) * copies)) if copies else None


@defect(delayed_puts, "one-staged-too-many", "DD-80")
def _one_too_many(put: Put, sent: Sent, view: View) -> Commands | None:
    """A delayed publication is staged once more than there are subscriptions."""
    return _further(put, 1, view) if is_topic(sent.target) else None


@defect(delayed_puts, "staged-for-each-sharer", "DD-80")
def _for_each_sharer(put: Put, sent: Sent, view: View) -> Commands | None:
    """A delayed publication is staged for each of those who share a subscription."""
    if not is_topic(sent.target):
        return None
    sharers = Counter(attach.name for attach in view.on(sent.target) if attach.shared)
    return _further(put, sharers.total() - len(sharers), view)


def _reaches(rewrite: dict[str, str] | None = None, value: str | None = None) -> Seams:
    """Filters that let topics be defined with other values of PMSGDLV and NPMSGDLV.

    Args:
        rewrite: Under which keyword each is given; None for its own.
        value: With which value; None for the one that was asked for.
    """

    def other(change: Change, _view: View) -> Change | None:
        if not isinstance(change, DefineObject | AlterObject) or change.kind is not Kind.TOPIC:
            return None
        said = {
            (rewrite or {}).get(keyword, keyword): (value or given) if keyword in _REACHES else given
            for keyword, given in change.attributes.items()
        }
        return replace(change, attributes=said)

    return changes(other)


@defect(changes, "topic-alias-target-as-string", "DD-80")
def _string_is_the_name(change: Change, _view: View) -> Change | None:
    """An alias of a topic publishes to the topic string that is equal to the name of the topic object."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    return replace(change, attributes={**change.attributes, "TOPICSTR": change.name})


@defect(changes, "topic-parents-skipped", "DD-82")
def _parents_skipped(change: Change, view: View) -> Change | None:
    """A topic that says ASPARENT is as the base topic says, whatever the topics between them say."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    base = {**_ALL, **{key: said for key, said in view.said(BASE_TOPIC).items() if key in _REACHES}}
    own = {keyword: said for keyword, said in change.attributes.items() if said != "ASPARENT"}
    return replace(change, attributes={**base, **own})


@defect(changes, "topic-parents-outweigh", "DD-82")
def _parents_outweigh(change: Change, view: View) -> Change | None:
    """A topic cannot allow delayed publications where the topic above it forbids them."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    above = change.name.rpartition("/")[0]
    forbidden = {
        keyword: said
        for keyword, said in view.said(above).items()
        if keyword in _REACHES and said not in {"ALLAVAIL", "ASPARENT"}
    }
    return replace(change, attributes={**change.attributes, **forbidden}) if forbidden else None


@defect(commands, "undelayed-publications-refused", "DD-82")
def _undelayed_too(command: Command, now_ms: int, view: View) -> Commands | None:
    """On a topic with PMSGDLV or NPMSGDLV of its own, publications without a delay are refused."""
    if not isinstance(command, Put) or command.message.delivery_time_ms is not None:
        return None
    target = view.target(command)
    if target is None or not is_topic(target) or not view.said(target.name).keys() & {*_REACHES}:
        return None
    refused = replace(command.message, delivery_time_ms=now_ms + 1, group_id="defect")
    return (replace(command, message=refused),)


@defect(commands, "topic-asked-at-release", "DD-82")
def _reach_asked_again(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A delayed publication is dropped when its topic is altered to another value during the delay."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.kind is not Kind.TOPIC or change.name == BASE_TOPIC:
        return None
    forbids = any(change.attributes.get(keyword, "ALLAVAIL") != "ALLAVAIL" for keyword in _REACHES)
    return (*cancelled(view, *published(view)), command) if forbids else None


@defect(changes, "grandparent-topics-unheard", "DD-82")
def _grandparents_unheard(change: Change, view: View) -> Change | None:
    """A topic whose parent is ASPARENT too allows delayed publications."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    above = view.said(change.name.rpartition("/")[0])
    free = {key: "ALLAVAIL" for key in _REACHES if change.attributes.get(key) == above.get(key) == "ASPARENT"}
    return replace(change, attributes={**change.attributes, **free}) if free else None


@defect(delayed_puts, "unsaid-persistence-is-persistent", "DD-82")
def _unsaid_is_persistent(put: Put, sent: Sent, _view: View) -> Commands | None:
    """A publication that leaves its persistence to the topic needs PMSGDLV, whatever the topic says."""
    if not is_topic(sent.target) or put.message.durable is not None:
        return None
    return resent(put, durable=True)


FAN_OUT_DEFECTS = (
    _one_for_all,
    _one_too_many,
    _for_each_sharer,
    _string_is_the_name,
    Defect(
        name="any-reach-will-do",
        rules=("DD-82",),
        text="Every topic takes delayed publications, whatever its PMSGDLV and NPMSGDLV say.",
        apply=lambda: _reaches(value="ALLAVAIL"),
    ),
    Defect(
        name="reaches-mixed-up",
        rules=("DD-82",),
        text="PMSGDLV is asked for non-persistent delayed publications, and NPMSGDLV for persistent ones.",
        apply=lambda: _reaches({"PMSGDLV": "NPMSGDLV", "NPMSGDLV": "PMSGDLV"}),
    ),
    _parents_skipped,
    _parents_outweigh,
    _undelayed_too,
    _reach_asked_again,
    _grandparents_unheard,
    _unsaid_is_persistent,
)
