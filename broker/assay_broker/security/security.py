"""The security of a listener: whether clients must log in, the login mechanisms, and the allowed addresses."""

from __future__ import annotations

import ssl

from msgspec import Struct

from assay_broker.security.addresses import is_loopback
from assay_broker.security.errors import ExposedError
from assay_broker.security.users import MECHANISM, Users

ANONYMOUS = "ANONYMOUS"
PLAIN = "PLAIN"
SCRAM = MECHANISM


class Security(Struct, frozen=True):
    """The users and the TLS context of a server.

    Without users only clients on this machine may connect.  With users every client must log in, and the
    queue manager checks the authority records of the user's name.

    Args:
        users: The users; None if clients connect without a login.
        tls: The TLS context; None for connections without TLS.
        clear_passwords: Whether clients on other machines may also send passwords without TLS.  This is meant for a
            private network of containers.
    """

    users: Users | None = None
    tls: ssl.SSLContext | None = None
    clear_passwords: bool = False

    @property
    def anonymous(self) -> bool:
        """Whether clients connect without a login."""
        return self.users is None

    def mechanisms(self, *, private: bool) -> tuple[str, ...]:
        """Return the SASL mechanisms to offer, the best first.

        Without users, this is ANONYMOUS only.  With users, it is always SCRAM, which never sends the password.

        Args:
            private: Whether the client may send its password in clear text (see `is_private`); if so, the server with
                users also offers PLAIN.
        """
        if self.users is None:
            return (ANONYMOUS,)
        return (SCRAM, PLAIN) if private else (SCRAM,)

    def check_place(self, host: str) -> None:
        """Check that the server may listen at an address.

        Args:
            host: The address to listen at.

        Raises:
            ExposedError: Other machines can reach the address, and no users are defined.
        """
        if self.users is None and not is_loopback(host):
            raise ExposedError(
                f"without users the server listens on this machine only, and other machines can reach "
                f"{host or 'every address'}; give the server a file of users, or listen at 127.0.0.1."
            )

    def is_private(self, peer: str, *, encrypted: bool) -> bool:
        """Return whether a client may send its password in clear text.

        A client may send it if the connection uses TLS or comes from this machine. With ``clear_passwords`` every
        client may send it.

        Args:
            peer: The client's numeric address.
            encrypted: Whether the connection uses TLS.
        """
        return encrypted or self.clear_passwords or is_loopback(peer)
