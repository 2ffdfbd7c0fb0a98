"""Where servers of the reference broker come from: forks of one process that has their modules loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO, TypeVar

import msgspec

from assay_adapters.brokers.reference.server.fork_server.hosts import Cradle, Here, Talk
from assay_adapters.brokers.reference.server.fork_server.messages import (
    AnyNews,
    AnyOrder,
    Ask,
    DiskSeen,
    Exited,
    Fork,
    Forked,
    Listening,
    Numbered,
    Signal,
    Touch,
    Touched,
    WatchDisk,
)
from assay_adapters.interrupts import ctrl_c_deferred
from assay_adapters.ports.backend import BackendError

T = TypeVar("T")

START_LIMIT_S = 60
"""How long a server may take to be ready, on a machine that is busy with many of them."""
TOUCH_LIMIT_S = 10
"""How long what is done to a server from inside may take."""
STOP_LIMIT_S = 30
"""How long it may take to stop in order; then the stop has failed."""


class Nursery:
    """The process, started when the first server is wanted; ends with this one, and its servers with it.

    Args:
        cradle: Where it lives; None for a process of this machine.
    """

    def __init__(self, cradle: Cradle | None = None) -> None:
        self.cradle: Cradle = cradle or Here()
        self._talk: Talk | None = None
        self._changed = threading.Condition()
        self._forking = threading.Lock()
        self._forked: list[int] = []
        self._ready: dict[int, Listening] = {}
        self._exited: dict[int, int] = {}
        self._touched: set[int] = set()
        self._touches = count(1)
        self._watchers: dict[int, Callable[[DiskSeen], None]] = {}
        self._over = False

    def fork(self, asked: Mapping[str, object], log: Path, *, hurtable: bool = False) -> int:
        """Start a server; returns its process id, at once.

        Args:
            asked: What it is asked to be, by the names of the flags of `assay broker`.
            log: The file to which it writes its log.
            hurtable: Whether it can be touched.

        Raises:
            BackendError: It cannot be started.
        """
        with self._forking:
            self._start()
            self._order(Fork(asked=dict(asked), log=str(log), hurtable=hurtable))
            return self._await(lambda: self._forked.pop() if self._forked else None, START_LIMIT_S, "fork a server")

    def ready(self, pid: int) -> Listening | None:
        """Wait until a server is ready; None when it has ended instead.

        Raises:
            BackendError: Neither has happened in time.
        """
        self._await(
            lambda: True if pid in self._ready or pid in self._exited else None, START_LIMIT_S, "have a server ready"
        )
        return None if pid in self._exited else self._ready.pop(pid)

    def touch(self, pid: int, touch: Touch) -> None:
        """Do something to a server from inside; returns when it is done.

        Raises:
            BackendError: It could not be done in time, or the server is no more.
        """
        number = next(self._touches)
        self._order(Ask(pid, Numbered(number, touch)))
        done = self._await(
            lambda: True if number in self._touched else False if pid in self._exited else None,
            TOUCH_LIMIT_S,
            "touch a server",
        )
        if not done:
            raise BackendError("the server ended before it was touched")

    def watch(self, pid: int, observer: Callable[[DiskSeen], None]) -> None:
        """Tell this observer, on a thread of the nursery's own, what the store of a server does.

        Raises:
            BackendError: As `touch`.
        """
        self._watchers[pid] = observer
        self.touch(pid, WatchDisk())

    def signal(self, pid: int, number: int) -> None:
        """Send a signal to a server of ours; nothing where that is no more.

        Raises:
            BackendError: The nursery is gone.
        """
        self._order(Signal(pid, number))

    def exit_code(self, pid: int) -> int | None:
        """The exit code of a server, as `subprocess` has it; None while it runs."""
        with self._changed:
            return self._exited.get(pid)

    def exited(self, pid: int) -> int:
        """Wait until a server is no more; its exit code.

        Raises:
            BackendError: It has not ended in time.
        """
        return self._await(lambda: self._exited.get(pid), STOP_LIMIT_S, "have a server end")

    def close(self) -> None:
        """Kill every server that is left, and end the process."""
        talk, self._talk = self._talk, None
        if talk is None:
            return
        with suppress(OSError):  # it is gone already
            talk.orders.close()
        self.cradle.close()

    def _start(self) -> None:
        if self._talk is not None:
            return
        with ctrl_c_deferred():
            self._talk = self.cradle.open()
        threading.Thread(target=self._listen, args=(self._talk.news,), name="assay-nursery", daemon=True).start()

    def _order(self, order: AnyOrder) -> None:
        if self._talk is None:
            raise BackendError("the process that servers come from has not been started")
        try:
            self._talk.orders.write(msgspec.json.encode(order) + b"\n")
            self._talk.orders.flush()
        except OSError as error:
            raise BackendError(f"the process that servers come from is gone: {error}") from error

    def _listen(self, news: IO[bytes]) -> None:
        with news as lines:
            for line in lines:
                self._hear(msgspec.json.decode(line, type=AnyNews))
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _hear(self, news: AnyNews) -> None:
        with self._changed:
            match news:
                case Forked(pid=pid):
                    self._forked.append(pid)
                case Listening(pid=pid):
                    self._ready[pid] = news
                case Touched(number=number):
                    self._touched.add(number)
                case DiskSeen(pid=pid):
                    self._watchers[pid](news)
                case Exited(pid=pid, code=code):
                    self._exited[pid] = code
            self._changed.notify_all()

    def _await(self, look: Callable[[], T | None], limit_s: float, what: str) -> T:
        found: T | None = None

        def looked() -> bool:
            nonlocal found
            found = look()
            return found is not None or self._over

        with self._changed:
            self._changed.wait_for(looked, limit_s)
        if found is None:
            why = "it is gone" if self._over else f"it took more than {limit_s} s"
            raise BackendError(f"the process that servers come from could not {what}: {why}")
        return found
