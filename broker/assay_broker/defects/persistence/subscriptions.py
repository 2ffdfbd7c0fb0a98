"""Defects of subscriptions, and of the messages that the broker stores for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Connect, Detach, Disconnect, Put, Unsubscribe
from assay_broker.core.effects import Deliver
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.queues import non_persistent_twice, without
from assay_broker.defects.sends import handed_in, is_delayed, is_durable, is_topic, resent, twice
from assay_broker.defects.shapes import Commands, commands, deliveries, filters, puts, read_together, written
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, Message

_URGENT = 5


def _durable_receivers(view: View, address: Address) -> list[Attach]:
    return [attach for attach in view.on(address) if is_durable(attach)]


def _live_receivers(view: View, address: Address) -> list[Attach]:
    return [attach for attach in view.on(address) if not is_durable(attach)]


# PD-10, PD-11: both kinds side by side


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


# PD-12 to PD-15: the life of a subscription and its stored messages


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
        lasting = replace(command, durability=Durability.DURABLE, shared=True, everybodys=True, name=name)
        return (replace(lasting, timeout_ms=None),)

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        places.clear()
        return tuple(records)

    return filters(rewrite, read=start)


def _durable_ends(*, with_consumer: bool) -> Seams:
    """Make filters that remove a durable subscription when it is next opened.

    Args:
        with_consumer: True if closing the consumer ends the subscription, False if only the connection's end does.
    """
    closed: set[tuple[str | None, str]] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        client = view.client_id(getattr(command, "connection", 0))
        over = view.left(command)
        if with_consumer:
            over = view.leaving(command) if isinstance(command, Detach) else []
        closed.update((client, one.name) for one in over if is_durable(one) and one.name is not None)
        if not isinstance(command, Attach) or not is_durable(command) or command.name is None:
            return None
        if (client, command.name) not in closed:
            return None
        closed.discard((client, command.name))
        return (Unsubscribe(command.connection, None, command.name), command)

    return commands(rewrite)


def _replays(wanted: Callable[[Message], bool], *, first: bool = False, though_heard: bool = False) -> Seams:
    """Make filters that deliver an earlier publication to a new non-durable subscriber.

    Args:
        wanted: Chooses publications by their messages.
        first: True for the topic's first such publication; False for the last.
        though_heard: Whether the filters also deliver the publication while the topic has other subscribers.
    """
    kept: dict[Address, Message] = {}

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            delayed = is_delayed(command, now_ms)
            if target is not None and is_topic(target) and not delayed and wanted(command.message):
                kept[target] = kept.get(target, command.message) if first else command.message
        if not isinstance(command, Attach) or is_durable(command):
            return None
        if view.on(command.address) and not though_heard:
            return None
        message = kept.pop(command.address, None)
        if message is None:
            return None
        return (command, *handed_in(view, command.address, message))

    return commands(rewrite)


@defect(made, "unclaimed-publication-kept", "PD-34")
def _replays_unclaimed() -> Seams:
    """If a topic has no subscription, the broker keeps a publication for the topic's first subscriber."""
    subscribed: set[Address] = set()
    unclaimed: dict[Address, Message] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put):
            target = view.target(command)
            if target is not None and is_topic(target) and target not in subscribed:
                unclaimed[target] = command.message
        if not isinstance(command, Attach):
            return None
        subscribed.add(command.address)
        message = unclaimed.pop(command.address, None)
        if message is None:
            return None
        return (command, *handed_in(view, command.address, message))

    return commands(rewrite)


@defect(made, "missed-out-of-order", "PD-15")
def _missed_out_of_order() -> Seams:
    """An inactive durable subscription changes the order of its stored messages.

    The defect raises the priority of every second publication to a topic without an active subscriber.
    """
    counts: dict[Address, int] = {}

    def shuffle(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
        if not is_topic(target) or view.on(target):
            return None
        counts[target] = counts.get(target, 0) + 1
        if counts[target] % 2:
            return None
        return resent(put, priority=_URGENT)

    return puts(shuffle)


# PD-16, PD-17: identities


@defect(commands, "name-alone", "PD-16", "PD-17")
def _name_alone(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """The broker identifies a durable subscription by its name alone and ignores the client id."""
    if isinstance(command, Connect):
        return (replace(command, client_id=None),)
    if isinstance(command, Attach) and is_durable(command):
        return (replace(command, shared=True),)
    return None


@defect(commands, "second-client-admitted", "PD-17")
def _second_client(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker accepts a second connection with a client id that is in use."""
    if isinstance(command, Connect) and command.client_id in [
        one.client_id for one in view.connections.values() if one.client_id
    ]:
        return (replace(command, client_id=None),)
    return None


@defect(commands, "no-client-id-needed", "PD-17")
def _no_client_id_needed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """The broker creates an unshared durable subscription for a client without a client id."""
    if isinstance(command, Attach) and is_durable(command) and view.client_id(command.connection) is None:
        return (replace(command, shared=True),)
    return None


# PD-23 to PD-30, PD-33: topics


def _one_copy_on_disk(records: Sequence[Record]) -> tuple[Record, ...]:
    kept: set[str | None] = set()
    out: list[Record] = []
    for record in records:
        if isinstance(record, MessageStored) and record.home.startswith("subscription://"):
            if record.message.message_id in kept:
                continue
            kept.add(record.message.message_id)
        out.append(record)
    return tuple(out)


@defect(deliveries, "delivers-before-flush", "PD-24")
def _delivered_before_flush(delivery: Deliver, _view: View) -> Deliver | None:
    """The broker delivers a persistent message before the message is on disk."""
    return replace(delivery, after=None)


def _no_non_persistent(*, to_durable: bool) -> Callable[[Deliver, View], Deliver | None]:
    def drop(delivery: Deliver, view: View) -> Deliver | None:
        own = view.receivers.get((delivery.connection, delivery.link))
        hit = own is not None and is_topic(own.address) and is_durable(own) is to_durable
        return None if hit and not delivery.message.durable else delivery

    return drop


@defect(read_together, "empty-subscriptions-lost", "PD-25", "PD-30")
def _empty_subscriptions_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses durable subscriptions without stored messages."""
    homes = {record.home for record in records if isinstance(record, MessageStored)}
    return tuple(
        record
        for record in records
        if not isinstance(record, SubscriptionDefined) or f"subscription://{record.number}" in homes
    )


SUBSCRIPTION_DEFECTS = (
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
    _durable_only,
    _twice_when_mixed,
    _never_ends,
    Defect(
        name="durable-ends-with-consumer",
        rules=("PD-13", "PD-15", "DD-76"),
        text="Closing the consumer ends a durable subscription.",
        apply=lambda: _durable_ends(with_consumer=True),
    ),
    Defect(
        name="durable-ends-with-connection",
        rules=("PD-13",),
        text="Closing the connection ends a durable subscription.",
        apply=lambda: _durable_ends(with_consumer=False),
    ),
    Defect(
        name="last-publication-replayed",
        rules=("PD-14", "PD-26"),
        text="A new non-durable subscriber gets the last persistent publication that was sent before.",
        apply=lambda: _replays(lambda message: message.durable is True),
    ),
    Defect(
        name="last-non-persistent-replayed",
        rules=("PD-33",),
        text="A new non-durable subscriber gets the last non-persistent publication that was sent before.",
        apply=lambda: _replays(lambda message: message.durable is not True),
    ),
    Defect(
        name="first-publication-replayed",
        rules=("PD-14",),
        text="A new non-durable subscriber gets the first publication of its topic.",
        apply=lambda: _replays(lambda message: message.durable is True, first=True),
    ),
    Defect(
        name="late-comer-handed-last",
        rules=("PD-14", "PD-26"),
        text="A new non-durable subscriber gets the last persistent publication, even if other subscribers got it.",
        apply=lambda: _replays(lambda message: message.durable is True, though_heard=True),
    ),
    _missed_out_of_order,
    _name_alone,
    _second_client,
    _no_client_id_needed,
    Defect(
        name="one-copy-on-disk",
        rules=("PD-23",),
        text="The broker stores a publication for only one of its durable subscriptions.",
        apply=lambda: Seams(written=_one_copy_on_disk),
    ),
    _delivered_before_flush,
    Defect(
        name="durable-loses-on-kill",
        rules=("PD-23", "PD-24", "PD-25"),
        text="Persistent messages of durable subscriptions never reach the disk.",
        apply=lambda: written(without("subscription://")),
    ),
    Defect(
        name="non-persistent-not-to-durable",
        rules=("PD-28",),
        text="Non-persistent publications do not reach active durable subscribers.",
        apply=lambda: deliveries(_no_non_persistent(to_durable=True)),
    ),
    Defect(
        name="missed-non-persistent-twice",
        rules=("PD-29",),
        text="Subscribers that were inactive get non-persistent publications twice.",
        apply=lambda: puts(non_persistent_twice(topic=True, watched=False)),
    ),
    _empty_subscriptions_lost,
    Defect(
        name="non-persistent-not-to-live",
        rules=("PD-33",),
        text="Non-persistent publications do not reach active non-durable subscribers.",
        apply=lambda: deliveries(_no_non_persistent(to_durable=False)),
    ),
    _replays_unclaimed,
)
