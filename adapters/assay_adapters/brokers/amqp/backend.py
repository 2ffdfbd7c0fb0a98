"""The backend of every product that runs in a container, with clients over AMQP 1.0 or STOMP.

Many scenarios share one instance, and each has its own destinations. Scenarios with faults connect through the kit's
proxy:

- Scenarios that only cut connections use the shared instance.
- Scenarios that share a restart use a second instance together, and scenarios that share a kill use a third one
  together (`Needs.shared_fault`, `assay_adapters.faults.meeting`).
- All other scenarios with faults, and scenarios that need an instance of their own, use one more instance in each
  process, one after the other.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import structs

from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.amqp.revival import SharedBroker, is_silent
from assay_adapters.brokers.amqp.scenario_containers import (
    JointContainer,
    OwnContainer,
    SharedContainer,
    remove_container,
)
from assay_adapters.brokers.base import AmqpBackend, introduction
from assay_adapters.containers.container import (
    Container,
    ContainerSpec,
    docker_client,
    image_digest,
    probe_image,
)
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.containers.removal import sweep, sweep_quietly
from assay_adapters.disks import process as disks
from assay_adapters.faults.meeting import container_of
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.packages import missing_packages
from assay_adapters.ports.backend import (
    Available,
    BackendError,
    BrokerOwner,
    Environment,
    FaultSharing,
    Silence,
    Unavailable,
)
from assay_adapters.ports.capabilities import Needs, Unsupported, missing
from assay_adapters.ports.client import Endpoint, Source
from assay_adapters.ports.outcome import JmsErrorKind
from assay_adapters.traces.containers import at_port
from assay_adapters.traces.history import History
from assay_evidence.events import NOT_RUN_HERE
from assay_sdk.driver import Close, Closed, Driver, DriverEvent, Failed, Opened, OpenSession, Target
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Runner

_OPEN_LIMIT_MS = 2_000
_ANSWER_LIMIT_NS = 5 * 10**9
"""How long `answers` waits for the broker's answer to a session, and to the close, in nanoseconds."""
_PROTOCOLS: Mapping[str, str] = {"amqp": "AMQP 1.0", "stomp": "STOMP 1.2"}
"""The names of the protocols in reports."""
_DRIVERS: Mapping[str, tuple[str, ...]] = {"amqp": ("proton",), "stomp": ()}
"""The packages that the driver of each protocol needs."""
_GIVEN = (Needs().platform, Needs().level, Needs().topology)


def answers(driver: Driver, runner: Runner, endpoint: Endpoint) -> Opened | None:
    """Check whether a broker answers: open a connection with a session, and close it.

    The answer to the session shows that the broker keeps the connection open. A broker may close a connection just
    after opening it. Without the session, the two closes could cross, and the kit would not notice the broker's close.

    Args:
        driver: The driver of the protocol.
        runner: A real runner.
        endpoint: The broker's URL and login.

    Returns:
        The properties of the broker's open frame or CONNECTED frame. None if no broker answers yet, if the broker
        closes the connection (as Broker-J does until its virtual host is active), or if the session or the close gets
        no answer.

    Raises:
        BackendError: The broker refuses the login.
    """
    events: list[DriverEvent] = []
    target = Target(url=endpoint.url, login=endpoint.login, open_timeout_ms=_OPEN_LIMIT_MS)
    wire = driver.connect(target, events.append, runner)
    runner.run_until(lambda: bool(events), None)
    opened = events[0]
    if isinstance(opened, Opened):

        def is_closed() -> bool:
            return any(isinstance(event, Closed) for event in events)

        def by() -> int:
            return runner.clock.monotonic_ns() + _ANSWER_LIMIT_NS

        wire.submit(OpenSession(1, 1))
        if not runner.run_until(lambda: len(events) > 1, by()):
            wire.abort()
            return None
        if not is_closed():
            wire.submit(Close(2))
            if not runner.run_until(is_closed, by()):
                wire.abort()
                return None
        broken = any(isinstance(event, Failed) or (isinstance(event, Closed) and event.refused) for event in events)
        return None if broken else opened
    if isinstance(opened, Closed) and opened.refused and opened.refused.kind is JmsErrorKind.SECURITY:
        raise BackendError(f"the broker at {endpoint.url} refuses the kit's login: {opened.refused.text}")
    return None


def _on_this_machine(product: Product) -> tuple[Mapping[Capability, Source], Mapping[Capability, Source]]:
    """Return the capabilities that a product has on this machine, and those that it lacks, with the reasons."""
    found = disks.probe()
    if isinstance(found, Available) or Capability.POWER_LOSS not in product.capabilities:
        return product.capabilities, product.lacks
    has: Mapping[Capability, Source] = {
        name: source for name, source in product.capabilities.items() if name is not Capability.POWER_LOSS
    }
    why = Source(f"The kit has no disk of its own on this machine: {found.reason}; {found.remedy}.")
    return has, {**product.lacks, Capability.POWER_LOSS: why}


def _folders(disk: disks.Disk, inside: tuple[str, ...]) -> Mapping[str, Path]:
    """Make a folder on a disk for each data folder of a container; return them by the container's paths."""
    folders = {path: disk.path / str(number) for number, path in enumerate(inside)}
    for folder in folders.values():
        folder.mkdir()
        folder.chmod(0o777)  # the broker runs as a user of its image
    return folders


class ProductBackend(AmqpBackend):
    """A product in containers of this machine.

    Args:
        product: The product.
        shared: The endpoint of a shared instance that another process has started; None to start one.
        wire: A filter between the SDK's engine and its driver; None for no filter.
        runner: The I/O loop; None for the loop that this process's connections share.
        meetings: The folder in which scenarios of several processes meet for a shared fault; None if scenarios cannot
            share faults.
    """

    fault_sharing = FaultSharing.TOGETHER

    def __init__(
        self,
        product: Product,
        shared: Endpoint | None = None,
        wire: Callable[[Driver], Driver] | None = None,
        runner: Runner | None = None,
        meetings: Path | None = None,
    ) -> None:
        super().__init__(shared, wire, runner)
        self.name = product.name
        self.faces = product.faces
        self.capabilities, self.lacks = _on_this_machine(product)
        self.profiles = product.profiles
        self.conventions = product.conventions
        self._product = product
        self._image: str | None = None
        self._opened: Opened | None = None
        """The broker's answer to a connection at its last start; None before this process has started a container."""
        self._shared: Container | None = None
        self._own: OwnContainer | None = None
        self._cut: SharedContainer | None = None
        self._shared_broker: SharedBroker | None = None
        self._joint: dict[Capability, JointContainer] = {}
        self._meetings = meetings

    @property
    def environment(self) -> Environment:
        """The tested product, with the version that the broker itself names, or else the one that its image names."""
        image = self._image or self._product.wanted_images()[0]
        version = image.rpartition(":")[2].partition("-")[0]
        details = {"image": image, "protocol": _PROTOCOLS[self._product.protocol]}
        if self._opened is not None:
            details |= introduction(self._opened)
            version = str(self._opened.properties.get("version") or version)
        if self._image is not None:
            details["digest"] = image_digest(self._image)
        if self._product.not_run_here:
            details[NOT_RUN_HERE] = self._product.not_run_here
        return Environment(product=self._product.title, version=version, details=details, ours=False)

    def probe(self) -> Available | Unavailable:
        """Return whether this machine can start the product, without starting it."""
        product = self._product
        protocol = product.protocol
        packages = (*_DRIVERS[protocol], "docker", "testcontainers")
        extras = "amqp,containers" if protocol == "amqp" else "containers"
        if (absent := missing_packages(packages, extra=extras)) is not None:
            return absent
        found = probe_image(
            product.wanted_images(),
            product.title,
            remedy=product.remedy,
        )
        if isinstance(found, Unavailable):
            return found
        if (licence := product.licence) is not None and not licence.is_accepted:
            return Unavailable(
                f"you have not accepted the licence of {product.title}",
                f"read it, then set {licence.variable}={licence.value}",
            )
        self._image, available = found
        return available

    def provision(self, needs: Needs) -> ProductInstance | Unsupported:
        """Return the instance that a scenario uses by the list at this module's top, or `Unsupported` with the reason.

        Raises:
            BackendError: The instance cannot be started.
        """
        title = self._product.title
        if (unmet := missing(needs, self.capabilities, self.lacks, f"{title} through this adapter")) is not None:
            return unmet
        if (asked := (needs.platform, needs.level, needs.topology)) != _GIVEN:
            why = f"{title} runs as a single broker here, without a choice of platform and level."
            return Unsupported(", ".join(asked), Source(why))
        with self._lock:
            if not needs.own_instance:
                return self._shared_instance()
            if needs.shared_fault is Capability.CUT:
                return self._shared_instance(proxied=True)
            if needs.shared_fault is not None and self._meetings is not None:
                return self._joint_instance(needs.shared_fault, self._meetings)
            return self._own_instance(needs)

    def close(self) -> None:
        """Remove the shared and the own container of this process.

        - If this process has such a container now, it also removes containers that ended processes have left.
        - If no other process gave it the shared instance (`shared`), it also removes the containers of all meetings.
        """
        with self._lock:
            for joint in self._joint.values():
                joint.close()
            self._joint.clear()
            if self._cut is not None:
                self._cut.proxy.close()
            started = [one for one in (self._shared, self._own) if one is not None]
            for one in started:
                one.remove()
            self._shared = self._own = self._cut = None
            if self._attached is None and self._meetings is not None:
                self._end_meetings(self._meetings)
        if started:
            sweep_quietly()

    def _driver(self) -> Driver:
        if self._product.protocol == "amqp":
            return super()._driver()
        from assay_sdk.drivers.stomp import StompDriver

        driver: Driver = StompDriver(self._product.stomp)
        return driver if self._filter is None else self._filter(driver)

    # --- instances

    def _endpoint(self, port: int, admin_port: int | None = None) -> Endpoint:
        login, management = self._product.login, self._product.management
        admin = None if admin_port is None or management is None else management.endpoint(admin_port, login)
        return Endpoint(f"{self._product.protocol}://{LOOPBACK}:{port}", login, admin)

    def _shared_instance(self, *, proxied: bool = False) -> ProductInstance:
        endpoint = self._attached
        if endpoint is None:
            if self._shared is None:
                self._shared = self._container()
                try:
                    self._shared.start()
                except BaseException:  # after Ctrl-C, too, `start` leaves no container; the next call starts another
                    self._shared = None
                    raise
            endpoint = self._endpoint(self._shared.port, self._shared.admin_port)
        port = urlsplit(endpoint.url).port
        check = self._check_of_shared(endpoint, port)
        if not proxied or port is None:
            return self._instance(endpoint, port, check=check)
        if self._cut is None:
            self._cut = SharedContainer(port, self._runner)
        behind = structs.replace(endpoint, url=f"{self._product.protocol}://{LOOPBACK}:{self._cut.proxy.port}")
        return self._instance(behind, port, self._cut.faults(), self._cut.history, check=check)

    def _check_of_shared(self, endpoint: Endpoint, port: int | None) -> Callable[[], Silence | None] | None:
        """Return the function that checks the shared broker after a scenario; None if the kit cannot start it again."""
        if self._meetings is None or port is None:
            return None
        if self._shared_broker is None:
            self._meetings.mkdir(exist_ok=True)
            self._shared_broker = SharedBroker(
                self._product.title,
                self._meetings / "shared-starts",
                lambda: answers(self._driver(), self._runner, endpoint) is not None,
                lambda: self._shared or self._attached_container(endpoint, port),
                self._runner,
            )
        return partial(self._shared_broker.check, self._shared_broker.starts())

    def _attached_container(self, endpoint: Endpoint, port: int) -> Container:
        """Return the shared container that another process has started."""
        container = self._container()
        with docker_client() as client:
            found = at_port(port)(client)
            if found is None:
                raise BackendError(f"{self._product.title} has no container with the port {port}")
            admin_port = None if endpoint.admin is None else urlsplit(endpoint.admin.url).port
            container.attach(str(found.id), port, admin_port)
        return container

    def _joint_instance(self, fault: Capability, meetings: Path) -> ProductInstance:
        if fault not in self._joint:
            meetings.mkdir(exist_ok=True)
            owner_pid = None if self._attached is None else os.getppid()
            self._joint[fault] = JointContainer(meetings / f"{fault}.json", self._container, owner_pid, self._runner)
        joint = self._joint[fault]
        proxy = joint.enter()
        endpoint = self._endpoint(proxy.port, joint.container.admin_port)
        return self._instance(
            endpoint, joint.container.port, joint.faults(proxy), joint.history, leave=joint.meeting.leave
        )

    def _end_meetings(self, meetings: Path) -> None:
        """Remove the containers of all meetings, which other processes may have started, and the meetings' folder."""
        for file in meetings.glob("*.json"):
            shared = container_of(file)
            if shared is not None:
                with suppress(BackendError):  # a process has removed it already
                    remove_container(shared, self._container())
        shutil.rmtree(meetings, ignore_errors=True)

    def _own_instance(self, needs: Needs) -> ProductInstance:
        asks_for_disk = needs.slow_disk or Capability.POWER_LOSS in needs.capabilities
        has_disk = asks_for_disk and Capability.POWER_LOSS in self.capabilities
        if self._own is not None and (self._own.is_broken or (has_disk and self._own.disk is None)):
            self._own.remove()
            self._own = None
        if self._own is None:
            self._own = OwnContainer(self._container, self._runner, disks.Disk() if has_disk else None)
        own = self._own
        endpoint = self._endpoint(own.proxy.port, own.container.admin_port)

        def check() -> Silence | None:
            own.is_silent = is_silent(lambda: answers(self._driver(), self._runner, endpoint) is not None, self._runner)
            text = f"{self._product.title} did not answer any more, and the scenario had caused no fault since"
            return Silence(text, BrokerOwner.SCENARIO) if own.is_silent else None

        return self._instance(endpoint, own.container.port, own.faults(), own.history, check=check)

    def _instance(
        self,
        endpoint: Endpoint,
        port: int | None,
        faults: ProxiedFaults | None = None,
        history: History | None = None,
        *,
        leave: Callable[[], None] | None = None,
        check: Callable[[], Silence | None] | None = None,
    ) -> ProductInstance:
        return ProductInstance(
            self._product,
            endpoint,
            self._runner,
            self._driver(),
            self.environment,
            port=port,
            faults=faults,
            history=history,
            leave=leave,
            check=check,
        )

    def _container(self, disk: disks.Disk | None = None) -> Container:
        """Return a new container, not started yet.

        Args:
            disk: The disk for the broker's data; None for the disk of this machine.
        """
        title = self._product.title
        if self._image is None:
            probed = self.probe()
            if isinstance(probed, Unavailable):
                raise BackendError(f"{title} cannot be started: {probed.reason}; {probed.remedy}.")
        if self._image is None:
            raise BackendError(f"{title} cannot be started: no image was found.")
        sweep()
        management = self._product.management
        spec = ContainerSpec(
            image=self._image,
            port=self._product.port,
            admin_port=None if management is None else management.port,
            environment=self._product.settings,
            folders={} if disk is None else _folders(disk, self._product.data_folders),
            title=title,
            start_limit_s=self._product.start_limit_s,
        )
        driver = self._driver()

        def is_ready(port: int) -> bool:
            at = self._endpoint(port, container.admin_port)
            opened = answers(driver, self._runner, at)
            if opened is None:
                return False
            self._opened = opened
            return management is None or at.admin is None or management.answers(at.admin)

        container = Container(spec, self._runner, is_ready)
        return container
