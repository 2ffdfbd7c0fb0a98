"""Functions for defects: predicates on sends, receivers and records, and functions that make commands from sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

from msgspec.structs import replace

from assay_broker.core.administration.changes import AlterObject, Change, NativeBrowse
from assay_broker.core.commands import (
    Administer,
    Attach,
    AttachSender,
    Cancel,
    Command,
    Connect,
    Detach,
    Disconnect,
    Put,
    Settle,
)
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.bodies import body_of, opened
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.objects.model import Kind, Value
from assay_broker.core.queues.homes import name_at
from assay_broker.core.records import MessageStored, Record
from assay_broker.core.topics.topic_strings import Patterns, has_wildcards
from assay_broker.defects.view import View
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.report_options import REPORT_PROPERTIES, WHOLE_REPORT, Mqro

SHIFT = 10**9
"""A defect adds this to a number of a record or parcel, to get a number that the broker does not use."""
HOLD = Address(AddressKind.QUEUE, "DEFECT.HOLD")
"""A queue for the use of defects, from which no client receives."""
_OPEN: dict[str, Value] = {"PUT": "ENABLED", "MAXDEPTH": 999_999_999, "MAXMSGL": 104_857_600}
NOTHING = "DEFECT.NOTHING"
"""A name that no object has."""


def is_topic(address: Address) -> bool:
    """Check whether an address is a topic or a temporary topic."""
    return address.kind in (AddressKind.TOPIC, AddressKind.TEMPORARY_TOPIC)


def is_durable(attach: Attach) -> bool:
    """Check whether a receiver has a durable subscription."""
    return attach.durability is Durability.DURABLE


def is_wide(attach: Attach) -> bool:
    """Check whether a receiver subscribes to a topic pattern."""
    return is_topic(attach.address) and has_wildcards(attach.address.name)


def covers(subscribed: Address, topic: Address) -> bool:
    """Check whether a topic is the topic of a subscription, or matches the subscription's pattern."""
    patterns: Patterns[Address] = Patterns()
    patterns.add(subscribed.name, 0, subscribed)
    return is_topic(subscribed) and is_topic(topic) and any(patterns.fitting(topic.name))


def left_ms(message: Message, now_ms: int) -> int:
    """Return the remaining delay of a message in milliseconds; 0 for a message without a delay."""
    return max(0, (message.delivery_time_ms or 0) - now_ms)


def is_delayed(put: Put, now_ms: int) -> bool:
    """Check whether a send has a delay that ends after `now_ms`, in milliseconds since the epoch."""
    return left_ms(put.message, now_ms) > 0


def is_staged(record: Record) -> TypeGuard[MessageStored]:
    """Check whether a record stores a staged message."""
    return isinstance(record, MessageStored) and record.due_ms is not None


def change_of(command: Command) -> Change | None:
    """Return the change in an administrator's command; None for any other command."""
    return command.change if isinstance(command, Administer) else None


def browses(command: Command, queue: str) -> bool:
    """Check whether a command browses a queue for an administrator."""
    change = change_of(command)
    return isinstance(change, NativeBrowse) and change.queue == queue


def rows(answer: Answer) -> Iterator[Described]:
    """Return the messages in an answer, each with its descriptor."""
    return (row for row in answer.value or () if isinstance(row, Described))


def with_options(message: Message, asked: Mqro) -> Message:
    """Replace the report options of a message."""
    plain = {
        name: value for name, value in message.properties.items() if name not in {*REPORT_PROPERTIES, WHOLE_REPORT}
    }
    return replace(message, properties={**plain, WHOLE_REPORT: int(asked)} if asked else plain)


def asks_for_reports(message: Message) -> bool:
    """Check whether a message has report options."""
    return any(message.properties.get(name) for name in (*REPORT_PROPERTIES, WHOLE_REPORT))


def resent(put: Put, **fields: object) -> tuple[Command, ...]:
    """Return a copy of a send, with other values in some fields of its message, as a tuple of one command."""
    return (replace(put, message=replace(put.message, **fields)),)


def undelayed(put: Put) -> tuple[Command, ...]:
    """Return a send without its delay, as a tuple of one command."""
    return resent(put, delivery_time_ms=None)


def unheard(put: Put) -> Put:
    """Return a second send of the same message, to which the broker sends no answer."""
    return Put(put.connection, None, put.link, put.message, put.unit)


def twice(put: Put) -> tuple[Command, ...]:
    """Return a send, and a second send of the same message that the broker does not answer."""
    return (put, unheard(put))


def dropped(put: Put, now_ms: int) -> Put:
    """Return a send that the broker accepts and whose message is lost, because it expires on arrival."""
    return replace(put, message=replace(put.message, delivery_time_ms=None, expiry_ms=now_ms))


def elsewhere(put: Put, to: Address, view: View) -> tuple[Command, ...]:
    """Return commands that send the message of a send to another destination instead."""
    link = AttachSender(put.connection, None, view.agent, None)
    return (link, replace(put, link=view.agent, message=replace(put.message, to=to)))


def handed_in(view: View, address: Address, *messages: Message) -> tuple[Command, ...]:
    """Return commands that open the defect's own connection and send messages to a destination over it."""
    agent = view.agent
    sends = (Put(agent, None, agent, replace(message, to=address)) for message in messages)
    return (Connect(agent, None), AttachSender(agent, None, agent, None), *sends)


def written_down(view: View, message: Message, about: Address | None = None) -> tuple[Command, ...]:
    """Return commands that store a message on `HOLD`, for `read_back` after a restart.

    In virtual time, a kill right after these commands comes before their flush.  So the defect must also keep the
    message in memory, or it would have no effect there.

    Args:
        view: The defect's view.
        message: The message.
        about: A destination that the defect needs with the message; `read_back` returns it as reply-to.
    """
    return handed_in(view, HOLD, replace(opened(message), durable=True, delivery_time_ms=None, reply_to=about))


def read_back(records: Sequence[Record]) -> list[Message]:
    """Return the messages on `HOLD`, the oldest first, from the records that the queue manager reads at a start.

    A new process can read these messages, too; it knows nothing else of the time before the start.
    """
    stored = (one for one in records if isinstance(one, MessageStored) and name_at(one.home) == HOLD.name)
    return [opened(one.message) for one in sorted(stored, key=lambda one: one.key)]


def cancelled(view: View, *lost: str) -> tuple[Command, ...]:
    """Return commands that remove staged messages, by their message ids; an empty tuple if no id is given."""
    return (Connect(view.agent, None), *(Cancel(view.agent, None, id_) for id_ in lost)) if lost else ()


def accepted(
    command: Detach | Disconnect, view: View, wanted: Callable[[Attach, Deliver], bool]
) -> tuple[Command, ...] | None:
    """Return commands that accept some deliveries before a command ends their links.

    Args:
        command: The command that ends the links.
        view: The defect's view.
        wanted: Chooses deliveries, from the receiver and the delivery.

    Returns:
        The acceptances and the command; None if no delivery is chosen.
    """
    accepts: list[Command] = []
    for link, held in view.held_by_link(command).items():
        attach = view.receivers.get((command.connection, link))
        numbers = tuple(one.delivery for one in held if attach is not None and wanted(attach, one))
        if numbers:
            accepts.append(Settle(command.connection, None, link, numbers, Outcome.ACCEPTED))
    return (*accepts, command) if accepts else None


def as_text(message: Message) -> Message:
    """Return a message with its body of bytes as a text, with U+FFFD in place of octets that are not UTF-8."""
    body = body_of(message)
    if not isinstance(body, bytes):
        return message
    return replace(message, body=body.decode(errors="replace"), encoded=None)


def published(view: View) -> list[str]:
    """Return the message ids of the accepted delayed publications."""
    return [id_ for id_, one in view.delayed.items() if is_topic(one.target)]


def unlimited(put: Put, name: str, view: View) -> tuple[Command, ...] | None:
    """Return a send between commands that lift a queue's limits and restore them; None if no limits have been set."""
    said = {keyword: value for keyword, value in view.said(name).items() if keyword in _OPEN}
    if not said:
        return None
    before = AlterObject(Kind.QLOCAL, name, {keyword: _OPEN[keyword] for keyword in said})
    after = AlterObject(Kind.QLOCAL, name, said)
    return (Administer(put.connection, None, before), put, Administer(put.connection, None, after))
