"""The place of a broker: host and port."""

from __future__ import annotations

import ipaddress
from contextlib import suppress

from msgspec import Struct


class Place(Struct, frozen=True):
    """Host and port of a broker.

    Args:
        host: Name or IP address.
        port: Port number.
        tls: Whether the connection uses TLS.
    """

    host: str
    port: int
    tls: bool = False

    def __str__(self) -> str:
        """Return ``host:port``, or ``[host]:port`` for an IPv6 address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def is_loopback(address: str) -> bool:
    """Return whether an IP address is a loopback address."""
    with suppress(ValueError):
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    return False
