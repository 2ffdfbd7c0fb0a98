"""Host and port of a broker, and the use of TLS, as the broker's URL names them."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit

from msgspec import Struct

from assay_sdk.driver import TargetError


class Scheme(Struct, frozen=True):
    """The URL schemes of a protocol over TCP.

    Args:
        protocol: Name of the protocol, for the texts of errors.
        clear: The scheme without TLS.
        tls: The scheme with TLS.
        port: Default port without TLS.
        tls_port: Default port with TLS.
    """

    protocol: str
    clear: str
    tls: str
    port: int
    tls_port: int


class HostPort(Struct, frozen=True):
    """Host and port of a broker, and the use of TLS.

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


def read_url(url: str, scheme: Scheme) -> HostPort:
    """Return host, port and use of TLS of a URL.

    Args:
        url: The URL.
        scheme: The schemes of the protocol.

    Raises:
        TargetError: The URL is malformed, or contains a user.
    """
    what = (
        f"not {'an' if scheme.protocol[0] in 'AEIOU' else 'a'} {scheme.protocol} URL: write {scheme.clear}://host:port"
    )
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise TargetError(f"{what} ({error} in the given URL)") from error
    try:
        port = parts.port
    except ValueError as error:
        given = parts.netloc.rpartition("@")[2].rpartition(":")[2]  # without a user and password, which precede "@"
        text = f"the port {given!r} of {parts.hostname} is not from 0 to 65535: write {parts.scheme}://host:port"
        raise TargetError(text) from error
    tls = parts.scheme == scheme.tls
    if parts.scheme not in {scheme.clear, scheme.tls}:
        raise TargetError(f"{what} ({parts.scheme or 'no scheme'} was given)")
    if parts.username is not None or parts.password is not None:
        raise TargetError("the URL contains a user: pass login= instead, because URLs appear in logs")
    if not parts.hostname:
        raise TargetError(f"the URL names no host: write {parts.scheme}://host:port")
    if parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise TargetError(f"the URL goes on after host and port: write only {parts.scheme}://{parts.netloc}")
    return HostPort(parts.hostname, (scheme.tls_port if tls else scheme.port) if port is None else port, tls)
