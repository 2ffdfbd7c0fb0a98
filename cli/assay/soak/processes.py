"""The controller's side of the client processes of a soak: it starts them, reads their reports and stops them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import cast

from msgspec import Struct

from assay.campaign.clients import ClientDownError
from assay.soak.client import END_CALL, READY, STOP, ClientOrder, Failed, Report

START_LIMIT_S = 120.0
STOP_LIMIT_S = 60.0
"""The longest time, in seconds, in which all clients together close their connections and journals."""
CALL_LIMIT_S = 10.0
"""After the stop, the clients' calls must return within this many seconds.

Without a limit, an MQ Light client whose broker is gone would send its message again and again.
"""
_AGAIN_S = 0.5
"""The time from one `END_CALL` to the next, in seconds; an interrupted send ends only at the second signal."""

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that stop the command."""

Main = Callable[[ClientOrder, Connection], None]
"""The main function of a client's process."""


class _Running(Struct, eq=False):
    order: ClientOrder
    process: ForkServerProcess
    control: Connection
    report: Report = Report()


class ClientProcesses:
    """The client processes; as they run, they report to the controller.

    Args:
        context: The `multiprocessing` context that creates the processes.
    """

    def __init__(self, context: ForkServerContext) -> None:
        self._context = context
        self._running: list[_Running] = []

    def start(self, main: Main, orders: Iterable[ClientOrder]) -> None:
        """Start a process for each order."""
        for order in orders:
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=main, args=(order, theirs), daemon=True)
            process.start()
            theirs.close()
            self._running.append(_Running(order, process, ours))

    def await_ready(self) -> None:
        """Wait until each client has begun its journal.

        Raises:
            ClientDownError: A client did not start.
        """
        for one in self._running:
            try:
                said = one.control.recv() if one.control.poll(START_LIMIT_S) else None
            except (EOFError, OSError):
                said = None
            if isinstance(said, Failed):
                raise _failed(one, said)
            if said != READY:
                raise ClientDownError(f"The client {one.order.name} did not start.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the clients and of their journals."""
        return tuple(one.order.name for one in self._running)

    @property
    def reports(self) -> tuple[Report, ...]:
        """The last report of each client."""
        return tuple(one.report for one in self._running)

    def tell(self, word: object) -> None:
        """Send a message to all clients.

        Raises:
            ClientDownError: A client has failed, or has ended by itself.
        """
        for one in self._running:
            try:
                one.control.send(word)
            except OSError as error:
                raise _down(one) from error

    def listen(self, seconds: float) -> None:
        """Wait for reports, for at most this number of seconds; store the first ones that come, and return.

        Raises:
            ClientDownError: A client has failed, or has ended by itself.
        """
        by_control = {one.control: one for one in self._running}
        for ready in cast("list[Connection]", wait(list(by_control), seconds)):
            one = by_control[ready]
            try:
                said = ready.recv()
            except (EOFError, OSError) as error:  # OSError if the client ended with an unread message
                raise _down(one) from error
            if isinstance(said, Failed):
                raise _failed(one, said)
            one.report = said

    def stop(self) -> tuple[str, ...]:
        """Make each client close its journal and end.

        Calls that have not returned within `CALL_LIMIT_S` are ended, and clients that have not ended within
        `STOP_LIMIT_S` are killed.

        Returns:
            The names of the clients that did not close their journals and end properly.
        """
        stopped_s = time.monotonic()
        deadline_s = stopped_s + STOP_LIMIT_S
        for one in self._running:
            try:
                one.control.send(STOP)
            except OSError:  # it has ended already
                continue
        _await_ends(self._running, min(deadline_s, stopped_s + CALL_LIMIT_S))
        while time.monotonic() < deadline_s and (waiting := [one for one in self._running if one.process.is_alive()]):
            for one in waiting:
                _end_call(one)
            _await_ends(waiting, min(deadline_s, time.monotonic() + _AGAIN_S))
        return self.kill()

    def kill(self) -> tuple[str, ...]:
        """Kill the clients that still run.

        Returns:
            The names of these clients, and of those that have ended with an error.
        """
        for one in self._running:
            if one.process.is_alive():
                one.process.kill()
            one.process.join()
        return tuple(one.order.name for one in self._running if one.process.exitcode != 0)

    def abandon(self) -> None:
        """Kill the clients that still run, and forget all clients."""
        self.kill()
        for one in self._running:
            one.control.close()
        self._running = []


def prepare() -> None:
    """Start the fork server of the clients; it ignores the signals that stop the command, as the clients do.

    A terminal sends SIGINT at Ctrl-C, and SIGHUP when it closes, to all processes of the command.  Only the controller
    may obey, because it makes the clients close their journals.
    """
    with _ignored():
        forkserver.ensure_running()


@contextmanager
def _ignored() -> Generator[None]:
    """Ignore the signals in `_STOPS`; processes that are started in the block ignore them, too."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _STOPS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _await_ends(clients: Iterable[_Running], deadline_s: float) -> None:
    """Wait until all clients have ended, at most until the deadline, and store their last reports."""
    for one in clients:
        for said in _last(one.control, deadline_s):
            one.report = said if isinstance(said, Report) else one.report
        one.process.join(_left_s(deadline_s))


def _end_call(one: _Running) -> None:
    if one.process.pid is not None:
        with suppress(ProcessLookupError):  # it has ended just now
            os.kill(one.process.pid, END_CALL)


def _last(control: Connection, deadline_s: float) -> Iterator[Report | Failed]:
    """Yield a client's reports and the report of its failure, until the client ends or the deadline is over."""
    try:
        while control.poll(_left_s(deadline_s)):
            said = control.recv()
            if isinstance(said, Report | Failed):
                yield said
    except (EOFError, OSError):
        return


def _left_s(deadline_s: float) -> float:
    return max(0.0, deadline_s - time.monotonic())


def _failed(one: _Running, said: Failed) -> ClientDownError:
    return ClientDownError(f"The client {one.order.name} failed: {said.why}")


def _down(one: _Running) -> ClientDownError:
    one.process.join(1)
    for said in _last(one.control, time.monotonic()):
        if isinstance(said, Failed):
            return _failed(one, said)
    return ClientDownError(f"The client {one.order.name} ended by itself (exit code {one.process.exitcode}).")
