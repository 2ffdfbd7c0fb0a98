"""Hosts of the fork server: a process of this machine, or a container (`...reference.container.fork_server`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, NamedTuple, Protocol

MODULE = "assay_adapters.brokers.reference.server.fork_server.server"
"""The module that runs as the fork server (``python -m``)."""


class RequestStream(Protocol):
    """The writing end of a channel to the fork server."""

    def write(self, octets: bytes, /) -> object:
        """Write lines."""
        ...

    def flush(self) -> None:
        """Send what was written."""
        ...

    def close(self) -> None:
        """End the stream; the fork server then kills its servers and ends."""
        ...


class Channel(NamedTuple):
    """Both directions between the kit and a fork server, a JSON object a line."""

    requests: RequestStream
    events: IO[bytes]


class Host(Protocol):
    """The place where a fork server runs."""

    def open(self) -> Channel:
        """Start the fork server.

        Raises:
            BackendError: It cannot be started.
        """
        ...

    def close(self) -> None:
        """Wait until the fork server and its servers have ended; call it after closing the channel's requests."""
        ...

    @property
    def homes(self) -> Path | None:
        """The folder in which each server has a folder with its log; None for the system's temporary folder."""
        ...

    def data(self, home: Path) -> Path:
        """Return the folder of a server's store, as the server sees it.

        Args:
            home: The server's own folder, as this process sees it.
        """
        ...


class LocalHost:
    """A fork server as a process of this machine."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> Channel:
        """Start the process."""
        self._process = subprocess.Popen(  # noqa: S603  our own module
            [sys.executable, "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is meant for the kit, which then ends the fork server in order
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("a process without its pipes")
        return Channel(self._process.stdin, self._process.stdout)

    def close(self) -> None:
        """Wait until the process has ended."""
        if self._process is not None:
            self._process.wait()

    @property
    def homes(self) -> Path | None:
        """The parent of the servers' folders: None for the system's temporary folder."""
        return None

    def data(self, home: Path) -> Path:
        """Return the folder ``data`` inside the server's own."""
        return home / "data"
