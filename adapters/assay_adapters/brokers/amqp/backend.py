"""The backend of every product that speaks AMQP 1.0 and runs in a container.

Many scenarios share one instance, and each has its own destinations. Scenarios that kill or restart the broker use a
second instance, one after the other, behind the kit's proxy.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec import Struct

from assay_adapters.brokers.amqp.instance import ProductInstance
from assay_adapters.brokers.amqp.product import Product
from assay_adapters.brokers.base import ALL_FACES, AmqpBackend
from assay_adapters.containers.container import (
    LOOPBACK,
    Container,
    ContainerSpec,
    image_digest,
    probe_image,
)
from assay_adapters.containers.faults import StoppableContainer
from assay_adapters.containers.removal import sweep, sweep_quietly
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.faults.proxy import Proxy
from assay_adapters.packages import missing_packages
from assay_adapters.ports.backend import Available, BackendError, Environment, Unavailable
from assay_adapters.ports.capabilities import Needs, Unsupported, missing
from assay_adapters.ports.client import Endpoint, Source
from assay_adapters.ports.outcome import JmsErrorKind
from assay_adapters.traces.history import STARTED, History
from assay_sdk.driver import Close, Closed, Driver, DriverEvent, Opened, Target
from assay_sdk.time import Runner

_OPEN_LIMIT_MS = 2_000
_GIVEN = (Needs().platform, Needs().level, Needs().topology)


def answers(driver: Driver, runner: Runner, endpoint: Endpoint) -> Opened | None:
    """Check whether a broker answers: open an AMQP connection and close it.

    Args:
        driver: The AMQP driver.
        runner: A real runner.
        endpoint: The broker's URL and login.

    Returns:
        The properties of the broker's open frame; None if no broker answers yet, or if the broker closes the
        connection, as Broker-J does until its virtual host is active.

    Raises:
        BackendError: The broker refuses the login.
    """
    events: list[DriverEvent] = []
    target = Target(url=endpoint.url, login=endpoint.login, open_timeout_ms=_OPEN_LIMIT_MS)
    wire = driver.connect(target, events.append, runner)
    runner.run_until(lambda: bool(events), None)
    opened = events[0]
    if isinstance(opened, Opened):
        wire.submit(Close(1))
        runner.run_until(lambda: any(isinstance(event, Closed) for event in events), None)
        return None if any(isinstance(event, Closed) and event.refused for event in events) else opened
    if isinstance(opened, Closed) and opened.refused and opened.refused.kind is JmsErrorKind.SECURITY:
        raise BackendError(f"the broker at {endpoint.url} refuses the kit's login: {opened.refused.text}")
    return None


class _Own(Struct, frozen=True):
    """A container for scenarios with faults, its past, and the proxy to which their clients connect."""

    container: Container
    proxy: Proxy
    history: History

    def remove(self) -> None:
        """Close the proxy and remove the container."""
        self.proxy.close()
        self.container.remove()


class ProductBackend(AmqpBackend):
    """A product in containers of this machine.

    Args:
        product: The product.
        shared: The endpoint of a shared instance that another process has started; None to start one.
        wire: A filter between the SDK's engine and its driver; None for no filter.
        runner: The I/O loop; None for the loop that this process's connections share.
    """

    faces = ALL_FACES
    reuses_faulted = True
    """True: the next scenario with faults uses the same container again, because a container takes long to start."""

    def __init__(
        self,
        product: Product,
        shared: Endpoint | None = None,
        wire: Callable[[Driver], Driver] | None = None,
        runner: Runner | None = None,
    ) -> None:
        super().__init__(shared, wire, runner)
        self.name = product.name
        self.capabilities = product.capabilities
        self.lacks = product.lacks
        self.profiles = product.profiles
        self.conventions = product.conventions
        self._product = product
        self._image: str | None = None
        self._shared: Container | None = None
        self._own: _Own | None = None

    @property
    def environment(self) -> Environment:
        """The tested product, with the version that its image names."""
        image = self._image or self._product.wanted_images()[0]
        version = image.rpartition(":")[2].partition("-")[0]
        details = {"image": image, "protocol": "AMQP 1.0"}
        if self._image is not None:
            details["digest"] = image_digest(self._image)
        return Environment(product=self._product.title, version=version, details=details, ours=False)

    def probe(self) -> Available | Unavailable:
        """Return whether this machine can start the product, without starting it."""
        product = self._product
        if (absent := missing_packages(("proton", "docker", "testcontainers"), extra="amqp,containers")) is not None:
            return absent
        found = probe_image(
            product.wanted_images(),
            product.title,
            remedy=f"build one with images/build {product.name}, or name another one in {product.image_variable}",
        )
        if isinstance(found, Unavailable):
            return found
        self._image, available = found
        return available

    def provision(self, needs: Needs) -> ProductInstance | Unsupported:
        """Return the shared instance, or for a scenario with faults the instance that only such scenarios use.

        Raises:
            BackendError: The instance cannot be started.
        """
        title = self._product.title
        if (unmet := missing(needs, self.capabilities, self.lacks, f"{title} through this adapter")) is not None:
            return unmet
        if (asked := (needs.platform, needs.level, needs.topology)) != _GIVEN:
            why = f"{title} runs as a single broker here, and knows neither platforms nor levels of a queue manager."
            return Unsupported(", ".join(asked), Source(why))
        with self._lock:
            return self._own_instance() if needs.own_instance else self._shared_instance()

    def close(self) -> None:
        """Remove the containers that this process has started, and containers that an ended process has left."""
        with self._lock:
            started = [one for one in (self._shared, self._own) if one is not None]
            for one in started:
                one.remove()
            self._shared = self._own = None
        if started:
            sweep_quietly()

    # --- instances

    def _endpoint(self, port: int, admin_port: int | None = None) -> Endpoint:
        login = self._product.login
        admin = None if admin_port is None else Endpoint(f"http://{LOOPBACK}:{admin_port}", login)
        return Endpoint(f"amqp://{LOOPBACK}:{port}", login, admin)

    def _shared_instance(self) -> ProductInstance:
        endpoint = self._attached
        if endpoint is None:
            if self._shared is None:
                self._shared = self._container()
                try:
                    self._shared.start()
                except BaseException:  # Ctrl-C, too: `start` left nothing behind; the next call starts another one
                    self._shared = None
                    raise
            endpoint = self._endpoint(self._shared.port, self._shared.admin_port)
        return self._instance(endpoint, urlsplit(endpoint.url).port)

    def _own_instance(self) -> ProductInstance:
        if self._own is not None and self._own.container.exit_code() is not None:
            self._own.remove()  # a failed fault has left the container stopped
            self._own = None
        if self._own is None:
            container = self._container()
            container.start()
            proxy = Proxy(container.port)
            self._own = _Own(container, proxy, History(STARTED))
            proxy.start()
        container, proxy, history = self._own.container, self._own.proxy, self._own.history
        faults = ProxiedFaults(StoppableContainer(container), proxy, self._runner, history)
        return self._instance(self._endpoint(proxy.port, container.admin_port), container.port, faults, history)

    def _instance(
        self,
        endpoint: Endpoint,
        port: int | None,
        faults: ProxiedFaults | None = None,
        history: History | None = None,
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
        )

    def _container(self) -> Container:
        """Return a new container, not started yet."""
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
            environment=self._product.environment,
            title=title,
        )
        driver = self._driver()
        return Container(
            spec, self._runner, lambda port: answers(driver, self._runner, self._endpoint(port)) is not None
        )
