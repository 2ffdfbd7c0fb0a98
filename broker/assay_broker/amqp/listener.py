"""The AMQP listener: accepts sockets, and creates an `AmqpSocket` for each."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.amqp.connections.connection import AmqpConnection
from assay_broker.amqp.connections.sockets import AmqpSocket
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.security import Security
from assay_broker.shell import QueueManager
from assay_broker.sockets.listener import ClientListener, ListenError
from assay_sdk.time import NS_PER_MS, Runner


class AmqpListenError(ListenError):
    """The AMQP listener cannot listen at the given address.

    Args:
        why: A sentence that names the problem, the address and a remedy.
    """


class AmqpConnectionView(Struct, frozen=True):
    """The description of a connection for the status page.

    Args:
        container_id: The client's container id; empty before the client's open.
        user: The user's name; None for an anonymous client.
        peer: The client's address, ``host:port``.
        links: The number of links; a link counts until both client and server have detached it.
        since_ms: The time at which the client logged in, in milliseconds since the epoch.
        protocol: The protocol's name and version.
    """

    container_id: str
    user: str | None
    peer: str
    links: int
    since_ms: int
    protocol: str = "AMQP 1.0"


class AmqpListener(ClientListener):
    """The listener for AMQP 1.0 clients of one queue manager.

    Args:
        queue_manager: The queue manager.
        runner: Runs jobs on the listener's asyncio loop, and has the clock.
        security: Users and TLS.
        limits: The limits of the listener.
        idle_timeout_ms: The time after which the server closes the connection of a silent client, in milliseconds; 0
            for no limit.
    """

    protocol = "AMQP"
    listen_error = AmqpListenError

    def __init__(
        self,
        queue_manager: QueueManager,
        runner: Runner,
        *,
        security: Security,
        limits: AmqpLimits = AmqpLimits(),  # noqa: B008  a frozen value
        idle_timeout_ms: int = 60_000,
    ) -> None:
        super().__init__(queue_manager, runner, security=security, limits=limits)
        self.limits = limits
        self.idle_timeout_ms = idle_timeout_ms
        self.containers: dict[str, dict[AmqpConnection, None]] = {}

    def make_socket(self) -> AmqpSocket:
        """Create the asyncio protocol for a client's socket."""
        return AmqpSocket(self)

    @property
    def connections(self) -> tuple[AmqpConnectionView, ...]:
        """The connections that have logged in, the oldest first."""
        views: list[AmqpConnectionView] = []
        for client in self._clients:
            one = client.connection if isinstance(client, AmqpSocket) else None
            if one is not None and isinstance(client, AmqpSocket):
                views.append(
                    AmqpConnectionView(
                        one.container, client.user, client.peer, len(one.context.links), one.since_ns // NS_PER_MS
                    )
                )
        return tuple(views)
