"""Backend (I-4): a broker that can be provisioned, administered and hurt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from msgspec import Struct

from assay_adapters.ports.administration import Admin
from assay_adapters.ports.client import Client, ClientIdentity, Endpoint, Source
from assay_adapters.ports.outcome import Outcome
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Clock, Runner

WireProtocol = Literal["amqp", "stomp", "http", "in-process"]
Topology = Literal["single", "cluster", "sharing-group", "hierarchy"]
Platform = Literal["distributed", "zos"]
Opmode = Literal["COMPAT", "NEWFUNC"]


class BackendError(RuntimeError):
    """A backend could not do what its port promises: the kit's or the environment's fault, never the rule's."""


class Needs(Struct, frozen=True, kw_only=True):
    """What a scenario asks for.

    Args:
        platform: The platform of its queue managers.
        level: Their level.
        topology: How many queue managers there are, and how they belong together; single has one, the others two.
        own_instance: True whenever a fault is injected.
    """

    capabilities: frozenset[Capability] = frozenset()
    platform: Platform = "distributed"
    level: str = "8.0"
    topology: Topology = "single"
    own_instance: bool = False


class Available(Struct, frozen=True):
    """The backend can be started here."""

    detail: str = ""


class Unavailable(Struct, frozen=True):
    """It cannot.

    Args:
        reason: What is missing.
        remedy: What to do about it.
    """

    reason: str
    remedy: str


class Unsupported(Struct, frozen=True):
    """The backend has no such capability."""

    capability: str
    source: Source


class Environment(Struct, frozen=True):
    """What was tested, for the report.

    Args:
        product: Broker's name.
        version: Its version.
        details: Platform, image digest, settings: strings by name.
        ours: Whether it is our own broker: `kit` rules fail only our own parts.
        simulated_disk: Whether its storage is simulated.
    """

    product: str
    version: str
    details: dict[str, str]
    ours: bool
    simulated_disk: bool = False


class Kill(Struct, frozen=True, tag=True):
    """End the broker's process at once (SIGKILL) and start it again."""


class Restart(Struct, frozen=True, tag=True):
    """Shut the broker down in order and start it again.

    Args:
        level: The level at which it starts, on the same data (DD-43); None for the one that it had.
        opmode: OPMODE with which it starts, on z/OS (DD-44); None for the one that it had.
    """

    level: str | None = None
    opmode: Opmode | None = None


class Cut(Struct, frozen=True, tag=True):
    """Cut every client connection; the broker goes on."""


class StoreError(Struct, frozen=True, tag=True):
    """The store cannot keep what it is handed next, and is well again.

    Args:
        times: How often.
    """

    times: int = 1


class WorkerDies(Struct, frozen=True, tag=True):
    """What does a component's work dies; what the component does then is the broker's own business.

    Args:
        what: The component.
    """

    what: str = "delivery delay processor"


class BlockWrite(Struct, frozen=True, tag=True):
    """What is to be kept for a queue is not written before the fault is healed.

    Args:
        queue: The queue, by the name that the administrator knows.
    """

    queue: str


FaultRequest = Kill | Restart | Cut | StoreError | WorkerDies | BlockWrite


class Now(Struct, frozen=True, tag=True):
    """At once."""


class BeforeAnswer(Struct, frozen=True, tag=True):
    """When the broker is about to answer the send of this message."""

    kid: str


class AfterAnswer(Struct, frozen=True, tag=True):
    """As soon as the send of this message has been answered."""

    kid: str


class FirstSight(Struct, frozen=True, tag=True):
    """As soon as a consumer has been handed this message, before it is settled."""

    kid: str


class At(Struct, frozen=True, tag=True):
    """At a monotonic time of the instance's clock, in nanoseconds."""

    mono_ns: int


Trigger = Now | BeforeAnswer | AfterAnswer | FirstSight | At
NOW = Now()


class Injection(Protocol):
    """A fault on its way."""

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the broker is hurt and well again; monotonic nanoseconds of begin and end."""
        ...

    def heal(self) -> None:
        """End a fault that lasts until then; the others end by themselves, and are left alone."""
        ...


class Faults(Protocol):
    """What can be done to an instance."""

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The faults it knows."""
        ...

    def inject(self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None) -> Injection | Unsupported:
        """Arm a fault.

        Args:
            fault: What happens.
            when: What it waits for.
            member: The queue manager that is hurt; None for the first.

        Raises:
            LookupError: There is no such member.
        """
        ...


class DiskEvent(Struct, frozen=True):
    """What the instance's storage did, where that can be seen: the same fields as the journal's ``disk`` event.

    Args:
        mono_ns: When, on the monotonic clock of the instance; None for now.
    """

    source: str
    op: Literal["write", "flush", "drop"]
    kids: tuple[str, ...]
    mono_ns: int | None = None


class Instance(Protocol):
    """A running broker for one scenario, or shared by many."""

    @property
    def environment(self) -> Environment:
        """What it is."""
        ...

    @property
    def clock(self) -> Clock:
        """Its world's clock."""
        ...

    @property
    def runner(self) -> Runner:
        """Its world's crank: how the steps wait."""
        ...

    @property
    def members(self) -> tuple[str, ...]:
        """Names of its queue managers; the first is the default."""
        ...

    @property
    def admin(self) -> Admin | None:
        """Administration, where there is one."""
        ...

    @property
    def faults(self) -> Faults | None:
        """Faults, where they can be injected."""
        ...

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Where clients connect."""
        ...

    def clients(self) -> Mapping[str, Client]:
        """Fresh clients for this instance, by face; the first is the default."""
        ...

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Tell this observer what the storage does, as it happens; silent where nothing can be seen."""
        ...

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Whether the data folder holds these octets anywhere (PD-31)."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class Backend(Protocol):
    """A broker that the kit can test."""

    @property
    def name(self) -> str:
        """``broker[+protocol]``."""
        ...

    @property
    def capabilities(self) -> Mapping[Capability, Source]:
        """What broker and adapter can do, and how we know; what is absent here is unsupported."""
        ...

    @property
    def lacks(self) -> Mapping[Capability, Source]:
        """Why a capability is absent."""
        ...

    @property
    def environment(self) -> Environment:
        """What its instances are, as far as that is known without asking one."""
        ...

    def identity(self, face: str | None = None) -> ClientIdentity:
        """Who the client of its instances is, in a face by name or in the default one.

        Raises:
            LookupError: There is no such face; names the ones there are.
        """
        ...

    @property
    def is_one_server(self) -> bool:
        """Whether an instance is one server, reached by AMQP and administered by HTTP (`Rule.beyond_one_server`)."""
        ...

    @property
    def keeps_the_hurt(self) -> bool:
        """Whether an instance that was hurt serves the next scenario that hurts one; otherwise each has a fresh one."""
        ...

    def probe(self) -> Available | Unavailable:
        """Whether it can be started here; starts nothing."""
        ...

    def provision(self, needs: Needs) -> Instance | Unsupported:
        """Give an instance that meets the needs."""
        ...

    def close(self) -> None:
        """Stop everything that it started."""
        ...
