"""What one queue manager is set to: defaults of its objects, and a limit on everything a peer can make grow."""

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
"""The first level with delivery delay (DD-10, DD-43)."""


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of one queue manager.

    Args:
        name: The queue manager's name.
        platform: Which platform's rules hold for the delivery delay processor.
        level: The command level, as ``8.0``; delivery delay came with that one.
        opmode: z/OS's OPMODE; delivery delay is not protected by it (DD-44).
        objects: The objects with which a fresh queue manager begins; empty for IBM MQ's factory settings.
        authorities: The authority records with which it begins; without any, nobody but the administrator may connect.
        connected: Whether it is in a network with other queue managers, for a hierarchy or a cluster.
        max_connections: Connections at a time.
        max_links: Senders and receivers of one connection.
        max_units: Open units of work of one connection.
        max_branches: Branches of global units of work at a time, those in doubt included; of the queue manager.
        max_queues: Queues at a time, those of subscriptions included.
        max_selectors: Different selectors at a time on one queue.
        max_name_bytes: Length of destination, client and subscription names, in UTF-8.
        retry_ms: How long the delay processor leaves a due message alone whose target could not take it.
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

    def fresh_objects(self) -> tuple[Definition, ...]:
        """What a fresh queue manager of these settings has."""
        return self.objects or factory(self.name, zos=self.platform == "zos")

    @property
    def host(self) -> Host:
        """What the queue manager is, as far as its objects depend on it."""
        major, minor, *fix = (int(part) for part in self.level.split("."))
        return Host(zos=self.platform == "zos", level=100 * major + 10 * minor + (fix[0] if fix else 0))

    @property
    def delays(self) -> bool:
        """Whether a queue manager of this level knows delivery delay (DD-10, DD-43); OPMODE does not matter (DD-44)."""
        return tuple(int(part) for part in self.level.split(".")) >= DELAY_SINCE
