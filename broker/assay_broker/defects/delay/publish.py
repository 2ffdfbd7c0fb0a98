"""Defects in delayed publications (DD-51)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core import commands as core
from assay_broker.core.commands import Attach, Browse, Command, Commit, Detach, Disconnect, Put
from assay_broker.core.effects import Deliver
from assay_broker.core.queues.homes import SUBSCRIPTION_HOME
from assay_broker.core.records import MessageStored, Record, SubscriptionDefined, SubscriptionRemoved
from assay_broker.defects.model import defect, made
from assay_broker.defects.sends import (
    HOLD,
    NOTHING,
    SHIFT,
    cancelled,
    dropped,
    elsewhere,
    handed_in,
    is_durable,
    is_topic,
    left_ms,
    published,
    twice,
    unheard,
)
from assay_broker.defects.shapes import Commands, commands, deliveries, puts, read_together
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message


@defect(made, "matched-at-release", "DD-51", "DD-80", "DD-84")
def _matched_at_release() -> Seams:
    """The broker chooses a publication's subscriptions at the end of the delay and not at the send.

    The defect keeps delayed publications on a queue of its own and publishes them when their delay is over.
    """
    waiting: list[tuple[int, Address, Message]] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        due_now = [one for one in waiting if one[0] <= now_ms]
        waiting[:] = [one for one in waiting if one[0] > now_ms]
        before: list[Command] = []
        for _, topic, message in due_now:
            before += handed_in(view, topic, replace(message, delivery_time_ms=None))
        sent = view.sent(command, now_ms)
        if sent is not None and sent.delayed and is_topic(sent.target) and sent.put.unit is None:
            waiting.append((sent.due_ms, sent.target, sent.message))
            return (*before, *elsewhere(sent.put, HOLD, view))
        return (*before, command) if before else None

    return commands(rewrite)


@defect(commands, "unsubscribe-ignored", "DD-51", "PD-10", "QS-20")
def _unsubscribe_ignored(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """Unsubscribing has no effect: the next subscriber with the same name gets all messages published meanwhile."""
    if not isinstance(command, core.Unsubscribe):
        return None
    return (Browse(command.connection, command.token, Address(AddressKind.QUEUE, NOTHING)),)


@defect(made, "delayed-not-to-returning", "DD-51")
def _not_to_returning() -> Seams:
    """A subscriber that comes back during or after a delay does not get the delayed publication."""
    delayed: set[str | None] = set()
    started: dict[tuple[int, int], set[str | None]] = {}

    def note(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Put) and left_ms(command.message, now_ms):
            target = view.target(command)
            if target is not None and is_topic(target):
                delayed.add(command.message.message_id)
        for key in view.receivers.keys() - started.keys():
            started[key] = set(delayed)
        return None

    noting = commands(note)

    def drop(delivery: Deliver, _view: View) -> Deliver | None:
        missed = started.get((delivery.connection, delivery.link), set())
        return None if delivery.message.message_id in missed else delivery

    return replace(noting, effects=deliveries(drop).effects)


@defect(puts, "delayed-twice-to-durable", "DD-51")
def _durable_twice(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """Active durable subscribers get delayed publications twice."""
    active = any(is_durable(attach) for attach in view.on(target))
    return twice(put) if is_topic(target) and active and left_ms(put.message, now_ms) else None


@defect(puts, "delayed-twice-to-shared", "DD-51")
def _shared_twice(put: Put, target: Address, now_ms: int, view: View) -> Commands | None:
    """The subscribers of a shared subscription together get each delayed publication twice."""
    shared = any(attach.shared for attach in view.on(target))
    return twice(put) if is_topic(target) and shared and left_ms(put.message, now_ms) else None


@defect(commands, "shared-subscription-away-forgotten", "DD-51")
def _away_forgotten(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a shared durable subscription's last subscriber leaves, the broker drops all delayed publications."""
    if not isinstance(command, Detach | Disconnect):
        return None
    for leaving in view.leaving(command):
        others = [one for one in view.on(leaving.address) if one.shared and one.name == leaving.name]
        if leaving.shared and is_durable(leaving) and len(others) == 1:
            return (*cancelled(view, *published(view)), command)
    return None


@defect(commands, "light-away-forgotten", "DD-51")
def _light_away_forgotten(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When any durable subscriber leaves, the broker drops all non-persistent delayed publications."""
    if not isinstance(command, Detach | Disconnect) or not any(map(is_durable, view.leaving(command))):
        return None
    light = [id_ for id_, one in view.delayed.items() if is_topic(one.target) and one.message.durable is False]
    return (*cancelled(view, *light), command) if light else None


@defect(commands, "latecomers-left-out", "DD-51")
def _latecomers(command: Command, _now_ms: int, view: View) -> Commands | None:
    """A non-durable subscription created during or after a publication's delay gets no publications on its topic."""
    if not isinstance(command, Attach) or is_durable(command) or not is_topic(command.address):
        return None
    waits = any(one.target == command.address for one in view.delayed.values())
    return (replace(command, address=Address(AddressKind.TOPIC, NOTHING)),) if waits else None


@defect(commands, "selectors-of-subscriptions-ignored", "DD-51", "DD-80", "DD-81")
def _unselected(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A subscription also gets the messages that its selector excludes."""
    on_topic = isinstance(command, Attach) and is_topic(command.address) and command.selector is not None
    return (replace(command, selector=None),) if on_topic and isinstance(command, Attach) else None


@defect(made, "altered-subscription-keeps-staged", "DD-51")
def _altered_keeps_staged() -> Seams:
    """A durable subscription that is altered to another topic also gets delayed publications of its first topic."""
    topics: dict[tuple[str | None, str | None], Address] = {}

    def rewrite(command: Command, _now_ms: int, view: View) -> Commands | None:
        if not isinstance(command, Attach) or not is_durable(command):
            return None
        before = topics.setdefault((view.client_id(command.connection), command.name), command.address)
        if before == command.address:
            return None
        waiting = (one.message for one in view.delayed.values() if one.target == before)
        return (command, *handed_in(view, command.address, *waiting))

    return commands(rewrite)


@defect(commands, "own-messages-not-left-out", "DD-51", "PD-11")
def _own_messages(command: Command, _now_ms: int, _view: View) -> Commands | None:
    """A subscription with noLocal also gets the publications of its own connection."""
    return (replace(command, no_local=False),) if isinstance(command, Attach) and command.no_local else None


@defect(read_together, "subscription-numbers-used-again", "DD-51")
def _numbers_again(records: Sequence[Record]) -> tuple[Record, ...]:
    """After a restart, a new subscription gets the messages that are staged for a removed subscription."""
    gone = {record.number for record in records if isinstance(record, SubscriptionRemoved)}
    kept = [
        record
        for record in records
        if not (isinstance(record, SubscriptionDefined | SubscriptionRemoved) and record.number in gone)
    ]
    return tuple(kept)


@defect(commands, "publication-matched-at-commit", "DD-51")
def _matched_at_commit(command: Command, now_ms: int, view: View) -> Commands | None:
    """For delayed publications in a unit of work, the broker chooses the subscriptions at the commit."""
    if isinstance(command, Commit):
        sent = (one for unit in view.ended(command) for one in unit.sent if one.delayed and is_topic(one.target))
        return (*(unheard(one.put) for one in sent), command)
    now = view.sent(command, now_ms)
    if now is None or now.put.unit is None or not now.delayed or not is_topic(now.target):
        return None
    return elsewhere(now.put, HOLD, view)


@defect(read_together, "publication-matched-at-restart", "DD-51")
def _matched_at_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """A restart also stages delayed publications for durable subscriptions that were created during the delay."""
    subscriptions = [one for one in records if isinstance(one, SubscriptionDefined)]
    staged = [
        one
        for one in records
        if isinstance(one, MessageStored) and one.due_ms is not None and one.home.startswith(SUBSCRIPTION_HOME)
    ]
    have = {(one.message.message_id, one.home) for one in staged}
    further = (
        replace(one, key=one.key + SHIFT * defined.number, home=f"{SUBSCRIPTION_HOME}{defined.number}")
        for one in staged
        for defined in subscriptions
        if defined.topic == one.message.to
        and (one.message.message_id, f"{SUBSCRIPTION_HOME}{defined.number}") not in have
    )
    return (*records, *further)


@defect(commands, "staged-goes-with-one-sharer", "DD-51", "DD-76")
def _goes_with_a_sharer(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a subscriber leaves a shared subscription, the staged publications on the subscription's topic are lost."""
    left = {attach.address for attach in view.leaving(command) if attach.shared}
    lost = [id_ for id_, one in view.delayed.items() if one.target in left]
    return (*cancelled(view, *lost), command) if lost else None


@defect(made, "unmatched-without-a-sharer", "DD-51", "DD-80")
def _unmatched_without_sharer() -> Seams:
    """The broker drops delayed publications while a shared durable subscription has no subscriber."""
    shared: list[Attach] = []

    def rewrite(command: Command, now_ms: int, view: View) -> Commands | None:
        if isinstance(command, Attach) and command.shared and is_durable(command):
            shared.append(command)
        now = view.sent(command, now_ms)
        if now is None or not now.delayed or not is_topic(now.target) or not shared:
            return None
        present = {one.name for known in shared for one in view.on(known.address) if one.shared}
        return None if present.issuperset(one.name for one in shared) else (dropped(now.put, now_ms),)

    return commands(rewrite)


PUBLISH_DEFECTS = (
    _matched_at_release,
    _unsubscribe_ignored,
    _not_to_returning,
    _durable_twice,
    _shared_twice,
    _away_forgotten,
    _light_away_forgotten,
    _latecomers,
    _unselected,
    _numbers_again,
    _own_messages,
    _altered_keeps_staged,
    _matched_at_commit,
    _matched_at_restart,
    _goes_with_a_sharer,
    _unmatched_without_sharer,
)
