"""The dead-letter header: what the queue manager says of a message that its target could not take."""

from __future__ import annotations

from msgspec import Struct


class DeadLetterHeader(Struct, frozen=True, kw_only=True):
    """MQDLH, as far as it says something (DD-70).

    Args:
        reason: Why the target could not take the message: MQRC, or MQFB of a report.
        queue: The queue for which the message was.
        manager: That queue's queue manager.
        put_ms: When it was put here, in milliseconds since the epoch.
    """

    reason: int
    queue: str
    manager: str
    put_ms: int
