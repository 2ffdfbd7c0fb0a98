"""A nursery of servers in a container: brokers of the image, with the kit's hand in them.

A container of its own for each of a few hundred brokers would cost more than all that is tried on them, and nobody
could reach inside.  So brokers that are not killed with their container share one: the image's user, its packages, a
root that cannot be written to, its volume.  They listen on this machine's loopback address (the network is the host's),
each on ports of its own.
"""

from __future__ import annotations

import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay_adapters.brokers.reference.server.fork_server.hosts import CHILD, Talk
from assay_adapters.containers.container import OWNER_LABEL, docker_client, owner
from assay_adapters.ports.backend import BackendError

START_LIMIT_S = 60
"""How long the container may take until its process is there."""
_PYTHON = "/opt/assay/bin/python"
_VOLUME = Path("/var/lib/assay")
_SOCKET = "orders"


class Boxed:
    """A process in a container.

    Args:
        image: The image.
        etc: The folder with the users' file.
        mounted: Where that stands in the container.
    """

    def __init__(self, image: str, etc: Path, mounted: str) -> None:
        self._image = image
        self._etc = etc
        self._mounted = mounted
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._name = ""

    def open(self) -> Talk:
        """Start it, and wait until it speaks.

        Raises:
            BackendError: Docker cannot, or it does not.
        """
        import docker.errors

        homes = self.homes
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(str(homes / _SOCKET))
            (homes / _SOCKET).chmod(0o777)
            door.listen(1)
            door.settimeout(START_LIMIT_S)
            try:
                self._run(homes)
                line, _ = door.accept()
            except (docker.errors.DockerException, OSError) as error:
                self.close()
                raise BackendError(f"no broker can be started in a container of {self._image}: {error}") from error
        line.settimeout(None)
        return Talk(_Orders(line), line.makefile("rb"))

    def close(self) -> None:
        """Remove the container with its volume."""
        import docker.errors

        name, self._name = self._name, ""
        if name:
            with docker_client() as client, suppress(docker.errors.NotFound):
                client.containers.get(name).remove(force=True, v=True)
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def homes(self) -> Path:
        """The folder of logs, which the container sees too, at the same place."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="assay-box-")
            Path(self._folder.name).chmod(0o755)
        return Path(self._folder.name)

    def data(self, home: Path) -> Path:
        """A folder on the container's volume."""
        return _VOLUME / home.name

    def _run(self, homes: Path) -> None:
        options: dict[str, Any] = {
            "entrypoint": [_PYTHON, "-m", CHILD, str(homes / _SOCKET)],
            "network_mode": "host",
            "read_only": True,
            "healthcheck": {"test": ["NONE"]},
            "labels": {OWNER_LABEL: owner()},
            "volumes": {
                str(homes): {"bind": str(homes), "mode": "rw"},
                str(self._etc): {"bind": self._mounted, "mode": "ro"},
            },
        }
        with docker_client() as client:
            self._name = str(client.containers.run(self._image, detach=True, **options).name)


class _Orders:
    """What is written to a nursery; closed, it says so to the other end."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def write(self, octets: bytes, /) -> None:
        """Send an order."""
        self._line.sendall(octets)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """No more orders come."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        self._line.close()
