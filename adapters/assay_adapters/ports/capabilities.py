"""The capabilities and the environment that a scenario needs, and the answer of a backend that lacks one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from assay_adapters.ports.client import Source
from assay_sdk.model.capabilities import Capability

Topology = Literal["single", "cluster", "sharing-group", "hierarchy"]
Platform = Literal["distributed", "zos"]
Opmode = Literal["COMPAT", "NEWFUNC"]


class Needs(Struct, frozen=True, kw_only=True):
    """The needs of a scenario.

    Args:
        capabilities: The capabilities that the pair must have.
        platform: The platform of the queue managers.
        level: The command level of the queue managers.
        topology: The network of the queue managers: one queue manager for ``single``, two for the other topologies.
        own_instance: Whether the scenario needs an instance of its own; True with any fault. Scenarios with the same
            `shared_fault` may still share one instance.
        shared_fault: The fault that the scenario can share with other scenarios on one instance (`SHARED_FAULTS`). None
            if the scenario needs none of these faults, if its steps do not allow a shared fault, or if it needs an
            instance of its own for another reason.
        slow_disk: Whether the scenario makes the disk of its broker slow before a fault (`SlowDisk`), if it can.
    """

    capabilities: frozenset[Capability] = frozenset()
    platform: Platform = "distributed"
    level: str = "8.0"
    topology: Topology = "single"
    own_instance: bool = False
    shared_fault: Capability | None = None
    slow_disk: bool = False


FAULT_CAPABILITIES = frozenset(
    {
        Capability.RESTART,
        Capability.RESTART_AT_LEVEL,
        Capability.STORE_ERROR,
        Capability.WORKER_DIES,
        Capability.KILL,
        Capability.POWER_LOSS,
        Capability.KILL_AT_ANSWER,
        Capability.KILL_AT_FIRST_SIGHT,
        Capability.CUT,
        Capability.BLOCK_WRITE,
    }
)
"""The capabilities whose use disturbs all other scenarios on the broker instance."""

SHARED_FAULTS = frozenset({Capability.RESTART, Capability.KILL, Capability.CUT})
"""The faults that several scenarios can share, if their steps permit it (`assay_steps.processes.meetings`)."""

TIMED = frozenset({Capability.DELIVERY_DELAY, Capability.TIME_TO_LIVE, Capability.SUBSCRIPTION_TTL})
"""The capabilities of scenarios with delays or expiry: while such a time runs, a scenario cannot wait for others."""


class Unsupported(Struct, frozen=True):
    """The answer of a backend to a scenario whose capability the pair lacks.

    Args:
        capability: The capability's name, or ``fault`` for a fault that cannot be caused.
        source: The reason.
    """

    capability: str
    source: Source


def missing(
    needs: Needs, has: Mapping[Capability, Source], lacks: Mapping[Capability, Source], who: str
) -> Unsupported | None:
    """Find the first capability, in alphabetical order, that a scenario needs and a pair lacks.

    `Capability.ADMIN` comes last, because a narrower capability of an administrator says more about what is missing.

    Args:
        needs: The scenario's needs.
        has: The capabilities of the pair.
        lacks: The known reasons for capabilities that the pair lacks.
        who: The name of the pair, for the reason if `lacks` gives none.

    Returns:
        The capability with the reason; None if the pair has all needed capabilities.
    """
    for capability in sorted(needs.capabilities, key=lambda one: (one is Capability.ADMIN, one)):
        if capability not in has:
            unexplained = Source(f"{who} lacks {capability.value}.")
            return Unsupported(capability.value, lacks.get(capability, unexplained))
    return None
