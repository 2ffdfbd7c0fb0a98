"""One reference broker as a process that the fork server starts, with its own data folder."""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from assay_adapters.brokers.reference.server.fork_server.client import ForkServer
from assay_adapters.brokers.reference.server.fork_server.messages import (
    CRASHED,
    Control,
    DiskSeen,
    Listening,
    SlowDisk,
)
from assay_adapters.containers.host_ports import LOOPBACK
from assay_adapters.owners import folder_prefix
from assay_adapters.ports.backend import BackendError, NoReturnError
from assay_adapters.traces.files import FileTrace
from assay_adapters.traces.history import History
from assay_broker.stores.search import pages_of_database, pages_of_log, stands_in_file, stands_in_pages

_LAST_LINES = 12
_DATABASE, _LOG = ".db", "-wal"
"""The suffixes of the files in which the store keeps its records: the database and its log."""
_ANY_PORT = f"{LOOPBACK}:0"


class ServerProcess:
    """A server that the kit can start, kill or stop, and start again on the same data folder.

    Args:
        fork_server: The fork server that starts the process.
        asked: The server's options, by the names of the flags of `assay broker`, without folder and ports.
        controlled: Whether the kit can control the server from inside.
        slow_disk_ms: The time from the first write to the flush, in milliseconds; only for a controlled server. With 0,
            the kit does not delay the flush.
        can_lose_power: Whether the kit can cut the power of a controlled server's disk, which makes writes slower.
        stomp: Whether the clients use STOMP instead of AMQP.
    """

    def __init__(
        self,
        fork_server: ForkServer,
        asked: Mapping[str, object],
        *,
        controlled: bool = False,
        slow_disk_ms: int = 0,
        can_lose_power: bool = False,
        stomp: bool = False,
    ) -> None:
        self._can_lose_power = can_lose_power
        self._stomp = stomp
        self._fork_server = fork_server
        self._controlled = controlled
        self._slow_disk_ms = slow_disk_ms
        self._watcher: Callable[[DiskSeen], None] | None = None
        self._asked = dict(asked)
        self._home = tempfile.TemporaryDirectory(prefix=folder_prefix("server"), dir=fork_server.host.homes)
        self._log = Path(self._home.name) / "log"
        if fork_server.host.homes is not None:  # the server runs in a container, as another user
            Path(self._home.name).chmod(0o755)
            self._log.touch()
            self._log.chmod(0o666)
        self._pid: int | None = None
        self._ready: Listening | None = None

    @property
    def data(self) -> Path:
        """The folder of the server's store."""
        return self._fork_server.host.data(Path(self._home.name))

    @property
    def pid(self) -> int:
        """The process id of the running server.

        Raises:
            BackendError: The server does not run.
        """
        if self._pid is None:
            raise BackendError("the server does not run: start it")
        return self._pid

    @property
    def runs(self) -> bool:
        """Whether the server runs; True until the fork server has reported its end."""
        return self._pid is not None and self._fork_server.exit_code(self._pid) is None

    @property
    def client_port(self) -> int:
        """The port of the clients' listener; each start of the server has a new port."""
        return _port(self._reported.stomp if self._stomp else self._reported.amqp)

    @property
    def http_port(self) -> int:
        """The port of the HTTP listener; each start of the server has a new port."""
        return _port(self._reported.http)

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the server, for the first time or again, and wait until it is ready.

        Args:
            changed: Options that replace the earlier ones, for this start and all later ones.

        Raises:
            NoReturnError: The server had been ready after its last start, and at this start on the same files an
                exception in its code ended it.
            BackendError: The server took too long, or ended for another reason before it was ready, such as a signal or
                an exception at its first start.
        """
        self._asked |= changed or {}
        again = self._ready is not None
        asked = {"log": "json", **self._asked, "data": str(self.data), "amqp": _ANY_PORT, "http": _ANY_PORT}
        if self._stomp:
            asked["stomp"] = _ANY_PORT
        self._pid = self._fork_server.fork(
            asked, self._log, controlled=self._controlled, can_lose_power=self._can_lose_power
        )
        self._ready = self._fork_server.ready(self._pid)
        if self._ready is None:
            code, self._pid = self._fork_server.exit_code(self._pid), None
            text = f"the server ended while starting (exit code {code}); {self.last_lines()}"
            raise NoReturnError(text) if again and code == CRASHED else BackendError(text)
        if self._controlled and self._slow_disk_ms:
            self._control(SlowDisk(self._slow_disk_ms))
        if self._watcher is not None:
            self._fork_server.watch(self._pid, self._watcher)

    @property
    def control(self) -> Callable[[Control], None] | None:
        """A function that controls the server from inside its process; None for a server that is not controlled."""
        return self._control if self._controlled else None

    def _control(self, control: Control) -> None:
        self._fork_server.control(self.pid, control)

    def watch(self, observer: Callable[[DiskSeen], None]) -> None:
        """Report each write, flush and loss in the server's store to an observer, also after later starts.

        Args:
            observer: Called on the thread that reads the fork server's events.
        """
        self._watcher = observer
        self._fork_server.watch(self.pid, observer)

    def kill(self) -> None:
        """Kill the process (SIGKILL), and wait until it has ended.

        Raises:
            BackendError: The server does not run, or its process did not end by the signal.
            NoReturnError: An exception in the server's code ended the server.
        """
        pid = self._leave()
        self._fork_server.signal(pid, signal.SIGKILL)
        self._await_end(pid, -signal.SIGKILL)

    @property
    def cut_power(self) -> Callable[[], None] | None:
        """A function that kills the process and discards its unflushed writes; None if the kit cannot do this."""
        return self._cut_power if self._can_lose_power else None

    def _cut_power(self) -> None:
        pid = self._leave()
        self._fork_server.cut_power(pid)
        self._await_end(pid, -signal.SIGKILL)

    def stop(self) -> None:
        """Stop the server normally (SIGTERM), and wait until its process has ended.

        Raises:
            BackendError: The process ended with another exit code than 0.
            NoReturnError: An exception in the server's code ended the server.
        """
        pid = self._leave()
        self._fork_server.signal(pid, signal.SIGTERM)
        self._await_end(pid, 0)

    def pause(self) -> None:
        """Suspend the process (SIGSTOP)."""
        self._fork_server.signal(self.pid, signal.SIGSTOP)

    def unpause(self) -> None:
        """Let the process continue after `pause` (SIGCONT)."""
        self._fork_server.signal(self.pid, signal.SIGCONT)

    def remove(self) -> None:
        """Kill the process if it runs, and remove its folder."""
        if self.runs:
            self.kill()
        self._home.cleanup()

    def holds(self, octets: bytes) -> bool:
        """Return whether a file in the data folder contains these octets, unused pages included (PD-31).

        Args:
            octets: The octets; only the first `assay_broker.stores.search.LONGEST` of them are searched for.
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

    @property
    def log(self) -> str:
        """The file of the server's log."""
        return str(self._log)

    def trace(self, history: History) -> FileTrace:
        """Return the server's log, and its starts, ends and faults so far."""
        return FileTrace(f"server process {self.pid}", self._log, history)

    def last_lines(self) -> str:
        """Return the last lines of the server's log, for an error message."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        lines = "\n".join(f"  {line}" for line in text.splitlines()[-_LAST_LINES:])
        return f"the last lines of its log:\n{lines}" if lines else "its log is empty"

    @property
    def _reported(self) -> Listening:
        if self._ready is None:
            raise BackendError("the server has not been started")
        return self._ready

    def _leave(self) -> int:
        """Return the process id of the server, which is about to end, and forget this id."""
        pid, self._pid = self.pid, None
        return pid

    def _await_end(self, pid: int, expected: int) -> None:
        code = self._fork_server.exited(pid)
        if code != expected:
            how = "killed" if expected else "told to stop normally"
            text = f"the server was {how} and ended with exit code {code}; {self.last_lines()}"
            raise NoReturnError(text) if code == CRASHED else BackendError(text)


def _port(url: str) -> int:
    port = urlsplit(url).port
    if port is None:
        raise BackendError(f"the server's URL has no port: {url}")
    return port
