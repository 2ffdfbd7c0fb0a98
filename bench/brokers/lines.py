"""The connection of a client of the benchmark, over AMQP or STOMP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from brokers.caller import Caller, Endpoint
from brokers.frames import Role, WireError
from brokers.stomp import StompCaller


class Connection(Protocol):
    """The interface of a connection; `brokers.wire.Line` describes the methods."""

    role: Role
    sent: int
    confirmed: int
    received: int
    total: int
    on_message: Callable[[int], None] | None

    @property
    def unconfirmed(self) -> int:
        """The number of messages that wait for the broker's answer."""
        ...

    def fileno(self) -> int:
        """Return the socket's file descriptor."""
        ...

    def wait(self) -> None:
        """Read until the connection can be used."""
        ...

    def read(self) -> None:
        """Read and handle the octets that have arrived."""
        ...

    def flush(self) -> bool:
        """Write the octets that wait for the socket; return whether all are written."""
        ...

    def close(self) -> None:
        """Close the connection, and wait for the broker's answer."""
        ...

    def room(self, window: int) -> int:
        """Return the number of messages that can be sent now."""
        ...

    def send(self, count: int) -> None:
        """Send a number of messages."""
        ...

    def settle(self, upto: int) -> None:
        """Settle received messages up to a number, counted from the connection's first message."""
        ...

    def top_up(self, taken: int) -> None:
        """Renew the credit."""
        ...


def connection(endpoint: Endpoint, role: Role) -> Connection:
    """Return a new connection; it can be used after its method `wait`.

    Raises:
        WireError: The role is for STOMP, and the broker has none.
    """
    if not role.stomp:
        return Caller(endpoint, role)
    if endpoint.stomp is None:
        raise WireError("the broker has no STOMP")
    return StompCaller(endpoint.stomp, None if endpoint.user is None else (endpoint.user, endpoint.password), role)
