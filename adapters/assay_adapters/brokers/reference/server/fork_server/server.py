"""``python -m assay_adapters.brokers.reference.server.fork_server.server [SOCKET]``: a process that forks servers.

What `assay broker` takes longest for is to load its modules, longer than many a scenario lasts.  A fork has them at
once, and is a process like any other: it can be killed, stopped, paused.  Orders come in and news goes out
(`assay_adapters.brokers.reference.server.fork_server.messages`), over standard input and output or over the socket that is named; when no more orders
come, because whoever gives them is no more, every server is killed.
"""

from __future__ import annotations

import gc
import importlib
import os
import selectors
import signal
import socket
import sys
import traceback
from contextlib import suppress
from typing import NoReturn

import msgspec

from assay_adapters.brokers.reference.server.fork_server.control import Hand
from assay_adapters.brokers.reference.server.fork_server.messages import (
    AnyNews,
    AnyOrder,
    Ask,
    Exited,
    Fork,
    Forked,
    Listening,
    Signal,
)
from assay_broker.server import loops
from assay_broker.server.errors import ServerError
from assay_broker.server.files import asked, launch
from assay_broker.server.logs import set_up
from assay_broker.server.running import Ready, run
from assay_broker.server.wiring import Wiring

_PRELOADED = ("assay_broker.amqp", "assay_broker.http", "assay_broker.security")
_READ_SIZE = 1 << 16
_NOT_AS_ASKED = 1


def main() -> None:
    """Take orders until there are no more."""
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.freeze()  # what is loaded is shared between the forks as long as nobody writes to it
    if len(sys.argv) > 1:
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(sys.argv[1])
            os.dup2(line.fileno(), sys.stdin.fileno())
            os.dup2(line.fileno(), sys.stdout.fileno())
    news = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with selectors.DefaultSelector() as waiting:
        _Nursery(news, waiting).live()


class _Nursery:
    def __init__(self, news: int, waiting: selectors.BaseSelector) -> None:
        self._news = news
        self._waiting = waiting
        self._servers: dict[int, int] = {}
        """File descriptors that get readable when a server is no more, by its pid."""
        self._controls: dict[int, int] = {}
        """Where what is asked of a server is written, by its pid."""
        self._rest = b""

    def live(self) -> None:
        orders = sys.stdin.fileno()
        self._waiting.register(orders, selectors.EVENT_READ)
        while True:
            for key, _ in self._waiting.select():
                if key.data is not None:
                    self._reap(key.data)
                elif not self._take(os.read(orders, _READ_SIZE)):
                    for pid in tuple(self._servers):
                        os.kill(pid, signal.SIGKILL)
                        self._reap(pid)
                    return

    def _take(self, octets: bytes) -> bool:
        *lines, self._rest = (self._rest + octets).split(b"\n")
        for line in lines:
            self._do(msgspec.json.decode(line, type=AnyOrder))
        return bool(octets)

    def _do(self, order: AnyOrder) -> None:
        if isinstance(order, Signal):
            if order.pid in self._servers:  # not reaped, so the number is nobody else's
                os.kill(order.pid, order.number)
            return
        if isinstance(order, Ask):
            if order.pid in self._servers:
                os.write(self._controls[order.pid], msgspec.json.encode(order.asked) + b"\n")
            return
        heard, control = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become_server(order, self._news, heard)
        os.close(heard)
        self._controls[pid] = control
        self._servers[pid] = os.pidfd_open(pid)
        self._waiting.register(self._servers[pid], selectors.EVENT_READ, pid)
        tell(self._news, Forked(pid))

    def _reap(self, pid: int) -> None:
        _, status = os.waitpid(pid, 0)
        number = self._servers.pop(pid)
        self._waiting.unregister(number)
        os.close(number)
        os.close(self._controls.pop(pid))
        tell(self._news, Exited(pid, os.waitstatus_to_exitcode(status)))


def tell(to: int, news: AnyNews) -> None:
    """Write a line; whole, since it is short (PIPE_BUF), whoever else writes."""
    with suppress(BrokenPipeError):  # nobody is left to be told
        os.write(to, msgspec.json.encode(news) + b"\n")


def _become_server(order: Fork, news: int, control: int) -> NoReturn:
    code = _NOT_AS_ASKED
    try:
        log = os.open(order.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(log, sys.stdout.fileno())
        os.dup2(log, sys.stderr.fileno())
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        what = launch(asked(order.asked))
        set_up(what.log)

        def told(ready: Ready) -> None:
            tell(news, Listening(pid=ready.pid, amqp=ready.amqp or "", http=ready.http or ""))

        if order.hurtable:
            hand = Hand(Wiring(), control, lambda told: tell(news, told))
            job = run(what, told, hand, hand.open_store)
        else:
            job = run(what, told)
        loops.run(job, encrypted=what.server.tls_key is not None)
        code = 0
    except ServerError as error:
        sys.stderr.write(f"{error}\n")
    except BaseException:  # noqa: BLE001  SystemExit too: nothing runs on in a copy of the nursery
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
