"""The dead-letter header, with the reason why a message is on the dead-letter queue."""

from __future__ import annotations

from msgspec import Struct


class DeadLetterHeader(Struct, frozen=True, kw_only=True):
    """The fields of MQDLH that carry information (DD-70).

    Args:
        reason: The reason code (MQRC) of the target's refusal.
        queue: The name of the target queue.
        manager: The name of the target's queue manager.
        put_ms: When the message was put on the dead-letter queue, in milliseconds since the epoch.
    """

    reason: int
    queue: str
    manager: str
    put_ms: int
