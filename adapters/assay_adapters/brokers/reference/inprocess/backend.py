"""The reference broker in this process; each instance has its own virtual clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

from assay_adapters.brokers.base import ALL_FACES, SdkBackend, SdkInstance
from assay_adapters.brokers.reference.inprocess.administration import ReferenceAdmin
from assay_adapters.brokers.reference.inprocess.faults import MemberUnderFault, ReferenceFaults
from assay_adapters.brokers.reference.inprocess.stores import kind_of
from assay_adapters.clients.keys import key_of
from assay_adapters.clients.mqlight import CAPABILITIES as MQLIGHT_CAPABILITIES
from assay_adapters.clients.sdk import CAPABILITIES as SDK_CAPABILITIES
from assay_adapters.ports.backend import Available, Environment, FaultSharing, Unavailable, WireProtocol
from assay_adapters.ports.capabilities import Needs, Unsupported, missing
from assay_adapters.ports.client import Client, Endpoint, Source
from assay_adapters.ports.faults import DiskEvent
from assay_adapters.ports.outcome import Ok, Outcome
from assay_adapters.suggestions import unknown
from assay_broker.core.records import MessageStored, Record
from assay_broker.defects import DEFECTS
from assay_broker.inprocess import CAPABILITIES as WIRE_CAPABILITIES
from assay_broker.inprocess import PRODUCT, InProcessDriver, product_version
from assay_broker.mqsc.defaults import default_settings
from assay_broker.network import Member, network
from assay_broker.seams import NO_SEAMS
from assay_broker.stores import Operation
from assay_broker.variants import VARIANTS
from assay_features import Profile
from assay_sdk.driver import Driver
from assay_sdk.model.capabilities import ADMINISTRATION, Capability
from assay_sdk.runners.virtual import VirtualRunner

_CLIENT_CAPABILITIES: Mapping[Capability, Source] = {**MQLIGHT_CAPABILITIES, **SDK_CAPABILITIES}
"""The capabilities of the SDK's clients on all faces."""
_SINGLE = ("ASSAY",)
_SEVERAL = ("QM1", "QM2")
"""The names of two queue managers: short, because a name on z/OS has at most four characters."""

_BROKER = Source("The reference broker has this capability.", "broker/assay_broker")
_INSTANCE = Source("The reference broker runs in this process, on a virtual clock, and the kit observes its disk.")

CAPABILITIES: Mapping[Capability, Source] = {
    **{name: source for name, source in _CLIENT_CAPABILITIES.items() if name not in WIRE_CAPABILITIES},
    **dict.fromkeys(sorted(WIRE_CAPABILITIES & _CLIENT_CAPABILITIES.keys()), _BROKER),
    **dict.fromkeys(
        (
            *sorted(ADMINISTRATION),
            Capability.FACTORY_SETTINGS,
            Capability.STAGING_QUEUE,
            Capability.FLUSH_TRACE,
            Capability.DATA_FOLDER,
            Capability.RESTART,
            Capability.RESTART_AT_LEVEL,
            Capability.STORE_ERROR,
            Capability.WORKER_DIES,
            Capability.RETAINED_PUBLICATION,
            Capability.OWN_UNCOMMITTED,
            Capability.ANSWERED_ACKNOWLEDGEMENT,
            Capability.RETURN_TO_OTHERS,
            Capability.KILL,
            Capability.POWER_LOSS,
            Capability.KILL_AT_ANSWER,
            Capability.KILL_AT_FIRST_SIGHT,
            Capability.CUT,
            Capability.BLOCK_WRITE,
            Capability.NAMELESS_CONNECTION,
            Capability.VIRTUAL_TIME,
        ),
        _INSTANCE,
    ),
}
LACKS: Mapping[Capability, Source] = {
    Capability.CANCEL: Source("The client port has no call that cancels a delayed message."),
}


class ReferenceInstance(SdkInstance[VirtualRunner, ReferenceFaults]):
    """One queue manager, or several in one network, with their own virtual clock.

    Args:
        runner: The runner that runs all jobs and has the clock.
        members: The queue managers with their stores, by name; the first is the default.
        wire: A filter between the SDK's engine and its driver; None for no filter.
        id_prefix: The prefix of message ids.
        environment: The tested product.
        disk: The name of the store's disk in the journal.
    """

    def __init__(
        self,
        runner: VirtualRunner,
        members: Mapping[str, MemberUnderFault],
        wire: Callable[[Driver], Driver] | None,
        id_prefix: str,
        environment: Environment,
        *,
        disk: str,
    ) -> None:
        managers = {name: member.queue_manager for name, member in members.items()}
        driver: Driver = InProcessDriver(*managers.values())
        super().__init__(
            ALL_FACES, runner, driver if wire is None else wire(driver), environment, ReferenceFaults(runner, members)
        )
        self.members = tuple(members)
        self.admin = ReferenceAdmin(runner, managers)
        self._under_fault = members
        self._disk = disk
        self._id_prefix = id_prefix
        self._sets = count(1)

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Return the endpoint inside this process; it is the same for every messaging protocol.

        Raises:
            LookupError: The instance has no such member, or the protocol is not a messaging protocol.
        """
        if protocol == "http" or member not in {None, *self.members}:
            raise LookupError(f"The reference broker in this process has no {protocol} endpoint for {member}.")
        return Endpoint(f"in-process://{member or self.members[0]}")

    def clients(self) -> Mapping[str, Client]:
        """Return new clients, by face; all clients of an instance make different message ids."""
        return self._clients(f"{self._id_prefix}-{next(self._sets)}")

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Report to an observer when the disk writes, flushes or loses messages of the kit."""

        def tell(operation: Operation, records: tuple[Record, ...]) -> None:
            stored = (record.message for record in records if isinstance(record, MessageStored))
            keys = tuple(key for key in map(key_of, stored) if key is not None)
            if keys:
                observer(DiskEvent(self._disk, operation, keys))

        for member in self._under_fault.values():
            member.kept.store.observe(tell)

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Return whether the disk of a queue manager contains these octets (PD-31)."""
        return Ok(any(member.kept.store.holds(octets) for member in self._under_fault.values()))

    def close(self) -> None:
        """Cut all connections, and release the stores' disks or folders."""
        for member in self._under_fault.values():
            member.queue_manager.cut()
            member.kept.close()


class ReferenceBackend(SdkBackend):
    """The reference broker in this process.

    Args:
        store: The store's name: ``sqlite``, ``memory`` for a simulated disk, or None for ``sqlite``.
        seed: A number on which all generated ids depend, so that two runs with the same seed have the same ids.
        defect: The name of a defect; None for the broker without defects.
        wire: A filter between the SDK's engine and its driver; None for no filter.
        variant: The name of a tolerated variant; None for the broker without a variant.

    Raises:
        LookupError: The reference broker has no such store, defect or variant.
    """

    name = "reference"
    capabilities = CAPABILITIES
    lacks = LACKS
    profiles = tuple(Profile)
    fault_sharing = FaultSharing.NONE

    def __init__(
        self,
        store: str | None = None,
        seed: int = 0,
        defect: str | None = None,
        wire: Callable[[Driver], Driver] | None = None,
        variant: str | None = None,
    ) -> None:
        if defect is not None and defect not in DEFECTS:
            raise LookupError(unknown("defect", defect, DEFECTS))
        if variant is not None and variant not in VARIANTS:
            raise LookupError(unknown("variant", variant, VARIANTS))
        self._store, self._kind = kind_of(store)
        self._seed = seed
        self._defect = None if defect is None else DEFECTS[defect]
        self._variant = None if variant is None else VARIANTS[variant]
        self._wire = wire
        self._instances = count(1)

    @property
    def environment(self) -> Environment:
        """The tested product, with its version, store, seed, and defect or variant."""
        details = {"store": self._store, "disk": self._kind.disk, "clock": "virtual", "seed": str(self._seed)}
        if self._defect is not None:
            details["defect"] = self._defect.name
        if self._variant is not None:
            details["variant"] = self._variant.name
        return Environment(product=PRODUCT, version=product_version(), details=details, ours=True)

    def probe(self) -> Available | Unavailable:
        """Return `Available`: this process can always start the broker."""
        return Available("in this process, under a virtual clock")

    def provision(self, needs: Needs) -> ReferenceInstance | Unsupported:
        """Return a new instance with its own queue managers."""
        if (unmet := missing(needs, CAPABILITIES, LACKS, "The reference broker in this process")) is not None:
            return unmet
        number = next(self._instances)
        runner = VirtualRunner(boot=f"virtual:{self._seed}:{number}")
        return ReferenceInstance(
            runner,
            self._members(runner, needs),
            self._wire,
            f"reference-{self._seed}-{number}",
            self.environment,
            disk=self._kind.disk,
        )

    def _members(self, runner: VirtualRunner, needs: Needs) -> Mapping[str, MemberUnderFault]:
        """Return the queue managers with their stores, by name: one for the topology ``single``, else two.

        A queue-sharing group is always on z/OS, because no other platform has such groups.
        """
        platform = "zos" if needs.topology == "sharing-group" else needs.platform
        names = _SINGLE if needs.topology == "single" else _SEVERAL
        kept = {name: self._kind.begin(name) for name in names}
        changed = self._defect or self._variant
        members = tuple(
            Member(
                default_settings(
                    name,
                    platform=platform,
                    level=needs.level,
                    factory_objects=Capability.FACTORY_SETTINGS in needs.capabilities,
                ),
                one.store,
                NO_SEAMS if changed is None else changed.apply(),
            )
            for name, one in kept.items()
        )
        managers = network(runner, needs.topology, members)
        return {name: MemberUnderFault(managers[name], kept[name]) for name in names}

    def close(self) -> None:
        """Do nothing: each instance releases its own resources."""
