"""One server of the reference broker for scenarios: its clients, its administration, its faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from assay_adapters.brokers.base import ALL_FACES, SdkInstance
from assay_adapters.brokers.mq_rest.administration import RestAdmin
from assay_adapters.brokers.mq_rest.client import MqRest
from assay_adapters.brokers.reference.server.faults import FaultTarget, ServerFaults
from assay_adapters.brokers.reference.server.fork_server.messages import DiskSeen
from assay_adapters.containers.container import LOOPBACK
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.backend import BackendError, Environment, WireProtocol
from assay_adapters.ports.client import Endpoint
from assay_adapters.ports.faults import DiskEvent
from assay_adapters.ports.outcome import Ok, Outcome
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_sdk.driver import Driver, Login
from assay_sdk.time import Runner

KIT = Login("assay", "assay")
"""The default login of the kit's clients."""
ADMINISTRATOR_LOGIN = Login(ADMINISTRATOR, ADMINISTRATOR)


def endpoint_at(amqp_port: int, http_port: int) -> Endpoint:
    """Return the endpoint of a server of this machine, for clients and administrators."""
    admin = Endpoint(f"http://{LOOPBACK}:{http_port}", ADMINISTRATOR_LOGIN)
    return Endpoint(f"amqp://{LOOPBACK}:{amqp_port}", KIT, admin)


class OwnBroker(FaultTarget, Protocol):
    """A broker that this process has started."""

    @property
    def http_port(self) -> int:
        """Its HTTP port for administrators since its last start."""
        ...

    def watch(self, observer: Callable[[DiskSeen], None]) -> None:
        """Tell an observer what its store does, if that can be observed."""
        ...

    def holds(self, octets: bytes) -> bool:
        """Return whether its folder's files contain these octets (PD-31)."""
        ...

    def remove(self) -> None:
        """End it, and remove its folder."""
        ...


class ServerInstance(SdkInstance[Runner, ServerFaults | None]):
    """One server: shared by many scenarios, or one scenario's own.

    Args:
        endpoint: The endpoint for clients and administrators.
        name: Its queue manager's name.
        runner: The I/O loop.
        driver: The AMQP driver, with the run's filter.
        environment: The tested product.
        own: The broker and its proxy if it is one scenario's own; None if it is shared.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        name: str,
        runner: Runner,
        driver: Driver,
        environment: Environment,
        *,
        own: tuple[OwnBroker, Proxy] | None = None,
    ) -> None:
        super().__init__(ALL_FACES, runner, driver, environment, None if own is None else ServerFaults(*own, runner))
        self.members = (name,)
        self.admin = RestAdmin(MqRest(LOOPBACK, self._http_port, name, ADMINISTRATOR_LOGIN), self._turn)
        self.open = True
        """False after `close`."""
        self._endpoint = endpoint
        self._name = name
        self._own = own

    @property
    def own(self) -> OwnBroker | None:
        """The broker, if it is one scenario's own; None if it is shared."""
        return None if self._own is None else self._own[0]

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Return where clients, or administrators, connect.

        Raises:
            LookupError: There is no such member, or the protocol is not supported.
        """
        if member in {None, self._name}:
            if protocol == "amqp":
                return self._endpoint
            if protocol == "http" and self._endpoint.admin is not None:
                return self._endpoint.admin
        raise LookupError(f"The server {self._name} has no {protocol} endpoint for {member or self._name}.")

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Tell an observer what the store does with messages of the kit; silent for a shared server."""
        if self._own is None:
            return
        runner = self.runner

        def seen(news: DiskSeen) -> None:
            event = DiskEvent("the server's store", news.op, news.keys, news.mono_ns)
            runner.call_soon(lambda: observer(event))

        self._own[0].watch(seen)

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Return whether the data folder contains these octets (PD-31).

        Raises:
            LookupError: The server is shared.
        """
        if self._own is None:
            raise LookupError("A shared server does not show its folder: tag the scenario with @needs-data-folder.")
        return Ok(self._own[0].holds(octets))

    def close(self) -> None:
        """Release the instance: a scenario's own server is killed and its folder removed, a shared one goes on."""
        if self._own is not None and self.open:
            self.open = False
            process, proxy = self._own
            proxy.close()
            process.remove()

    def _http_port(self) -> int:
        if self._own is not None:
            return self._own[0].http_port
        port = None if self._endpoint.admin is None else urlsplit(self._endpoint.admin.url).port
        if port is None:
            raise BackendError(f"the server at {self._endpoint.url} has no port for administrators")
        return port

    def _turn(self, on: bool) -> None:
        if self.faults is None:
            raise LookupError("No scenario may stop a shared server: tag the scenario with @own-instance.")
        if on:
            self.faults.start()
        else:
            self.faults.stop()
