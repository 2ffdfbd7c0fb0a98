"""The settings of one queue manager, with a limit on everything that clients can make grow."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from assay_broker.core.administration.authority import AuthorityRecord
from assay_broker.core.objects.factory import factory
from assay_broker.core.objects.host import Host
from assay_broker.core.objects.model import Definition

Platform = Literal["distributed", "zos"]
Opmode = Literal["COMPAT", "NEWFUNC"]

DELAY_SINCE = (8, 0)
"""The first command level with delivery delay (DD-10, DD-43)."""


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of one queue manager.

    Args:
        name: The queue manager's name.
        platform: The platform whose rules apply to the delivery delay processor.
        level: The command level, such as ``8.0``, the first one with delivery delay.
        opmode: OPMODE on z/OS; delivery delay does not depend on it (DD-44).
        objects: The objects of a new queue manager; empty for IBM MQ's factory settings.
        authorities: The authority records of a new queue manager; without any, only the administrator may connect.
        connected: Whether it is in a network with other queue managers, for a hierarchy or a cluster.
        max_connections: Connections at a time.
        max_links: Senders and receivers of one connection.
        max_units: Open units of work of one connection.
        max_branches: Branches of global units of work at a time, those in doubt included; of the queue manager.
        max_queues: Queues at a time, those of subscriptions included.
        max_selectors: Different selectors at a time on one queue.
        max_name_bytes: Length of destination, client and subscription names, in UTF-8.
        retry_ms: How long the delay processor waits, after a target could not take a due message, before it tries
            again.
        release_after_ms: How long after its delay a message is released: 0 at once; a processor that looks at the
            staging queue from time to time comes later.
    """

    name: str = "ASSAY"
    platform: Platform = "distributed"
    level: str = "8.0"
    opmode: Opmode = "NEWFUNC"
    objects: tuple[Definition, ...] = ()
    authorities: tuple[AuthorityRecord, ...] = ()
    connected: bool = False
    max_connections: int = 10_000
    max_links: int = 1_000
    max_units: int = 256
    max_branches: int = 1_000
    max_queues: int = 10_000
    max_selectors: int = 100
    max_name_bytes: int = 10_240
    retry_ms: int = 1_000
    release_after_ms: int = 0

    def fresh_objects(self) -> tuple[Definition, ...]:
        """Return the objects of a new queue manager with these settings."""
        return self.objects or factory(self.name, zos=self.platform == "zos")

    @property
    def host(self) -> Host:
        """The platform and command level, on which objects depend."""
        major, minor, *fix = (int(part) for part in self.level.split("."))
        return Host(zos=self.platform == "zos", level=100 * major + 10 * minor + (fix[0] if fix else 0))

    @property
    def delays(self) -> bool:
        """Whether this level has delivery delay (DD-10, DD-43), whatever the OPMODE (DD-44)."""
        return tuple(int(part) for part in self.level.split(".")) >= DELAY_SINCE
