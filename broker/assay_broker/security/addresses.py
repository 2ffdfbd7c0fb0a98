"""The recognition of loopback addresses."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str | None) -> bool:
    """Return whether an address is a loopback address, which only this machine can reach.

    Args:
        host: An IP address, with or without the brackets of a URL, or ``localhost``.  The result is False for any other
            name, because this function does not resolve names, and for None.
    """
    if host is None:
        return False
    if host.lower().removesuffix(".") == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
