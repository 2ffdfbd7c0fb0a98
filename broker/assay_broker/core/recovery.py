"""The recovery of a queue manager from the records of its store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from assay_broker.core.clients.branch_recovery import BranchRecovery
from assay_broker.core.clients.links import parse_selector
from assay_broker.core.clients.prepared_branches import hold, stand_by_for_staging, stand_uncommitted
from assay_broker.core.clients.subscription_lifetime import (
    add_subscription,
    new_subscription,
    receiver_left,
    wait_for_end,
)
from assay_broker.core.messages.entries import CopyState, Entry
from assay_broker.core.objects.factory import DURABLE_MODEL
from assay_broker.core.objects.model import Kind
from assay_broker.core.objects.reasons import object_refusal
from assay_broker.core.queues.homes import is_shared
from assay_broker.core.queues.placement import stage_again, watch_expiry
from assay_broker.core.queues.resolution import recovered, recovered_model
from assay_broker.core.records import (
    AuthoritySet,
    MemberTold,
    MessageMarked,
    MessageRemoved,
    MessageStored,
    ObjectDefined,
    ObjectRemoved,
    ParcelForgotten,
    ParcelTaken,
    Record,
    RetainedSet,
    SubscriptionDefined,
    SubscriptionRemoved,
    UnitCompleted,
    UnitPrepared,
    UnitRecord,
    UnitResolved,
)
from assay_broker.core.state import State
from assay_broker.core.topics.administrative_subscriptions import activate_subs
from assay_broker.core.topics.retained_updates import restore_retained
from assay_broker.core.topics.subscriptions import Terms
from assay_broker.core.turn import Turn
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.message import DEFAULT_PRIORITY

_NO_CONNECTION = 0


def recover(state: State, turn: Turn, records: Iterable[Record]) -> None:
    """Restore the state of a queue manager from the records of its store.

    - Messages return to their queues in the order of their arrival. A message that a branch in doubt has put is
      uncommitted again, and a message that the branch has accepted is held again.
    - Messages of a subscription that has ended are removed.
    - Staged copies are staged again, even if their targets no longer exist. Afterwards the delay processor releases
      those whose delay is over (DD-46).

    Args:
        state: The queue manager, which has no messages or subscriptions of its own yet.
        turn: The present turn.
        records: The records, in the order in which the store received them.

    Raises:
        RefusalError: The settings define an alias or model queue, and a local queue of the same name has messages.
    """
    found = _Found({}, {}, {}, {}, [])
    highest_key = highest_subscription = 0
    for record in _apply_definitions(state, records):
        if isinstance(record, SubscriptionDefined | SubscriptionRemoved):
            found.subscription(record)
            highest_subscription = max(highest_subscription, record.number)
        elif isinstance(record, UnitPrepared | UnitCompleted | UnitResolved):
            found.unit(record)
            highest_key = max(highest_key, record.number)
        elif isinstance(record, RetainedSet):
            found.retained.append(record)
        else:
            found.message(record)
            highest_key = max(highest_key, record.key)
    state.reserve_numbers(highest_key, highest_subscription)
    activate_subs(state)
    for defined in found.subscriptions.values():
        _define(state, turn, defined)
    restore_retained(state, turn, found.retained)
    # Messages of shared queues need no recovery: the sharing group has kept them in memory.
    own = (stored for stored in found.messages.values() if not is_shared(stored.home))
    branches = BranchRecovery(state, found.units.values())
    for stored in sorted(own, key=lambda one: (one.arrived_ms, one.key)):
        _place(state, turn, stored, found.counts.get(stored.key, 0), branches)
    branches.take_up_shared(found.messages)
    branches.put_in_order()
    _check_reachable(state)


def _check_reachable(state: State) -> None:
    """Refuse an alias or model with the name of a local queue that holds messages, because it would hide the queue."""
    for queue in state.queues:
        if queue.on_use and queue.definition.kind is not Kind.QLOCAL:
            raise object_refusal(
                Mqrccf.OBJECT_WRONG_TYPE,
                f"The local queue {queue.name} holds messages ({len(queue.entries)}), which a {queue.definition.kind} "
                "of that name would hide; start without that definition, and remove the messages first",
                queue.name,
            )


class _Found(Struct, frozen=True):
    """The records that no later record has replaced or undone, except in `counts` and `retained`.

    Args:
        subscriptions: The records of durable subscriptions, by the subscriptions' numbers.
        messages: The records of message copies, by the copies' keys.
        counts: The numbers of failed deliveries, by the copies' keys, also those of copies that were removed later.
        units: The records of branches that are in doubt or completed heuristically, by the branches' numbers.
        retained: All records of retained publications, replaced ones included, in the order in which the store
            received them.
    """

    subscriptions: dict[int, SubscriptionDefined]
    messages: dict[int, MessageStored]
    counts: dict[int, int]
    units: dict[int, UnitPrepared | UnitCompleted]
    retained: list[RetainedSet]

    def message(self, record: MessageStored | MessageRemoved | MessageMarked) -> None:
        """Apply the next record of a message."""
        if isinstance(record, MessageStored):
            self.messages[record.key] = record
        elif isinstance(record, MessageRemoved):
            self.messages.pop(record.key, None)
        else:
            self.counts[record.key] = record.count

    def unit(self, record: UnitPrepared | UnitCompleted | UnitResolved) -> None:
        """Apply the next record of a branch."""
        if isinstance(record, UnitResolved):
            self.units.pop(record.number, None)
        else:
            self.units[record.number] = record

    def subscription(self, record: SubscriptionDefined | SubscriptionRemoved) -> None:
        """Apply the next record of a subscription."""
        if isinstance(record, SubscriptionDefined):
            self.subscriptions[record.number] = record
        else:
            self.subscriptions.pop(record.number, None)


_Other = (
    MessageStored
    | MessageRemoved
    | MessageMarked
    | RetainedSet
    | SubscriptionDefined
    | SubscriptionRemoved
    | UnitRecord
)


def _apply_definitions(state: State, records: Iterable[Record]) -> Iterator[_Other]:
    """Apply the records of objects, authority and other queue managers, and yield all other records."""
    for record in records:
        if isinstance(record, ObjectDefined):
            state.objects.replay(record.definition)
        elif isinstance(record, ObjectRemoved):
            state.objects.replay_removed(record.namespace, record.name)
        elif isinstance(record, AuthoritySet):
            state.authorities.put(record.record)
        elif isinstance(record, MemberTold):
            state.members.neighbour(record.member).bulletin = record.bulletin
        elif isinstance(record, ParcelTaken):
            state.members.neighbour(record.member).taken.add(record.number)
        elif isinstance(record, ParcelForgotten):
            state.members.neighbour(record.member).taken.discard(record.number)
        else:
            yield record


def _define(state: State, turn: Turn, record: SubscriptionDefined) -> None:
    terms = Terms(
        topic=record.topic,
        client_id=record.client_id,
        name=record.name,
        selector=record.selector,
        no_local=record.no_local,
        shared=record.shared,
        durable=True,
        timeout_ms=record.timeout_ms,
    )
    model = recovered_model(state, DURABLE_MODEL)
    subscription = new_subscription(record.number, terms, parse_selector(record.selector), _NO_CONNECTION, model)
    add_subscription(state, subscription)
    if record.left_ms is None:  # a kill ended the receiver, or the subscription has no time to live
        receiver_left(state, turn, subscription)
    else:
        subscription.left_ms = record.left_ms
        wait_for_end(state, subscription)


def _place(state: State, turn: Turn, stored: MessageStored, count: int, branches: BranchRecovery) -> None:
    message = stored.message
    entry = Entry(
        key=stored.key,
        home=stored.home,
        message=message,
        priority=DEFAULT_PRIORITY if message.priority is None else message.priority,
        recorded=True,
        arrived_ms=stored.arrived_ms,
        expires_ms=stored.expires_ms,
        due_ms=stored.due_ms,
        dead=stored.dead,
        via=stored.via,
        count=count,
        redelivered=count > 0,
    )
    putter = branches.putter(stored)
    if entry.due_ms is not None:
        if putter is None:
            stage_again(state, entry, entry.due_ms)
        else:
            stand_by_for_staging(state, putter, entry)
        return
    queue = recovered(state, stored.home)
    if queue is None:
        entry.state = CopyState.GONE
        turn.record(MessageRemoved(entry.key), _for_good)
        return
    entry.order = state.next_order()
    if putter is not None:
        stand_uncommitted(putter, queue, entry)
        return
    queue.enter(entry)
    watch_expiry(state, entry)
    getter = branches.getter(entry)
    if getter is not None:
        hold(getter, queue, entry)
    elif queue.onward is not None:
        turn.touch(queue)


def _for_good(_turn: Turn) -> None:
    """Undo nothing: the copy has no queue. If the store refuses the removal, the next start removes the copy again."""
