"""Defects in the resolution of a delayed message's target (DD-50, DD-52)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, ClearQueue, DefineObject, DeleteObject, NativeBrowse
from assay_broker.core.commands import Administer, Cancel, Command, FromMember, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.networks.parcels import Carry
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.queues.homes import home_of, name_at
from assay_broker.core.records import MessageStored, ObjectDefined, Record
from assay_broker.defects.delay.filters import arrivals, commands_with_announced_queues
from assay_broker.defects.model import Defect, defect, made
from assay_broker.defects.sends import HOLD, cancelled, change_of, elsewhere, handed_in, rows
from assay_broker.defects.shapes import Commands, commands, delayed_messages, delayed_puts, filters, read_together
from assay_broker.defects.view import Sent, View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message

_UNRESOLVED: dict[str, Value] = {"Priority": -1, "Persistence": 2}


def _base(name: str, view: View) -> str | None:
    """Return the target of an alias; None for any other queue."""
    target = view.said(name).get("TARGET")
    return target if isinstance(target, str) else None


@defect(delayed_puts, "alias-resolved-once", "DD-50")
def _once(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker resolves an alias at the send and not again when the delay is over."""
    return _once_resolved(put, sent, view)


@defect(commands, "arrived-follows-alias", "DD-50")
def _arrived_follows(command: Command, now_ms: int, view: View) -> Commands | None:
    """When an alias gets a new target, the messages that came to its old target through it move to the new target."""
    change = change_of(command)
    if not isinstance(change, AlterObject) or change.kind is not Kind.QALIAS:
        return None
    before, after = _base(change.name, view), change.attributes.get("TARGET")
    if before is None or not isinstance(after, str):
        return None
    came = [one.message for one in view.delayed.values() if one.target.name == change.name and one.due_ms <= now_ms]
    moved = handed_in(
        view, Address(AddressKind.QUEUE, after), *(replace(message, delivery_time_ms=None) for message in came)
    )
    return (command, *moved, Administer(view.agent, None, ClearQueue(before))) if came else None


@defect(delayed_puts, "alias-not-looked-through", "DD-50")
def _not_looked_through(put: Put, sent: Sent, view: View) -> Commands | None:
    """The broker accepts a delayed send through an alias whose target is disabled for puts."""
    base = _base(sent.target.name, view)
    shut = base is not None and view.said(base).get("PUT") == "DISABLED"
    return elsewhere(put, HOLD, view) if shut else None


@defect(read_together, "alias-resolved-at-restart", "DD-50")
def _at_restart(records: Sequence[Record]) -> tuple[Record, ...]:
    """The broker resolves the aliases of staged messages at a restart and not when the delay is over."""
    defined = (record.definition for record in records if isinstance(record, ObjectDefined))
    bases = {one.name: one.text("TARGET") for one in defined if one.kind is Kind.QALIAS}
    return tuple(_at_base(record, bases) if isinstance(record, MessageStored) else record for record in records)


def _at_base(stored: MessageStored, bases: dict[str, str]) -> MessageStored:
    base = bases.get(name_at(stored.home) or "")
    return stored if base is None or stored.due_ms is None else replace(stored, home=home_of(base))


@defect(commands, "staged-lost-with-queue", "DD-50")
def _lost_with_queue(command: Command, _now_ms: int, view: View) -> Commands | None:
    """When a queue is deleted, the broker drops the messages that are staged for its name."""
    if not isinstance(command, Administer) or not isinstance(command.change, DeleteObject):
        return None
    name = command.change.name
    lost = (id_ for id_, one in view.delayed.items() if one.target.name == name)
    return (command, *(Cancel(command.connection, None, id_) for id_ in lost))


@defect(commands, "deleted-alias-remembered", "DD-50")
def _deleted_remembered(command: Command, _now_ms: int, view: View) -> Commands | None:
    """An alias that is deleted during the delay still leads to its target queue."""
    change = change_of(command)
    if not isinstance(change, DeleteObject) or change.kind is not Kind.QALIAS:
        return None
    base = _base(change.name, view)
    waiting = {id_: one.message for id_, one in view.delayed.items() if one.target.name == change.name}
    if base is None or not waiting:
        return None
    moved = handed_in(view, Address(AddressKind.QUEUE, base), *waiting.values())
    return (*cancelled(view, *waiting), *moved, command)


@defect(made, "defaults-of-second-resolution", "DD-52")
def _second_defaults() -> Seams:
    """The broker applies a queue's DEFPSIST and DEFPRTY to a message when the delay is over and not at the send."""

    def decided(message: Message, view: View) -> tuple[int | None, bool | None]:
        sent = view.delayed.get(message.message_id or "")
        if sent is None:
            return None, None
        said = view.said_of(sent.target)
        priority, persistence = said.get("DEFPRTY"), said.get("DEFPSIST")
        return (
            priority if sent.message.priority is None and isinstance(priority, int) else None,
            persistence == "YES" if sent.message.durable is None and persistence is not None else None,
        )

    def delivered(delivery: Deliver, view: View) -> Deliver:
        priority, durable = decided(delivery.message, view)
        message = delivery.message
        if priority is not None:
            message = replace(message, priority=priority)
        return replace(delivery, message=message if durable is None else replace(message, durable=durable))

    def row(one: Described, view: View, *, staged: bool) -> Described:
        priority, durable = decided(one.message, view)
        fields: dict[str, Value] = {} if priority is None else {"Priority": priority}
        if durable is not None:
            fields["Persistence"] = int(durable)
        if staged:
            fields = {name: _UNRESOLVED[name] for name in fields}
        return replace(one, descriptor={**one.descriptor, **fields})

    def shown(answer: Answer, asked: Command, _now_ms: int, view: View) -> Answer:
        change = change_of(asked)
        if not isinstance(change, NativeBrowse):
            return answer
        staged = change.queue == STAGING_QUEUE
        return replace(answer, value=tuple(row(one, view, staged=staged) for one in rows(answer)))

    return filters(answer=shown, delivery=delivered)


@defect(delayed_messages, "delay-has-jms-defaults", "DD-52")
def _jms_defaults(message: Message) -> Message:
    """A delayed message without persistence and priority gets JMS's defaults instead of its queue's defaults."""
    return replace(
        message,
        durable=True if message.durable is None else message.durable,
        priority=4 if message.priority is None else message.priority,
    )


def _once_if(wanted: Callable[[Put, View], bool]) -> Seams:
    """Make filters that resolve an alias only at the send, for those delayed messages that `wanted` chooses."""
    return delayed_puts(lambda put, sent, view: _once_resolved(put, sent, view) if wanted(put, view) else None)


def _once_resolved(put: Put, sent: Sent, view: View) -> Commands | None:
    base = _base(sent.target.name, view)
    return None if base is None else elsewhere(put, Address(AddressKind.QUEUE, base), view)


@defect(delayed_messages, "definition-outweighs-sender", "DD-52")
def _outweighed(message: Message) -> Message:
    """A delayed message gets persistence and priority of its queue's definition, even if its sender sets them."""
    return replace(message, durable=None, priority=None)


def _with(command: FromMember, parcel: Carry, message: Message) -> Commands:
    return (replace(command, parcel=replace(parcel, message=message)),)


@defect(commands_with_announced_queues, "sent-on-once-the-name-is-defined", "DD-50")
def _sent_on(command: Command, _now_ms: int, view: View, known: set[str]) -> Commands | None:
    """If a clustered queue's name is defined locally during a delay, the message still goes to the clustered queue."""
    change = command.change if isinstance(command, Administer) else None
    if not isinstance(change, DefineObject) or change.name not in known:
        return None
    staged = [one for one in view.delayed.values() if one.target.name == change.name]
    lost = cancelled(view, *(one.message.message_id or "" for one in staged))
    again = (put for one in staged for put in handed_in(view, one.target, replace(one.message, delivery_time_ms=None)))
    return (*lost, *again, command)


@defect(arrivals, "as-defined-at-another-member", "DD-52")
def _as_defined_there(command: FromMember, parcel: Carry, view: View) -> Commands:
    """A delayed message for another queue manager's queue gets the priority and persistence that the queue defines."""
    said = view.said_of(parcel.target)
    priority = said.get("DEFPRTY", parcel.message.priority)
    durable = said.get("DEFPSIST", "YES") == "YES"
    if not isinstance(priority, int):
        return (command,)
    return _with(command, parcel, replace(parcel.message, priority=priority, durable=durable))


@defect(delayed_messages, "priority-0-counts-as-none", "DD-52")
def _zero_is_none(message: Message) -> Message:
    """A delayed message that is sent with priority 0 gets the priority of its queue's definition."""
    return replace(message, priority=message.priority or None)


RESOLUTION_DEFECTS = (
    _outweighed,
    Defect(
        name="light-alias-resolved-once",
        rules=("DD-50",),
        text="For a non-persistent message, the broker resolves an alias only at the send.",
        apply=lambda: _once_if(lambda put, _view: put.message.durable is False),
    ),
    Defect(
        name="alias-resolved-once-behind-others",
        rules=("DD-50",),
        text="While other messages are staged, the broker resolves an alias only at the send.",
        apply=lambda: _once_if(lambda _put, view: bool(view.delayed)),
    ),
    Defect(
        name="alias-resolved-once-in-unit",
        rules=("DD-50",),
        text="In a unit of work, the broker resolves an alias only at the send.",
        apply=lambda: _once_if(lambda put, _view: put.unit is not None),
    ),
    _once,
    _at_restart,
    _arrived_follows,
    _not_looked_through,
    _deleted_remembered,
    _lost_with_queue,
    _second_defaults,
    _jms_defaults,
    _sent_on,
    _as_defined_there,
    _zero_is_none,
)
