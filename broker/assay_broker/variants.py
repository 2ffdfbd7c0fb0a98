"""Tolerated variants of the reference broker: each keeps its rules in another way, which the documents allow too.

They are the other half of the proof that defects begin.  A defect must be caught by the scenarios of its rules; a
variant must pass them all, so that no scenario demands what only the reference broker does.  A variant is a filter at
the seams (`assay_broker.seams`), as a defect is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Attach, Command, Detach, Disconnect, Put, Unsubscribe
from assay_broker.core.effects import Answer, Deliver
from assay_broker.core.messages.descriptor import Described
from assay_broker.core.records import MessageMarked, MessageStored, Record
from assay_broker.defects.qos.qualities import is_light
from assay_broker.defects.sends import accepted, dropped, is_delayed, is_topic, resent
from assay_broker.defects.shapes import commands, filters, reshown
from assay_broker.defects.view import View
from assay_broker.seams import Seams
from assay_sdk.model.message import Address, Message


class Variant(Struct, frozen=True, kw_only=True):
    """Another behaviour that keeps the rules.

    Args:
        name: Its name.
        rules: Ids of the rules whose scenarios it must pass.
        text: One sentence: what it does otherwise than the reference broker.
        allowed_by: The place in a document that allows it, or leaves it open.
        apply: Makes fresh filters; what they remember is one queue manager's.
    """

    name: str
    rules: tuple[str, ...]
    text: str
    allowed_by: str
    apply: Callable[[], Seams]


def sends(rewrite: Callable[[Message], Message]) -> Seams:
    """Filters that rewrite each message that is sent."""

    def command(passing: Command, _now_ms: int) -> tuple[Command, ...]:
        return (replace(passing, message=rewrite(passing.message)) if isinstance(passing, Put) else passing,)

    return Seams(command=command)


def _outliving(message: Message) -> Message:
    """The message with one millisecond more, if it expires at its delivery time."""
    due_ms = message.delivery_time_ms
    return message if due_ms is None or message.expiry_ms != due_ms else replace(message, expiry_ms=due_ms + 1)


def _without_false(message: Message) -> Message:
    """The message without a durable header that is false."""
    return replace(message, durable=None) if message.durable is False else message


def _keeps_non_persistent() -> Seams:
    """Filters that write non-persistent messages to disk; they stay non-persistent for whoever receives them."""
    kept: set[str] = set()

    def rewrite(command: Command, now_ms: int, _view: View) -> tuple[Command, ...] | None:
        if not isinstance(command, Put) or command.message.durable is not False or is_delayed(command, now_ms):
            return None
        if command.message.message_id is None:
            return None
        kept.add(command.message.message_id)
        return resent(command, durable=True)

    def delivery(delivered: Deliver, _view: View) -> Deliver:
        if delivered.message.message_id not in kept:
            return delivered
        return replace(delivered, message=replace(delivered.message, durable=False))

    def answer(answered: Answer, _asked: Command, _now_ms: int, _view: View) -> Answer:
        return reshown(answered, shown)

    def shown(row: Described) -> Described:
        if row.message.message_id not in kept:
            return row
        return replace(row, descriptor={**row.descriptor, "Persistence": 0})

    return filters(rewrite, delivery=delivery, answer=answer)


def _drops_unheard() -> Seams:
    """Filters that drop a non-persistent message that no receiver waits for.

    Queues that an administrator has defined keep theirs (DELAY:50), and so do MQ Light's subscriptions
    (AMQP:31).
    """
    lasting: set[Address] = set()

    def rewrite(command: Command, now_ms: int, view: View) -> tuple[Command, ...] | None:
        if isinstance(command, Attach) and is_light(command):
            lasting.add(command.address)
        target = view.target(command)
        if not isinstance(command, Put) or target is None or command.message.durable is not False:
            return None
        keeps = is_delayed(command, now_ms) or view.on(target) or view.said(target.name) or target in lasting
        return None if keeps else (dropped(command, now_ms),)

    return commands(rewrite)


def _ignores_case(command: Command, _now_ms: int) -> tuple[Command, ...]:
    """Take names of durable subscriptions that differ in case alone for one name."""
    if not isinstance(command, Attach | Unsubscribe) or command.name is None:
        return (command,)
    return (replace(command, name=command.name.casefold()),)


def _marks_recovered(records: Sequence[Record]) -> tuple[Record, ...]:
    """Mark each message that is read at a start as redelivered."""
    marks = tuple(MessageMarked(record.key, 1) for record in records if isinstance(record, MessageStored))
    return (*records, *marks)


def _loses_with_receiver(command: Command, _now_ms: int, view: View) -> tuple[Command, ...] | None:
    """Lose the non-persistent messages that a receiver had been handed and had not acknowledged when it went."""
    if not isinstance(command, Detach | Disconnect):
        return None
    return accepted(command, view, lambda _attach, one: not one.message.durable and not is_topic(one.origin))


PERSISTENCE_VARIANTS = (
    Variant(
        name="non-persistent-kept-through-restart",
        rules=("PD-22", "PD-30", "PD-31"),
        text="Non-persistent messages outlive a restart and a kill.",
        allowed_by="PERSIST:59 and JMS 3.4.10: not guaranteed, and never more than once.",
        apply=_keeps_non_persistent,
    ),
    Variant(
        name="non-persistent-dropped-without-receiver",
        rules=("PD-29", "PD-32"),
        text="A non-persistent message that no receiver waits for is dropped.",
        allowed_by="PERSIST:59 may keep it in memory, and does not guarantee that.",
        apply=_drops_unheard,
    ),
    Variant(
        name="subscription-names-without-case",
        rules=("PD-16",),
        text="Names of durable subscriptions that differ in case alone are one name.",
        allowed_by="PERSIST:33 says that client id and name identify it, and not when two names are one.",
        apply=lambda: Seams(command=_ignores_case),
    ),
    Variant(
        name="recovered-marked-redelivered",
        rules=("PD-15", "PD-20", "PD-23", "PD-24", "PD-25"),
        text="Every message that was stored comes marked as redelivered after a restart, delivered before or not.",
        allowed_by="JMS 3.4.7: the mark says that a message was likely delivered before.",
        apply=lambda: Seams(read=_marks_recovered),
    ),
    Variant(
        name="non-persistent-lost-with-receiver",
        rules=("PD-18", "PD-21"),
        text="A non-persistent message from a queue is gone with its receiver, acknowledged or not.",
        allowed_by="PERSIST:59 and JMS 3.4.10: at most once.",
        apply=lambda: commands(_loses_with_receiver),
    ),
)
"""Variants of the rules of persistence."""


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        variant.name: variant
        for variant in (
            Variant(
                name="delivered-at-expiry",
                rules=("DD-56",),
                text="A message that expires at its delivery time is delivered.",
                allowed_by="DELAY:62 says nothing of a time to live that equals the delay.",
                apply=lambda: sends(_outliving),
            ),
            Variant(
                name="false-header-ignored",
                rules=("QS-33", "QS-36"),
                text="A durable header that is false counts as no header, so the topic decides.",
                allowed_by='AMQP:40 says "not set", which may include false.',
                apply=lambda: sends(_without_false),
            ),
            *PERSISTENCE_VARIANTS,
        )
    }
)
"""All variants by name."""
