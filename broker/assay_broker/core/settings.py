"""What one queue manager is set to: defaults of its objects, and a limit on everything a peer can make grow."""

from __future__ import annotations

from msgspec import Struct


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of one queue manager.

    Args:
        name: The queue manager's name.
        max_depth: Messages on one queue, those held by consumers and by units of work included (IBM MQ's MAXDEPTH,
            whose factory setting is 5000).
        max_staged: Messages on the staging queue.
        max_message_bytes: Largest message (IBM MQ's MAXMSGL, whose factory setting is 4 MiB).
        max_connections: Connections at a time.
        max_links: Senders and receivers of one connection.
        max_units: Open units of work of one connection.
        max_unit_size: Messages sent and received in one unit of work (IBM MQ's MAXUMSGS, 10000).
        max_queues: Queues at a time, those of subscriptions included.
        max_selectors: Different selectors at a time on one queue.
        max_name_bytes: Length of destination, client and subscription names, in UTF-8.
        default_persistent: Persistence of a message whose sender said nothing (DEFPSIST; NO is the factory setting).
        retry_ms: How long the delay processor leaves a due message alone whose target could not take it.
    """

    name: str = "ASSAY"
    max_depth: int = 5_000
    max_staged: int = 100_000
    max_message_bytes: int = 4_194_304
    max_connections: int = 1_000
    max_links: int = 1_000
    max_units: int = 256
    max_unit_size: int = 10_000
    max_queues: int = 10_000
    max_selectors: int = 100
    max_name_bytes: int = 10_240
    default_persistent: bool = False
    retry_ms: int = 1_000
