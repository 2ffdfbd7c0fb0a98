"""Backends and their instances (I-4): brokers that can be started, administered and tested."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    """A backend could not keep its contract: a fault of the kit or the environment, not a breach of a rule."""


class Available(Struct, frozen=True):
    """The backend can be started here."""

    detail: str = ""


class Unavailable(Struct, frozen=True):
    """The backend cannot be started here.

    Args:
        reason: What is missing.
        remedy: What to do about it.
    """

    reason: str
    remedy: str


class Environment(Struct, frozen=True):
    """The tested product, for the report.

    Args:
        product: The broker's name.
        version: Its version.
        details: Platform, image digest, settings: strings by name.
        ours: Whether it is our own broker: `kit` rules fail only our own parts.
    """

    product: str
    version: str
    details: dict[str, str]
    ours: bool


class Instance(Protocol):
    """A running broker for one scenario, or shared by many."""

    @property
    def environment(self) -> Environment:
        """The tested product."""
        ...

    @property
    def clock(self) -> Clock:
        """The instance's clock."""
        ...

    @property
    def runner(self) -> Runner:
        """The runner, by which steps wait."""
        ...

    @property
    def members(self) -> tuple[str, ...]:
        """Names of its queue managers; the first is the default."""
        ...

    @property
    def admin(self) -> Admin | None:
        """Its administration; None if it has none."""
        ...

    @property
    def faults(self) -> Faults | None:
        """Its faults; None if none can be injected."""
        ...

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Return where clients connect."""
        ...

    def clients(self) -> Mapping[str, Client]:
        """New clients for this instance, by face; the first is the default."""
        ...

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Tell an observer what the storage does; silent if that cannot be observed."""
        ...

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Return whether the data folder contains these octets (PD-31)."""
        ...

    def close(self) -> None:
        """Release the instance."""
        ...


class Backend(Protocol):
    """A broker that the kit can test."""

    @property
    def name(self) -> str:
        """``broker[+protocol]``."""
        ...

    @property
    def capabilities(self) -> Mapping[Capability, Source]:
        """The capabilities of broker and adapter, each with its source; an absent one is unsupported."""
        ...

    @property
    def lacks(self) -> Mapping[Capability, Source]:
        """Why capabilities are absent."""
        ...

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The profiles that it claims to keep; the rules of all others are tried, too."""
        ...

    @property
    def environment(self) -> Environment:
        """The tested product, as far as it is known before an instance starts."""
        ...

    def identity(self, face: str | None = None) -> ClientIdentity:
        """Return the identity of its instances' client, in a face by name or in the default one.

        Raises:
            LookupError: There is no such face; the error names the known ones.
        """
        ...

    @property
    def reuses_faulted(self) -> bool:
        """Whether an instance that had a fault serves the next scenario with one; else each gets a new instance."""
        ...

    def probe(self) -> Available | Unavailable:
        """Return whether it can be started here, without starting anything."""
        ...

    def provision(self, needs: Needs) -> Instance | Unsupported:
        """Return an instance that meets the needs."""
        ...

    def close(self) -> None:
        """Stop everything that it started."""
        ...
