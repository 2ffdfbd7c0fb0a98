"""One reference broker as a process of this machine, with a folder of its own that outlives its kills."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from assay_adapters.brokers.reference.server.fork_server.client import Nursery
from assay_adapters.brokers.reference.server.fork_server.messages import DiskSeen, Listening, SlowDisk, Touch
from assay_adapters.containers.container import LOOPBACK
from assay_adapters.ports.backend import BackendError
from assay_broker.stores.search import pages_of_database, pages_of_log, stands_in_file, stands_in_pages

_LAST_LINES = 12
_DATABASE, _LOG = ".db", "-wal"
"""How the names of the files end whose pages hold what is kept."""
_ANY_PORT = f"{LOOPBACK}:0"


class ServerProcess:
    """A server that is started, hurt and started again, on the same folder.

    Args:
        nursery: Where it comes from.
        asked: What it is asked to be, by the names of the flags of `assay broker`, but for folder and ports.
        hurtable: Whether it can be touched from inside.
        slow_disk_ms: How much later than it is written anything reaches its disk, where it can be touched.
    """

    def __init__(
        self, nursery: Nursery, asked: Mapping[str, object], *, hurtable: bool = False, slow_disk_ms: int = 0
    ) -> None:
        self._nursery = nursery
        self._hurtable = hurtable
        self._slow_disk_ms = slow_disk_ms
        self._watcher: Callable[[DiskSeen], None] | None = None
        self._asked = dict(asked)
        self._home = tempfile.TemporaryDirectory(prefix="assay-server-", dir=nursery.cradle.homes)
        self._log = Path(self._home.name) / "log"
        if nursery.cradle.homes is not None:  # somebody else's process writes into it
            Path(self._home.name).chmod(0o755)
            self._log.touch()
            self._log.chmod(0o666)
        self._pid: int | None = None
        self._ready: Listening | None = None

    @property
    def data(self) -> Path:
        """The folder of its store."""
        return self._nursery.cradle.data(Path(self._home.name))

    @property
    def pid(self) -> int:
        """Its process, as long as it runs.

        Raises:
            BackendError: It does not.
        """
        if self._pid is None:
            raise BackendError("the server does not run: start it")
        return self._pid

    @property
    def runs(self) -> bool:
        """Whether it runs, as far as anybody has been told."""
        return self._pid is not None and self._nursery.exit_code(self._pid) is None

    @property
    def amqp_port(self) -> int:
        """Where it listens for AMQP; another port after each start."""
        return _port(self._told.amqp)

    @property
    def http_port(self) -> int:
        """Where it listens for administrators; another port after each start."""
        return _port(self._told.http)

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start it, for the first time or again; returns when it is ready.

        Args:
            changed: What it is asked to be instead of what it was, from now on.

        Raises:
            BackendError: It did not come up; shows its last log lines.
        """
        self._asked |= changed or {}
        asked = {"log": "json", **self._asked, "data": str(self.data), "amqp": _ANY_PORT, "http": _ANY_PORT}
        self._pid = self._nursery.fork(asked, self._log, hurtable=self._hurtable)
        self._ready = self._nursery.ready(self._pid)
        if self._ready is None:
            code, self._pid = self._nursery.exit_code(self._pid), None
            raise BackendError(f"the server ended while starting (exit code {code}); {self.last_lines()}")
        if self._hurtable and self._slow_disk_ms:
            self._touch(SlowDisk(self._slow_disk_ms))
        if self._watcher is not None:
            self._nursery.watch(self._pid, self._watcher)

    @property
    def hand(self) -> Callable[[Touch], None] | None:
        """Does something to it from inside; None where nobody can."""
        return self._touch if self._hurtable else None

    def _touch(self, touch: Touch) -> None:
        self._nursery.touch(self.pid, touch)

    def watch(self, observer: Callable[[DiskSeen], None]) -> None:
        """Tell this observer what its store does, after each start too; on a thread of the nursery's own."""
        self._watcher = observer
        self._nursery.watch(self.pid, observer)

    def kill(self) -> None:
        """End its process at once (SIGKILL); returns when it is gone."""
        self._end(signal.SIGKILL, -signal.SIGKILL)

    def stop(self) -> None:
        """Stop it in order (SIGTERM); returns when it is gone.

        Raises:
            BackendError: It ended otherwise.
        """
        self._end(signal.SIGTERM, 0)

    def remove(self) -> None:
        """Kill it if it runs, and remove its folder."""
        if self.runs:
            self.kill()
        self._home.cleanup()

    def holds(self, octets: bytes) -> bool:
        """Whether these octets stand anywhere in its folder's files, in what is no longer used too (PD-31).

        Args:
            octets: Not more than `search.LONGEST`; of more, the beginning is looked for.
        """
        for path in sorted(self.data.iterdir()):
            if path.suffix == _DATABASE:
                found = stands_in_pages(octets, tuple(pages_of_database(path)))
            elif path.name.endswith(_LOG):
                found = stands_in_pages(octets, tuple(pages_of_log(path)))
            else:
                found = stands_in_file(octets, path)
            if found:
                return True
        return False

    def last_lines(self) -> str:
        """The end of its log, indented, behind a word on what it is."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        lines = "\n".join(f"  {line}" for line in text.splitlines()[-_LAST_LINES:])
        return f"its last lines:\n{lines}" if lines else "its log is empty"

    @property
    def _told(self) -> Listening:
        if self._ready is None:
            raise BackendError("the server has not been started")
        return self._ready

    def _end(self, number: int, expected: int) -> None:
        pid, self._pid = self.pid, None
        self._nursery.signal(pid, number)
        code = self._nursery.exited(pid)
        if code != expected:
            how = "killed" if expected else "stopped in order"
            raise BackendError(f"the server was to be {how} and ended with exit code {code}; {self.last_lines()}")


def _port(url: str) -> int:
    port = urlsplit(url).port
    if port is None:
        raise BackendError(f"the server listens nowhere that a client could reach: {url}")
    return port
