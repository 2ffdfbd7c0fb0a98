"""A server as the process of a command: signals, limits of the process, and the ready file."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from assay_broker.amqp.limits import AmqpLimits
from assay_broker.server.errors import OptionsError
from assay_broker.server.files import Launch
from assay_broker.server.options import ServerOptions
from assay_broker.server.parts import Parts
from assay_broker.server.server import BrokerServer, open_store
from assay_broker.stores import Store

_LOG = logging.getLogger(__name__)
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_YOUNG = 50_000
"""The garbage collector's threshold: objects created less objects freed."""
_FILES = 256
"""Open files besides the clients' sockets."""
_LONGEST_WORD = 65_536
"""Octets of a ready file."""
_KILLED = 128
"""Added to a signal's number for the exit status, as shells do."""


class Ready(Struct, frozen=True, kw_only=True):
    """That a server is ready, and its addresses; a ready file holds it as JSON.

    Args:
        name: The queue manager's name.
        amqp: Where AMQP clients connect; None for nowhere.
        http: Where administrators do; None for nowhere.
        data: The folder of its store; None for memory.
        pid: The process.
    """

    name: str
    amqp: str | None
    http: str | None
    data: str | None
    pid: int

    @property
    def sentence(self) -> str:
        """The same as a sentence."""
        kept = (
            "keeps everything in memory, which ends with it" if self.data is None else f"keeps its data in {self.data}"
        )
        where = " and ".join(one for one in (self.amqp, self.http) if one is not None)
        return f"{self.name} is ready at {where}; it {kept}."


async def run(
    launch: Launch,
    told: Callable[[Ready], None],
    parts: Parts | None = None,
    store: Callable[[ServerOptions], Store] = open_store,
) -> None:
    """Run a server until SIGTERM, SIGINT or SIGHUP, which stop it in order.

    A second SIGTERM or SIGINT ends the process at once.

    Args:
        launch: What to run.
        told: Told when it is ready.
        parts: What it is put together from; None for the real ones.
        store: Opens its store.

    Raises:
        ServerError: It cannot be started, or could not keep everything.
    """
    leave = asyncio.Event()

    def signalled(number: int) -> None:
        if leave.is_set():
            if number == signal.SIGHUP:
                return  # shell and system both send it when a terminal is closed
            os._exit(_KILLED + number)
        leave.set()

    with _heeded(signalled):
        await _live(launch, told, parts, store, leave)


async def _live(
    launch: Launch,
    told: Callable[[Ready], None],
    parts: Parts | None,
    store: Callable[[ServerOptions], Store],
    leave: asyncio.Event,
) -> None:
    """Run a server until it is told to stop."""
    _check_ready_file(launch)

    def opened(options: ServerOptions) -> Store:
        made = store(options)
        _forget_dead(launch.ready_file, options)
        return made

    server = BrokerServer(_affordable(launch.server), parts, opened)
    await server.start()
    _spare_collector()
    try:
        ready = Ready(
            name=launch.server.name,
            amqp=server.amqp_url or None,
            http=server.http_url or None,
            data=None if launch.server.data is None else str(launch.server.data),
            pid=os.getpid(),
        )
        with _announced(ready, launch.ready_file):
            told(ready)
            await leave.wait()
    finally:
        await server.stop()


@contextmanager
def _heeded(signalled: Callable[[int], None]) -> Generator[None]:
    """Handle signals, except those that a shell has set to be ignored for background processes."""
    loop = asyncio.get_running_loop()
    heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heeded:
        loop.add_signal_handler(number, signalled, number)
    try:
        yield
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)  # uvloop leaves them behind when it is closed


def _affordable(options: ServerOptions) -> ServerOptions:
    """Limit connections to the open files allowed: running out of them would affect clients that are connected."""
    connections = int(options.amqp_limits.get("connections", AmqpLimits().connections))
    files = _open_files(connections + _FILES)
    if files is None or files >= connections + _FILES:
        return options
    fit = max(files - _FILES, files // 2)
    told = "the system lets this process have %s files open: %s connections are let in at a time, and not %s"
    _LOG.warning(told, files, fit, connections)
    return replace(options, amqp_limits={**options.amqp_limits, "connections": fit})


def _open_files(wanted: int) -> int | None:
    """Raise the limit of open files to this number, and return it; None for no limit.

    Most systems begin with about a thousand, for old programs that cannot use more; a process may raise it.
    """
    try:
        import resource  # not on every system
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    more = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if more > soft:
        with suppress(ValueError, OSError):  # some systems have a limit of their own besides
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
            soft = more
    return soft


def _spare_collector() -> None:
    """Run the garbage collector less often, and never on objects from before the first message.

    A broker allocates for each message, and messages that wait are many objects: with Python's own thresholds the
    collector takes a fifth of its time.  Nothing here relies on it: what a message needs is let go by its last user.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 100)


def _check_ready_file(launch: Launch) -> None:
    """Refuse a ready file that cannot be written, before anything else is created."""
    path, data = launch.ready_file, launch.server.data
    if path is None:
        return
    folder = path.parent.resolve()
    if data is not None and not folder.exists() and folder in (data.resolve(), *data.resolve().parents):
        return  # it is made with the store's
    if not folder.is_dir():
        raise _unwritable(path, f"{path.parent} is no folder")
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unwritable(path, os.strerror(errno.EACCES))


def _forget_dead(path: Path | None, options: ServerOptions) -> None:
    """Remove the ready file of a server that was killed, so that a script does not take it for this one's.

    The file belongs to this folder, which this process has locked, so that no other server can be running.
    """
    if path is None or options.data is None or not path.is_file():
        return
    try:
        with path.open("rb") as file:
            told = msgspec.json.decode(file.read(_LONGEST_WORD), type=Ready)
        if told.data == str(options.data):
            path.unlink(missing_ok=True)
    except msgspec.DecodeError:
        return  # a file of another kind: this server overwrites it when it is ready
    except OSError as error:
        raise _unwritable(path, error.strerror) from error


def _unwritable(path: Path, why: str | None) -> OptionsError:
    return OptionsError(f"the ready file {path} cannot be written: {why}; name another place")


@contextmanager
def _announced(ready: Ready, path: Path | None) -> Generator[None]:
    """Keep the ready file for the length of a block."""
    if path is None:
        yield
        return
    beginning = path.with_name(f"{path.name}.{ready.pid}")
    try:
        beginning.write_bytes(msgspec.json.encode(ready) + b"\n")
        beginning.replace(path)  # a reader never sees a partial file
    except OSError as error:
        raise _unwritable(path, error.strerror) from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
