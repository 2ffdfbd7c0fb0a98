"""The fork server in a container of the broker's image.

A run starts a few hundred brokers. A container for each of them would take longer than the scenarios themselves, and
the kit cannot control a broker in its own container. So most brokers are processes of one container, with the image's
user and packages, a read-only root, and the container's volume. The container uses the host's network, so each broker
listens on its own loopback ports.
"""

from __future__ import annotations

import socket
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from assay_adapters.brokers.reference.server.fork_server.hosts import MODULE, Channel
from assay_adapters.containers.container import OWNER_LABEL, docker_client, owner
from assay_adapters.owners import folder_prefix
from assay_adapters.ports.backend import BackendError

START_LIMIT_S = 60
"""The time within which the fork server in the container must connect, in seconds."""
_PYTHON = "/opt/assay/bin/python"
_VOLUME = Path("/var/lib/assay")
_SOCKET = "orders"


class ContainerHost:
    """A fork server in a container.

    Args:
        image: The image.
        etc: The folder with the users file, on the host.
        mounted: The path of this folder in the container.
    """

    def __init__(self, image: str, etc: Path, mounted: str) -> None:
        self._image = image
        self._etc = etc
        self._mounted = mounted
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._name = ""

    def open(self) -> Channel:
        """Start the container and wait until its fork server connects.

        Raises:
            BackendError: Docker cannot start the container, or its fork server does not connect in `START_LIMIT_S`.
        """
        import docker.errors

        homes = self.homes
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(homes / _SOCKET))
            (homes / _SOCKET).chmod(0o777)
            listener.listen(1)
            listener.settimeout(START_LIMIT_S)
            try:
                self._run(homes)
                line, _ = listener.accept()
            except (docker.errors.DockerException, OSError) as error:
                self.close()
                raise BackendError(f"no broker can be started in a container of {self._image}: {error}") from error
        line.settimeout(None)
        return Channel(_SocketRequests(line), line.makefile("rb"))

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
        """The folder with the brokers' logs; its path in the container is the same."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix=folder_prefix("box"))
            Path(self._folder.name).chmod(0o755)
        return Path(self._folder.name)

    def data(self, home: Path) -> Path:
        """Return the folder on the container's volume for the files of the broker whose logs are in `home`."""
        return _VOLUME / home.name

    def _run(self, homes: Path) -> None:
        options: dict[str, Any] = {
            "entrypoint": [_PYTHON, "-m", MODULE, str(homes / _SOCKET)],
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


class _SocketRequests:
    """A stream of requests to the fork server, over a socket."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line

    def write(self, octets: bytes, /) -> None:
        """Send encoded requests to the fork server."""
        self._line.sendall(octets)

    def flush(self) -> None:
        """Do nothing: `write` sends at once."""

    def close(self) -> None:
        """Shut the connection down, so that the fork server reads the end of the stream; then close the socket."""
        with suppress(OSError):
            self._line.shutdown(socket.SHUT_RDWR)
        self._line.close()
