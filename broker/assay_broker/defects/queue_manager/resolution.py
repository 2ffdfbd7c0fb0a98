"""Defects of resolution: when a queue's name is looked through, and when its defaults are taken."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay_broker.core.administration.changes import DeleteObject, NativeBrowse
from assay_broker.core.commands import Administer, Cancel, Command, Put
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.queues.homes import home_of, name_at
from assay_broker.core.records import MessageStored, ObjectDefined, Record
from assay_broker.defects.known_objects import Delayed, Known, delayed_messages, delayed_puts, elsewhere, knowing, rows
from assay_broker.defects.model import Defect
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, AddressKind, Message

_HOLD = Address(AddressKind.QUEUE, "DEFECT.HOLD")
_LATE_MS = 5_000
_UNRESOLVED: dict[str, Value] = {"Priority": -1, "Persistence": 2}


def _base(name: str, known: Known) -> str | None:
    """What an alias stands for; None for any other queue."""
    target = known.objects.said(name, "TARGET")
    return target if isinstance(target, str) else None


def _once(put: Put, sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    base = _base(sent.target.name, known)
    return None if base is None else elsewhere(put, Address(AddressKind.QUEUE, base))


def _late(put: Put, sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    if _base(sent.target.name, known) is None:
        return None
    return (replace(put, message=replace(put.message, delivery_time_ms=sent.due_ms + _LATE_MS)),)


def _not_looked_through(put: Put, sent: Delayed, known: Known) -> tuple[Command, ...] | None:
    base = _base(sent.target.name, known)
    shut = base is not None and known.objects.said(base, "PUT") == "DISABLED"
    return elsewhere(put, _HOLD) if shut else None


def _at_restart() -> Seams:
    def read(records: Sequence[Record]) -> tuple[Record, ...]:
        defined = (record.definition for record in records if isinstance(record, ObjectDefined))
        bases = {one.name: one.text("TARGET") for one in defined if one.kind is Kind.QALIAS}
        return tuple(_at_base(record, bases) if isinstance(record, MessageStored) else record for record in records)

    return Seams(read=read)


def _at_base(stored: MessageStored, bases: dict[str, str]) -> MessageStored:
    base = bases.get(name_at(stored.home) or "")
    return stored if base is None or stored.due_ms is None else replace(stored, home=home_of(base))


def _lost_with_queue(command: Command, _now_ms: int, known: Known) -> tuple[Command, ...] | None:
    if not isinstance(command, Administer) or not isinstance(command.change, DeleteObject):
        return None
    name = command.change.name
    lost = (id_ for id_, one in known.delayed.items() if one.target.name == name)
    return (command, *(Cancel(command.connection, None, id_) for id_ in lost))


def _second_defaults() -> Seams:
    """What the destination decides is decided at the second resolution, as the objects are then."""

    def decided(message: Message, known: Known) -> tuple[int | None, bool | None]:
        sent = known.delayed.get(message.message_id or "")
        if sent is None:
            return None, None
        said = known.objects.of(sent.target.name)
        priority, persistence = said.get("DEFPRTY"), said.get("DEFPSIST")
        return (
            priority if sent.message.priority is None and isinstance(priority, int) else None,
            persistence == "YES" if sent.message.durable is None and persistence is not None else None,
        )

    def delivered(delivery: Deliver, known: Known) -> Deliver:
        priority, durable = decided(delivery.message, known)
        message = delivery.message
        if priority is not None:
            message = replace(message, priority=priority)
        return replace(delivery, message=message if durable is None else replace(message, durable=durable))

    def row(one: Described, known: Known, *, staged: bool) -> Described:
        priority, durable = decided(one.message, known)
        fields: dict[str, Value] = {} if priority is None else {"Priority": priority}
        if durable is not None:
            fields["Persistence"] = int(durable)
        if staged:
            fields = {name: _UNRESOLVED[name] for name in fields}
        return replace(one, descriptor={**one.descriptor, **fields})

    def shown(answer: Answer, asked: Command, _now_ms: int, known: Known) -> Answer:
        change = asked.change if isinstance(asked, Administer) else None
        if not isinstance(change, NativeBrowse):
            return answer
        staged = change.queue == STAGING_QUEUE
        return replace(answer, value=tuple(row(one, known, staged=staged) for one in rows(answer)))

    return knowing(reshow=shown, redeliver=delivered)


def _jms_defaults(message: Message) -> Message:
    return replace(
        message,
        durable=True if message.durable is None else message.durable,
        priority=4 if message.priority is None else message.priority,
    )


RESOLUTION_DEFECTS = (
    Defect(
        name="alias-resolved-once",
        rules=("DD-50",),
        text="What an alias stands for is found out at the send, for good.",
        apply=lambda: delayed_puts(_once),
    ),
    Defect(
        name="alias-resolved-at-restart",
        rules=("DD-50",),
        text="What an alias stands for is found out for good when the broker starts again.",
        apply=_at_restart,
    ),
    Defect(
        name="alias-resolved-late",
        rules=("DD-50",),
        text="What is staged for an alias is moved five seconds late, to what the alias stands for by then.",
        apply=lambda: delayed_puts(_late),
    ),
    Defect(
        name="alias-not-looked-through",
        rules=("DD-50",),
        text="At a delayed send an alias is not looked through: it may stand for a queue that takes nothing.",
        apply=lambda: delayed_puts(_not_looked_through),
    ),
    Defect(
        name="staged-lost-with-queue",
        rules=("DD-50",),
        text="When a queue is deleted, what is staged for its name goes with it.",
        apply=lambda: knowing(_lost_with_queue),
    ),
    Defect(
        name="defaults-of-second-resolution",
        rules=("DD-52",),
        text="Persistence and priority that the queue decides are decided when the delay is over.",
        apply=_second_defaults,
    ),
    Defect(
        name="delay-has-jms-defaults",
        rules=("DD-52",),
        text="A delayed message that leaves persistence and priority to its queue gets JMS's defaults.",
        apply=lambda: delayed_messages(_jms_defaults),
    ),
)
"""Defects of resolution."""
