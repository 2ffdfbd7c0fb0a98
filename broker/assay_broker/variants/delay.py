"""Tolerated variants of the rules of delivery delay."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_broker.core.settings import Settings
from assay_broker.seams import Seams
from assay_broker.variants.model import Variant, sends
from assay_sdk.model.message import Message

_LATE_MS = 2_500
"""Half of the limit for lateness that a run has by default."""


def _outliving(message: Message) -> Message:
    """The message with one millisecond more, if it expires at its delivery time."""
    due_ms = message.delivery_time_ms
    return message if due_ms is None or message.expiry_ms != due_ms else replace(message, expiry_ms=due_ms + 1)


def _with(alter: Callable[[Settings], Settings]) -> Seams:
    """Filters that alter the queue manager's settings."""
    return Seams(settings=alter)


DELAY_VARIANTS = (
    Variant(
        name="delivered-at-expiry",
        rules=("DD-56",),
        text="A message that expires at its delivery time is delivered.",
        allowed_by="DELAY:62 says nothing of a time to live that equals the delay.",
        apply=lambda: sends(_outliving),
    ),
    Variant(
        name="released-late",
        rules=("DD-03", "DD-06", "DD-36", "DD-38", "DD-50", "DD-70", "DD-73", "DD-75", "DD-76", "DD-77", "DD-83"),
        text="Every delayed message is released 2.5 s after its delay, within the run's limit for lateness.",
        allowed_by="DELAY:7 says that it is delivered once the delay is over, and gives no limit.",
        apply=lambda: _with(lambda settings: replace(settings, release_after_ms=_LATE_MS)),
    ),
    Variant(
        name="tried-again-rarely",
        rules=("DD-57", "DD-65", "DD-71"),
        text="What target and dead-letter queue did not take is tried again after ten seconds.",
        allowed_by="DELAY:74 says that it is tried again later.",
        apply=lambda: _with(lambda settings: replace(settings, retry_ms=10_000)),
    ),
)
