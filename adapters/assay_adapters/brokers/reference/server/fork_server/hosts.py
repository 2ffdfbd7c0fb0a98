"""Where a nursery of servers (`assay_adapters.brokers.reference.server.fork_server.client`) lives: a process of this machine, or one in a container."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO, NamedTuple, Protocol

CHILD = "assay_adapters.brokers.reference.server.fork_server.server"


class Orders(Protocol):
    """What a nursery reads."""

    def write(self, octets: bytes, /) -> object:
        """Write lines."""
        ...

    def flush(self) -> None:
        """Let them go."""
        ...

    def close(self) -> None:
        """There will be no more."""
        ...


class Talk(NamedTuple):
    """How one speaks with a nursery."""

    orders: Orders
    news: IO[bytes]


class Cradle(Protocol):
    """Where a nursery lives."""

    def open(self) -> Talk:
        """Start it.

        Raises:
            BackendError: It cannot be started.
        """
        ...

    def close(self) -> None:
        """Nobody gives it orders any more: wait until it is gone, and its servers with it."""
        ...

    @property
    def homes(self) -> Path | None:
        """The folder in which each server's log is kept; None for that of temporary files."""
        ...

    def data(self, home: Path) -> Path:
        """The folder of a server's store, as the server sees it.

        Args:
            home: The server's own folder, as this process sees it.
        """
        ...


class Here:
    """A process of this machine."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> Talk:
        """Start it."""
        self._process = subprocess.Popen(  # noqa: S603  ourselves
            [sys.executable, "-m", CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for whoever gives the orders
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("a process without its pipes")
        return Talk(self._process.stdin, self._process.stdout)

    def close(self) -> None:
        """Wait until it is gone."""
        if self._process is not None:
            self._process.wait()

    @property
    def homes(self) -> Path | None:
        """The folder of temporary files."""
        return None

    def data(self, home: Path) -> Path:
        """A folder in the server's own."""
        return home / "data"
