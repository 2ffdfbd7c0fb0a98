"""The STOMP listener: accepts sockets, and creates a `StompSocket` for each."""

from __future__ import annotations

from msgspec import Struct

from assay_broker.security import Security
from assay_broker.shell import QueueManager
from assay_broker.sockets.listener import ClientListener, ListenError
from assay_broker.stomp.limits import StompLimits
from assay_broker.stomp.sockets import StompSocket
from assay_sdk.time import NS_PER_MS, Runner


class StompListenError(ListenError):
    """The STOMP listener cannot listen at the given address.

    Args:
        why: A sentence that names the problem, the address and a remedy.
    """


class StompConnectionView(Struct, frozen=True):
    """The description of a connection for the status page.

    Args:
        container_id: The client id; the session's id if the client has no client id.
        user: The user's name; None for an anonymous client.
        peer: The client's address, ``host:port``.
        links: The number of subscriptions.
        since_ms: The time at which the client connected, in milliseconds since the epoch.
        protocol: The protocol's name and version.
    """

    container_id: str
    user: str | None
    peer: str
    links: int
    since_ms: int
    protocol: str


class StompListener(ClientListener):
    """The listener for STOMP clients of one queue manager.

    Args:
        queue_manager: The queue manager.
        runner: Runs jobs on the listener's asyncio loop, and has the clock.
        security: Users and TLS.
        limits: The limits of the listener.
    """

    protocol = "STOMP"
    listen_error = StompListenError

    def __init__(
        self,
        queue_manager: QueueManager,
        runner: Runner,
        *,
        security: Security,
        limits: StompLimits = StompLimits(),  # noqa: B008  a frozen value
    ) -> None:
        super().__init__(queue_manager, runner, security=security, limits=limits)
        self.limits = limits
        self.partial = 0

    def make_socket(self) -> StompSocket:
        """Create the asyncio protocol for a client's socket."""
        return StompSocket(self)

    @property
    def connections(self) -> tuple[StompConnectionView, ...]:
        """The connections that have logged in, the oldest first."""
        views: list[StompConnectionView] = []
        for client in self._clients:
            session = client.session if isinstance(client, StompSocket) else None
            if session is not None and session.is_open and isinstance(client, StompSocket):
                context = session.context
                views.append(
                    StompConnectionView(
                        context.client_id or context.id,
                        client.user,
                        client.peer,
                        len(context.subscriptions),
                        session.since_ns // NS_PER_MS,
                        f"STOMP {context.version}",
                    )
                )
        return tuple(views)
