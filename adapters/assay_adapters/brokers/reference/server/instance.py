"""One server of the reference broker for scenarios: its clients, its administration, its faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

from assay_adapters.brokers.base import ALL_FACES, JMS_FACES, SdkInstance
from assay_adapters.brokers.mq_rest.administration import RestAdmin
from assay_adapters.brokers.mq_rest.client import MqRest
from assay_adapters.brokers.reference.server.faults import FaultTarget, ServerFaults
from assay_adapters.brokers.reference.server.fork_server.messages import DiskSeen
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.backend import BackendError, Environment, WireProtocol
from assay_adapters.ports.client import Endpoint
from assay_adapters.ports.faults import DiskEvent
from assay_adapters.ports.outcome import Ok, Outcome
from assay_adapters.ports.traces import Trace
from assay_adapters.traces.history import STARTED, History
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_sdk.driver import Driver, Login
from assay_sdk.time import Runner

KIT = Login("assay", "assay")
"""The default login of the kit's clients."""
ADMINISTRATOR_LOGIN = Login(ADMINISTRATOR, ADMINISTRATOR)


def endpoint_at(client_port: int, http_port: int, log: str | None = None, protocol: WireProtocol = "amqp") -> Endpoint:
    """Return the endpoint of a server on this machine, for clients and administrators, with the file of its log."""
    admin = Endpoint(f"http://{LOOPBACK}:{http_port}", ADMINISTRATOR_LOGIN)
    return Endpoint(f"{protocol}://{LOOPBACK}:{client_port}", KIT, admin, log)


class OwnBroker(FaultTarget, Protocol):
    """A broker that this process has started."""

    @property
    def http_port(self) -> int:
        """The HTTP port for administrators; it may change with each start."""
        ...

    def watch(self, observer: Callable[[DiskSeen], None]) -> None:
        """Report each write, flush and loss in the broker's store to an observer, if the kit can observe the store."""
        ...

    def holds(self, octets: bytes) -> bool:
        """Return whether a file in the broker's data folder contains these octets (PD-31)."""
        ...

    def remove(self) -> None:
        """End the broker, and remove its data folder."""
        ...

    @property
    def log(self) -> str | None:
        """The file of the broker's log; None if this machine has no such file."""
        ...

    def trace(self, history: History) -> Trace:
        """Return the broker's log, and its starts, ends and faults so far."""
        ...


class ServerInstance(SdkInstance[Runner, ServerFaults | None]):
    """A running server, for one scenario or shared by many.

    Args:
        endpoint: The endpoint for clients and administrators.
        name: The queue manager's name.
        runner: The I/O loop.
        driver: The driver, with the filter that a run may give (`BackendOptions.wire`).
        environment: The tested product.
        own: The broker and its proxy, if one scenario has the server for itself; None for a shared server.
        trace: The log of a shared server; None if the kit cannot read the log.
        protocol: The protocol of the clients.
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
        trace: Trace | None = None,
        protocol: WireProtocol = "amqp",
    ) -> None:
        self.protocol: WireProtocol = protocol
        history = History(STARTED)
        faults = None if own is None else ServerFaults(*own, runner, history)
        faces = ALL_FACES if protocol == "amqp" else JMS_FACES
        super().__init__(faces, runner, driver, environment, faults)
        self.trace = trace if own is None else own[0].trace(history)
        self.members = (name,)
        self.admin = RestAdmin(MqRest(LOOPBACK, self._http_port, name, ADMINISTRATOR_LOGIN), self._turn)
        self.open = True
        """Whether the instance can still be used: False after `close`."""
        self._endpoint = endpoint
        self._name = name
        self._own = own

    @property
    def own(self) -> OwnBroker | None:
        """The scenario's own broker; None for a server that several scenarios share."""
        return None if self._own is None else self._own[0]

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Return the endpoint to which clients (`protocol`) or administrators (``http``) connect.

        Raises:
            LookupError: The instance has no such member, or the server does not support the protocol.
        """
        if member in {None, self._name}:
            if protocol == self.protocol:
                return self._endpoint
            if protocol == "http" and self._endpoint.admin is not None:
                return self._endpoint.admin
        raise LookupError(f"The server {self._name} has no {protocol} endpoint for {member or self._name}.")

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Call an observer for each disk write, flush and loss of the kit's messages; not for a shared server."""
        if self._own is None:
            return
        runner = self.runner

        def seen(news: DiskSeen) -> None:
            event = DiskEvent("the server's store", news.op, news.keys, news.mono_ns)
            runner.call_soon(lambda: observer(event))

        self._own[0].watch(seen)

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Return whether a file in the data folder contains these octets (PD-31).

        Raises:
            LookupError: The server is shared.
        """
        if self._own is None:
            raise LookupError("A shared server does not show its folder: tag the scenario with @needs-data-folder.")
        return Ok(self._own[0].holds(octets))

    def close(self) -> None:
        """Kill a scenario's own server and remove its folder; do nothing for a shared server."""
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
