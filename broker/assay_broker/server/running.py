"""Runs a server for `assay broker` and the fork server: signals, the process's limits and the ready file."""

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
from assay_broker.stomp.limits import StompLimits
from assay_broker.stores import Store

_LOG = logging.getLogger(__name__)
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_YOUNG = 50_000
"""The garbage collector's first threshold: it runs once this many more objects were created than freed."""
_FILES = 256
"""The number of files that the server opens in addition to the clients' sockets."""
_LONGEST_WORD = 65_536
"""The most octets that the server reads of an existing ready file."""
_KILLED = 128
"""The number that is added to a signal's number for the exit status, as shells do."""


class Ready(Struct, frozen=True, kw_only=True):
    """The announcement that a server is ready, with the server's addresses; the ready file contains it as JSON.

    Args:
        name: The queue manager's name.
        amqp: The URL for AMQP clients; None without an AMQP listener.
        stomp: The URL for STOMP clients; None without a STOMP listener.
        http: The URL for administrators; None without an HTTP listener.
        data: The folder of the store; None for a store in memory.
        pid: The id of the server's process.
    """

    name: str
    amqp: str | None
    http: str | None
    data: str | None
    pid: int
    stomp: str | None = None

    @property
    def sentence(self) -> str:
        """The announcement as a sentence for a person."""
        kept = "keeps its data in memory only" if self.data is None else f"keeps its data in {self.data}"
        *first, last = (one for one in (self.amqp, self.stomp, self.http) if one is not None)
        where = f"{', '.join(first)} and {last}" if first else last
        return f"{self.name} is ready at {where}; it {kept}."


async def run(
    launch: Launch,
    told: Callable[[Ready], None],
    parts: Parts | None = None,
    store: Callable[[ServerOptions], Store] = open_store,
) -> None:
    """Run a server until SIGTERM, SIGINT or SIGHUP stops it normally.

    A second SIGTERM or SIGINT ends the process at once.

    Args:
        launch: The options of the server and the command.
        told: Called once, when the server is ready.
        parts: The factory of the server's parts; None for the real parts.
        store: Opens the server's store.

    Raises:
        ServerError: The server cannot start, or its store could not write everything at the end.
    """
    leave = asyncio.Event()

    def signalled(number: int) -> None:
        if leave.is_set():
            if number == signal.SIGHUP:
                return  # when a terminal closes, both the shell and the system send SIGHUP
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
    """Run a server until the event is set.

    Args:
        launch: The options of the server and the command.
        told: Called once, when the server is ready.
        parts: The factory of the server's parts; None for the real parts.
        store: Opens the server's store.
        leave: The event that stops the server.

    Raises:
        ServerError: The server cannot start, or its store could not write everything at the end.
    """
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
            stomp=server.stomp_url or None,
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
    """Handle the signals that stop a server, except signals that the process ignores already.

    A shell may make background processes ignore SIGINT, so that Ctrl-C does not stop them.

    Args:
        signalled: Called with the number of each signal.
    """
    loop = asyncio.get_running_loop()
    heeded = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heeded:
        loop.add_signal_handler(number, signalled, number)
    try:
        yield
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)  # uvloop does not remove them when it closes


def _affordable(options: ServerOptions) -> ServerOptions:
    """Return the options with no more connections than the process may have open files.

    Otherwise, a new client could use up the last file, and connected clients would fail.
    """
    amqp = 0 if options.amqp is None else int(options.amqp_limits.get("connections", AmqpLimits().connections))
    stomp = 0 if options.stomp is None else int(options.stomp_limits.get("connections", StompLimits().connections))
    connections = amqp + stomp
    files = _open_files(connections + _FILES)
    if files is None or files >= connections + _FILES or not connections:
        return options
    fit = max(files - _FILES, files // 2)
    told = "the system lets this process open %s files, so at most %s clients can connect at a time, not %s"
    _LOG.warning(told, files, fit, connections)
    share = fit * amqp // connections  # each listener gets its part of the files
    return replace(
        options,
        amqp_limits={**options.amqp_limits, "connections": share} if amqp else options.amqp_limits,
        stomp_limits={**options.stomp_limits, "connections": fit - share} if stomp else options.stomp_limits,
    )


def _open_files(wanted: int) -> int | None:
    """Raise the process's limit of open files, as far as the system allows.

    Most systems start a process with a limit of about a thousand, which the process may raise.

    Args:
        wanted: The number of files that the server needs.

    Returns:
        The limit afterwards; None for no limit.
    """
    try:
        import resource  # does not exist on every system
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    more = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if more > soft:
        with suppress(ValueError, OSError):  # some systems refuse values below the hard limit
            resource.setrlimit(resource.RLIMIT_NOFILE, (more, hard))
            soft = more
    return soft


def _spare_collector() -> None:
    """Make the garbage collector run less often, and skip the objects that exist now.

    A broker creates objects for each message, and waiting messages are many objects.  With Python's own thresholds the
    collector takes a fifth of the broker's time (`bench/broker.py durable`).  The objects of a message are freed
    without the collector, by reference counts.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 20, 100)


def _check_ready_file(launch: Launch) -> None:
    """Check that the ready file can be written, before the server creates other files.

    Raises:
        OptionsError: The ready file cannot be written.
    """
    path, data = launch.ready_file, launch.server.data
    if path is None:
        return
    folder = path.parent.resolve()
    if data is not None and not folder.exists() and folder in (data.resolve(), *data.resolve().parents):
        return  # the store will create the folder
    if not folder.is_dir():
        raise _unwritable(path, f"{path.parent} is not a folder")
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unwritable(path, os.strerror(errno.EACCES))


def _forget_dead(path: Path | None, options: ServerOptions) -> None:
    """Remove the ready file of a killed server, so that a script does not mistake it for this server's file.

    The file is removed only if it names the folder of this server's store. This process has locked that folder, so the
    server that wrote the file has ended.
    """
    if path is None or options.data is None or not path.is_file():
        return
    try:
        with path.open("rb") as file:
            told = msgspec.json.decode(file.read(_LONGEST_WORD), type=Ready)
        if told.data == str(options.data):
            path.unlink(missing_ok=True)
    except msgspec.DecodeError:
        return  # not a ready file; this server overwrites it later
    except OSError as error:
        raise _unwritable(path, error.strerror) from error


def _unwritable(path: Path, why: str | None) -> OptionsError:
    return OptionsError(f"the ready file {path} cannot be written: {why}; name another place")


@contextmanager
def _announced(ready: Ready, path: Path | None) -> Generator[None]:
    """Write the ready file, and remove it at the end of the ``with`` block; do nothing without a path."""
    if path is None:
        yield
        return
    beginning = path.with_name(f"{path.name}.{ready.pid}")
    try:
        beginning.write_bytes(msgspec.json.encode(ready) + b"\n")
        beginning.replace(path)  # atomic, so that a reader never sees a partial file
    except OSError as error:
        raise _unwritable(path, error.strerror) from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
