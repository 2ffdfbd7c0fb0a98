"""The `Backend` and `Instance` ports: brokers that the kit can start, administer and test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, StrEnum, auto
from typing import Literal, Protocol

from msgspec import Struct

from assay_adapters.ports.administration import Admin
from assay_adapters.ports.capabilities import Needs, Unsupported
from assay_adapters.ports.client import Client, ClientIdentity, Endpoint, Source
from assay_adapters.ports.faults import DiskEvent, Faults
from assay_adapters.ports.outcome import Outcome
from assay_features import Profile
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Clock, Runner

WireProtocol = Literal["amqp", "stomp", "http", "in-process"]


class BackendError(RuntimeError):
    """Error: the kit or its environment prevents a backend from doing its work. The broker has broken no rule."""


class SharedFaultError(BackendError):
    """Error: a fault that several scenarios share has failed, or the scenarios did not meet for the fault in time.

    Another scenario may be the cause, so the kit repeats a scenario that has this error, with a broker of its own.
    """


class NoReturnError(RuntimeError):
    """Error: a broker itself fails to shut down normally, or to start again on its own files.

    A backend raises this error only after it has excluded the kit and the machine as the cause.
    """


class Available(Struct, frozen=True):
    """The answer that this machine can start the backend's broker.

    Args:
        detail: The kind of broker that would start, for the user.
    """

    detail: str = ""


class Unavailable(Struct, frozen=True):
    """The answer that this machine cannot start the backend's broker.

    Args:
        reason: The reason, such as a missing package or image.
        remedy: The advice for the user.
    """

    reason: str
    remedy: str


class Environment(Struct, frozen=True):
    """The tested product, for the report.

    Args:
        product: The product's name.
        version: The product's version.
        details: Further details by name, such as the platform, the image digest and settings.
        ours: Whether the product is the kit's own broker. A rule of strength `kit` can fail only the kit's own parts.
    """

    product: str
    version: str
    details: dict[str, str]
    ours: bool


class BrokerOwner(Enum):
    """The owner of a broker that has stopped answering; the scenario's outcome depends on the owner."""

    USER = auto()
    """The kit cannot start the broker again, for example because it is the user's. The scenario is in error."""
    SHARED = auto()
    """The kit has started the broker again. Any scenario that used it may be the cause, so the kit repeats them."""
    SCENARIO = auto()
    """Only this scenario used the broker. The scenario is inconclusive, unless it fails."""


class Silence(Struct, frozen=True):
    """The report that a broker has stopped answering, although no scenario has caused a fault on it.

    Args:
        text: What happened, in a sentence without its full stop.
        owner: The owner of the broker.
    """

    text: str
    owner: BrokerOwner


class Instance(Protocol):
    """A running broker, for one scenario or shared by many."""

    @property
    def environment(self) -> Environment:
        """The tested product, with its version and details."""
        ...

    @property
    def protocol(self) -> WireProtocol:
        """The protocol of the instance's clients."""
        ...

    @property
    def clock(self) -> Clock:
        """The clock of the broker and its clients."""
        ...

    @property
    def runner(self) -> Runner:
        """The runner with which steps wait."""
        ...

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the instance's queue managers; the first is the default."""
        ...

    @property
    def admin(self) -> Admin | None:
        """The administrator of the instance; None if the kit cannot administer the broker."""
        ...

    @property
    def faults(self) -> Faults | None:
        """The faults that scenarios can cause; None if the kit can cause none."""
        ...

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Return the endpoint to which clients connect.

        Args:
            protocol: The protocol.
            member: The queue manager; None for the first.

        Raises:
            LookupError: The instance has no such member, or does not support the protocol.
        """
        ...

    def clients(self) -> Mapping[str, Client]:
        """Return new clients for this instance, by face; the first is the default."""
        ...

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Call an observer for each disk write, flush and loss of the kit's messages, if the kit can observe them."""
        ...

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Return whether a file in the broker's data folder contains these octets (PD-31)."""
        ...

    def silence(self) -> Silence | None:
        """Check at the end of a scenario whether the broker still answers.

        If the backend can start the broker again, it makes sure that later scenarios get a broker that answers.

        Returns:
            A `Silence` if the broker stopped answering during the scenario; None if it answers, or if the backend does
            not check this.

        Raises:
            BackendError: The broker cannot be started again.
        """
        ...

    def close(self) -> None:
        """Release the instance; the backend may keep the broker for other scenarios."""
        ...


class FaultSharing(StrEnum):
    """The way in which scenarios with faults share the instances of a backend."""

    NONE = "none"
    """Each scenario has an instance of its own."""
    IN_TURN = "in turn"
    """In each process, scenarios with faults use one instance one after the other, because a broker starts slowly."""
    TOGETHER = "together"
    """As IN_TURN, but scenarios with the same shared fault (`Needs.shared_fault`) use one instance at the same time."""


class Backend(Protocol):
    """A kind of broker that the kit can start and test."""

    @property
    def name(self) -> str:
        """The backend's name, in the form ``broker[+protocol]``."""
        ...

    @property
    def capabilities(self) -> Mapping[Capability, Source]:
        """The capabilities of broker, client and adapter together, each with its source."""
        ...

    @property
    def lacks(self) -> Mapping[Capability, Source]:
        """The capabilities that the pair lacks, each with the reason."""
        ...

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The profiles that the backend claims for the product; a run tries the rules of all other profiles, too."""
        ...

    @property
    def environment(self) -> Environment:
        """The tested product, as far as it is known before an instance starts."""
        ...

    def identity(self, face: str | None = None) -> ClientIdentity:
        """Return the name, version and face of the instances' client.

        Args:
            face: The face's name; None for the default face.

        Raises:
            LookupError: The backend's clients have no such face; the error names the known faces.
        """
        ...

    @property
    def fault_sharing(self) -> FaultSharing:
        """How scenarios with faults share instances."""
        ...

    def probe(self) -> Available | Unavailable:
        """Return whether this machine can start the broker, without starting it."""
        ...

    def provision(self, needs: Needs) -> Instance | Unsupported:
        """Return an instance that meets a scenario's needs, or `Unsupported` with the reason.

        Raises:
            BackendError: The broker cannot be started.
        """
        ...

    def close(self) -> None:
        """End all brokers that the backend has started."""
        ...
