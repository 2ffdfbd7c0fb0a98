"""The commands DEFINE, ALTER, DELETE, CLEAR and SET AUTHREC."""

from __future__ import annotations

from functools import partial

from assay_broker.core.administration.activation import define, remove
from assay_broker.core.administration.authority import AuthorityRecord, plan_authority
from assay_broker.core.administration.changes import (
    AlterObject,
    ClearQueue,
    ClearRetained,
    DefineObject,
    DeleteObject,
    SetAuthority,
)
from assay_broker.core.clients.senders import Sender
from assay_broker.core.clients.subscription_lifetime import check_unused, end_subscription
from assay_broker.core.delay.release import unstage
from assay_broker.core.messages.entries import CopyState
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Namespace
from assay_broker.core.objects.plans import existing, plan_alter, plan_define, plan_delete
from assay_broker.core.objects.reasons import object_refusal
from assay_broker.core.queues.delivery import remove as remove_message
from assay_broker.core.queues.queue import Receiver
from assay_broker.core.queues.resolution import depth
from assay_broker.core.records import AuthoritySet
from assay_broker.core.state import State
from assay_broker.core.topics.administrative_subscriptions import check_sub, deliver_retained_to_sub, identified
from assay_broker.core.topics.retained_updates import clear_retained
from assay_broker.core.topics.subscriptions import Subscription
from assay_broker.core.turn import Turn
from assay_sdk.model.command_reasons import Mqrccf
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc


def define_object(state: State, turn: Turn, change: DefineObject) -> None:
    """Carry out DEFINE; a redefined queue keeps its messages.

    Raises:
        RefusalError: The definition is not valid, or contradicts existing objects or queues.
    """
    planned = plan_define(state.objects, change, state.settings.host)
    if planned.kind in {Kind.QALIAS, Kind.QMODEL} and state.queues.named(planned.name) is not None:
        raise object_refusal(
            Mqrccf.OBJECT_WRONG_TYPE, f"{planned.name} is a local queue already, created on use.", planned.name
        )
    before = state.objects.find(planned.namespace, planned.name)
    if planned.kind is Kind.SUB:
        if before is None:
            check_sub(state, planned)
        planned = identified(state, planned, before, turn.now_ms)
    define(state, turn, planned)
    if planned.kind is Kind.SUB and before is None:
        deliver_retained_to_sub(state, turn, planned.name)


def alter_object(state: State, turn: Turn, change: AlterObject) -> None:
    """Carry out ALTER; the change applies at once, also for clients that have the object open.

    Raises:
        RefusalError: The object does not exist or is of another kind, or the new definition is not valid or contradicts
            other objects.
    """
    define(state, turn, plan_alter(state.objects, change, state.settings.host))


def delete_object(state: State, turn: Turn, change: DeleteObject) -> None:
    """Carry out DELETE.

    Raises:
        RefusalError: The object does not exist, is of another kind, or is the queue manager itself. Or it is a queue
            that is open, has messages of units of work, or has other messages although PURGE was not given. Or it is a
            subscription in use, or several clients have a durable subscription of this name.
    """
    subscriptions = _of_clients(state, change)
    if subscriptions:
        _delete_subscriptions(state, turn, subscriptions, change.name)
        return
    gone = plan_delete(state.objects, change)
    if gone.namespace is Namespace.QUEUE:
        _check_not_open(state, gone)
        if gone.kind is Kind.QLOCAL:
            _check_emptiable(state, gone, purge=change.purge)
    with turn.together():
        remove(state, turn, gone)
        if gone.kind is Kind.QLOCAL:
            _empty(state, turn, gone.name)


def _of_clients(state: State, change: DeleteObject) -> list[Subscription]:
    """Return the clients' subscriptions that have the name in a DELETE SUB; empty if a SUB object has the name.

    If one durable subscription and some non-durable ones have the name, the result has only the durable one.

    Raises:
        RefusalError: Several clients have a durable subscription of this name.
    """
    if change.kind is not Kind.SUB or state.objects.find(Namespace.SUB, change.name) is not None:
        return []
    name = state.settings.name
    found = [one for one in state.subscriptions if one.terms.object_name(name) == change.name]
    durable = [one for one in found if one.durable]
    if len(durable) > 1:
        raise object_refusal(
            Mqrc.SUB_NAME_ERROR,
            f"Several clients have a subscription {change.name}; each has to remove it.",
            change.name,
        )
    return durable or found


def _delete_subscriptions(state: State, turn: Turn, subscriptions: list[Subscription], name: str) -> None:
    for subscription in subscriptions:
        check_unused(subscription, name)
    with turn.together():
        for subscription in subscriptions:
            end_subscription(state, turn, subscription)


def clear_queue(state: State, turn: Turn, change: ClearQueue) -> None:
    """Carry out CLEAR QLOCAL.

    Raises:
        RefusalError: The queue does not exist, is open, or has messages of units of work.
    """
    known = state.objects.queue(change.name)
    made_on_use = known is None and state.queues.named(change.name) is not None
    queue = (
        Definition(Kind.QLOCAL, change.name, {}) if made_on_use else existing(state.objects, Kind.QLOCAL, change.name)
    )
    _check_not_open(state, queue)
    if _uncommitted(state, queue.name):
        raise object_refusal(
            Mqrc.OBJECT_IN_USE, f"{queue.name} holds messages of units of work that are open.", queue.name
        )
    with turn.together():
        _empty(state, turn, queue.name)


def clear_topic(state: State, turn: Turn, change: ClearRetained) -> None:
    """Carry out CLEAR TOPICSTR: remove the retained publication, if any, of exactly this topic string."""
    clear_retained(state, turn, Address(AddressKind.TOPIC, change.topic))


def set_authority(state: State, turn: Turn, change: SetAuthority) -> None:
    """Carry out SET AUTHREC; the change applies at once.

    Raises:
        RefusalError: An object type, profile or authority is not valid. Or the command names neither users nor groups,
            or names both.
    """
    for record in plan_authority(state.authorities, change):
        before = state.authorities.like(record)
        turn.record(AuthoritySet(record), partial(_authority_back_to, state, record, before))
        state.authorities.put(record)


def _authority_back_to(state: State, record: AuthorityRecord, before: AuthorityRecord | None, _turn: Turn) -> None:
    """Undo one record of `set_authority`: restore the former record, or remove the record if it was new."""
    if before is None:
        state.authorities.remove(record)
    else:
        state.authorities.put(before)


# queues in use --------------------------------------------------------------------------------------------------------


def _check_not_open(state: State, definition: Definition) -> None:
    """Refuse a command on an object that a client has open under its name, or on a queue that is open through an alias.

    Raises:
        RefusalError: A client has the object open.
    """
    queue = state.queues.named(definition.name) if definition.kind is Kind.QLOCAL else None
    everybody = state.connections.everywhere() if definition.shared else state.connections
    for connection in everybody:
        for link in connection.links.values():
            address = link.address
            named = address is not None and address.kind is AddressKind.QUEUE and address.name == definition.name
            if named or (queue is not None and isinstance(link, Sender | Receiver) and link.queue is queue):
                raise object_refusal(Mqrc.OBJECT_IN_USE, f"{definition.name} is open; close it first.", definition.name)


def _uncommitted(state: State, name: str) -> bool:
    """Return whether a queue has uncommitted or held messages, or places that units of work have reserved."""
    queue = state.queues.named(name)
    if queue is None:
        return False
    return bool(queue.reserved) or any(entry.state is not CopyState.WAITING for entry in queue.entries.values())


def _check_emptiable(state: State, queue: Definition, *, purge: bool) -> None:
    if _uncommitted(state, queue.name):
        raise object_refusal(
            Mqrc.Q_NOT_EMPTY, f"{queue.name} holds messages of units of work that are open.", queue.name
        )
    if not purge and depth(state, queue.name):
        raise object_refusal(Mqrc.Q_NOT_EMPTY, f"{queue.name} holds messages; PURGE deletes them, too.", queue.name)


def _empty(state: State, turn: Turn, name: str) -> None:
    """Remove all waiting messages of a queue and, if it is the staging queue, all staged messages."""
    if name == STAGING_QUEUE:
        for entry in tuple(state.staging):
            unstage(state, turn, entry)
    queue = state.queues.named(name)
    if queue is not None:
        for entry in queue.waiting():
            remove_message(state, turn, queue, entry, failed=False)
        turn.touch(queue)
