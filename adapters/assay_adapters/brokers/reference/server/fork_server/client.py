"""The kit's side of the fork server, which starts, signals and controls reference servers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from assay_adapters.brokers.reference.server.fork_server.hosts import Channel, Host, LocalHost
from assay_adapters.brokers.reference.server.fork_server.messages import (
    AnyEvent,
    AnyRequest,
    Control,
    Controlled,
    CutPower,
    DiskSeen,
    Exited,
    Fork,
    Forked,
    Listening,
    NumberedControl,
    PassOn,
    Signal,
    WatchDisk,
)
from assay_adapters.ports.backend import BackendError
from assay_evidence.interrupts import ctrl_c_deferred

T = TypeVar("T")

START_LIMIT_S = 60
"""The time within which a server must be ready, in seconds: long, because many servers may start at once."""
CONTROL_LIMIT_S = 10
"""The time within which a server must carry out a control, in seconds."""
STOP_LIMIT_S = 30
"""The time within which a server must end after a signal, in seconds."""


class ForkServer:
    """A fork server: one process that has loaded the broker's modules, and forks servers.

    The fork server starts with the first server and ends with this process. Its end also ends its servers.

    Args:
        host: The host on which the fork server runs; None for a process of this machine.
    """

    def __init__(self, host: Host | None = None) -> None:
        self.host: Host = host or LocalHost()
        self._channel: Channel | None = None
        self._changed = threading.Condition()
        self._forking = threading.Lock()
        self._forked: list[int] = []
        self._ready: dict[int, Listening] = {}
        self._exited: dict[int, int] = {}
        self._carried_out: set[int] = set()
        self._numbers = count(1)
        self._watchers: dict[int, Callable[[DiskSeen], None]] = {}
        self._over = False

    def fork(
        self, asked: Mapping[str, object], log: Path, *, controlled: bool = False, can_lose_power: bool = False
    ) -> int:
        """Start a server and return its process id without waiting until it is ready.

        Args:
            asked: The server's options, by the names of the flags of `assay broker`.
            log: The file to which the server writes its log.
            controlled: Whether `control` works for the server.
            can_lose_power: Whether `cut_power` works for the server, which must be controlled.

        Raises:
            BackendError: The server cannot be started.
        """
        with self._forking:
            self._start()
            self._send(Fork(asked=dict(asked), log=str(log), controlled=controlled, can_lose_power=can_lose_power))
            return self._await(lambda: self._forked.pop() if self._forked else None, START_LIMIT_S, "fork a server")

    def ready(self, pid: int) -> Listening | None:
        """Wait until a server is ready or has ended.

        Returns:
            The addresses at which the server listens; None if the server ended before it was ready.

        Raises:
            BackendError: The server was not ready and did not end within `START_LIMIT_S`.
        """
        self._await(
            lambda: True if pid in self._ready or pid in self._exited else None, START_LIMIT_S, "get a server ready"
        )
        return None if pid in self._exited else self._ready.pop(pid)

    def control(self, pid: int, control: Control) -> None:
        """Send a control, such as a fault, to a server's process, and wait until the server has carried it out.

        Raises:
            BackendError: The server took longer than `CONTROL_LIMIT_S`, or ended.
        """
        number = next(self._numbers)
        self._send(PassOn(pid, NumberedControl(number, control)))
        done = self._await(
            lambda: True if number in self._carried_out else False if pid in self._exited else None,
            CONTROL_LIMIT_S,
            "control a server",
        )
        if not done:
            raise BackendError("the server ended before it carried out a control")

    def cut_power(self, pid: int) -> None:
        """Let a server discard what it has not flushed and kill itself; `exited` waits for its end.

        Raises:
            BackendError: The fork server has ended.
        """
        self._send(PassOn(pid, NumberedControl(next(self._numbers), CutPower())))

    def watch(self, pid: int, observer: Callable[[DiskSeen], None]) -> None:
        """Report each write, flush and loss of records in a server's store to an observer.

        Args:
            pid: The server's process id.
            observer: Called on the thread that reads the fork server's events.

        Raises:
            BackendError: The server took longer than `CONTROL_LIMIT_S`, or ended.
        """
        self._watchers[pid] = observer
        self.control(pid, WatchDisk())

    def signal(self, pid: int, number: int) -> None:
        """Send a signal to a server; do nothing after the server has ended.

        Raises:
            BackendError: The fork server has ended.
        """
        self._send(Signal(pid, number))

    def exit_code(self, pid: int) -> int | None:
        """Return the exit code of a server, negative for a signal as in `subprocess`; None while the server runs."""
        with self._changed:
            return self._exited.get(pid)

    def exited(self, pid: int) -> int:
        """Wait until a server has ended and return its exit code.

        Raises:
            BackendError: The server did not end within `STOP_LIMIT_S`.
        """
        return self._await(lambda: self._exited.get(pid), STOP_LIMIT_S, "see a server end")

    def close(self) -> None:
        """Kill the remaining servers and end the fork server."""
        channel, self._channel = self._channel, None
        if channel is None:
            return
        with suppress(OSError):  # the fork server has ended already
            channel.requests.close()
        self.host.close()

    def _start(self) -> None:
        if self._channel is not None:
            return
        with ctrl_c_deferred():
            self._channel = self.host.open()
        threading.Thread(
            target=self._listen, args=(self._channel.events,), name="assay-fork-server", daemon=True
        ).start()

    def _send(self, request: AnyRequest) -> None:
        if self._channel is None:
            raise BackendError("the fork server has not been started")
        try:
            self._channel.requests.write(msgspec.json.encode(request) + b"\n")
            self._channel.requests.flush()
        except OSError as error:
            raise BackendError(f"the fork server has ended: {error}") from error

    def _listen(self, events: IO[bytes]) -> None:
        with events as lines:
            for line in lines:
                self._handle(msgspec.json.decode(line, type=AnyEvent))
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _handle(self, event: AnyEvent) -> None:
        with self._changed:
            match event:
                case Forked(pid=pid):
                    self._forked.append(pid)
                case Listening(pid=pid):
                    self._ready[pid] = event
                case Controlled(number=number):
                    self._carried_out.add(number)
                case DiskSeen(pid=pid):
                    self._watchers[pid](event)
                case Exited(pid=pid, code=code):
                    self._exited[pid] = code
            self._changed.notify_all()

    def _await(self, find: Callable[[], T | None], limit_s: float, what: str) -> T:
        found: T | None = None

        def decided() -> bool:
            nonlocal found
            found = find()
            return found is not None or self._over

        with self._changed:
            self._changed.wait_for(decided, limit_s)
        if found is None:
            why = "the fork server has ended" if self._over else f"this took more than {limit_s} s"
            raise BackendError(f"the fork server could not {what}: {why}")
        return found
