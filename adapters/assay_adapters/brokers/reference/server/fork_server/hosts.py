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
        """Write encoded requests."""
        ...

    def flush(self) -> None:
        """Send all written requests."""
        ...

    def close(self) -> None:
        """Close the stream; the fork server then kills its servers and ends."""
        ...


class Channel(NamedTuple):
    """The two streams between the kit and a fork server, with one JSON object on each line."""

    requests: RequestStream
    events: IO[bytes]


class Host(Protocol):
    """A place where a fork server can run: this machine or a container."""

    def open(self) -> Channel:
        """Start the fork server.

        Raises:
            BackendError: The fork server cannot be started.
        """
        ...

    def close(self) -> None:
        """Wait until the fork server and its servers have ended; the caller closes the channel's requests first."""
        ...

    @property
    def homes(self) -> Path | None:
        """The parent of the folders with the servers' logs; None for the system's temporary folder."""
        ...

    def data(self, home: Path) -> Path:
        """Return the path of the folder for a server's store, in the server's file system.

        Args:
            home: The path of the folder with the server's log, in this process's file system.
        """
        ...


class LocalHost:
    """A host that runs the fork server as a process of this machine."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> Channel:
        """Start the fork server's process."""
        self._process = subprocess.Popen(  # noqa: S603  our own module
            [sys.executable, "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # so that Ctrl-C reaches only the kit, which then ends the fork server
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the fork server's process has no pipes")
        return Channel(self._process.stdin, self._process.stdout)

    def close(self) -> None:
        """Wait until the fork server's process has ended."""
        if self._process is not None:
            self._process.wait()

    @property
    def homes(self) -> Path | None:
        """The parent of the folders with the servers' logs: None for the system's temporary folder."""
        return None

    def data(self, home: Path) -> Path:
        """Return the folder ``data`` inside the server's folder `home`."""
        return home / "data"
