"""The settings of one queue manager, such as limits on the resources that clients use."""

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
        platform: The platform, which decides the rules for the delivery delay processor and the attributes of objects.
        level: The command level, such as ``8.0``, the first one with delivery delay.
        opmode: OPMODE on z/OS; delivery delay does not depend on it (DD-44).
        objects: The objects of a new queue manager; empty for IBM MQ's factory settings.
        authorities: The authority records of a new queue manager; without records, only the administrator may connect.
        connected: Whether the queue manager is in a network with other queue managers, for a hierarchy or a cluster.
        max_connections: The highest number of open connections.
        max_links: The highest number of senders and receivers of one connection; temporary destinations of a connection
            have the same limit.
        max_units: The highest number of open units of work of one connection.
        max_branches: The highest number of branches of global units of work, those in doubt included.
        max_queues: The highest number of queues, those of subscriptions included.
        max_selectors: The highest number of different selectors on one queue.
        max_name_bytes: The highest number of bytes, in UTF-8, of a client id, or of a destination's or subscription's
            name.
        retry_ms: The time in milliseconds before the queue manager tries again: to release a message whose target could
            not take it, to restart a failed delay processor, or to resend a message that another queue manager
            could not take.
        release_after_ms: The time in milliseconds from the end of a message's delay to its release; 0 if the processor
            releases at once.
        release_every_ms: The time in milliseconds between two looks at the staging queue, if the processor releases
            messages only then; 0 if it does not wait for such a look.
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
    release_every_ms: int = 0

    def fresh_objects(self) -> tuple[Definition, ...]:
        """Return the objects of a new queue manager with these settings."""
        return self.objects or factory(self.name, zos=self.platform == "zos")

    @property
    def host(self) -> Host:
        """The platform and command level, which decide the attributes that objects have."""
        major, minor, *fix = (int(part) for part in self.level.split("."))
        return Host(zos=self.platform == "zos", level=100 * major + 10 * minor + (fix[0] if fix else 0))

    @property
    def delays(self) -> bool:
        """Whether the command level has delivery delay (DD-10, DD-43); OPMODE has no influence (DD-44)."""
        return tuple(int(part) for part in self.level.split(".")) >= DELAY_SINCE
