"""The interfaces through which a server uses its listeners, users and TLS."""

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
        """The host and port on which the listener listens."""
        ...

    async def start(self, host: str, port: int) -> None:
        """Start to listen.

        Raises:
            ServerError: The address is in use, or this machine cannot use it.
        """
        ...

    async def drain(self) -> None:
        """Accept no more clients, ask the connected clients to disconnect, and wait for them, up to a limit."""
        ...

    async def close(self) -> None:
        """Stop listening and cut all connections at once."""
        ...


class ClientListenerPort(ListenerPort, Protocol):
    """A listener for AMQP or STOMP clients."""

    def views(self) -> Sequence[ConnectionView]:
        """Return a description of each connection, for the status page."""
        ...


class Parts(Protocol):
    """The factory of a server's parts; the server calls each method at most once, in this order."""

    def secure(self, options: ServerOptions) -> None:
        """Read the users' file and the TLS certificate.

        Raises:
            OptionsError: The users' file, the certificate or its key is not valid.
        """
        ...

    def amqp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> ClientListenerPort:
        """Create the listener for AMQP clients."""
        ...

    def stomp(self, options: ServerOptions, queue_manager: QueueManager, runner: Runner) -> ClientListenerPort:
        """Create the listener for STOMP clients."""
        ...

    def http(
        self,
        options: ServerOptions,
        queue_manager: QueueManager,
        runner: Runner,
        views: Callable[[], Sequence[ConnectionView]],
    ) -> ListenerPort:
        """Create the listener for administrators; `views` returns the clients' connections for the status page."""
        ...
