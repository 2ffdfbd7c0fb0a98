"""The backend of a broker that a file describes (docs/url.md).

The broker runs at an address, or the kit starts it from a command or an image. Many scenarios share a broker. Scenarios
with faults connect through the kit's proxy. A scenario that ends the broker uses a broker that the kit has started, or
else waits until no other scenario uses the running broker.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, structs

from assay_adapters.brokers.base import ALL_FACES, AmqpBackend, introduction
from assay_adapters.brokers.creating import CreatingDriver
from assay_adapters.brokers.url.broker_lock import BrokerLock
from assay_adapters.brokers.url.checks import absences, mistakes
from assay_adapters.brokers.url.containers import RunningContainer
from assay_adapters.brokers.url.creating import Destinations
from assay_adapters.brokers.url.declaring import capabilities, lacks
from assay_adapters.brokers.url.file import DescriptionError, read
from assay_adapters.brokers.url.instance import UrlInstance
from assay_adapters.brokers.url.model import ContainerTable, Operation
from assay_adapters.brokers.url.processes import OwnProcess, RunningProcess
from assay_adapters.brokers.url.programs import ProgramAdmin
from assay_adapters.brokers.url.reachability import reach
from assay_adapters.containers.container import (
    Container,
    ContainerSpec,
    image_digest,
    probe_image,
)
from assay_adapters.containers.faults import StoppableContainer
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.containers.removal import sweep, sweep_quietly
from assay_adapters.faults.proxied import ProxiedFaults, Stoppable
from assay_adapters.faults.proxy import Proxy
from assay_adapters.packages import missing_packages
from assay_adapters.ports.backend import Available, BackendError, Environment, FaultSharing, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported, missing
from assay_adapters.ports.client import Endpoint, Source
from assay_adapters.ports.traces import Trace
from assay_adapters.traces.containers import ContainerTrace, at_port, named
from assay_adapters.traces.files import FileTrace
from assay_adapters.traces.history import STARTED, History
from assay_sdk.driver import Driver, Login, Opened
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.reasons import Refused
from assay_sdk.time import Runner

_GIVEN = (Needs().platform, Needs().level, Needs().topology)
_ENDS = frozenset({Capability.KILL, Capability.RESTART})


class _Own(Struct, frozen=True):
    """A broker that this process has started, and the proxy in front of it, which scenarios with faults use.

    Args:
        broker: The broker.
        proxy: The proxy.
        runs: Returns whether the broker runs.
        remove: Ends the broker and removes its files.
        log: The file of the broker's log; None for a container.
        history: The kit's actions on the broker, such as kills.
    """

    broker: OwnProcess | StoppableContainer
    proxy: Proxy
    runs: Callable[[], bool]
    remove: Callable[[], None]
    log: str | None
    history: History


def _ready(
    broker: OwnProcess | StoppableContainer,
    start: Callable[[], None],
    runs: Callable[[], bool],
    remove: Callable[[], None],
) -> _Own:
    """Start a broker and the proxy in front of it; after a failure, remove the broker."""
    try:
        start()
        proxy = Proxy(broker.client_port)
        proxy.start()
    except BaseException:  # also Ctrl-C, so that no broker keeps running
        remove()
        raise
    log = str(broker.log) if isinstance(broker, OwnProcess) else None
    return _Own(broker, proxy, runs, remove, log, History(STARTED))


class UrlBackend(AmqpBackend):
    """The backend for the broker that a file describes.

    Args:
        file: The file.
        name: The backend's name, as the user typed it.
        shared: The endpoint of a broker that another process has started; None to start one.
        wire: A filter between the SDK's engine and its driver; None for no filter.
        runner: The I/O loop; None for the loop that this process's connections share.

    Raises:
        DescriptionError: The file has mistakes.
    """

    faces = ALL_FACES
    fault_sharing = FaultSharing.IN_TURN

    def __init__(
        self,
        file: Path,
        name: str = "",
        shared: Endpoint | None = None,
        wire: Callable[[Driver], Driver] | None = None,
        runner: Runner | None = None,
    ) -> None:
        super().__init__(shared, wire, runner)
        self._file = file.absolute()
        self._reading = read(file)
        found = mistakes(self._reading, file)
        description = self._reading.description
        if description is None or found:
            raise DescriptionError(file, found)
        self.name = name or f"url:{file}"
        self.description = description
        self.conventions = description.client_conventions
        self.capabilities = capabilities(description, file)
        self.lacks = lacks(description, file)
        self.profiles = description.profiles
        self._folder = self._file.parent
        self._image: str | None = None
        self._opened: Opened | None = None
        """The broker's answer to the last connection; None before this process has connected to the broker."""
        self._shared: _Own | None = None
        self._own: _Own | None = None
        self._front: Proxy | None = None
        """The proxy in front of the running broker, for TLS and for faults."""
        self._history = History()
        """The faults that this process has caused in the running broker."""

    @property
    def environment(self) -> Environment:
        """The tested product: title and version from the file, and the file's digest."""
        description = self.description
        details = {"protocol": "AMQP 1.0", "file": self._file.name}
        details["file sha256"] = hashlib.sha256(self._file.read_bytes()).hexdigest()
        if description.broker.url is not None:
            details["url"] = description.broker.url
        if self._image is not None:
            details |= {"image": self._image, "digest": image_digest(self._image)}
        if self._opened is not None:
            details |= introduction(self._opened)
        return Environment(product=description.title, version=description.version, details=details, ours=False)

    def probe(self) -> Available | Unavailable:
        """Return whether this machine can start the broker, or whether a broker that already runs answers.

        The check includes the variables, programs, files and image that the file names.
        """
        if (absent := missing_packages(("proton",), extra="amqp")) is not None:
            return absent
        if found := absences(self._reading, self._file):
            what, _, remedy = found[0].text.rstrip(".").partition("; ")
            return Unavailable(f"{self._file.name}:{found[0].line}: {what}", remedy)
        if self.description.container is not None:
            unavailable = self._probe_container(self.description.container)
            if unavailable is not None:
                return unavailable
        if self.description.is_own or self._attached is not None:
            return Available(f"{self.description.title}, started from {self._file.name}")
        answer = self.reach()
        if isinstance(answer, Refused):
            return Unavailable(answer.text, f"[broker] in {self._file.name} names its address and login")
        return Available(f"{self.description.title} at {self.description.broker.url}")

    def reach(self) -> Opened | Refused:
        """Connect to the running broker at the file's URL, to see whether it answers."""
        broker = self.description.broker
        endpoint = Endpoint(broker.url or "", self._login())
        return self._noted(reach(self._plain_driver(), self._runner, endpoint, self._ca_file()))

    def provision(self, needs: Needs) -> UrlInstance | Unsupported:
        """Return an instance of the broker, or `Unsupported` with the reason.

        If the kit starts the brokers, scenarios with faults use a second broker in each process, one after the other.

        Raises:
            BackendError: The broker cannot be started, or does not answer.
        """
        title = self.description.title
        if (unmet := missing(needs, self.capabilities, self.lacks, self._file.name)) is not None:
            return unmet
        if (asked := (needs.platform, needs.level, needs.topology)) != _GIVEN:
            why = f"{title} is a single broker here, without a choice of platform and level."
            return Unsupported(", ".join(asked), Source(why))
        with self._lock:
            if self.description.is_own:
                return self._own_instance() if needs.own_instance else self._shared_instance()
            return self._running_instance(needs)

    def close(self) -> None:
        """End every broker that this process has started.

        If one of them is in a container, also remove containers that ended processes have left.
        """
        with self._lock:
            for own in (self._shared, self._own):
                if own is not None:
                    own.proxy.close()
                    own.remove()
            if self._front is not None:
                self._front.close()
            used_docker = self._image is not None and (self._shared or self._own) is not None
            self._shared = self._own = self._front = None
        if used_docker:
            sweep_quietly()

    # --- a broker that runs at the file's URL

    def _running_instance(self, needs: Needs) -> UrlInstance:
        url = self.description.broker.url or ""
        ends = needs.own_instance and bool(needs.capabilities & _ENDS)
        broker_lock = BrokerLock(url, alone=ends) if self._controlled else None
        if broker_lock is not None:
            broker_lock.acquire()  # because the broker may not answer during another scenario's fault
        try:
            answer = self.reach()
        finally:
            if broker_lock is not None:
                broker_lock.release()
        if isinstance(answer, Refused):
            raise BackendError(answer.text)
        if not needs.own_instance and url.startswith("amqp://"):
            return self._instance(Endpoint(url, self._login()), self.reach, lock=broker_lock)
        proxy = self._front = self._front or self._proxy_to(url)
        stoppable, history = self._stoppable(), self._history
        faults = ProxiedFaults(stoppable, proxy, self._runner, history) if needs.own_instance else None
        return self._instance(self._local(proxy.port), self.reach, faults=faults, lock=broker_lock)

    @property
    def _controlled(self) -> bool:
        return self.description.process is not None or self.description.container is not None

    def _proxy_to(self, url: str) -> Proxy:
        from assay_sdk.drivers.amqp.driver import host_port_of
        from assay_sdk.drivers.certificates import client_context

        at = host_port_of(url)
        proxy = Proxy(at.port, at.host, client_context(self._ca_file()) if at.tls else None)
        proxy.start()
        return proxy

    def _stoppable(self) -> Stoppable:
        of, port = self.description, urlsplit(self.description.broker.url or "").port or 0
        if of.process is not None:
            return RunningProcess(of.process, self._folder, self._port, self._runner, self.reach)
        if of.container is not None and of.container.name is not None:
            return RunningContainer(of.container.name, self._port, of.container.ready_s, self._runner, self.reach)
        return _Uncontrolled(port)

    @property
    def _port(self) -> int:
        from assay_sdk.drivers.amqp.driver import host_port_of

        return host_port_of(self.description.broker.url or "").port

    # --- brokers that the kit starts

    def _shared_instance(self) -> UrlInstance:
        if self._attached is not None:
            return self._at(urlsplit(self._attached.url).port or 0, self._attached.log)
        if self._shared is None or not self._shared.runs():
            self._shared = self._started(self._shared)
        return self._at(self._shared.broker.client_port, self._shared.log)

    def _at(self, port: int, log: str | None) -> UrlInstance:
        """Return an instance of the shared broker at a port; another process may have started the broker."""
        endpoint = structs.replace(self._local(port), log=log)
        trace = self._trace(log, None, port)
        return self._instance(endpoint, lambda: self._connect_to(port), port=port, log=log, trace=trace)

    def _own_instance(self) -> UrlInstance:
        if self._own is None or not self._own.runs():
            self._own = self._started(self._own)
        own = self._own
        faults = ProxiedFaults(own.broker, own.proxy, self._runner, own.history)
        port = own.broker.client_port
        trace = self._trace(own.log, own.history, port)
        endpoint = self._local(own.proxy.port)
        return self._instance(
            endpoint, lambda: self._connect_to(port), port=port, log=own.log, faults=faults, trace=trace
        )

    def _started(self, before: _Own | None) -> _Own:
        """Start a broker, after removing the broker that it replaces (`before`)."""
        if before is not None:
            before.proxy.close()
            before.remove()
        of = self.description
        if of.process is not None:
            process = OwnProcess(of.process, self._folder, of.title, self._runner, self._connect_to)
            return _ready(process, process.start, process.runs, process.remove)
        if of.container is None or self._image is None:
            raise BackendError(f"{of.title} cannot be started: Docker has no image of it.")
        sweep()
        spec = ContainerSpec(
            image=self._image,
            port=of.container.port,
            environment=of.container.environment,
            title=of.title,
            start_limit_s=of.container.ready_s,
        )
        box = Container(spec, self._runner, lambda port: isinstance(self._connect_to(port), Opened))
        return _ready(StoppableContainer(box), box.start, lambda: box.exit_code() is None, box.remove)

    def _connect_to(self, port: int) -> Opened | Refused:
        """Connect to a broker that the kit has started, to see whether it answers."""
        return self._noted(reach(self._plain_driver(), self._runner, self._local(port)))

    def _noted(self, answer: Opened | Refused) -> Opened | Refused:
        """Return the answer of a broker to a connection; store the answer if the broker accepted the connection."""
        if isinstance(answer, Opened):
            self._opened = answer
        return answer

    # --- parts for all brokers

    def _instance(
        self,
        endpoint: Endpoint,
        connect: Callable[[], Opened | Refused],
        *,
        port: int | None = None,
        log: str | None = None,
        faults: ProxiedFaults | None = None,
        lock: BrokerLock | None = None,
        trace: Trace | None = None,
    ) -> UrlInstance:
        folders = () if self.description.container is None else self.description.container.data_folders
        driver = self._plain_driver()
        table = self.description.administration
        admin = None if table is None else ProgramAdmin(table, self._folder, port, log)
        destinations = None
        if admin is not None and any(map(admin.offers, (Operation.CREATE_QUEUE, Operation.CREATE_TOPIC))):
            destinations = Destinations(admin)
            driver = CreatingDriver(driver, destinations)
        return UrlInstance(
            self.description.title,
            endpoint,
            self._runner,
            driver if self._filter is None else self._filter(driver),
            self.environment,
            connect=connect,
            faults=faults,
            lock=lock,
            admin=admin,
            destinations=destinations,
            data=(port, folders) if port is not None and folders else None,
            trace=trace or self._trace(None, self._history),
        )

    def _trace(self, log: str | None, history: History | None, port: int | None = None) -> Trace:
        """Return the log and the past of a broker.

        Args:
            log: The file of the broker's log; None for a container, and for a broker whose log the kit cannot read.
            history: This process's actions on the broker; None for a shared broker that the kit has started, on which
                no scenario causes faults.
            port: The published port of a container that the kit has started; None for any other broker.
        """
        login, box, named_log = self._login(), self.description.container, self.description.broker.log_file
        if log is None and named_log is not None:
            log = str(self._folder / named_log)
        secrets = () if login is None else (login.password,)
        if box is not None and box.name is not None:
            return ContainerTrace(named(box.name), history, secrets)
        if box is not None and port is not None:
            return ContainerTrace(at_port(port), history, secrets)
        return FileTrace(self.description.title, None if log is None else Path(log), history, secrets)

    def _plain_driver(self) -> Driver:
        from assay_sdk.drivers.amqp import AmqpDriver

        return AmqpDriver(self.conventions)

    def _local(self, port: int) -> Endpoint:
        return Endpoint(f"amqp://{LOOPBACK}:{port}", self._login())

    def _login(self) -> Login | None:
        broker = self.description.broker
        if broker.user_variable is None or broker.password_variable is None:
            return None
        return Login(os.environ.get(broker.user_variable, ""), os.environ.get(broker.password_variable, ""))

    def _ca_file(self) -> str | None:
        named = self.description.broker.ca_file
        return None if named is None else str(self._folder / named)

    def _probe_container(self, table: ContainerTable) -> Unavailable | None:
        if (absent := missing_packages(("docker", "testcontainers"), extra="containers")) is not None:
            return absent
        if table.image is None:
            return None
        found = probe_image((table.image,), self.description.title, remedy=f"correct image in {self._file.name}")
        if isinstance(found, Unavailable):
            return found
        self._image = found[0]
        return None


class _Uncontrolled(Struct, frozen=True):
    """A broker that the kit cannot end; no scenario calls the methods, because the pair lacks restart and kill."""

    client_port: int

    def start(self, changed: object = None) -> None:
        del changed
        self.stop()

    def kill(self) -> None:
        self.stop()

    def stop(self) -> None:
        raise BackendError("the kit cannot end this broker: its file has neither [process] nor [container]")
