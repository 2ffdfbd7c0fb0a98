"""Apache Artemis in a container, through our AMQP driver.

Many scenarios share one instance, and each has its own destinations. Scenarios that kill or restart the broker use a
second instance, one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from assay_adapters.brokers.base import ALL_FACES, AmqpBackend, SdkInstance
from assay_adapters.clients.mqlight import CAPABILITIES as MQLIGHT_CAPABILITIES
from assay_adapters.clients.sdk import CAPABILITIES as SDK_CAPABILITIES
from assay_adapters.clients.sdk import NAMED_BY_CONTAINER
from assay_adapters.containers.container import (
    LOOPBACK,
    Container,
    ContainerSpec,
    image_digest,
    probe_image,
    sweep,
    sweep_quietly,
)
from assay_adapters.containers.faults import StoppableContainer
from assay_adapters.containers.files import folder_holds
from assay_adapters.faults.proxied import ProxiedFaults
from assay_adapters.faults.proxy import Proxy
from assay_adapters.packages import missing_packages
from assay_adapters.ports.backend import Available, BackendError, Environment, Unavailable, WireProtocol
from assay_adapters.ports.capabilities import Needs, Unsupported, missing
from assay_adapters.ports.client import Endpoint, Source
from assay_adapters.ports.faults import DiskEvent
from assay_adapters.ports.outcome import JmsErrorKind, Outcome, Refused
from assay_features import Profile
from assay_sdk.driver import Close, Closed, Driver, DriverEvent, Login, Opened, Target
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Runner

IMAGE_VARIABLE = "ASSAY_IMAGE_ARTEMIS"
LOCAL_IMAGE = "assay/artemis:2.56.0"
"""The image that images/build makes, for machines without access to an image registry; preferred to the public one."""
PUBLIC_IMAGE = "apache/artemis:2.56.0-alpine"

PRODUCT = "Apache Artemis"
MEMBER = "artemis"

_LOGIN = Login("artemis", "artemis")
_PORT = 5672
_DATA_FOLDERS = ("/var/lib/artemis/data", "/var/lib/artemis-instance/data")
"""The data folders of our image and of the public one."""
_OPEN_LIMIT_MS = 2_000

_AMQP = "Artemis 2.56.0 user manual, amqp.adoc"
_OFFERED = "ExtCapability.java: capabilities"
_ATTACH = "DefaultSenderController.java: init"
_CONTAINER = Source(
    "Artemis runs in a container of this machine, through Docker.", "adapters/assay_adapters/containers/container.py"
)
_PROXY = Source("Its clients connect through the kit's proxy.", "adapters/assay_adapters/faults/proxy.py")

CAPABILITIES: Mapping[Capability, Source] = {
    Capability.DELIVERY_DELAY: Source("x-opt-delivery-time is honoured.", _AMQP),
    Capability.TIME_TO_LIVE: Source(
        "Expired messages are not delivered.", "Artemis 2.56.0 user manual, message-expiry.adoc"
    ),
    Capability.PRIORITY: Source("A queue has ten priorities, higher ones first.", "QueueImpl.java: NUM_PRIORITIES"),
    Capability.NON_PERSISTENT: Source("The header's durable field decides.", "AMQPMessage.java: isDurable"),
    Capability.SELECTOR: Source("The jms-selector filter is applied.", _ATTACH),
    Capability.BROWSE: Source("Distribution mode copy on a queue browses.", _ATTACH),
    Capability.TEMPORARY_DESTINATION: Source("Artemis makes dynamic nodes, and removes them after use.", _ATTACH),
    Capability.TOPIC: Source("The source's capability topic makes a multicast address.", _ATTACH),
    Capability.DURABLE_SUBSCRIPTION: Source("A durable source on a topic has a durable queue.", _AMQP),
    Capability.SHARED_SUBSCRIPTION: Source("SHARED-SUBS is offered.", _OFFERED),
    Capability.LASTING_SUBSCRIPTION: Source("A durable source on a topic has a durable queue.", _AMQP),
    Capability.QUALITY_OF_SERVICE: Source("Settled and unsettled transfers are taken and sent.", _ATTACH),
    Capability.AUTO_CONFIRM: MQLIGHT_CAPABILITIES[Capability.AUTO_CONFIRM],
    Capability.RECONNECT: MQLIGHT_CAPABILITIES[Capability.RECONNECT],
    Capability.LOCAL_TRANSACTION: Source("Artemis offers a transaction coordinator.", _AMQP),
    Capability.CLIENT_ID: Source("sole-connection-for-container is offered.", _OFFERED),
    Capability.QUEUE: SDK_CAPABILITIES[Capability.QUEUE],
    Capability.SESSION: SDK_CAPABILITIES[Capability.SESSION],
    Capability.BATCH_LISTENER: SDK_CAPABILITIES[Capability.BATCH_LISTENER],
    Capability.CHECKS_OFF: SDK_CAPABILITIES[Capability.CHECKS_OFF],
    Capability.RESTART: _CONTAINER,
    Capability.KILL: _CONTAINER,
    **dict.fromkeys((Capability.KILL_AT_ANSWER, Capability.KILL_AT_FIRST_SIGHT, Capability.CUT), _PROXY),
    Capability.DATA_FOLDER: Source(
        "Docker returns the files of a container.", "adapters/assay_adapters/containers/files.py"
    ),
}
"""The capabilities of broker, client and adapter together."""

_GIVEN = (Needs().platform, Needs().level, Needs().topology)

LACKS: Mapping[Capability, Source] = {
    Capability.ADMIN: Source(
        "This adapter administers nothing: the image runs Artemis without its console and without JMX.",
        "images/artemis/etc",
    ),
    Capability.STAGING_QUEUE: Source(
        "A delayed message waits inside the queue that it was sent to, in no queue of its own.",
        "ScheduledDeliveryHandlerImpl.java",
    ),
    Capability.FLUSH_TRACE: Source(
        "Artemis forces its journal to the disk for each send, and does not show clients when.",
        "Artemis 2.56.0 user manual, persistence.adoc: journal-sync-non-transactional",
    ),
    Capability.XA: Source(
        "Over AMQP Artemis's transaction coordinator offers local transactions only.",
        "AMQPSessionContext.java: addTransactionHandler",
    ),
    Capability.CANCEL: Source("Artemis schedules a message sent over AMQP, and offers no way to cancel it.", _AMQP),
    Capability.SUBSCRIPTION_TTL: Source("Artemis ignores the timeout of a source.", _ATTACH),
    Capability.TOPIC_WILDCARD: Source("Artemis's patterns have other wildcards and another separator than MQ Light's."),
    Capability.BLOCK_WRITE: Source("The kit cannot make the journal of an Artemis in a container wait for one queue."),
    Capability.RESTART_AT_LEVEL: Source("Artemis has no command levels, so a restart cannot migrate it."),
    Capability.STORE_ERROR: Source("The kit cannot make the journal of an Artemis in a container fail."),
    Capability.WORKER_DIES: Source(
        "Artemis has no process for delayed messages that could end: its queues schedule them.",
        "ScheduledDeliveryHandlerImpl.java",
    ),
    Capability.RETAINED_PUBLICATION: Source("Artemis keeps no publication for later subscribers over AMQP."),
    Capability.OWN_UNCOMMITTED: Source(
        "A message sent in a transaction reaches its queue at the commit.", "Jakarta Messaging 3.1, 6.2.7"
    ),
    Capability.NAMELESS_CONNECTION: NAMED_BY_CONTAINER,
    Capability.VIRTUAL_TIME: Source("Artemis uses the machine's clock."),
}
"""The capabilities that the pair lacks, each with the reason."""


def answers(driver: Driver, runner: Runner, endpoint: Endpoint) -> Opened | None:
    """Open an AMQP connection, to see whether a broker runs, and close it.

    Args:
        driver: The AMQP driver.
        runner: A real runner.
        endpoint: The broker's URL and login.

    Returns:
        The properties of the broker's open frame; None if no broker answers yet.

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
        runner.run_until(lambda: isinstance(events[-1], Closed), None)
        return opened
    if isinstance(opened, Closed) and opened.refused and opened.refused.kind is JmsErrorKind.SECURITY:
        raise BackendError(f"the broker at {endpoint.url} refuses the kit's login: {opened.refused.text}")
    return None


class _Own(Struct, frozen=True):
    """A container for scenarios with faults, and the proxy to which their clients connect."""

    container: Container
    proxy: Proxy

    def remove(self) -> None:
        """End the proxy and remove the container."""
        self.proxy.close()
        self.container.remove()


class ArtemisInstance(SdkInstance[Runner, ProxiedFaults | None]):
    """A running Artemis, for scenarios that share it or for scenarios with faults.

    Args:
        endpoint: The endpoint for clients: that of the broker, or that of the proxy.
        runner: The I/O loop.
        driver: The AMQP driver, with the run's filter.
        environment: The tested product.
        port: The published port of the container; None if the endpoint names none.
        faults: The faults that scenarios can cause; None for a shared instance.
    """

    admin = None
    members = (MEMBER,)

    def __init__(
        self,
        endpoint: Endpoint,
        runner: Runner,
        driver: Driver,
        environment: Environment,
        *,
        port: int | None,
        faults: ProxiedFaults | None = None,
    ) -> None:
        super().__init__(ALL_FACES, runner, driver, environment, faults)
        self._endpoint = endpoint
        self._port = port

    def endpoint(self, protocol: WireProtocol, member: str | None = None) -> Endpoint:
        """Return the endpoint to which clients connect.

        Raises:
            LookupError: The instance has no such member, or the protocol is not AMQP.
        """
        if protocol != "amqp" or member not in {None, *self.members}:
            raise LookupError(f"Artemis has no {protocol} endpoint for {member or MEMBER} here; it has amqp.")
        return self._endpoint

    def watch_disk(self, observer: Callable[[DiskEvent], None]) -> None:
        """Do nothing: the kit cannot observe the disk writes of an Artemis in a container."""

    def storage_holds(self, octets: bytes) -> Outcome[bool]:
        """Return whether a file in Artemis's data folder contains these octets (PD-31)."""
        if self._port is None:
            return Refused(JmsErrorKind.UNSUPPORTED, f"the endpoint {self._endpoint.url} names no container port")
        return folder_holds(self._port, _DATA_FOLDERS, octets)

    def close(self) -> None:
        """Do nothing: the backend keeps the instance for the next scenario."""


class ArtemisBackend(AmqpBackend):
    """Apache Artemis in containers of this machine."""

    name = "artemis"
    capabilities = CAPABILITIES
    lacks = LACKS
    profiles = (Profile.PERSISTENCE, Profile.DELAY, Profile.QOS, Profile.BATCH)
    """The profiles that any kind of broker can claim."""
    faces = ALL_FACES
    reuses_faulted = True
    """Whether a container serves the next scenario after a fault; True, because a new container takes long to start."""

    _image: str | None = None
    _shared: Container | None = None
    _own: _Own | None = None

    @property
    def environment(self) -> Environment:
        """The tested product, with the container image and its version."""
        image = self._image or self._images()[0]
        version = image.rpartition(":")[2].partition("-")[0]
        details = {"image": image, "protocol": "AMQP 1.0"}
        if self._image is not None:
            details["digest"] = image_digest(self._image)
        return Environment(product=PRODUCT, version=version, details=details, ours=False)

    def probe(self) -> Available | Unavailable:
        """Return whether this machine can start Artemis, without starting it."""
        if (absent := missing_packages(("proton", "docker", "testcontainers"), extra="amqp,containers")) is not None:
            return absent
        found = probe_image(
            self._images(),
            PRODUCT,
            remedy=f"build one with images/build artemis, or name another one in {IMAGE_VARIABLE}",
        )
        if isinstance(found, Unavailable):
            return found
        self._image, available = found
        return available

    def provision(self, needs: Needs) -> ArtemisInstance | Unsupported:
        """Return the shared instance, or the instance for faults if the scenario needs its own instance.

        Raises:
            BackendError: Artemis cannot be started.
        """
        if (unmet := missing(needs, CAPABILITIES, LACKS, "Artemis through this adapter")) is not None:
            return unmet
        if (asked := (needs.platform, needs.level, needs.topology)) != _GIVEN:
            what = Source(
                "Artemis runs as a single broker here, and knows neither platforms nor levels of a queue manager."
            )
            return Unsupported(", ".join(asked), what)
        with self._lock:
            return self._own_instance() if needs.own_instance else self._shared_instance()

    def close(self) -> None:
        """Remove the containers that this process has started, and containers left by processes that have ended."""
        with self._lock:
            started = [one for one in (self._shared, self._own) if one is not None]
            for one in started:
                one.remove()
            self._shared = self._own = None
        if started:
            sweep_quietly()

    # --- instances

    @staticmethod
    def _images() -> tuple[str, ...]:
        named = os.environ.get(IMAGE_VARIABLE)
        return (named,) if named else (LOCAL_IMAGE, PUBLIC_IMAGE)

    def _shared_instance(self) -> ArtemisInstance:
        endpoint = self._attached
        if endpoint is None:
            if self._shared is None:
                self._shared = self._container()
                try:
                    self._shared.start()
                except BaseException:  # Ctrl-C, too: `start` has removed the container, so the next call makes another
                    self._shared = None
                    raise
            endpoint = _endpoint(self._shared.port)
        port = urlsplit(endpoint.url).port
        return ArtemisInstance(endpoint, self._runner, self._driver(), self.environment, port=port)

    def _own_instance(self) -> ArtemisInstance:
        if self._own is not None and self._own.container.exit_code() is not None:
            self._own.remove()  # a fault that failed halfway has left the container stopped
            self._own = None
        if self._own is None:
            container = self._container()
            container.start()
            proxy = Proxy(container.port)
            self._own = _Own(container, proxy)
            proxy.start()
        container, proxy = self._own.container, self._own.proxy
        faults = ProxiedFaults(StoppableContainer(container), proxy, self._runner)
        return ArtemisInstance(
            _endpoint(proxy.port), self._runner, self._driver(), self.environment, port=container.port, faults=faults
        )

    def _container(self) -> Container:
        """Return a new container that is not started yet."""
        if self._image is None:
            probed = self.probe()
            if isinstance(probed, Unavailable):
                raise BackendError(f"{PRODUCT} cannot be started: {probed.reason}; {probed.remedy}.")
        if self._image is None:
            raise BackendError(f"{PRODUCT} cannot be started: no image was found.")
        sweep()
        spec = ContainerSpec(
            image=self._image,
            port=_PORT,
            # The public image reads the account from here; our image has it built in.
            environment={"ARTEMIS_USER": _LOGIN.user, "ARTEMIS_PASSWORD": _LOGIN.password, "ANONYMOUS_LOGIN": "false"},
            title=PRODUCT,
        )
        driver = self._driver()
        return Container(spec, self._runner, lambda port: answers(driver, self._runner, _endpoint(port)) is not None)


def _endpoint(port: int) -> Endpoint:
    return Endpoint(f"amqp://{LOOPBACK}:{port}", _LOGIN)
