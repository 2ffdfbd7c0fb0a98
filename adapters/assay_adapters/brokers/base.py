"""Base classes of backends and instances whose clients use our SDK."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Generic, Literal, Protocol, TypeVar

from assay_adapters.clients.mqlight import MqlightClient
from assay_adapters.clients.sdk import SdkClient, SdkFace, identity_in
from assay_adapters.ports.backend import Environment, Silence, WireProtocol
from assay_adapters.ports.client import Client, ClientEvent, ClientIdentity, Endpoint
from assay_features import Profile
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import Driver, Opened
from assay_sdk.faces.caller import shared_runner
from assay_sdk.time import Clock, Runner

Faces = tuple[SdkFace | Literal["mqlight"], ...]

JMS_FACES: Faces = ("simplified", "classic")
ALL_FACES: Faces = (*JMS_FACES, "mqlight")


class SightFaults(Protocol):
    """Faults that happen when an application first receives a certain message."""

    def seen(self, key: str) -> None:
        """Cause the faults that wait for the first reception of the message with this key."""
        ...


def introduction(opened: Opened) -> dict[str, str]:
    """Return the product and version that a broker names when a connection opens, for `Environment.details`.

    An AMQP broker names them in its open frame (AMQP 1.0, 2.7.1), and a STOMP broker in the header ``server`` of its
    CONNECTED frame.

    Returns:
        An entry ``describes itself as``, such as ``RabbitMQ 4.0.5``; no entry if the broker names no product.
    """
    says = " ".join(str(opened.properties[name]) for name in ("product", "version") if opened.properties.get(name))
    return {"describes itself as": says} if opened.properties.get("product") else {}


RunnerT = TypeVar("RunnerT", bound=Runner)
FaultsT = TypeVar("FaultsT", bound=SightFaults | None)


class SdkInstance(Generic[RunnerT, FaultsT]):
    """A running broker whose clients use our SDK.

    Args:
        faces: The faces of the SDK that the clients use; the first is the default.
        runner: The runner that runs the clients' jobs and has the clock.
        driver: The driver of the clients, with the filter that a run may give (`BackendOptions.wire`).
        environment: The tested product.
        faults: The faults that the scenario can cause; None if it can cause none.
    """

    protocol: WireProtocol = "amqp"
    """The protocol of the clients."""

    def __init__(
        self, faces: Faces, runner: RunnerT, driver: Driver, environment: Environment, faults: FaultsT
    ) -> None:
        self.runner = runner
        self.environment = environment
        self.faults = faults
        self._faces: Faces = faces
        self._driver = driver

    @property
    def clock(self) -> Clock:
        """The runner's clock, which the broker also uses."""
        return self.runner.clock

    def clients(self) -> Mapping[str, Client]:
        """Return new clients, by face."""
        return self._clients(None)

    def silence(self) -> Silence | None:
        """Return None without a check; a subclass can check whether the broker answers."""
        return None

    def _clients(self, id_prefix: str | None) -> Mapping[str, Client]:
        clients: dict[str, Client] = {}
        for face in self._faces:
            if face == "mqlight":
                clients[face] = MqlightClient(self._driver, self.runner, id_prefix)
            else:
                clients[face] = SdkClient(face, self._driver, self.runner, id_prefix)
            clients[face].observe(self._observe)
        return clients

    def _observe(self, event: ClientEvent) -> None:
        if self.faults is not None and event.what == "seen" and event.seen is not None:
            self.faults.seen(event.seen.key)


class SdkBackend:
    """A backend whose clients use our SDK."""

    faces = ALL_FACES
    profiles: tuple[Profile, ...] = ()
    """The profiles that the backend claims for the product."""

    def identity(self, face: str | None = None) -> ClientIdentity:
        """Return the identity of the client in one of its faces; with None, in the default face.

        Raises:
            LookupError: The backend's clients have no such face.
        """
        return identity_in(face, self.faces)


class AmqpBackend(SdkBackend):
    """A backend that starts brokers on this machine; clients connect over AMQP unless a subclass has another driver.

    Args:
        shared: The endpoint of a shared instance that another process has started; None to start a new one.
        wire: A filter between the SDK's engine and its driver; None for no filter.
        runner: The I/O loop; None for the loop that this process's connections share.
    """

    conventions = Conventions()
    """The product's rules for AMQP clients, as far as the broker does not send them when a connection opens."""

    def __init__(
        self,
        shared: Endpoint | None = None,
        wire: Callable[[Driver], Driver] | None = None,
        runner: Runner | None = None,
    ) -> None:
        self._attached = shared
        self._filter = wire
        self._given_runner = runner
        self._lock = threading.Lock()

    @property
    def _runner(self) -> Runner:
        return self._given_runner or shared_runner()

    def _driver(self) -> Driver:
        from assay_sdk.drivers.amqp import AmqpDriver

        driver: Driver = AmqpDriver(self.conventions)
        return driver if self._filter is None else self._filter(driver)
