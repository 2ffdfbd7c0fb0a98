"""Tolerated variants of the rules of AMQP's qualities of service."""

from __future__ import annotations

from msgspec.structs import replace

from assay_broker.variants.model import Variant, sends
from assay_sdk.model.message import Message


def _without_false(message: Message) -> Message:
    """The message without a durable header that is false."""
    return replace(message, durable=None) if message.durable is False else message


QOS_VARIANTS = (
    Variant(
        name="false-header-ignored",
        rules=("QS-33", "QS-36"),
        text="A durable header that is false counts as no header, so the topic decides.",
        allowed_by='AMQP:40 says "not set", which may include false.',
        apply=lambda: sends(_without_false),
    ),
)
