"""One server of the reference broker for scenarios: its clients, its administration, its faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, Protocol
from urllib.parse import urlsplit

from assay_adapters.brokers.mq_rest.administration import RestAdmin
from assay_adapters.brokers.mq_rest.client import MqRest
from assay_adapters.brokers.reference.server.faults import FaultTarget, ServerFaults
from assay_adapters.brokers.reference.server.fork_server.messages import DiskSeen
from assay_adapters.clients.mqlight import MqlightClient
from assay_adapters.clients.sdk import SdkClient, SdkFace
from assay_adapters.containers.container import LOOPBACK
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.backend import BackendError, Environment, WireProtocol
from assay_adapters.ports.client import Client, ClientEvent, Endpoint
from assay_adapters.ports.faults import DiskEvent
from assay_adapters.ports.outcome import Ok, Outcome
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_sdk.driver import Driver, Login
from assay_sdk.time import Clock, Runner

FACES: tuple[SdkFace, ...] = ("simplified", "classic")
MQLIGHT: Literal["mqlight"] = "mqlight"
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


class ServerInstance:
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
        self._endpoint = endpoint
        self._name = name
        self._runner = runner
        self._driver = driver
        self._environment = environment
        self._own = own
        self.open = True
        """False after `close`."""
        self._faults: ServerFaults | None = None
        if own is not None:
            process, proxy = own
            self._faults = ServerFaults(process, proxy, runner)
        self._admin = RestAdmin(MqRest(LOOPBACK, self._http_port, name, ADMINISTRATOR_LOGIN), self._turn)

    @property
    def environment(self) -> Environment:
        """The tested product."""
        return self._environment

    @property
    def clock(self) -> Clock:
        """The machine's clock, which is also the server's."""
        return self._runner.clock

    @property
    def runner(self) -> Runner:
        """The I/O loop."""
        return self._runner

    @property
    def members(self) -> tuple[str, ...]:
        """Its one queue manager."""
        return (self._name,)

    @property
    def own(self) -> OwnBroker | None:
        """The broker, if it is one scenario's own; None if it is shared."""
        return None if self._own is None else self._own[0]

    @property
    def admin(self) -> RestAdmin:
        """Administration over HTTP."""
        return self._admin

    @property
    def faults(self) -> ServerFaults | None:
        """Its faults; None if it is shared."""
        return self._faults

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

    def clients(self) -> Mapping[str, Client]:
        """New clients, by face."""
        clients: dict[str, Client] = {face: SdkClient(face, self._driver, self._runner) for face in FACES}
        clients[MQLIGHT] = MqlightClient(self._driver, self._runner)
        for client in clients.values():
            client.observe(self._observe)
        return clients

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Tell an observer what the store does with messages of the kit; silent for a shared server."""
        if self._own is None:
            return
        runner = self._runner

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
        if self._faults is None:
            raise LookupError("A shared server is stopped by nobody: tag the scenario with @own-instance.")
        if on:
            self._faults.start()
        else:
            self._faults.stop()

    def _observe(self, event: ClientEvent) -> None:
        if self._faults is not None and event.what == "seen" and event.seen is not None:
            self._faults.seen(event.seen.key)
