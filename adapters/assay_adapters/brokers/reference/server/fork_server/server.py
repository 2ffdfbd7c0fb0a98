"""The fork server's process (``python -m``): it loads the broker's modules once, and forks a server for each `Fork`.

`assay broker` needs more time to load its modules than many scenarios last. A fork has the modules at once, and the kit
can still kill, stop and pause it as a process.

The fork server reads requests and writes events (`assay_adapters.brokers.reference.server.fork_server.messages`) on
standard input and output, or on the Unix socket that its argument names. When the stream of requests ends, because the
kit has ended, the fork server kills all its servers and ends.
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

from assay_adapters.brokers.reference.server.fork_server.control import ServerControl
from assay_adapters.brokers.reference.server.fork_server.messages import (
    CRASHED,
    AnyEvent,
    AnyRequest,
    Exited,
    Fork,
    Forked,
    Listening,
    PassOn,
    Signal,
)
from assay_broker.server import loops
from assay_broker.server.errors import ServerError
from assay_broker.server.files import asked, launch
from assay_broker.server.logs import set_up
from assay_broker.server.running import Ready, run
from assay_broker.server.wiring import Wiring
from assay_broker.stores.watched import WatchedDisk

_PRELOADED = ("assay_broker.amqp", "assay_broker.http", "assay_broker.security")
_READ_SIZE = 1 << 16
_NOT_AS_ASKED = 1
"""The exit code of a server that cannot run with its options on this machine, for example on a full disk."""


def main() -> None:
    """Carry out the requests from standard input, or from a Unix socket, until the stream ends."""
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.freeze()  # otherwise garbage collections in forks write to shared pages, which the kernel must copy
    if len(sys.argv) > 1:
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(sys.argv[1])
            os.dup2(line.fileno(), sys.stdin.fileno())
            os.dup2(line.fileno(), sys.stdout.fileno())
    events = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with selectors.DefaultSelector() as waiting:
        _Forker(events, waiting).serve()


class _Forker:
    def __init__(self, events: int, waiting: selectors.BaseSelector) -> None:
        self._events = events
        self._waiting = waiting
        self._servers: dict[int, int] = {}
        """For each server's process id, a file descriptor that becomes readable when the server ends."""
        self._controls: dict[int, int] = {}
        """For each server's process id, the writing end of the pipe from which the server reads controls."""
        self._rest = b""

    def serve(self) -> None:
        requests = sys.stdin.fileno()
        self._waiting.register(requests, selectors.EVENT_READ)
        while True:
            for key, _ in self._waiting.select():
                if key.data is not None:
                    self._reap(key.data)
                elif not self._take(os.read(requests, _READ_SIZE)):
                    for pid in tuple(self._servers):
                        os.kill(pid, signal.SIGKILL)
                        self._reap(pid)
                    return

    def _take(self, octets: bytes) -> bool:
        *lines, self._rest = (self._rest + octets).split(b"\n")
        for line in lines:
            self._do(msgspec.json.decode(line, type=AnyRequest))
        return bool(octets)

    def _do(self, request: AnyRequest) -> None:
        if isinstance(request, Signal):
            if request.pid in self._servers:  # before `_reap`, the kernel does not give this id to another process
                os.kill(request.pid, request.number)
            return
        if isinstance(request, PassOn):
            if request.pid in self._servers:
                os.write(self._controls[request.pid], msgspec.json.encode(request.control) + b"\n")
            return
        readable, writable = os.pipe()
        pid = os.fork()
        if pid == 0:
            become_server(request, self._events, readable)
        os.close(readable)
        self._controls[pid] = writable
        self._servers[pid] = os.pidfd_open(pid)
        self._waiting.register(self._servers[pid], selectors.EVENT_READ, pid)
        report(self._events, Forked(pid))

    def _reap(self, pid: int) -> None:
        _, status = os.waitpid(pid, 0)
        number = self._servers.pop(pid)
        self._waiting.unregister(number)
        os.close(number)
        os.close(self._controls.pop(pid))
        report(self._events, Exited(pid, os.waitstatus_to_exitcode(status)))


def report(to: int, event: AnyEvent) -> None:
    """Write an event as one line."""
    with suppress(BrokenPipeError):  # the kit has ended
        os.write(to, msgspec.json.encode(event) + b"\n")


def become_server(request: Fork, events: int, controls: int) -> NoReturn:
    """Run a server in this forked process, and end the process with the server.

    Args:
        request: The server's options and its log.
        events: The descriptor to which the server's events are written.
        controls: The descriptor from which the server's controls are read.
    """
    code = _NOT_AS_ASKED
    try:
        log = os.open(request.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.dup2(log, sys.stdout.fileno())
        os.dup2(log, sys.stderr.fileno())
        os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
        what = launch(asked(request.asked))
        set_up(what.log)

        def on_ready(ready: Ready) -> None:
            report(
                events, Listening(pid=ready.pid, amqp=ready.amqp or "", http=ready.http or "", stomp=ready.stomp or "")
            )

        if request.controlled:
            disk = WatchedDisk() if request.can_lose_power else None
            control = ServerControl(Wiring(), controls, lambda event: report(events, event), disk)
            job = run(what, on_ready, control, control.open_store)
        else:
            job = run(what, on_ready)
        loops.run(job, encrypted=what.server.tls_key is not None)
        code = 0
    except ServerError as error:
        sys.stderr.write(f"{error}\n")
    except BaseException:  # noqa: BLE001  SystemExit too: a fork must never continue as a second fork server
        code = CRASHED
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
