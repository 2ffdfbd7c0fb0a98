"""The client processes of a campaign."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext, ForkServerProcess

from msgspec import Struct

from assay.campaign.client import DONE, END, ClientOrder, Role, play

PATIENCE_S = 120.0


class ClientDownError(Exception):
    """A client's process failed, so the campaign gives no verdict about the broker.

    Args:
        why: The reason, in one sentence.
    """


class _Running(Struct, frozen=True):
    order: ClientOrder
    process: ForkServerProcess
    control: Connection


class Clients:
    """Starts the client processes of a campaign and sends them commands.

    Args:
        orders: The clients' configurations.
        context: The `multiprocessing` context that creates the processes.
    """

    def __init__(self, orders: Sequence[ClientOrder], context: ForkServerContext) -> None:
        self._running = [self._start(order, context) for order in orders]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the clients and of their journals."""
        return tuple(one.order.name for one in self._running)

    def tell(self, word: object, roles: Collection[Role] = tuple(Role)) -> None:
        """Send a command to the clients with these roles; wait until each has executed it, or has begun to `Play`.

        Raises:
            ClientDownError: A client has ended, or has not executed the command.
        """
        meant = [one for one in self._running if one.order.role in roles]
        for one in meant:
            one.control.send(word)
        for one in meant:
            self._await(one)

    def each(self, words: Sequence[object]) -> None:
        """Send each client its own command, in the clients' order, and wait until each has executed it.

        Raises:
            ClientDownError: A client has ended, or has not executed its command.
        """
        for one, word in zip(self._running, words, strict=True):
            one.control.send(word)
        for one in self._running:
            self._await(one)

    def end(self) -> None:
        """Make each client close its journal and end.

        Raises:
            ClientDownError: A client has not ended, or has ended with an error.
        """
        for one in self._running:
            one.control.send(END)
        for one in self._running:
            one.process.join(PATIENCE_S)
            if one.process.exitcode != 0:
                raise ClientDownError(f"The client {one.order.name} ended with exit code {one.process.exitcode}.")
            one.control.close()

    def abandon(self) -> None:
        """Kill the client processes that still run."""
        for one in self._running:
            if one.process.is_alive():
                one.process.kill()
                one.process.join()

    @staticmethod
    def _start(order: ClientOrder, context: ForkServerContext) -> _Running:
        ours, theirs = context.Pipe()
        process = context.Process(target=play, args=(order, theirs), daemon=True)
        process.start()
        theirs.close()
        return _Running(order, process, ours)

    @staticmethod
    def _await(one: _Running) -> None:
        try:
            said = one.control.recv() if one.control.poll(PATIENCE_S) else None
        except EOFError:
            said = None
        if said != DONE:
            raise ClientDownError(f"The client {one.order.name} did not execute its command.")
