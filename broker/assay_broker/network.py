"""Several connected queue managers in one process: sharing groups, clusters and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import count
from types import MappingProxyType
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from assay_broker.core.commands import FromMember
from assay_broker.core.effects import ToMember
from assay_broker.core.networks.parcels import Parcel
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.settings import Settings
from assay_broker.seams import NO_SEAMS, Seams
from assay_broker.shared_resources import SharedResources
from assay_broker.shell import QueueManager
from assay_broker.stores import Store
from assay_sdk.time import Runner


class Member(Struct, frozen=True, eq=False):
    """The parts from which one queue manager of a network is created.

    Args:
        settings: The settings, with the name of the queue manager.
        store: The store of the queue manager's records.
        seams: The filters of a defect or of a tolerated variant; the default changes nothing.
    """

    settings: Settings
    store: Store
    seams: Seams = NO_SEAMS


Topology = Literal["single", "cluster", "sharing-group", "hierarchy"]
"""The kind of connection between the queue managers; "single" means none."""


def network(runner: Runner, topology: Topology, members: tuple[Member, ...]) -> Mapping[str, QueueManager]:
    """Create queue managers in a topology, and return them by name.

    Args:
        runner: Runs the jobs, and has the clock.
        topology: The kind of connection between the queue managers.
        members: The parts of each queue manager.
    """
    if topology == "single":
        return _apart(runner, members)
    if topology == "sharing-group":
        return sharing_group(runner, members)
    return Network(runner, members, child_of_first=topology == "hierarchy").queue_managers


def _apart(runner: Runner, members: tuple[Member, ...]) -> Mapping[str, QueueManager]:
    return MappingProxyType(
        {one.settings.name: QueueManager(runner, one.store, one.settings, one.seams) for one in members}
    )


def sharing_group(runner: Runner, members: tuple[Member, ...]) -> Mapping[str, QueueManager]:
    """Create the queue managers of a queue-sharing group with one coupling facility, and return them by name.

    Each queue manager has its own store and its own staging queue (DD-45), and can be stopped, killed and started
    without the others.  A queue is shared if one of the queue managers defines it with QSGDISP(SHARED).

    Args:
        runner: Runs the jobs, and has the clock.
        members: The parts of each queue manager.
    """
    shared = SharedResources(runner, count(1), several=True)
    return MappingProxyType(
        {
            member.settings.name: QueueManager(runner, member.store, member.settings, member.seams, shared=shared)
            for member in members
        }
    )


class Network:
    """Several queue managers with a channel between every two.

    Each parcel reaches the receiving queue manager in a separate job, in the order of sending.  A queue manager
    that is down does not get the parcel.  The sending queue manager keeps a message until the receiver confirms it.

    Args:
        runner: Runs the jobs, and has the clock.
        members: The parts of each queue manager.
        child_of_first: Whether all other queue managers are children of the first in a publish/subscribe hierarchy.
    """

    def __init__(self, runner: Runner, members: tuple[Member, ...], *, child_of_first: bool = False) -> None:
        self._runner = runner
        self._queue_managers: dict[str, QueueManager] = {}
        parent = members[0].settings.name if child_of_first else ""
        for member in members:
            settings = _connected(member.settings, parent)
            self._queue_managers[settings.name] = QueueManager(
                runner, member.store, settings, member.seams, post=self._take
            )

    @property
    def queue_managers(self) -> Mapping[str, QueueManager]:
        """The queue managers of this network, by name."""
        return MappingProxyType(self._queue_managers)

    def _take(self, sender: str, what: ToMember) -> None:
        others = (name for name in self._queue_managers if name != sender)
        for name in others if what.member is None else (what.member,):
            self._runner.call_soon(partial(self._bring, sender, name, what.parcel))

    def _bring(self, sender: str, name: str, parcel: Parcel) -> None:
        receiver = self._queue_managers.get(name)
        if receiver is not None:
            receiver.handle(FromMember(sender, parcel))


def _connected(settings: Settings, parent: str) -> Settings:
    """Return a member's settings with `connected` set and with PARENT, which is blank for the parent itself."""
    parent = "" if parent == settings.name else parent
    objects = tuple(
        Definition(one.kind, one.name, one.attributes | {"PARENT": parent}) if one.kind is Kind.QMGR else one
        for one in settings.fresh_objects()
    )
    return replace(settings, objects=objects, connected=True)
