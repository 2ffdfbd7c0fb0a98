"""TLS below SASL and the engine, by the standard library.

Proton's TLS depends on how it was compiled; Python's own is always there.  The defaults of the platform apply: TLS 1.2
or later, and the broker's certificate and name are checked.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextlib import suppress

from assay_sdk.driver import TargetError
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused

_READ_SIZE = 65_536
_TLS_RECORDS = frozenset({0x15, 0x16})
"""Content types of the TLS records that a broker sends in answer to clear text: alert, handshake."""


OUT_OF_DATE: Mapping[int, str] = {
    9: "correct the clock of this machine, or wait until it is valid",
    10: "the administrator of the broker has to renew it",
}
"""The advice by OpenSSL's code: ``X509_V_ERR_CERT_NOT_YET_VALID`` and ``X509_V_ERR_CERT_HAS_EXPIRED``."""


def client_context(ca_file: str | None) -> ssl.SSLContext:
    """Make the TLS context of a client.

    Args:
        ca_file: PEM file with the trusted certificates; None for the system's.

    Raises:
        TargetError: The file cannot be read, or contains no certificate.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # ssl.SSLError is one
        why = error.strerror or str(error)
        raise TargetError(f"the CA file {ca_file} holds no certificate that can be read ({why}): correct it") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class TlsClient:
    """TLS of one connection.

    Args:
        context: TLS context with the trusted certificates.
        host: Name of the broker, which its certificate must have.
    """

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._end = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.ready = False
        """Whether the handshake has ended; before that, no data can be sent."""
        self.refused: Refused | None = None
        """The reason why the connection cannot be used; None if it can."""

    def start(self) -> bytes:
        """Return the first octets to send."""
        self._shake_hands()
        return self._outgoing.read()

    def receive(self, octets: bytes) -> tuple[bytes, bytes]:
        """Take octets of the peer.

        Returns:
            The decrypted octets, and the octets to answer.  Check `refused` afterwards.
        """
        self._incoming.write(octets)
        said = bytearray()
        try:
            if not self.ready:
                self._shake_hands()
            while self.ready and (part := self._end.read(_READ_SIZE)):
                said += part
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass  # all octets are read; a peer that closes TLS closes the socket as well
        except ssl.SSLError as error:
            self.refused = _broken(error) if self.ready else refusal_of(error)
        return bytes(said), self._outgoing.read()

    def send(self, octets: bytes) -> bytes:
        """Encrypt octets; call it when `ready`."""
        self._end.write(octets)
        return self._outgoing.read()

    def close(self) -> bytes:
        """Return the octets that close TLS."""
        with suppress(ssl.SSLError):  # the client does not wait for the peer's close
            self._end.unwrap()
        return self._outgoing.read()

    def _shake_hands(self) -> None:
        try:
            self._end.do_handshake()
        except ssl.SSLWantReadError:
            return
        self.ready = True


def hint_at_tls(place: object, first: bytes) -> Refused | None:
    """Detect a broker that expects TLS by its answer to clear text.

    Args:
        place: Host and port, for the error.
        first: First octets of the answer; empty if the broker closed the connection without one.

    Returns:
        A refusal that suggests ``amqps://``; None if the octets are not a TLS alert or handshake (RFC 8446, 5.1).
    """
    if first and first[0] not in _TLS_RECORDS:
        return None
    what = "answers with TLS" if first else "closed the connection before its first word"
    return Refused(
        JmsErrorKind.CONNECTION_LOST,
        f"the broker at {place} {what}: if it expects TLS, connect with amqps://, or correct the port",
        mqrc=int(Mqrc.Q_MGR_NOT_AVAILABLE),
    )


def _broken(error: ssl.SSLError) -> Refused:
    text = f"the encrypted connection broke ({error.reason or error}): connect again"
    return Refused(JmsErrorKind.CONNECTION_LOST, text, mqrc=int(Mqrc.CONNECTION_BROKEN))


def refusal_of(error: ssl.SSLError) -> Refused:
    """Make the refusal for a handshake that failed, with advice that fits the certificate's fault."""
    if isinstance(error, ssl.SSLCertVerificationError):
        advice = OUT_OF_DATE.get(
            error.verify_code, "name its authority in ca_file, or connect to the name that the certificate is for"
        )
        return Refused(
            JmsErrorKind.SECURITY,
            f"the broker's certificate is not believed ({error.verify_message}): {advice}",
            mqrc=int(Mqrc.NOT_AUTHORIZED),
        )
    return Refused(
        JmsErrorKind.CONNECTION_LOST,
        f"the broker does not speak TLS here ({error.reason or error}): connect with amqp://, or correct the port",
        mqrc=int(Mqrc.Q_MGR_NOT_AVAILABLE),
    )
