"""Filters for the defects of several features of qualities of service."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Put, Settle
from assay_broker.core.effects import Deliver, Effect
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageMarked, MessageRemoved, MessageStored, Record, SubscriptionDefined
from assay_broker.defects.sends import accepted, is_topic, resent
from assay_broker.defects.shapes import Commands, Rewrite, commands, deliveries, filters
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address

LIGHT = ("private:", "share:")
"""The beginnings of the link names of MQ Light clients."""


def is_light(attach: Attach) -> bool:
    """Check whether a receiver belongs to an MQ Light client, by the name of its link."""
    return str(attach.name).startswith(LIGHT)


def lasts(attach: Attach | None) -> bool:
    """Check whether a receiver has a lasting MQ Light subscription, which outlives its receivers."""
    return attach is not None and is_light(attach) and attach.durability is Durability.DURABLE


def gives_back(command: Command, view: View) -> TypeGuard[Settle]:
    """Check whether a command returns messages from a receiver with a lasting MQ Light subscription.

    Over AMQP, a receiver returns its messages before its link ends.
    """
    return isinstance(command, Settle) and command.outcome is Outcome.MODIFIED and lasts(view.receiver(command))


def accepts_when_cut(hit: Callable[[Attach], bool]) -> Rewrite:
    """Make a function that accepts the unacknowledged messages of MQ Light receivers that end.

    Args:
        hit: Chooses the receivers, among those with a lasting subscription.
    """

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if gives_back(command, view):
            receiver = view.receivers[command.connection, command.link]
            return (replace(command, outcome=Outcome.ACCEPTED),) if hit(receiver) else None
        if not isinstance(command, Detach | Disconnect):
            return None
        return accepted(command, view, lambda attach, _one: lasts(attach) and not attach.settled and hit(attach))

    return rewrite


def brought_back(start: int, hit: Callable[[int, set[int]], bool]) -> Seams:
    """Make filters that bring consumed messages back to their subscriptions.

    Args:
        start: The messages come back from this start of the queue manager on; starts are counted from 1.
        hit: Chooses the messages when they are removed.  Its arguments are the key of a message's record, and the keys
            of all messages that have been redelivered.
    """
    stored: dict[int, MessageStored] = {}
    removed: dict[int, MessageStored] = {}
    marked: set[int] = set()

    def written(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        for record in records:
            if isinstance(record, MessageStored):
                stored[record.key] = record
            elif isinstance(record, MessageMarked):
                marked.add(record.key)
            elif isinstance(record, MessageRemoved) and record.key in stored and hit(record.key, marked):
                removed[record.key] = stored[record.key]
        return tuple(records)

    def read(records: Sequence[Record], view: View) -> tuple[Record, ...]:
        if view.starts < start:
            return tuple(records)
        homes = {f"{SUBSCRIPTION_HOME}{record.number}" for record in records if isinstance(record, SubscriptionDefined)}
        there = {record.key for record in records if isinstance(record, MessageStored)}
        back = (record for record in removed.values() if record.home in homes and record.key not in there)
        return (*records, *back)

    return filters(written=written, read=read)


def nonpersistent_where(hit: Callable[[Attach, bool], bool]) -> Seams:
    """Make filters that make publications non-persistent on topics that have had certain subscribers.

    Args:
        hit: Chooses the subscribers.  Its arguments are a receiver with a lasting subscription, and whether the
            subscriber has come back.
    """
    known: set[tuple[str | None, str | None]] = set()
    where: set[Address] = set()

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and lasts(command):
            key = view.client_id(command.connection), command.name
            if hit(command, key in known):
                where.add(command.address)
            known.add(key)
        if not isinstance(command, Put) or view.target(command) not in where or not command.message.durable:
            return None
        return resent(command, durable=False)

    return commands(rewrite)


def transferred(*, settled: bool) -> Seams:
    """Make filters that send deliveries with another `settled` flag than the receiver asked for.

    Args:
        settled: The `settled` flag that MQ Light receivers with a lasting subscription get if they asked for the
            opposite.
    """

    def rewrite(delivery: Deliver, view: View) -> Deliver:
        attach = view.receiver(delivery)
        asked = attach is not None and lasts(attach) and attach.settled is not settled
        return replace(delivery, settled=settled) if asked else delivery

    return deliveries(rewrite)


def holds_unsettled(one: Deliver, view: View) -> bool:
    """Check whether a delivery is to a receiver on a queue or with a lasting MQ Light subscription."""
    receiver = view.receiver(one)
    return receiver is not None and (lasts(receiver) or not is_topic(receiver.address))


def first_comes_last(hit: Callable[[Deliver], bool]) -> Seams:
    """Make filters that change the order of deliveries: the first of a receiver's deliveries in one turn comes last.

    The filters change only deliveries to receivers on queues and on lasting MQ Light subscriptions.  They change
    nothing in a turn with chosen deliveries to several receivers.

    Args:
        hit: Chooses the deliveries.
    """

    def effects(passing: tuple[Effect, ...], _now_ms: int, view: View) -> tuple[Effect, ...]:
        moved = [one for one in passing if isinstance(one, Deliver) and hit(one) and holds_unsettled(one, view)]
        if len({(one.connection, one.link) for one in moved}) != 1:
            return passing
        places = iter((*moved[1:], moved[0]))
        return tuple(next(places) if one in moved else one for one in passing)

    return filters(effects=effects)
