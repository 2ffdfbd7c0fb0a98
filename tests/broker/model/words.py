"""The names and limits for comparing core and model: two queues, two topics, few values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE, STAGING_QUEUE

DEAD, STAGING, REPLY = DEAD_LETTER_QUEUE, STAGING_QUEUE, "REPLY"
QUEUES = ("P", "Q")
TEMPORARY = "X"
"""A temporary queue, which ends with the connection that opened it first (Jakarta Messaging 3.1, 6.2.2)."""
TOPICS = ("T", "T/U")
FITS = {"T": {"T"}, "T/U": {"T/U"}, "T/#": {"T", "T/U"}}
"""The topic strings that match each subscription's topic."""

DEPTHS = {"P": 4, "Q": 9, "sub": 3, REPLY: 3, DEAD: 3, STAGING: 4}
"""The MAXDEPTH of each queue; ``sub`` stands for the queues of subscriptions."""

UNIT_LIMIT = 5
RETRY_MS = 40


class DifferenceError(AssertionError):
    """A difference between core and model."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A message, as the sender sent it.

    Args:
        text: The message's id, which is also the body.
        due_ms: The end of the delay in milliseconds; None without a delay.
        report: Whether the message asks for reports on exceptions and expiration.
        discard: Whether the message asks to be discarded if it cannot be put.
    """

    text: str
    persistent: bool
    priority: int
    expires_ms: int | None = None
    due_ms: int | None = None
    color: int | None = 0
    group: str | None = None
    seq: int = 0
    last: bool = False
    report: bool = False
    discard: bool = False


@dataclass(frozen=True)
class Terms:
    """The terms of a receiver on a subscription."""

    topic: str
    client_id: str | None
    name: str | None
    selector: str | None
    shared: bool
    durable: bool


SELECTORS: dict[str | None, Callable[[Sent], bool]] = {
    None: lambda _sent: True,
    "color = 1": lambda sent: sent.color == 1,
    "color <> 1": lambda sent: sent.color is not None and sent.color != 1,
}
"""Selectors. A message without a colour, such as a report, matches no comparison (Jakarta Messaging 3.1, 3.8.1.2)."""
