"""Defects in the identity of a subscription and in the choice of its messages (PD-10 to PD-12)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import (
    Attach,
    Backout,
    BackOutBranch,
    Command,
    Commit,
    CommitBranch,
    Connect,
    Detach,
    Disconnect,
    Put,
    Unsubscribe,
)
from assay_broker.core.effects import Deliver
from assay_broker.core.records import Record, SubscriptionRemoved
from assay_broker.core.topics.retained import asks_retention
from assay_broker.core.topics.topic_strings import SEPARATOR, has_wildcards
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import is_durable, is_topic, is_wide, twice
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, puts, written
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address


def _durable_receivers(view: View, address: Address) -> list[Attach]:
    return [attach for attach in view.on(address) if is_durable(attach)]


def _live_receivers(view: View, address: Address) -> list[Attach]:
    return [attach for attach in view.on(address) if not is_durable(attach)]


def _made_anew(forgets: Callable[[Command, View], Address | None]) -> Seams:
    """Make filters that remove a durable subscription when it is next opened, if an event on its topic occurred before.

    Args:
        forgets: Returns the topic if a command is such an event; None for any other command.
    """
    forgotten: set[Address] = set()
    known: set[tuple[Address, str]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        topic = forgets(command, view)
        if topic is not None:
            forgotten.add(topic)
        if not isinstance(command, Attach) or not is_durable(command) or command.name is None:
            return None
        again = (command.address, command.name) in known
        known.add((command.address, command.name))
        if not again or command.address not in forgotten:
            return None
        return (Unsubscribe(command.connection, None, command.name), command)

    return commands(rewrite)


def _live_neighbour(command: Command, _view: View) -> Address | None:
    live = isinstance(command, Attach) and is_topic(command.address) and not is_durable(command)
    return command.address if isinstance(command, Attach) and live else None


def _non_persistent_publication(command: Command, view: View) -> Address | None:
    if not isinstance(command, Put) or command.message.durable:
        return None
    target = view.target(command)
    return target if target is not None and is_topic(target) else None


def _retained_publication(command: Command, view: View) -> Address | None:
    if not isinstance(command, Put) or not asks_retention(command.message):
        return None
    return view.target(command)


@defect(deliveries, "durable-only", "PD-11")
def _durable_only(delivery: Deliver, view: View) -> Deliver | None:
    """While a durable subscription is open, the non-durable subscriptions of its topic get no messages."""
    mixed = bool(_durable_receivers(view, delivery.origin))
    own = view.receivers.get((delivery.connection, delivery.link))
    if mixed and own is not None and is_topic(own.address) and not is_durable(own):
        return None
    return delivery


@defect(puts, "twice-when-mixed", "PD-11")
def _twice_when_mixed(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """On a topic with open durable and non-durable subscriptions, each subscription gets publications twice."""
    both = _durable_receivers(view, target) and _live_receivers(view, target)
    return twice(put) if both and is_topic(target) else None


@defect(made, "closed-subscription-goes-on", "PD-10", "PD-12", "PD-14", "PD-27")
def _never_ends() -> Seams:
    """A non-durable subscription continues after its close, and the next subscriber gets its stored messages.

    The defect makes non-durable subscriptions durable, under names that the next subscribers of the topic use again.
    """
    places: dict[tuple[int, int], tuple[Address, int]] = {}

    def rewrite(command: Command, _now_ms: int, _view: View) -> Commands | None:
        if isinstance(command, Detach):
            places.pop((command.connection, command.link), None)
        if isinstance(command, Disconnect):
            for key in [key for key in places if key[0] == command.connection]:
                del places[key]
        if not isinstance(command, Attach) or command.shared or is_durable(command) or not is_topic(command.address):
            return None
        taken = {place for address, place in places.values() if address == command.address}
        place = min(set(range(len(taken) + 1)) - taken)
        places[command.connection, command.link] = (command.address, place)
        name = f"DEFECT.{command.address.name}.{place}"
        lasting = replace(command, durability=Durability.DURABLE, shared=True, is_global=True, name=name)
        return (replace(lasting, timeout_ms=None),)

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        places.clear()
        return tuple(records)

    return filters(rewrite, read=start)


@defect(commands, "leaver-takes-durable-along", "PD-10")
def _takes_durable_along(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a non-durable subscriber leaves, the durable subscribers of its topic get no more messages."""
    left = {one.address for one in view.leaving(command) if is_topic(one.address) and not is_durable(one)}
    others = [
        Detach(connection, None, link)
        for (connection, link), attach in view.receivers.items()
        if attach.address in left and is_durable(attach)
    ]
    return (command, *others) if others else None


def _passes(attach: Attach) -> bool:
    """Check whether a receiver opens a shared non-durable subscription."""
    return is_topic(attach.address) and attach.shared and not is_durable(attach)


@defect(commands, "refused-beside-a-durable-namesake", "PD-10")
def _refused_beside_namesake(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker refuses a shared non-durable subscription while a durable one of the same name has a consumer."""
    if not isinstance(command, Attach) or not _passes(command):
        return None
    if not any(is_durable(one) and one.name == command.name for one in view.on(command.address)):
        return None
    return (replace(command, name=""),)  # the broker refuses an empty name


@defect(made, "ends-a-durable-namesake", "PD-10")
def _ends_namesake() -> Seams:
    """A new shared non-durable subscription ends an inactive shared durable one of the same name."""
    known: set[tuple[str | None, bool]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_topic(command.address):
            return None
        key = command.name, command.is_global
        if is_durable(command) and command.shared:
            known.add(key)
        used = any(is_durable(one) and one.name == command.name for one in view.on(command.address))
        if not _passes(command) or used or key not in known:
            return None
        known.discard(key)
        return (Unsubscribe(command.connection, None, str(command.name), is_global=command.is_global), command)

    return commands(rewrite)


@defect(deliveries, "second-of-a-kind-starved", "PD-11")
def _second_starved(delivery: Deliver, view: View) -> Deliver | None:
    """Only the first durable and the first non-durable subscriber of a topic get publications."""
    own = view.receiver(delivery)
    if own is None or own.shared or not is_topic(own.address):
        return delivery
    alike = [attach for attach in view.on(own.address) if is_durable(attach) == is_durable(own)]
    return delivery if alike[0] is own else None


@defect(commands, "shared-non-durable-goes-on", "PD-12", "PD-27")
def _shared_goes_on(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A shared non-durable subscription continues after its last subscriber has left."""
    if isinstance(command, Attach) and command.shared and not is_durable(command):
        return (replace(command, durability=Durability.DURABLE),)
    return None


@defect(made, "non-durable-never-deleted", "PD-12")
def _never_deleted() -> Seams:
    """The broker never deletes a non-durable subscription, and continues to store messages for it.

    In place of each receiver that leaves, the defect attaches a receiver of its own, which grants no credit.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        left = [one for one in view.leaving(command) if is_topic(one.address) and not is_durable(one)]
        heirs = tuple(
            replace(one, connection=view.agent, token=None, link=view.own_number(), name=None, shared=False)
            for one in left
        )
        return (command, Connect(view.agent, None), *heirs) if heirs else None

    return commands(rewrite)


def _takes_along(command: Command, view: View, others: Callable[[Attach, Attach], bool]) -> Commands | None:
    """Let a command that ends receivers end further receivers, too.

    Args:
        command: The command.
        view: The defect's view.
        others: Returns whether the second receiver ends, too, when the first receiver leaves.
    """
    left = [one for one in view.leaving(command) if is_topic(one.address) and not is_durable(one)]
    taken = [
        Detach(connection, None, link)
        for (connection, link), attach in view.receivers.items()
        if not any(attach is one for one in left) and any(others(one, attach) for one in left)
    ]
    return (command, *taken) if taken else None


@defect(commands, "shared-ends-with-first", "PD-12")
def _shared_ends_with_first(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a shared non-durable subscription's first subscriber leaves, its other subscribers get no more messages."""
    return _takes_along(command, view, lambda gone, stays: gone.shared and stays.shared and stays.name == gone.name)


@defect(commands, "closing-one-closes-its-neighbours", "PD-12")
def _neighbours_close(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a non-durable subscriber closes, the broker closes the other subscribers of its connection, too."""
    return _takes_along(command, view, lambda gone, stays: stays.connection == gone.connection)


@defect(commands, "own-publications-left-out", "PD-11")
def _own_left_out(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker treats every unshared subscription as if it had noLocal."""
    if not isinstance(command, Attach) or not is_topic(command.address) or command.shared:
        return None
    return (replace(command, no_local=True),)


@defect(written, "unsubscribing-unwritten", "PD-10")
def _unsubscribing_unwritten(record: Record) -> tuple[Record, ...]:
    """The broker does not write the removal of a durable subscription, so a restart brings the subscription back."""
    return () if isinstance(record, SubscriptionRemoved) else (record,)


@defect(made, "gone-subscriber-undoes-unit", "DD-51", "PD-11")
def _gone_undoes_unit() -> Seams:
    """A commit backs the unit of work out if a subscriber has left since the unit published a message for it."""
    of_units: dict[tuple[int, int], list[Attach]] = {}
    of_branches: dict[bytes, list[Attach]] = {}

    def present(command: Command) -> list[Attach]:
        match command:
            case Commit():
                return of_units.pop((command.connection, command.unit), [])
            case CommitBranch():
                return of_branches.pop(command.xid, [])
            case _:
                return []

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        target = view.target(command)
        if isinstance(command, Put) and command.unit is not None and target is not None and is_topic(target):
            number = command.connection, command.unit
            unit = view.units.get(number)
            xid = None if unit is None else unit.xid
            listeners = of_units.setdefault(number, []) if xid is None else of_branches.setdefault(xid, [])
            listeners.extend(view.on(target))
        if all(view.receivers.get((one.connection, one.link)) is one for one in present(command)):
            return None
        if isinstance(command, Commit):
            return (Backout(command.connection, command.token, command.unit),)
        if isinstance(command, CommitBranch):
            return (BackOutBranch(command.connection, command.token, command.xid),)
        return None

    return commands(rewrite)


def _is_pattern(attach: Attach | None) -> bool:
    return attach is not None and is_topic(attach.address) and has_wildcards(attach.address.name)


@defect(deliveries, "pattern-hidden-by-topic", "PD-11")
def _hidden_by_topic(delivery: Deliver, view: View) -> Deliver | None:
    """A subscription to a topic pattern gets no messages while a subscription to a single topic is open."""
    exact = any(is_topic(one.address) and not _is_pattern(one) for one in view.receivers.values())
    return None if exact and _is_pattern(view.receiver(delivery)) else delivery


@defect(deliveries, "pattern-hidden-by-pattern", "PD-11")
def _hidden_by_pattern(delivery: Deliver, view: View) -> Deliver | None:
    """Only the oldest of the subscriptions to topic patterns gets publications."""
    patterns = [one for one in view.receivers.values() if _is_pattern(one)]
    own = view.receiver(delivery)
    return None if _is_pattern(own) and own is not patterns[0] else delivery


@defect(deliveries, "no-local-hears-nobody", "PD-11")
def _hears_nobody(delivery: Deliver, view: View) -> Deliver | None:
    """A subscriber with noLocal gets no messages at all, not even from other connections."""
    receiver = view.receiver(delivery)
    return None if receiver is not None and receiver.no_local else delivery


@defect(commands, "pattern-ignores-its-selector", "PD-11", "PD-26")
def _ignores_selector(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A subscription to a topic pattern also gets messages that its selector excludes."""
    if not isinstance(command, Attach) or command.selector is None or not is_wide(command):
        return None
    return (replace(command, selector=None),)


def _nested(one: str, other: str) -> bool:
    """Check whether the levels of one topic string begin with all levels of the other."""
    shorter, longer = sorted((one, other), key=len)
    return longer.startswith(shorter + SEPARATOR)


@defect(commands, "pattern-takes-nested-along", "PD-11", "PD-12")
def _takes_nested_along(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a subscriber leaves, subscribers to topic patterns above or below its topic get no more messages."""
    left = [one.address.name for one in view.leaving(command) if is_topic(one.address)]
    others = [
        Detach(connection, None, link)
        for (connection, link), attach in view.receivers.items()
        if is_topic(attach.address)
        and has_wildcards(attach.address.name)
        and any(_nested(attach.address.name, name) for name in left)
    ]
    return (command, *others) if others else None


PERSISTENCE_SUBSCRIPTIONS_DEFECTS = (
    Defect(
        name="topic-decides-durability",
        rules=("PD-10",),
        text="A reopened durable subscription has lost its messages if its topic has had a non-durable subscriber.",
        apply=lambda: _made_anew(_live_neighbour),
    ),
    Defect(
        name="message-decides-durability",
        rules=("PD-10",),
        text="A reopened durable subscription has lost its messages if a non-persistent message was published.",
        apply=lambda: _made_anew(_non_persistent_publication),
    ),
    Defect(
        name="retained-comes-at-each-opening",
        rules=("PD-15",),
        text="A durable subscription is made anew when it is opened after a retained publication, which comes again.",
        apply=lambda: _made_anew(_retained_publication),
    ),
    _durable_only,
    _twice_when_mixed,
    _never_ends,
    _takes_durable_along,
    _refused_beside_namesake,
    _ends_namesake,
    _second_starved,
    _shared_goes_on,
    _never_deleted,
    _shared_ends_with_first,
    _neighbours_close,
    _own_left_out,
    _unsubscribing_unwritten,
    _gone_undoes_unit,
    _hidden_by_topic,
    _hidden_by_pattern,
    _hears_nobody,
    _ignores_selector,
    _takes_nested_along,
)
