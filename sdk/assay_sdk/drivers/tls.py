"""The client's TLS without a socket: encrypts and decrypts octets.

The TLS is that of Python's standard library, because Proton's TLS depends on how Proton was compiled.

The client uses TLS 1.2 or later, and checks the broker's certificate and name.
"""

from __future__ import annotations

import ssl
from contextlib import suppress

from assay_sdk.drivers.certificates import refusal_of
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused

_READ_SIZE = 65_536
_TLS_RECORDS = frozenset({0x15, 0x16})
"""Content types of the TLS records with which a broker answers clear text: alert and handshake."""


class TlsClient:
    """The client's end of TLS on one connection.

    Args:
        context: TLS context with the trusted certificates.
        host: Host name of the broker; the broker's certificate must be valid for this name.
        clear: The URL scheme without TLS, for advice.

    Raises:
        ValueError: The host name is empty, begins with a dot, or has a part that is too long.
    """

    def __init__(self, context: ssl.SSLContext, host: str, clear: str) -> None:
        self._clear = clear
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._end = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.ready = False
        """Whether the handshake has ended, so that data can be sent."""
        self.refused: Refused | None = None
        """The reason why the connection cannot be used; None if it can be used."""

    def start(self) -> bytes:
        """Return the first octets to send."""
        self._shake_hands()
        return self._outgoing.read()

    def receive(self, octets: bytes) -> tuple[bytes, bytes]:
        """Decrypt octets from the broker; check `refused` afterwards.

        Returns:
            The decrypted octets, and octets to send to the broker.
        """
        self._incoming.write(octets)
        said = bytearray()
        try:
            if not self.ready:
                self._shake_hands()
            while self.ready and (part := self._end.read(_READ_SIZE)):
                said += part
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass  # all octets are read; a broker that closes TLS also closes the socket
        except ssl.SSLError as error:
            self.refused = _broken(error) if self.ready else refusal_of(error, self._clear)
        return bytes(said), self._outgoing.read()

    def send(self, octets: bytes) -> bytes:
        """Encrypt octets, and return the octets to send; call it only if `ready` is true."""
        self._end.write(octets)
        return self._outgoing.read()

    def close(self) -> bytes:
        """Return the octets that close TLS."""
        with suppress(ssl.SSLError):  # raised because the client does not wait for the broker's close
            self._end.unwrap()
        return self._outgoing.read()

    def _shake_hands(self) -> None:
        try:
            self._end.do_handshake()
        except ssl.SSLWantReadError:
            return
        self.ready = True


def hint_at_tls(host_port: object, first: bytes, scheme: str) -> Refused | None:
    """Return a refusal that suggests TLS, if the broker's answer to clear text shows that it may expect TLS.

    Args:
        host_port: Host and port of the broker, for the text.
        first: First octets of the answer; empty if the broker closed the connection without an answer.
        scheme: The URL scheme with TLS.

    Returns:
        The refusal; None if the broker sent an answer other than a TLS alert or a TLS handshake (RFC 8446, 5.1).
    """
    if first and first[0] not in _TLS_RECORDS:
        return None
    what = "answers with TLS" if first else "closed the connection without an answer"
    return Refused(
        JmsErrorKind.CONNECTION_LOST,
        f"the broker at {host_port} {what}: if it expects TLS, connect with {scheme}://, or correct the port",
        mqrc=int(Mqrc.Q_MGR_NOT_AVAILABLE),
    )


def _broken(error: ssl.SSLError) -> Refused:
    text = f"the encrypted connection broke ({error.reason or error}): connect again"
    return Refused(JmsErrorKind.CONNECTION_LOST, text, mqrc=int(Mqrc.CONNECTION_BROKEN))
