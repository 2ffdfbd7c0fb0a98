"""What listeners ask: whether clients must log in, by which mechanisms, and which addresses are allowed."""

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
    """Users and TLS of a server.

    Without users only clients on this machine may connect.  With users every client must log in, and the
    queue manager checks the authority records of the user's name.

    Args:
        users: The users; None if clients need not log in.
        tls: The TLS context; None for clear text.
        clear_passwords: Whether passwords may come in clear text from other machines too, as in a network of
            containers.
    """

    users: Users | None = None
    tls: ssl.SSLContext | None = None
    clear_passwords: bool = False

    @property
    def anonymous(self) -> bool:
        """Whether clients need not log in."""
        return self.users is None

    def mechanisms(self, *, private: bool) -> tuple[str, ...]:
        """The SASL mechanisms to offer, the best first.

        Args:
            private: Whether a clear-text password is safe: the client is on this machine or the
                socket uses TLS.  Otherwise PLAIN is not offered; SCRAM sends no password.
        """
        if self.users is None:
            return (ANONYMOUS,)
        return (SCRAM, PLAIN) if private else (SCRAM,)

    def check_place(self, host: str) -> None:
        """Refuse an address that other machines can reach, if no users are defined.

        Args:
            host: The address to listen at.

        Raises:
            ExposedError: No users are defined, and other machines could connect.
        """
        if self.users is None and not is_loopback(host):
            raise ExposedError(
                f"without users the server listens on this machine only, and {host or 'every address'} can be reached "
                "from others; give it a file of users, or listen at 127.0.0.1."
            )

    def is_private(self, peer: str, *, encrypted: bool) -> bool:
        """Whether a password may be sent in clear text on a connection.

        Args:
            peer: The client's numeric address.
            encrypted: Whether the connection uses TLS.
        """
        return encrypted or self.clear_passwords or is_loopback(peer)

    def authenticate(self, user: str, password: str) -> bool:
        """Whether a user and a clear-text password are right (HTTP basic authentication).

        Without users every login is.
        """
        return self.users is None or self.users.check(user, password)
