"""What a server is put together from, as it sees it: its gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from assay_broker.server.options import ServerOptions
from assay_broker.shell import QueueManager
from assay_sdk.time import Runner

if TYPE_CHECKING:
    from assay_broker.http.requests.request import ConnectionView


class ListenerPort(Protocol):
    """Lets clients or administrators in."""

    @property
    def address(self) -> tuple[str, int]:
        """Where it listens."""
        ...

    async def start(self, host: str, port: int) -> None:
        """Listen.

        Raises:
            ServerError: It cannot.
        """
        ...

    async def drain(self) -> None:
        """Take nobody in any more, ask everybody to go, and wait for that within a bound."""
        ...

    async def close(self) -> None:
        """End all connections at once."""
        ...


class AmqpListenerPort(ListenerPort, Protocol):
    """Lets AMQP clients in."""

    def views(self) -> Sequence[ConnectionView]:
        """Who is connected, as a status page shows it."""
        ...


class Parts(Protocol):
    """Makes what a server is put together from; each is made once, in this order."""

    def secure(self, options: ServerOptions) -> None:
        """Read users and certificates.

        Raises:
            OptionsError: Something is wrong with them.
        """
        ...

    def amqp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> AmqpListenerPort:
        """Make the listener for AMQP clients."""
        ...

    def http(
        self,
        options: ServerOptions,
        queue_manager: QueueManager,
        runner: Runner,
        views: Callable[[], Sequence[ConnectionView]],
    ) -> ListenerPort:
        """Make the listener for administrators, who see the connections of clients."""
        ...
