"""The reference broker in containers, from the published image.

These brokers have a container of their own, and a kill ends the whole container:

- a broker that many scenarios share;
- on distributed platforms, a broker that a scenario kills at a certain answer, or whose files a scenario searches,
  unless the kit must control the broker from inside.

All other brokers are processes in one container of the same image
(`assay_adapters.brokers.reference.container.fork_server`), and a kill ends the broker's process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay_adapters.brokers.reference.container.fork_server import ContainerHost
from assay_adapters.brokers.reference.server.backend import NAMES, ReferenceServerBackend
from assay_adapters.brokers.reference.server.fork_server.hosts import Host
from assay_adapters.brokers.reference.server.instance import OwnBroker
from assay_adapters.containers.container import (
    image_digest,
    kill_now,
    probe_image,
    process_of,
)
from assay_adapters.containers.files import folder_holds
from assay_adapters.containers.removal import sweep, sweep_quietly
from assay_adapters.packages import missing_packages
from assay_adapters.ports.backend import Available, BackendError, Environment, Unavailable
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.client import Endpoint
from assay_adapters.ports.outcome import Refused
from assay_adapters.ports.traces import Trace
from assay_adapters.traces.containers import ContainerTrace, at_port
from assay_adapters.traces.history import History
from assay_broker.inprocess import PRODUCT, product_version
from assay_sdk.model.capabilities import Capability

if TYPE_CHECKING:
    from assay_adapters.brokers.reference.container.container import ReferenceBrokerContainer
    from assay_adapters.brokers.reference.server.fork_server.messages import Control, DiskSeen

STOP_LIMIT_S = 30
"""The longest time that a broker may take for a normal stop, in seconds."""
_ETC = "/etc/assay"
_DATA = ("/var/lib/assay/data",)

INSIDE = frozenset(
    {
        Capability.FLUSH_TRACE,
        Capability.STORE_ERROR,
        Capability.WORKER_DIES,
        Capability.BLOCK_WRITE,
        Capability.POWER_LOSS,
        Capability.RESTART_AT_LEVEL,
    }
)
"""Capabilities that need control from inside the broker's process, or a restart with other options."""

ALONE = frozenset({Capability.DATA_FOLDER, Capability.KILL_AT_ANSWER})
"""Capabilities for which a broker gets its own container: to read its files, or to kill it at a certain answer.

A kill at an answer does not need the broker's own container, but these few kills show that a broker starts again after
a kill of its whole container.
"""


class ContainerBroker:
    """A broker in its own container; container, volume and ports stay the same after a kill and a new start.

    Args:
        arguments: The arguments of ``assay broker``.
        etc: The folder with the users file.
    """

    def __init__(self, arguments: tuple[str, ...], etc: str) -> None:
        from assay_adapters.brokers.reference.container.container import ReferenceBrokerContainer

        self._box: ReferenceBrokerContainer = ReferenceBrokerContainer(None, *arguments, health=False)
        self._box.with_volume_mapping(etc, _ETC, "ro")
        self._made = False
        self._pid: int | None = None

    @property
    def control(self) -> Callable[[Control], None] | None:
        """None: the kit cannot control this broker from inside its process."""
        return None

    @property
    def cut_power(self) -> Callable[[], None] | None:
        """None: the kit cannot discard what this broker has not flushed."""
        return None

    @property
    def client_port(self) -> int:
        """The published port for clients."""
        return self._box.client_port

    @property
    def http_port(self) -> int:
        """The published port for administrators."""
        return self._box.http_port

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the broker, for the first time or again, and wait until it is ready.

        Args:
            changed: Options that shall change with this start; a container can change none.

        Raises:
            BackendError: The broker did not start, or `changed` names an option.
        """
        import docker.errors

        if changed:
            raise BackendError(f"a container that exists cannot change its {', '.join(changed)}")
        try:
            if self._made:
                self._box.get_wrapped_container().start()
                self._box.await_ready()
            else:
                self._made = True
                self._box.start()
            self._pid = process_of(self._box.get_wrapped_container())
        except (docker.errors.DockerException, OSError) as error:
            raise BackendError(f"{PRODUCT} cannot be started in a container: {error}") from error

    def kill(self) -> None:
        """End the broker's process at once (SIGKILL), and wait until the process has ended."""
        kill_now(self._box.get_wrapped_container(), self._pid)

    def stop(self) -> None:
        """Stop the broker by SIGTERM, which lets it end its work, and wait until its process has ended.

        Raises:
            BackendError: The process ended with another exit code than 0.
        """
        container = self._box.get_wrapped_container()
        container.stop(timeout=STOP_LIMIT_S)
        code = container.wait(timeout=STOP_LIMIT_S)["StatusCode"]
        if code:
            raise BackendError(f"{PRODUCT} did not stop normally in its container (exit code {code})")

    def pause(self) -> None:
        """Suspend the container's processes."""
        self._box.get_wrapped_container().pause()

    def unpause(self) -> None:
        """Let the container's processes continue after `pause`."""
        self._box.get_wrapped_container().unpause()

    def watch(self, observer: Callable[[DiskSeen], None]) -> None:
        """Do nothing: the kit cannot observe the disk writes of a broker in its own container."""

    def holds(self, octets: bytes) -> bool:
        """Return whether a file in the broker's data folder contains these octets (PD-31).

        Raises:
            BackendError: Docker does not return the files.
        """
        found = folder_holds(self.client_port, _DATA, octets)
        if isinstance(found, Refused):
            raise BackendError(found.text)
        return found.value

    @property
    def log(self) -> None:
        """None: Docker has the broker's log."""
        return

    def trace(self, history: History) -> ContainerTrace:
        """Return the broker's log, and its starts, ends and faults so far."""
        return ContainerTrace(at_port(self.client_port), history)

    def remove(self) -> None:
        """Remove the container with its volume."""
        self._box.stop(force=True, delete_volume=True)


class ReferenceContainerBackend(ReferenceServerBackend):
    """The reference broker in containers of this machine."""

    name = "reference-container"

    _image = ""
    _swept = False

    @property
    def environment(self) -> Environment:
        """The tested product, with its version, container image and store."""
        details = {"protocol": "AMQP 1.0", "administration": "HTTP", "store": "SQLite files", "image": self._image}
        if self._image:
            details["digest"] = image_digest(self._image)
        details |= self._behaviour
        return Environment(product=PRODUCT, version=product_version(), details=details, ours=True)

    def probe(self) -> Available | Unavailable:
        """Return whether this machine can start the broker in a container, without starting it."""
        if self._image:
            return Available(f"{PRODUCT} in a container of {self._image}")
        if (absent := missing_packages(("proton", "scramp", "docker", "testcontainers"), extra="all")) is not None:
            return absent
        from assay_adapters.brokers.reference.container.container import default_image

        found = probe_image((default_image(),), PRODUCT, remedy="build one with images/build reference")
        if isinstance(found, Unavailable):
            return found
        self._image, available = found
        return available

    def close(self) -> None:
        """End the brokers that this process has started.

        If this process has started any, also remove containers that ended processes have left.
        """
        super().close()
        if self._swept:
            sweep_quietly()

    def _process(self, needs: Needs, *, controlled: bool) -> OwnBroker:
        if not self._swept:
            sweep()
            self._swept = True
        # On z/OS a restart may change OPMODE. A broker in its own container cannot change its arguments.
        inside = needs.capabilities & INSIDE or not needs.capabilities & ALONE or needs.platform == "zos"
        if controlled and inside:
            return super()._process(needs, controlled=True)
        etc = self._etc()
        asked = {"name": NAMES[needs.platform], "platform": needs.platform, "level": needs.level, **self._behaviour}
        arguments = tuple(f"--{name}={value}" for name, value in asked.items())
        return ContainerBroker((f"--users={self._users_seen()}", "--clear-passwords", *arguments), str(etc))

    def _shared_trace(self, endpoint: Endpoint) -> Trace | None:
        port = urlsplit(endpoint.url).port
        return None if port is None else ContainerTrace(at_port(port))

    def _host(self) -> Host:
        return ContainerHost(self._image, self._etc(), _ETC)

    def _users_seen(self) -> Path:
        self._etc()
        return Path(_ETC) / self._users().name

    def _etc(self) -> Path:
        """Return the folder with the users file, readable by the container's user, which is not this process's user."""
        users = self._users()
        users.parent.chmod(0o755)
        users.chmod(0o644)
        return users.parent
