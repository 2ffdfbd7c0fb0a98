"""What a server needs of its listeners and security."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from assay_broker.server.options import ServerOptions
from assay_broker.shell import QueueManager
from assay_sdk.time import Runner

if TYPE_CHECKING:
    from assay_broker.http.requests.request import ConnectionView


class ListenerPort(Protocol):
    """A listener for clients or administrators."""

    @property
    def address(self) -> tuple[str, int]:
        """The host and port on which it listens."""
        ...

    async def start(self, host: str, port: int) -> None:
        """Start to listen.

        Raises:
            ServerError: The address is in use, or cannot be used.
        """
        ...

    async def drain(self) -> None:
        """Accept no more clients, ask those connected to leave, and wait for that up to a limit."""
        ...

    async def close(self) -> None:
        """End all connections at once."""
        ...


class AmqpListenerPort(ListenerPort, Protocol):
    """A listener for AMQP clients."""

    def views(self) -> Sequence[ConnectionView]:
        """Return the connections, for the status page."""
        ...


class Parts(Protocol):
    """Creates the parts of a server, each once and in this order."""

    def secure(self, options: ServerOptions) -> None:
        """Read users and certificates.

        Raises:
            OptionsError: Something is wrong with them.
        """
        ...

    def amqp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> AmqpListenerPort:
        """Create the listener for AMQP clients."""
        ...

    def http(
        self,
        options: ServerOptions,
        queue_manager: QueueManager,
        runner: Runner,
        views: Callable[[], Sequence[ConnectionView]],
    ) -> ListenerPort:
        """Create the listener for administrators, who see the connections of clients."""
        ...
