"""The dead-letter header: why a message is on the dead-letter queue."""

from __future__ import annotations

from msgspec import Struct


class DeadLetterHeader(Struct, frozen=True, kw_only=True):
    """The fields of MQDLH that carry information (DD-70).

    Args:
        reason: Why the target could not take the message: MQRC, or MQFB of a report.
        queue: The target.
        manager: The target's queue manager.
        put_ms: When it was put on the dead-letter queue, in milliseconds since the epoch.
    """

    reason: int
    queue: str
    manager: str
    put_ms: int
