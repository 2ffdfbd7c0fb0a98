"""A look at the observer of a connection behind the `Client` port."""

from __future__ import annotations

from collections import deque

from assay_adapters.clients.sdk import SdkConnection
from assay_adapters.ports.client import ClientConnection


def entries(connection: ClientConnection) -> int:
    """Return the number of entries in all containers of a connection's observer."""
    assert isinstance(connection, SdkConnection)
    return sum(len(one) for one in vars(connection._teller).values() if isinstance(one, dict | deque))
