"""The interfaces through which a session uses the listener and the client's socket."""

from __future__ import annotations

from typing import Protocol

from assay_broker.shell import QueueManager
from assay_broker.stomp.faults import FaultError
from assay_broker.stomp.limits import StompLimits
from assay_sdk.time import Runner


class SessionOwner(Protocol):
    """The interface through which a session uses the listener."""

    queue_manager: QueueManager
    runner: Runner
    limits: StompLimits
    partial: int
    """The octets of the frames that are incomplete or not handled yet, on all connections together."""

    def memory_is_short(self) -> bool:
        """Return whether messages take so much memory that senders must wait."""
        ...


class SocketPort(Protocol):
    """The interface through which a session uses the client's socket."""

    peer: str
    user: str | None

    def flush(self) -> None:
        """Write the session's output, and close the socket if the session has ended."""
        ...

    def check_login(self, user: str | None, password: str | None) -> FaultError | bool:
        """Check a login, or start a check whose result comes later.

        Returns:
            True if the client may connect. False if the check takes long; the socket then calls `StompSession.checked`
            with the result. A fault if the login is refused.
        """
        ...
