"""One server of the reference broker as a scenario has it: its clients, its administration, its faults."""

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
"""Who a client of the kit is, where a scenario does not say."""
ADMINISTRATOR_LOGIN = Login(ADMINISTRATOR, ADMINISTRATOR)


def endpoint_at(amqp_port: int, http_port: int) -> Endpoint:
    """Where clients of the kit go for a server of this machine, and its administrators."""
    admin = Endpoint(f"http://{LOOPBACK}:{http_port}", ADMINISTRATOR_LOGIN)
    return Endpoint(f"amqp://{LOOPBACK}:{amqp_port}", KIT, admin)


class OwnBroker(FaultTarget, Protocol):
    """A broker that this process has started."""

    @property
    def http_port(self) -> int:
        """Where it listens for administrators, since its last start."""
        ...

    def watch(self, observer: Callable[[DiskSeen], None]) -> None:
        """Tell this observer what its store does, where that can be seen."""
        ...

    def holds(self, octets: bytes) -> bool:
        """Whether these octets stand anywhere in its folder's files (PD-31)."""
        ...

    def remove(self) -> None:
        """End it, and remove its folder."""
        ...


class ServerInstance:
    """One server: shared by many scenarios, or one scenario's own.

    Args:
        endpoint: Where clients and administrators go.
        name: Its queue manager's name.
        runner: The I/O loop.
        driver: The AMQP driver, behind whatever filter a run asks for.
        environment: What it is.
        own: The process and its proxy, where it is one scenario's own.
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
        """Whether it has not been given back."""
        self._faults: ServerFaults | None = None
        if own is not None:
            process, proxy = own
            self._faults = ServerFaults(process, proxy, runner)
        self._admin = RestAdmin(MqRest(LOOPBACK, self._http_port, name, ADMINISTRATOR_LOGIN), self._turn)

    @property
    def environment(self) -> Environment:
        """What it is."""
        return self._environment

    @property
    def clock(self) -> Clock:
        """The machine's clock: the server has no other."""
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
        """The broker itself, where it is one scenario's own."""
        return None if self._own is None else self._own[0]

    @property
    def admin(self) -> RestAdmin:
        """Administration over HTTP."""
        return self._admin

    @property
    def faults(self) -> ServerFaults | None:
        """Faults, for an instance of one's own."""
        return self._faults

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Where clients connect, or administrators.

        Raises:
            LookupError: There is no such member, or nobody speaks the protocol.
        """
        if member in {None, self._name}:
            if protocol == "amqp":
                return self._endpoint
            if protocol == "http" and self._endpoint.admin is not None:
                return self._endpoint.admin
        raise LookupError(f"The server {self._name} has no {protocol} endpoint for {member or self._name}.")

    def clients(self) -> Mapping[str, Client]:
        """Fresh clients, by face."""
        clients: dict[str, Client] = {face: SdkClient(face, self._driver, self._runner) for face in FACES}
        clients[MQLIGHT] = MqlightClient(self._driver, self._runner)
        for client in clients.values():
            client.observe(self._observe)
        return clients

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Tell this observer what the store of a server of one's own does with messages of the kit."""
        if self._own is None:
            return
        runner = self._runner

        def seen(news: DiskSeen) -> None:
            event = DiskEvent("the server's store", news.op, news.kids, news.mono_ns)
            runner.call_soon(lambda: observer(event))

        self._own[0].watch(seen)

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Whether the data folder of a server of one's own holds these octets (PD-31).

        Raises:
            LookupError: The server is shared.
        """
        if self._own is None:
            raise LookupError("A shared server does not show its folder: tag the scenario with @needs-data-folder.")
        return Ok(self._own[0].holds(octets))

    def close(self) -> None:
        """Give it back: a server of one's own is killed and its folder removed, a shared one goes on."""
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
            self._faults.seen(event.seen.kid)
