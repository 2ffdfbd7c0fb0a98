"""Tolerated variants of the reference broker: each keeps its rules in another way, which the documents allow too.

They are the other half of the proof that defects begin.  A defect must be caught by the scenarios of its rules; a
variant must pass them all, so that no scenario demands what only the reference broker does.  A variant is a filter at
the seams (`assay_broker.seams`), as a defect is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import Command, Put
from assay_broker.seams import Seams
from assay_sdk.model.message import Message


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
        )
    }
)
"""All variants by name."""
