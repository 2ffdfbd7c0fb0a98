"""Addresses on which a server listens."""

from __future__ import annotations

import ipaddress
import re

from msgspec import Struct

from assay_broker.server.errors import OptionsError

_FORM = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<host>[^\s:\[\]/]+)):(?P<port>[0-9]{1,5})")
_HIGHEST_PORT = 65_535


class HostPort(Struct, frozen=True):
    """An address to listen on.

    Args:
        host: A name or an IP address.
        port: A port; 0 for any that is free.
    """

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> HostPort:
        """Read ``HOST:PORT``; an IPv6 address is in brackets.

        Args:
            text: What was written.

        Raises:
            OptionsError: It is not ``HOST:PORT``, or the port is too high.
        """
        found = _FORM.fullmatch(text)
        if found is None or int(found["port"]) > _HIGHEST_PORT:
            raise OptionsError(
                f"{text!r} is no address to listen on: write HOST:PORT, as in 127.0.0.1:5672 or [::1]:5672, "
                "with port 0 for any that is free"
            )
        return cls(found["six"] or found["host"], int(found["port"]))

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host.lower() == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:  # a name, which may lead anywhere
            return False

    def url(self, scheme: str) -> str:
        """Its URL.

        Args:
            scheme: What stands before ``://``.
        """
        return f"{scheme}://{self}"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"
