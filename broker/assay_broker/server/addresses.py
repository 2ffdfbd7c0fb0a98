"""The addresses on which a server listens."""

from __future__ import annotations

import re

from msgspec import Struct

from assay_broker.security import is_loopback
from assay_broker.server.errors import OptionsError

_FORM = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.%]+)\]|(?P<host>[^\s:\[\]/]+)):(?P<port>[0-9]{1,5})")
_HIGHEST_PORT = 65_535


class HostPort(Struct, frozen=True):
    """An address on which a server listens.

    Args:
        host: The host's name or IP address.
        port: The port; 0 for any free port.
    """

    host: str
    port: int

    @classmethod
    def read(cls, text: str) -> HostPort:
        """Parse ``HOST:PORT``, with an IPv6 address in brackets.

        Args:
            text: The text, as in an option.

        Raises:
            OptionsError: The text is not ``HOST:PORT``, or the port is above 65535.
        """
        found = _FORM.fullmatch(text)
        if found is None or int(found["port"]) > _HIGHEST_PORT:
            raise OptionsError(
                f"{text!r} is not an address to listen on: write HOST:PORT, as in 127.0.0.1:5672 or [::1]:5672, "
                "with port 0 for any free port"
            )
        return cls(found["six"] or found["host"], int(found["port"]))

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return is_loopback(self.host)

    def url(self, scheme: str) -> str:
        """Return the address as a URL with a scheme, such as ``amqp``."""
        return f"{scheme}://{self}"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"
