"""The client processes of a soak, as the controller sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import cast

from msgspec import Struct

from assay.campaign.clients import ClientDownError
from assay.soak.client import READY, STOP, ClientOrder, Report

START_LIMIT_S = 120.0
STOP_LIMIT_S = 20.0

Main = Callable[[ClientOrder, Connection], None]
"""The main function of a client's process."""


class _Running(Struct, eq=False):
    order: ClientOrder
    process: ForkServerProcess
    control: Connection
    report: Report = Report()


class Clients:
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
            except EOFError:
                said = None
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
        """Send a message to all clients."""
        for one in self._running:
            try:
                one.control.send(word)
            except BrokenPipeError as error:
                raise _down(one) from error

    def listen(self, seconds: float) -> None:
        """Wait for reports, at most this number of seconds; take the first ones that come, and return.

        Raises:
            ClientDownError: A client has ended by itself.
        """
        by_control = {one.control: one for one in self._running}
        for ready in cast("list[Connection]", wait(list(by_control), seconds)):
            one = by_control[ready]
            try:
                one.report = ready.recv()
            except EOFError as error:
                raise _down(one) from error

    def stop(self) -> tuple[str, ...]:
        """Make each client close its journal and end; kill the ones that do not.

        Returns:
            The names of the clients that did not end in order.
        """
        for one in self._running:
            try:
                one.control.send(STOP)
            except OSError:  # it has ended already
                continue
        failed = tuple(one.order.name for one in self._running if not self._ends(one))
        for one in self._running:
            if one.process.is_alive():
                one.process.kill()
                one.process.join()
        return failed

    def abandon(self) -> None:
        """Kill the clients that still run."""
        for one in self._running:
            if one.process.is_alive():
                one.process.kill()
                one.process.join()
            one.control.close()
        self._running = []

    def _ends(self, one: _Running) -> bool:
        for report in _last(one.control):
            one.report = report
        one.process.join(STOP_LIMIT_S)
        return one.process.exitcode == 0


def _last(control: Connection) -> Iterator[Report]:
    """Yield the reports that a client sends until it ends, or until it is silent for too long."""
    try:
        while control.poll(STOP_LIMIT_S):
            said = control.recv()
            if isinstance(said, Report):
                yield said
    except (EOFError, OSError):
        return


def _down(one: _Running) -> ClientDownError:
    one.process.join(1)
    return ClientDownError(f"The client {one.order.name} ended by itself (exit code {one.process.exitcode}).")
