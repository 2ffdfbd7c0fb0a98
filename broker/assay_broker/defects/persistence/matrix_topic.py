"""Defects with messages of durable and non-durable subscriptions (PD-23 to PD-26)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.commands import Attach, Backout, Command, Commit, Detach, Disconnect, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.bodies import opened
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined
from assay_broker.core.topics.topic_strings import has_wildcards
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.persistence.filters import committed_units, text_of, without
from assay_broker.defects.sends import (
    HOLD,
    covers,
    dropped,
    handed_in,
    is_delayed,
    is_durable,
    is_topic,
    is_wide,
    resent,
    twice,
)
from assay_broker.defects.shapes import (
    Commands,
    answers,
    commands,
    deliveries,
    filters,
    puts,
    read,
    read_together,
    written,
)
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address
from assay_sdk.model.reasons import Mqrc

_LARGE = 1 << 16
"""The greatest length of a text that does not count as large, in characters."""


@defect(puts, "twice-to-one-durable", "PD-24")
def _twice_to_one_durable(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """If a topic's only active subscriber is durable and unshared, it gets persistent publications twice."""
    there = view.on(target)
    durable = len(there) == 1 and there[0].name is not None and not there[0].shared
    hit = durable and is_topic(target) and put.message.durable and not is_delayed(put, now_ms)
    return twice(put) if hit else None


@defect(puts, "unit-twice-to-sharers-of-a-pattern", "PD-24")
def _twice_to_sharers(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """With two sharers, a durable subscription to a pattern gets each persistent message of a unit of work twice."""
    if put.unit is None or not put.message.durable:
        return None
    wide = [one for one in view.receivers.values() if one.shared and is_durable(one) and is_wide(one)]
    return twice(put) if sum(covers(one.address, target) for one in wide) > 1 else None


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


@defect(read_together, "empty-subscriptions-lost", "PD-25", "PD-30")
def _empty_subscriptions_lost(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart loses durable subscriptions without stored messages."""
    homes = {record.home for record in records if isinstance(record, MessageStored)}
    return tuple(
        record
        for record in records
        if not isinstance(record, SubscriptionDefined) or f"subscription://{record.number}" in homes
    )


@defect(puts, "twice-to-live", "PD-26")
def _twice_to_live(put: Put, target: Address, _now_ms: int, view: View) -> Commands | None:
    """On a topic with only non-durable subscribers, each subscriber gets persistent publications twice."""
    there = view.on(target)
    live = bool(there) and not any(is_durable(attach) for attach in there)
    return twice(put) if live and is_topic(target) and put.message.durable else None


def _home(subscription: SubscriptionDefined) -> str:
    return f"subscription://{subscription.number}"


@defect(made, "selective-backlog-dropped", "PD-25")
def _selective_dropped() -> Seams:
    """A durable subscription with a selector stores no messages while its subscriber is inactive."""
    selecting: set[Address] = set()

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and is_durable(command) and command.selector:
            selecting.add(command.address)
        target = view.target(command)
        if not isinstance(command, Put) or target not in selecting or view.on(target) or is_delayed(command, now_ms):
            return None
        return (dropped(command, now_ms),)

    return commands(rewrite)


def _not_on_disk(hit: Callable[[SubscriptionDefined], bool]) -> Seams:
    """Make filters that do not write the messages of some durable subscriptions.

    Args:
        hit: Chooses the subscriptions.
    """
    homes: set[str] = set()

    def learn(records: Sequence[Record]) -> tuple[Record, ...]:
        homes.update(_home(record) for record in records if isinstance(record, SubscriptionDefined) and hit(record))
        return tuple(records)

    def written(records: Sequence[Record]) -> tuple[Record, ...]:
        return tuple(
            record for record in learn(records) if not isinstance(record, MessageStored) or record.home not in homes
        )

    return Seams(written=written, read=learn)


@defect(read, "shared-lost-at-restart", "PD-25")
def _shared_lost(record: Record) -> tuple[Record, ...]:
    """A restart loses shared durable subscriptions."""
    return () if isinstance(record, SubscriptionDefined) and record.shared else (record,)


@defect(commands, "rolled-back-consumed", "PD-24")
def _rolled_back_consumed(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A rollback consumes the publications that the unit of work received."""
    if not isinstance(command, Backout):
        return None
    taken = any(is_topic(one.origin) for unit in view.ended(command) for one in unit.taken)
    return (Commit(command.connection, command.token, command.unit),) if taken else None


@defect(puts, "live-publication-persisted", "PD-26")
def _live_persisted(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker writes a persistent publication to disk although only non-durable subscriptions get it."""
    there = view.on(target)
    live = is_topic(target) and bool(there) and not any(is_durable(attach) for attach in there)
    if not live or not put.message.durable or is_delayed(put, now_ms):
        return None
    return (put, *handed_in(view, HOLD, put.message))


@defect(read, "selector-lost-at-restart", "PD-25")
def _selector_lost(record: Record) -> tuple[Record, ...]:
    """A restart removes the selectors of durable subscriptions."""
    return (replace(record, selector=None),) if isinstance(record, SubscriptionDefined) else (record,)


@defect(read, "kind-swapped-at-restart", "PD-25")
def _kind_swapped(record: Record) -> tuple[Record, ...]:
    """A restart makes shared durable subscriptions unshared, and unshared ones shared."""
    return (replace(record, shared=not record.shared),) if isinstance(record, SubscriptionDefined) else (record,)


@defect(puts, "unit-reaches-the-connected-only", "PD-23")
def _connected_only(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker drops a publication of a unit of work to a topic without an active subscriber."""
    if put.unit is None or not is_topic(target) or view.on(target) or is_delayed(put, now_ms):
        return None
    return (dropped(put, now_ms),)


@defect(puts, "large-missed-dropped", "PD-25")
def _large_dropped(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker drops a large publication to a topic without an active subscriber."""
    if not is_topic(target) or view.on(target) or is_delayed(put, now_ms):
        return None
    return (dropped(put, now_ms),) if len(text_of(put.message)) > _LARGE else None


@defect(read, "shared-client-forgotten-at-restart", "PD-25")
def _client_forgotten(record: Record) -> tuple[Record, ...]:
    """After a restart, a shared durable subscription has no client id."""
    shared = isinstance(record, SubscriptionDefined) and record.shared
    return (replace(record, client_id=None),) if isinstance(record, SubscriptionDefined) and shared else (record,)


@defect(puts, "mixed-publication-not-on-disk", "PD-23")
def _mixed_not_on_disk(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The broker writes no publications to disk for durable subscribers while the topic has a non-durable one."""
    live = [attach for attach in view.on(target) if not is_durable(attach)] if is_topic(target) else []
    return resent(put, durable=False) if live and put.message.durable and not is_delayed(put, now_ms) else None


@defect(commands, "uncommitted-publications-lost-with-the-line", "PD-24")
def _lost_with_the_line(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a connection is lost, publications that its uncommitted units of work received are consumed."""
    if not isinstance(command, Disconnect) or command.clean:
        return None
    return committed_units(command, view, topics=True)


@defect(deliveries, "second-delivery-before-flush", "PD-24")
def _second_before_flush(delivery: Deliver, view: View) -> Deliver | None:
    """While a subscriber has an unacknowledged message, it gets further messages before they are on disk."""
    held = view.held(Detach(delivery.connection, None, delivery.link))
    return replace(delivery, after=None) if len(held) > 1 else delivery


@defect(written, "mortal-publication-unwritten", "PD-25", "QS-32")
def _mortal_unwritten(record: Record) -> tuple[Record, ...]:
    """The broker does not write publications with a time to live to disk."""
    if not isinstance(record, MessageStored) or record.due_ms is not None or record.expires_ms is None:
        return (record,)
    return () if record.home.startswith(SUBSCRIPTION_HOME) else (record,)


@defect(written, "branch-publication-unwritten", "PD-23")
def _branch_unwritten(record: Record) -> tuple[Record, ...]:
    """The broker does not write the publications of branches to disk."""
    if not isinstance(record, MessageStored) or record.unit is None:
        return (record,)
    return () if record.home.startswith(SUBSCRIPTION_HOME) else (record,)


@defect(made, "recovered-subscription-refused", "PD-25", "QS-21")
def _recovered_refused() -> Seams:
    """After a restart, the broker refuses to open the durable subscriptions that it has recovered."""
    recovered: set[tuple[str | None, str | None]] = set()

    def start(records: Sequence[Record], _view: View) -> tuple[Record, ...]:
        recovered.update((one.client_id, one.name) for one in records if isinstance(one, SubscriptionDefined))
        return tuple(records)

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_durable(command):
            return None
        client = None if command.is_global else view.client_id(command.connection)
        return (replace(command, name=""),) if (client, command.name) in recovered else None

    return filters(rewrite, read=start)


@defect(read, "no-local-forgotten-at-restart", "PD-25")
def _no_local_forgotten(record: Record) -> tuple[Record, ...]:
    """A restart removes noLocal from durable subscriptions."""
    return (replace(record, no_local=False),) if isinstance(record, SubscriptionDefined) else (record,)


@defect(deliveries, "publications-without-reply-to", "PD-23")
def _without_reply_to(delivery: Deliver, _view: View) -> Deliver:
    """A publication reaches its subscribers without its reply-to."""
    if not is_topic(delivery.origin) or delivery.message.reply_to is None:
        return delivery
    return replace(delivery, message=replace(opened(delivery.message), reply_to=None))


@defect(answers, "unreached-subscription-kept-quiet", "PD-23")
def _kept_quiet(sent: Sent, answer: Answer) -> Answer:
    """The broker accepts a publication although the queue of a durable subscription could not take a copy of it."""
    refused = answer.refused
    if refused is None or refused.mqrc != Mqrc.PUBLICATION_FAILURE or sent.delayed:
        return answer
    return replace(answer, refused=None)


PERSISTENCE_MATRIX_TOPIC_DEFECTS = (
    _twice_to_one_durable,
    _twice_to_sharers,
    _connected_only,
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
    _empty_subscriptions_lost,
    _twice_to_live,
    _selective_dropped,
    Defect(
        name="selective-not-on-disk",
        rules=("PD-23",),
        text="Messages of durable subscriptions with a selector never reach the disk.",
        apply=lambda: _not_on_disk(lambda subscription: bool(subscription.selector)),
    ),
    Defect(
        name="pattern-not-on-disk",
        rules=("PD-23", "QS-32"),
        text="Messages of durable subscriptions to patterns never reach the disk.",
        apply=lambda: _not_on_disk(lambda subscription: has_wildcards(subscription.topic.name)),
    ),
    _shared_lost,
    _rolled_back_consumed,
    _live_persisted,
    _selector_lost,
    _kind_swapped,
    _large_dropped,
    _client_forgotten,
    _mixed_not_on_disk,
    _lost_with_the_line,
    _second_before_flush,
    _mortal_unwritten,
    _branch_unwritten,
    _recovered_refused,
    _no_local_forgotten,
    _without_reply_to,
    _kept_quiet,
)
