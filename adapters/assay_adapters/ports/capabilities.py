"""Needs of a scenario, and the answer of a backend that cannot meet them."""

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
        platform: The platform of its queue managers.
        level: Their command level.
        topology: How many queue managers there are, and how they belong together; single has one, the others two.
        own_instance: Whether it needs an instance of its own; True for every scenario with faults.
    """

    capabilities: frozenset[Capability] = frozenset()
    platform: Platform = "distributed"
    level: str = "8.0"
    topology: Topology = "single"
    own_instance: bool = False


class Unsupported(Struct, frozen=True):
    """The backend has no such capability."""

    capability: str
    source: Source


def missing(
    needs: Needs, has: Mapping[Capability, Source], lacks: Mapping[Capability, Source], who: str
) -> Unsupported | None:
    """Find the first needed capability that is absent.

    Args:
        needs: The scenario's needs.
        has: The capabilities of broker, client and adapter together.
        lacks: Why capabilities are absent, if known.
        who: The subject of the default reason.

    Returns:
        The capability with the reason; None if none is missing.
    """
    for capability in sorted(needs.capabilities):
        if capability not in has:
            unexplained = Source(f"{who} lacks {capability.value}.")
            return Unsupported(capability.value, lacks.get(capability, unexplained))
    return None
