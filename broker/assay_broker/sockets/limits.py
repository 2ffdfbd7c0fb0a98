"""The limits that every listener has."""

from __future__ import annotations

from typing import Protocol


class SocketLimits(Protocol):
    """The limits of a listener and its sockets; each server's limits have further fields."""

    @property
    def connections(self) -> int:
        """The most connections at a time, including those in the TLS handshake or the login."""
        ...

    @property
    def login_ms(self) -> int:
        """The time for the login, in milliseconds."""
        ...

    @property
    def logins(self) -> int:
        """The most passwords that are checked at a time."""
        ...

    @property
    def close_ms(self) -> int:
        """The time for which the server waits for the client's close after the server's close, in milliseconds."""
        ...

    @property
    def unsent(self) -> int:
        """The most octets that a client may leave unread before its receivers get no more messages."""
        ...

    @property
    def stuck(self) -> int:
        """The most octets that a client may leave unread before the server stops reading from the client."""
        ...

    @property
    def memory(self) -> int:
        """The most octets of all messages in memory before senders must wait."""
        ...
