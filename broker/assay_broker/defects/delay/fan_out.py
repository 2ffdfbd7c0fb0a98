"""Defects in the staging of publications for each subscription, and in the topic tree (DD-80, DD-82)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, DefineObject, DeleteObject
from assay_broker.core.commands import Administer, Attach, Command, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.objects.factory import BASE_TOPIC, STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Namespace, Value
from assay_broker.core.records import MessageStored, Record
from assay_broker.core.settings import Settings
from assay_broker.defects.delay.filters import due_at
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import (
    HOLD,
    NOTHING,
    browses,
    cancelled,
    change_of,
    handed_in,
    is_durable,
    is_topic,
    published,
    resent,
    rows,
)
from assay_broker.defects.shapes import (
    Commands,
    changes,
    commands,
    delayed_puts,
    deliveries,
    puts_without_destination,
    read_together,
    replies,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message

_REACHES = ("PMSGDLV", "NPMSGDLV")
_ALL: dict[str, Value] = dict.fromkeys(_REACHES, "ALLAVAIL")


@defect(replies, "one-staged-for-all", "DD-80")
def _one_for_all(answer: Answer, asked: Command, _now_ms: int, _view: View) -> Answer:
    """An administrator sees only one staged copy of a delayed publication, not one for each of its subscriptions."""
    if not browses(asked, STAGING_QUEUE):
        return answer
    return replace(answer, value=tuple({row.message.message_id: row for row in rows(answer)}.values()))


def _further(put: Put, copies: int, view: View) -> Commands | None:
    """Return a send and `copies` more sends of its message, to a queue without a receiver; None for 0 copies."""
    return (put, *handed_in(view, HOLD, *(put.message,) * copies)) if copies else None


@defect(delayed_puts, "one-staged-too-many", "DD-80")
def _one_too_many(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker stages one copy too many of each delayed publication."""
    return _further(put, 1, view) if is_topic(sent.target) else None


@defect(delayed_puts, "staged-for-each-sharer", "DD-80")
def _for_each_sharer(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker stages a delayed publication for each subscriber of a shared subscription."""
    if not is_topic(sent.target):
        return None
    sharers = Counter(attach.name for attach in view.on(sent.target) if attach.shared)
    return _further(put, sharers.total() - len(sharers), view)


def _reaches(rewrite: dict[str, str] | None = None, value: str | None = None) -> Seams:
    """Make filters that alter PMSGDLV and NPMSGDLV in an administrator's definitions and alterations of topics.

    Args:
        rewrite: The replacement of each keyword; None keeps the keywords.
        value: The value for both keywords; None keeps the administrator's values.
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
    """A topic alias publishes to the topic string that equals the name of its target topic object."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    return replace(change, attributes={**change.attributes, "TOPICSTR": change.name})


@defect(changes, "topic-parents-skipped", "DD-82")
def _parents_skipped(change: Change, view: View) -> Change | None:
    """A topic with PMSGDLV(ASPARENT) takes the base topic's value and ignores the topics between the two."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    base = {**_ALL, **{key: said for key, said in view.said(BASE_TOPIC, Namespace.TOPIC).items() if key in _REACHES}}
    own = {keyword: said for keyword, said in change.attributes.items() if said != "ASPARENT"}
    return replace(change, attributes={**base, **own})


@defect(changes, "topic-parents-outweigh", "DD-82")
def _parents_outweigh(change: Change, view: View) -> Change | None:
    """A topic cannot allow delayed publications if its parent topic forbids them."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    above = change.name.rpartition("/")[0]
    forbidden = {
        keyword: said
        for keyword, said in view.said(above, Namespace.TOPIC).items()
        if keyword in _REACHES and said not in {"ALLAVAIL", "ASPARENT"}
    }
    return replace(change, attributes={**change.attributes, **forbidden}) if forbidden else None


@defect(commands, "undelayed-publications-refused", "DD-82")
def _undelayed_too(command: Command, now_ms: int, view: View) -> Commands | None:
    """A topic that sets PMSGDLV or NPMSGDLV refuses publications without a delay."""
    if not isinstance(command, Put) or command.message.delivery_time_ms is not None:
        return None
    target = view.target(command)
    if target is None or not is_topic(target) or not view.said_of(target).keys() & {*_REACHES}:
        return None
    refused = replace(command.message, delivery_time_ms=now_ms + 1, group_id="defect")
    return (replace(command, message=refused),)


@defect(commands, "topic-asked-at-release", "DD-82")
def _reach_asked_again(command: Command, _now_ms: int, view: View) -> Commands | None:
    """If an administrator alters a topic to forbid delayed publications, the broker drops all staged publications."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.kind is not Kind.TOPIC or change.name == BASE_TOPIC:
        return None
    forbids = any(change.attributes.get(keyword, "ALLAVAIL") != "ALLAVAIL" for keyword in _REACHES)
    return (*cancelled(view, *published(view)), command) if forbids else None


@defect(changes, "grandparent-topics-unheard", "DD-82")
def _grandparents_unheard(change: Change, view: View) -> Change | None:
    """A topic with PMSGDLV(ASPARENT) allows delayed publications if its parent topic has ASPARENT, too."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    above = view.said(change.name.rpartition("/")[0], Namespace.TOPIC)
    free = {key: "ALLAVAIL" for key in _REACHES if change.attributes.get(key) == above.get(key) == "ASPARENT"}
    return replace(change, attributes={**change.attributes, **free}) if free else None


@defect(delayed_puts, "unsaid-persistence-is-persistent", "DD-82")
def _unsaid_is_persistent(put: Put, sent: Sent, _view: View) -> Commands | None:
    """PMSGDLV decides about a delayed publication without a persistence of its own, even if DEFPSIST is NO."""
    if not is_topic(sent.target) or put.message.durable is not None:
        return None
    return resent(put, durable=True)


def _misread(ending: str, other: str) -> Seams:
    """Make filters that replace `ending` by `other` at the end of the topic patterns to which clients subscribe."""

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if (
            not isinstance(command, Attach)
            or not is_topic(command.address)
            or not command.address.name.endswith(ending)
        ):
            return None
        name = command.address.name.removesuffix(ending) + other
        return (replace(command, address=replace(command.address, name=name)),)

    return commands(rewrite)


def _allowed(put: Put, name: str) -> Commands:
    """Wrap a send in alterations of a topic: PMSGDLV and NPMSGDLV are ALLAVAIL during the send and ALLDUR after it."""
    before = AlterObject(Kind.TOPIC, name, _ALL)
    after = AlterObject(Kind.TOPIC, name, dict.fromkeys(_REACHES, "ALLDUR"))
    return (Administer(put.connection, None, before), put, Administer(put.connection, None, after))


@defect(delayed_puts, "durable-subscriptions-will-do", "DD-82")
def _durable_will_do(put: Put, sent: Sent, view: View) -> Commands | None:
    """A topic with ALLDUR, which forbids delayed publications, allows them if all active subscribers are durable."""
    known = view.on(sent.target)
    said = view.said_of(sent.target)
    return _allowed(put, sent.target.name) if known and said and all(map(is_durable, known)) else None


@defect(puts_without_destination, "reach-unchecked-without-destination", "DD-82")
def _reach_unchecked(sent: Sent, view: View) -> Commands | None:
    """A producer without a destination can publish with a delay to a topic that forbids delays."""
    forbids = sent.delayed and is_topic(sent.target) and view.said_of(sent.target)
    return _allowed(sent.put, sent.target.name) if forbids else None


@defect(changes, "reach-never-altered", "DD-82")
def _never_altered(change: Change, _view: View) -> Change | None:
    """An administrator cannot alter PMSGDLV and NPMSGDLV of an existing topic."""
    if not isinstance(change, AlterObject) or change.kind is not Kind.TOPIC or change.name == BASE_TOPIC:
        return None
    return replace(change, attributes={key: said for key, said in change.attributes.items() if key not in _REACHES})


@defect(changes, "factory-topics-allow-delays", "DD-82")
def _factory_allows(change: Change, _view: View) -> Change | None:
    """After SYSTEM.BASE.TOPIC is deleted, topics that inherited from it allow delayed publications."""
    if not isinstance(change, DeleteObject) or change.name != BASE_TOPIC:
        return None
    return AlterObject(Kind.TOPIC, BASE_TOPIC, _ALL)


def _allows_at_first(settings: Settings) -> Settings:
    """Let the base topic of a queue manager with factory settings allow delayed publications."""
    if settings.objects:
        return settings
    objects = (
        replace(one, attributes={**one.attributes, **_ALL}) if one.name == BASE_TOPIC else one
        for one in settings.fresh_objects()
    )
    return replace(settings, objects=tuple(objects))


@defect(changes, "reaches-inherited-together", "DD-82")
def _inherited_together(change: Change, _view: View) -> Change | None:
    """If a topic sets only one of PMSGDLV and NPMSGDLV, the other is ALLDUR and not inherited."""
    if not isinstance(change, DefineObject) or change.kind is not Kind.TOPIC:
        return None
    said = change.attributes.keys() & {*_REACHES}
    lacking = {keyword: "ALLDUR" for keyword in _REACHES if keyword not in said} if said else {}
    return replace(change, attributes={**change.attributes, **lacking}) if lacking else None


@defect(delayed_puts, "persistence-not-inherited", "DD-82")
def _not_inherited(put: Put, sent: Sent, view: View) -> Commands | None:
    """On a topic without a topic object, a delayed publication does not inherit DEFPSIST and is non-persistent."""
    unsaid = is_topic(sent.target) and put.message.durable is None and not view.said_of(sent.target)
    return resent(put, durable=False) if unsaid else None


@defect(made, "one-copy-for-each-client", "DD-80")
def _one_for_each_client() -> Seams:
    """Only one of the subscriptions of a client, or of a connection without a client id, gets a delayed publication."""
    given: dict[tuple[int | str, str | None], tuple[int, str | None]] = {}

    def first(delivery: Deliver, view: View) -> Deliver | None:
        receiver = view.receiver(delivery)
        delayed = delivery.message.delivery_time_ms is not None
        if receiver is None or receiver.shared or not delayed or not is_topic(receiver.address):
            return delivery
        whose = view.client_id(delivery.connection) or delivery.connection
        subscription = (0 if receiver.name else receiver.link, receiver.name)
        holder = given.setdefault((whose, delivery.message.message_id), subscription)
        return delivery if holder == subscription else None

    return deliveries(first)


@defect(delayed_puts, "early-through-topic-alias", "DD-80")
def _early_through_topic_alias(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker does not delay a publication that is sent through a topic alias."""
    return due_at(put, None) if view.said_of(sent.target).get("TARGTYPE") == "TOPIC" else None


@defect(read_together, "one-copy-after-restart", "DD-80")
def _one_copy_after_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses all but one of the staged copies of a delayed publication."""
    found: set[str | None] = set()
    kept: list[Record] = []
    for record in records:
        if isinstance(record, MessageStored) and record.due_ms is not None:
            if record.message.message_id in found:
                continue
            found.add(record.message.message_id)
        kept.append(record)
    return tuple(kept)


@defect(made, "sub-defined-again-gets-staged", "DD-80", "DD-51")
def _defined_again() -> Seams:
    """A SUB object that is deleted and defined again gets the delayed publications that were staged for the old one."""
    deleted: dict[str, tuple[Message, ...]] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        change = change_of(command)
        if isinstance(change, DeleteObject) and change.kind is Kind.SUB:
            deleted[change.name] = tuple(one.message for one in view.delayed.values() if is_topic(one.target))
        if not isinstance(change, DefineObject) or change.kind is not Kind.SUB:
            return None
        queue = Address(AddressKind.QUEUE, str(change.attributes.get("DEST")))
        return (command, *handed_in(view, queue, *deleted.pop(change.name, ())))

    return commands(rewrite)


FAN_OUT_DEFECTS = (
    Defect(
        name="plus-at-the-end-ignored",
        rules=("DD-80",),
        text="A subscription to a pattern that ends with + gets nothing.",
        apply=lambda: _misread("/+", f"/+/{NOTHING}"),
    ),
    Defect(
        name="hash-needs-a-level",
        rules=("DD-80",),
        text="# at the end of a pattern stands for one level or more, not for zero levels.",
        apply=lambda: _misread("/#", "/+/#"),
    ),
    _durable_will_do,
    _reach_unchecked,
    _never_altered,
    _factory_allows,
    Defect(
        name="new-base-topic-allows-delays",
        rules=("DD-82",),
        text="In factory settings, SYSTEM.BASE.TOPIC has PMSGDLV(ALLAVAIL).",
        apply=lambda: Seams(settings=_allows_at_first),
    ),
    _inherited_together,
    _not_inherited,
    _one_for_all,
    _one_too_many,
    _for_each_sharer,
    _string_is_the_name,
    Defect(
        name="any-reach-will-do",
        rules=("DD-82",),
        text="Every topic allows delayed publications, whatever its PMSGDLV and NPMSGDLV.",
        apply=lambda: _reaches(value="ALLAVAIL"),
    ),
    Defect(
        name="reaches-mixed-up",
        rules=("DD-82",),
        text="PMSGDLV decides about non-persistent delayed publications, and NPMSGDLV about persistent ones.",
        apply=lambda: _reaches({"PMSGDLV": "NPMSGDLV", "NPMSGDLV": "PMSGDLV"}),
    ),
    _parents_skipped,
    _parents_outweigh,
    _undelayed_too,
    _reach_asked_again,
    _grandparents_unheard,
    _unsaid_is_persistent,
    _one_for_each_client,
    _early_through_topic_alias,
    _one_copy_after_restart,
    _defined_again,
)
