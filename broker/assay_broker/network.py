"""Several queue managers in one world, and what they have to do with each other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from assay_broker.core.settings import Settings
from assay_broker.seams import NO_SEAMS, Seams
from assay_broker.shell import Facility, QueueManager
from assay_broker.stores import Store
from assay_sdk.time import Runner


class Member(Struct, frozen=True, eq=False):
    """What one queue manager is made of.

    Args:
        settings: What it is set to; its name is the member's.
        store: Where it keeps its records.
        seams: Where a defect may stand.
    """

    settings: Settings
    store: Store
    seams: Seams = NO_SEAMS


Topology = Literal["single", "cluster", "sharing-group", "hierarchy"]
"""How queue managers belong together."""


def network(runner: Runner, topology: Topology, members: tuple[Member, ...]) -> Mapping[str, QueueManager]:
    """Queue managers that belong together, by name.

    Args:
        runner: The world's crank.
        topology: How.
        members: What they are made of.
    """
    if topology == "sharing-group":
        return sharing_group(runner, members)
    return MappingProxyType(
        {member.settings.name: QueueManager(runner, member.store, member.settings, member.seams) for member in members}
    )


def sharing_group(runner: Runner, members: tuple[Member, ...]) -> Mapping[str, QueueManager]:
    """The queue managers of a queue-sharing group, by name: they share a coupling facility, and nothing else.

    Each has a store, and with it a staging queue, of its own (DD-45); each can be stopped, killed and started alone.
    Shared queues are those that are defined with QSGDISP(SHARED) on any of them.

    Args:
        runner: The world's crank.
        members: What they are made of.
    """
    facility = Facility(runner, count(1))
    return MappingProxyType(
        {
            member.settings.name: QueueManager(runner, member.store, member.settings, member.seams, facility=facility)
            for member in members
        }
    )
