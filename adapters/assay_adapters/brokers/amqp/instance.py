"""The instance of a product that one scenario uses; the broker behind the instance may be shared."""

from __future__ import annotations

from collections.abc import Callable

from assay_adapters.brokers.amqp.creating import QueuesOnUse
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.base import SdkInstance
from assay_adapters.brokers.creating import CreatingDriver
from assay_adapters.containers.files import folder_holds
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.ports.backend import Environment, Silence, WireProtocol
from assay_adapters.ports.client import Endpoint
from assay_adapters.ports.faults import DiskEvent
from assay_adapters.ports.outcome import JmsErrorKind, Outcome, Refused
from assay_adapters.traces.containers import ContainerTrace, at_port
from assay_adapters.traces.history import History
from assay_sdk.driver import Driver
from assay_sdk.time import Runner


class ProductInstance(SdkInstance[Runner, ProxiedFaults | None]):
    """An instance of a product: one broker in a container.

    Args:
        product: The product.
        endpoint: The URL and login for clients.
        runner: The I/O loop.
        driver: The driver, with the filter that a run may give (`BackendOptions.wire`).
        environment: The tested product.
        port: The published port of the product's container; None if it is unknown.
        faults: The faults that the scenario can cause; None if it can cause none.
        history: The kit's actions on the broker, such as kills; None for a scenario without faults.
        leave: Called by `close` to leave the meeting of the scenarios that share a fault; None without a meeting.
        check: Checks the broker, and returns a `Silence` if the broker has stopped answering. Without this function,
            `silence` checks nothing.
    """

    def __init__(
        self,
        product: Product,
        endpoint: Endpoint,
        runner: Runner,
        driver: Driver,
        environment: Environment,
        *,
        port: int | None,
        faults: ProxiedFaults | None = None,
        history: History | None = None,
        leave: Callable[[], None] | None = None,
        check: Callable[[], Silence | None] | None = None,
    ) -> None:
        self.admin = product.admin_of(endpoint.admin)
        if product.defines_queues and self.admin is not None:
            driver = CreatingDriver(driver, QueuesOnUse(self.admin))
        super().__init__(product.faces, runner, driver, environment, faults)
        self.members = (product.name,)
        self.protocol: WireProtocol = product.protocol
        self._product = product
        self._endpoint = endpoint
        self._port = port
        self._leave = leave
        self._check = check
        self.trace = None if port is None else ContainerTrace(at_port(port), history)

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Return the URL and login with which clients connect.

        Raises:
            LookupError: The instance has no such member, or its clients use another protocol.
        """
        product = self._product
        if protocol != product.protocol or member not in {None, *self.members}:
            asked = f"{protocol} endpoint for {member or product.name}"
            raise LookupError(f"{product.title} has no {asked} here; it has {product.protocol}.")
        return self._endpoint

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Do nothing: the kit cannot observe the disk of a product in a container."""

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Return whether a file in the broker's data folder contains these octets (PD-31)."""
        if self._port is None:
            return Refused(JmsErrorKind.UNSUPPORTED, f"{self._endpoint.url} names no port of a container")
        return folder_holds(self._port, self._product.data_folders, octets)

    def silence(self) -> Silence | None:
        """Check whether the broker answers, and start a shared broker again if it does not (`revival`).

        Raises:
            BackendError: The broker cannot be started again.
        """
        return None if self._check is None else self._check()

    def close(self) -> None:
        """Release the broker, which keeps running for other scenarios."""
        if self._leave is not None:
            self._leave()
