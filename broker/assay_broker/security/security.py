"""What listeners ask: who is let in, in which ways, and where one may listen."""

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
    """How a server is secured.

    Without users everybody is let in who comes from this machine, and nobody else.  With users everybody says who he
    is, and that name is the user whom the queue manager's authority records are about.

    Args:
        users: Who may log in; None when nobody needs to.
        tls: What encrypts; None for clear text.
        clear_passwords: Whether passwords may come in clear text from other machines too, as in a network of
            containers.
    """

    users: Users | None = None
    tls: ssl.SSLContext | None = None
    clear_passwords: bool = False

    @property
    def anonymous(self) -> bool:
        """Whether a client need not say who it is."""
        return self.users is None

    def mechanisms(self, *, private: bool) -> tuple[str, ...]:
        """The SASL mechanisms to offer, the best first.

        Args:
            private: Whether nobody can listen in: the client is on this machine, or the line is encrypted.  Only then
                may a password be sent (PLAIN); SCRAM sends none.
        """
        if self.users is None:
            return (ANONYMOUS,)
        return (SCRAM, PLAIN) if private else (SCRAM,)

    def check_place(self, host: str) -> None:
        """Refuse to listen where strangers could come in.

        Args:
            host: The address to listen at.

        Raises:
            ExposedError: There are no users, and others than this machine could connect.
        """
        if self.users is None and not is_loopback(host):
            raise ExposedError(
                f"without users the server listens on this machine only, and {host or 'every address'} can be reached "
                "from others; give it a file of users, or listen at 127.0.0.1."
            )

    def is_private(self, peer: str, *, encrypted: bool) -> bool:
        """Whether nobody can listen in to a connection, or is thought to.

        Args:
            peer: The client's numeric address.
            encrypted: Whether the line is.
        """
        return encrypted or self.clear_passwords or is_loopback(peer)

    def authenticate(self, user: str, password: str) -> bool:
        """Whether a name and a password that came as they are let somebody in (HTTP basic authentication).

        Without users there is nothing to check, so anybody is.
        """
        return self.users is None or self.users.check(user, password)
