"""Defects in the persistence of messages without a durable header (QS-30 to QS-36)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from msgspec.structs import replace

from assay_broker.core.administration.changes import DefineObject, DeleteObject
from assay_broker.core.commands import Attach, Command, Put
from assay_broker.core.objects.model import Kind, Namespace, Value
from assay_broker.core.topics.topic_strings import has_wildcards, levels
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.filters import is_light, lasts, nonpersistent_where
from assay_broker.defects.sends import change_of, covers, dropped, is_durable, is_topic, is_wide, resent
from assay_broker.defects.shapes import Commands, commands, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address


@defect(commands, "qos0-shared-persistent", "QS-06", "QS-07", "QS-30")
def _shared_keeps(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """On shared non-durable subscriptions, the broker treats at-most-once receivers as at-least-once ones."""
    if isinstance(command, Attach) and command.settled and command.shared and not is_durable(command):
        return (replace(command, settled=False),)
    return None


@defect(made, "share-as-its-first", "QS-30")
def _as_the_first() -> Seams:
    """All subscribers of a non-durable share get the quality of service of the share's first subscriber."""
    first: dict[tuple[Address, str | None], bool] = {}

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if not isinstance(command, Attach) or not command.is_global or lasts(command):
            return None
        return (replace(command, settled=first.setdefault((command.address, command.name), command.settled)),)

    return commands(rewrite)


def _says(*, given: bool | None, instead: bool | None, hit: Callable[[Attach], bool] = lambda _attach: True) -> Seams:
    """Make filters that change the durable header of publications to topics with certain MQ Light receivers.

    A receiver of a pattern counts for each topic that matches the pattern.  A receiver that has ended still counts.

    Args:
        given: The value of the header to change; None for publications without the header.
        instead: The new value of the header; None to remove the header.
        hit: Chooses the receivers.
    """
    known: dict[Address, dict[tuple[str | None, str | None], Attach]] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and is_light(command):
            known.setdefault(command.address, {})[view.client_id(command.connection), command.name] = command
        target = view.target(command)
        if not isinstance(command, Put) or target is None or command.message.durable is not given:
            return None
        there = (attach for address, found in known.items() if covers(address, target) for attach in found.values())
        if not any(hit(attach) for attach in there):
            return None
        return resent(command, durable=instead)

    return commands(rewrite)


def _once(attach: Attach) -> bool:
    return attach.settled


def _never_lossy(command: Command, _now_ms: int, _view: View) -> Commands | None:
    if isinstance(command, Attach) and command.settled and not is_durable(command):
        return (replace(command, settled=False),)
    return None


@defect(made, "qos0-upside-down", "QS-30", "QS-36")
def _upside_down() -> Seams:
    """All messages on at-most-once non-durable subscriptions are persistent."""

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if not isinstance(command, Put) or target is None or not is_topic(target):
            return _never_lossy(command, now_ms, view)
        if not any(_once(attach) and not is_durable(attach) for attach in view.on(target)):
            return None
        return resent(command, durable=True)

    return commands(rewrite)


@defect(commands, "qos0-outlives-a-stop", "QS-31")
def _survives(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A non-durable at-most-once subscription survives a stop of the queue manager."""
    if isinstance(command, Attach) and command.settled and not is_durable(command) and command.name is not None:
        return (replace(command, durability=Durability.DURABLE, timeout_ms=None),)
    return None


@defect(commands, "pattern-share-outlives-a-stop", "QS-31")
def _share_survives(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A shared non-durable at-least-once subscription to a pattern survives a stop of the queue manager."""
    if not isinstance(command, Attach) or not command.shared or not is_light(command) or not is_wide(command):
        return None
    if command.settled or is_durable(command):
        return None
    return (replace(command, durability=Durability.DURABLE, timeout_ms=None),)


@defect(puts, "at-most-once-joins-a-share", "QS-30")
def _joins_a_share(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """Messages on a non-durable share are non-persistent if the last sharer to join has at-most-once quality."""
    sharers = [attach for attach in view.on(target) if is_light(attach) and attach.shared and not is_durable(attach)]
    mixed = len({attach.settled for attach in sharers}) > 1
    return resent(put, durable=False) if mixed and sharers[-1].settled and put.message.durable else None


@defect(puts, "defpsist-not-inherited", "QS-33", "QS-34")
def _not_inherited(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """On a topic without a DEFPSIST of its own, messages without a durable header are non-persistent."""
    if not is_topic(target) or put.message.durable is not None:
        return None
    return None if view.said_of(target).get("DEFPSIST") in {"YES", "NO"} else resent(put, durable=False)


@defect(puts, "settled-sends-non-persistent", "QS-33")
def _settled_non_persistent(put: Put, target: Address, _now_ms: int, _view: View) -> Commands | None:
    """A publication that its client sends settled is non-persistent unless its durable header is true."""
    if put.token is not None or put.unit is not None or not is_topic(target) or put.message.durable:
        return None
    return resent(put, durable=False)


def _set(view: View) -> dict[Value | None, bool]:
    """Return the DEFPSIST of each topic that has YES (True) or NO (False), by topic string."""
    return {
        said.get("TOPICSTR"): said["DEFPSIST"] == "YES"
        for said in view.objects.values()
        if said.get("DEFPSIST") in {"YES", "NO"}
    }


def _above(topic: Address, view: View) -> list[bool]:
    """Return the DEFPSIST of each level above a topic, the topmost level first: True for YES, False for NO.

    Levels with neither value are left out.  The list is empty for a topic that has YES or NO itself.
    """
    says = _set(view)
    if topic.name in says:
        return []
    steps = levels(topic.name)
    names = ("/".join(steps[:depth]) for depth in range(1, len(steps)))
    return [says[name] for name in names if name in says]


def _of_levels(choose: Callable[[Address, list[bool]], bool | None]) -> Seams:
    """Make filters that set the durable header of publications without one.

    Args:
        choose: Returns the header for a topic to which a client subscribes or publishes; None for no header.  Its
            second argument is the result of `_above`.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and is_topic(command.address):
            choose(command.address, _above(command.address, view))
        target = view.target(command)
        if not isinstance(command, Put) or target is None or command.message.durable is not None:
            return None
        chosen = choose(target, _above(target, view))
        return None if chosen is None else resent(command, durable=chosen)

    return commands(rewrite)


@defect(puts, "defpsist-where-the-pattern-begins", "QS-33")
def _of_the_pattern(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """Messages for a pattern's subscriber take the DEFPSIST of the topic before the pattern's first wildcard."""
    if put.message.durable is not None:
        return None
    wide = (
        attach.address.name for attach in view.receivers.values() if is_wide(attach) and covers(attach.address, target)
    )
    begins = {"/".join(takewhile(lambda level: not has_wildcards(level), levels(pattern))) for pattern in wide}
    chosen = next((says for topic, says in _set(view).items() if topic in begins), None)
    return None if chosen is None else resent(put, durable=chosen)


@defect(made, "defpsist-above-remembered", "QS-33")
def _remembered() -> Seams:
    """A topic inherits the DEFPSIST that its parent had when a client first subscribed to the topic."""
    first: dict[Address, bool] = {}
    return _of_levels(lambda topic, above: first.setdefault(topic, above[-1]) if above else None)


@defect(puts, "defpsist-two-objects-up", "QS-33")
def _two_objects(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """If a topic's two nearest topic objects have DEFPSIST(ASPARENT), messages without a header are non-persistent."""
    if not is_topic(target) or put.message.durable is not None:
        return None
    says = {said.get("TOPICSTR"): said["DEFPSIST"] for said in view.objects.values() if "DEFPSIST" in said}
    steps = levels(target.name)
    names = ("/".join(steps[:depth]) for depth in range(len(steps), 0, -1))
    nearest = [says[name] for name in names if name in says][:2]
    return resent(put, durable=False) if nearest == ["ASPARENT", "ASPARENT"] else None


@defect(puts, "false-header-lost", "QS-33", "QS-36")
def _false_dropped(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker drops publications with a durable header of false if their topic has an MQ Light receiver."""
    if put.message.durable is not False or not any(is_light(attach) for attach in view.on(target)):
        return None
    return (dropped(put, now_ms),)


@defect(made, "deleted-topic-decides", "QS-33", "QS-34")
def _deleted_decides() -> Seams:
    """A deleted topic object's DEFPSIST still decides the persistence of messages without a durable header."""
    deleted: dict[str, bool] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        change = change_of(command)
        if isinstance(change, DeleteObject) and change.kind is Kind.TOPIC:
            said = view.said(change.name, Namespace.TOPIC)
            if said.get("DEFPSIST") in {"YES", "NO"}:
                deleted[str(said.get("TOPICSTR"))] = said["DEFPSIST"] == "YES"
        elif isinstance(change, DefineObject) and change.kind is Kind.TOPIC:
            deleted.pop(str(change.attributes.get("TOPICSTR")), None)
        target = view.target(command)
        if not isinstance(command, Put) or target is None or not is_topic(target) or target.name not in deleted:
            return None
        return None if command.message.durable is not None else resent(command, durable=deleted[target.name])

    return commands(rewrite)


@defect(made, "deletion-hides-its-neighbours", "QS-33")
def _hides_neighbours() -> Seams:
    """After a topic object is deleted, the DEFPSIST of topics of the same depth no longer applies."""
    depths: set[int] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        change = change_of(command)
        if isinstance(change, DeleteObject) and change.kind is Kind.TOPIC:
            depths.add(len(levels(str(view.said(change.name, Namespace.TOPIC).get("TOPICSTR")))))
        target = view.target(command)
        if (
            not isinstance(command, Put)
            or target is None
            or not is_topic(target)
            or command.message.durable is not None
        ):
            return None
        return resent(command, durable=False) if len(levels(target.name)) in depths else None

    return commands(rewrite)


QOS_PERSISTENCE_DEFECTS = (
    _shared_keeps,
    Defect(
        name="nonpersistent-for-the-returned",
        rules=("QS-32",),
        text="After a subscriber has come back, messages are non-persistent on its subscription.",
        apply=lambda: nonpersistent_where(lambda _attach, returned: returned),
    ),
    Defect(
        name="nonpersistent-for-those-back-at-most-once",
        rules=("QS-36",),
        text="After an at-most-once subscriber has come back, messages are non-persistent on its subscription.",
        apply=lambda: nonpersistent_where(lambda attach, returned: returned and attach.settled),
    ),
    Defect(
        name="nonpersistent-for-sharers",
        rules=("QS-32",),
        text="Messages are non-persistent on shared subscriptions.",
        apply=lambda: nonpersistent_where(lambda attach, _returned: attach.shared),
    ),
    _as_the_first,
    Defect(
        name="qos0-persistent",
        rules=("QS-30", "QS-36"),
        text="On at-most-once non-durable subscriptions, messages have the persistence that their sender sets.",
        apply=lambda: commands(_never_lossy),
    ),
    _upside_down,
    _joins_a_share,
    Defect(
        name="qos0-durable-nonpersistent",
        rules=("QS-30", "QS-32", "QS-36"),
        text="Messages are also non-persistent on durable at-most-once subscriptions.",
        apply=lambda: _says(given=True, instead=False, hit=lambda attach: _once(attach) and is_durable(attach)),
    ),
    Defect(
        name="qos1-nondurable-nonpersistent",
        rules=("QS-30", "QS-32", "QS-36"),
        text="Messages are also non-persistent on non-durable at-least-once subscriptions.",
        apply=lambda: _says(given=True, instead=False, hit=lambda attach: not _once(attach) and not is_durable(attach)),
    ),
    _survives,
    _share_survives,
    Defect(
        name="header-ignored",
        rules=("QS-32", "QS-36"),
        text="The broker ignores a durable header of true and takes the topic's DEFPSIST.",
        apply=lambda: _says(given=True, instead=None),
    ),
    Defect(
        name="true-header-nonpersistent",
        rules=("QS-32", "QS-36"),
        text="Messages with a durable header of true are non-persistent.",
        apply=lambda: _says(given=True, instead=False),
    ),
    Defect(
        name="false-header-persistent",
        rules=("QS-36",),
        text="Messages with a durable header of false are persistent.",
        apply=lambda: _says(given=False, instead=True),
    ),
    _false_dropped,
    Defect(
        name="defpsist-ignored",
        rules=("QS-33", "QS-34", "QS-36"),
        text="Messages without a durable header are non-persistent, whatever the topic's DEFPSIST.",
        apply=lambda: _says(given=None, instead=False),
    ),
    Defect(
        name="headerless-persistent",
        rules=("QS-33", "QS-34", "QS-36"),
        text="Messages without a durable header are persistent, whatever the topic's DEFPSIST.",
        apply=lambda: _says(given=None, instead=True),
    ),
    _not_inherited,
    _settled_non_persistent,
    Defect(
        name="defpsist-of-the-topmost",
        rules=("QS-33",),
        text="A topic inherits DEFPSIST from the topmost level that sets it, not from the nearest.",
        apply=lambda: _of_levels(lambda _topic, above: above[0] if above else None),
    ),
    _of_the_pattern,
    _remembered,
    _two_objects,
    _deleted_decides,
    _hides_neighbours,
)
