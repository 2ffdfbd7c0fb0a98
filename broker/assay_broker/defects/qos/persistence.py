"""Defects of a message's persistence on a subscriber's queue: header, topic, quality, kind of subscription."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Put
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.qos.qualities import is_light
from assay_broker.defects.sends import dropped, is_durable, is_topic, resent
from assay_broker.defects.shapes import Commands, commands, puts
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address


def _says(*, given: bool | None, instead: bool | None, hit: Callable[[Attach], bool] = lambda _attach: True) -> Seams:
    """Filters that change publications' durable header where the topic has, or has had, such receivers.

    Only MQ Light's receivers count.
    """
    known: dict[Address, dict[tuple[str | None, str | None], Attach]] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and is_light(command):
            known.setdefault(command.address, {})[view.client_id(command.connection), command.name] = command
        target = view.target(command)
        if not isinstance(command, Put) or target is None or command.message.durable is not given:
            return None
        if not any(hit(attach) for attach in known.get(target, {}).values()):
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
    """At most once on a non-durable subscription, a message is persistent, even if sender and topic say otherwise."""

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
    """An at-most-once subscriber's non-durable subscription outlives a stop of the queue manager."""
    if isinstance(command, Attach) and command.settled and not is_durable(command) and command.name is not None:
        return (replace(command, durability=Durability.DURABLE, timeout_ms=None),)
    return None


@defect(puts, "at-most-once-joins-a-share", "QS-30")
def _joins_a_share(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """The sharer of a non-durable subscription that came last decides: if it is at most once, so are the others."""
    sharers = [attach for attach in view.on(target) if is_light(attach) and attach.shared and not is_durable(attach)]
    mixed = len({attach.settled for attach in sharers}) > 1
    return resent(put, durable=False) if mixed and sharers[-1].settled and put.message.durable else None


@defect(puts, "defpsist-not-inherited", "QS-33", "QS-34")
def _not_inherited(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """A topic that leaves DEFPSIST to its parent makes messages non-persistent."""
    if not is_topic(target) or put.message.durable is not None:
        return None
    return None if view.said(target.name).get("DEFPSIST") in {"YES", "NO"} else resent(put, durable=False)


def _above(topic: Address, view: View) -> list[bool]:
    """The values of DEFPSIST at the levels above a topic that has none itself, the topmost first."""
    says = {
        said.get("TOPICSTR"): said["DEFPSIST"] == "YES"
        for said in view.objects.values()
        if said.get("DEFPSIST") in {"YES", "NO"}
    }
    if topic.name in says:
        return []
    levels = topic.name.split("/")
    names = ("/".join(levels[:depth]) for depth in range(1, len(levels)))
    return [says[name] for name in names if name in says]


def _of_levels(choose: Callable[[Address, list[bool]], bool | None]) -> Seams:
    """Filters that make publications without a header persistent, or not, as `choose` says.

    Args:
        choose: Told a topic that is subscribed or published to, and the values of the levels above it, the topmost
            first; None leaves the publication alone.
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


@defect(made, "defpsist-above-remembered", "QS-33")
def _remembered() -> Seams:
    """DEFPSIST of a level above keeps the value that it had when the topic was first subscribed to."""
    first: dict[Address, bool] = {}
    return _of_levels(lambda topic, above: first.setdefault(topic, above[-1]) if above else None)


@defect(puts, "defpsist-two-objects-up", "QS-33")
def _two_objects(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """Where the two nearest topic objects say ASPARENT, a message without a header is non-persistent."""
    if not is_topic(target) or put.message.durable is not None:
        return None
    says = {said.get("TOPICSTR"): said["DEFPSIST"] for said in view.objects.values() if "DEFPSIST" in said}
    levels = target.name.split("/")
    names = ("/".join(levels[:depth]) for depth in range(len(levels), 0, -1))
    nearest = [says[name] for name in names if name in says][:2]
    return resent(put, durable=False) if nearest == ["ASPARENT", "ASPARENT"] else None


@defect(puts, "false-header-lost", "QS-33", "QS-36")
def _false_dropped(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """A message with the durable header false reaches no subscriber's queue."""
    if put.message.durable is not False or not any(is_light(attach) for attach in view.on(target)):
        return None
    return (dropped(put, now_ms),)


QOS_PERSISTENCE_DEFECTS = (
    Defect(
        name="qos0-persistent",
        rules=("QS-30", "QS-36"),
        text="At most once on a non-durable subscription, a message has the persistence that its sender says.",
        apply=lambda: commands(_never_lossy),
    ),
    _upside_down,
    _joins_a_share,
    Defect(
        name="qos0-durable-nonpersistent",
        rules=("QS-30", "QS-32", "QS-36"),
        text="At most once, a message is non-persistent on a durable subscription, too.",
        apply=lambda: _says(given=True, instead=False, hit=lambda attach: _once(attach) and is_durable(attach)),
    ),
    Defect(
        name="qos1-nondurable-nonpersistent",
        rules=("QS-30", "QS-32", "QS-36"),
        text="At least once, too, a message is non-persistent on a non-durable subscription.",
        apply=lambda: _says(given=True, instead=False, hit=lambda attach: not _once(attach) and not is_durable(attach)),
    ),
    _survives,
    Defect(
        name="header-ignored",
        rules=("QS-32", "QS-36"),
        text="The durable header is ignored where it is true: the topic decides.",
        apply=lambda: _says(given=True, instead=None),
    ),
    Defect(
        name="true-header-nonpersistent",
        rules=("QS-32", "QS-36"),
        text="A message with the durable header true is non-persistent.",
        apply=lambda: _says(given=True, instead=False),
    ),
    Defect(
        name="false-header-persistent",
        rules=("QS-36",),
        text="A message with the durable header false is persistent.",
        apply=lambda: _says(given=False, instead=True),
    ),
    _false_dropped,
    Defect(
        name="defpsist-ignored",
        rules=("QS-33", "QS-34", "QS-36"),
        text="A message without a durable header is non-persistent, even if the topic says otherwise.",
        apply=lambda: _says(given=None, instead=False),
    ),
    Defect(
        name="headerless-persistent",
        rules=("QS-33", "QS-34", "QS-36"),
        text="A message without a durable header is persistent, even if the topic says otherwise.",
        apply=lambda: _says(given=None, instead=True),
    ),
    _not_inherited,
    Defect(
        name="defpsist-of-the-topmost",
        rules=("QS-33",),
        text="Of several levels above a topic that say DEFPSIST the topmost decides.",
        apply=lambda: _of_levels(lambda _topic, above: above[0] if above else None),
    ),
    _remembered,
    _two_objects,
)
