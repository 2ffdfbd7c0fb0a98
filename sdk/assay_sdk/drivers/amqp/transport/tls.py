"""TLS in front of SASL and the engine: octets in, octets out, by the standard library.

Whether proton can do TLS depends on how it was compiled; Python's own always can.  The context is the runner's
platform's: TLS 1.2 or later, the broker's certificate is checked, and its name as well.
"""

from __future__ import annotations

import ssl
from contextlib import suppress

from assay_sdk.driver import TargetError
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused

_READ_SIZE = 65_536
_TLS_RECORDS = frozenset({0x15, 0x16})
"""Content types of TLS records that answer clear text: alert, handshake."""


def client_context(ca_file: str | None) -> ssl.SSLContext:
    """What a client encrypts with.

    Args:
        ca_file: PEM file with the certificates of those who are believed; None for the system's.

    Raises:
        TargetError: The file cannot be read, or holds no certificate.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # ssl.SSLError is one
        why = error.strerror or str(error)
        raise TargetError(f"the CA file {ca_file} holds no certificate that can be read ({why}): correct it") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


class TlsClient:
    """One encrypted line.

    Args:
        context: What is believed.
        host: The broker's name, as it has to stand in its certificate.
    """

    def __init__(self, context: ssl.SSLContext, host: str) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._end = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)
        self.ready = False
        """Whether both ends have agreed: before that there is nothing to say."""
        self.refused: Refused | None = None
        """Why the line cannot be used."""

    def start(self) -> bytes:
        """The octets to send first."""
        self._shake_hands()
        return self._outgoing.read()

    def receive(self, octets: bytes) -> tuple[bytes, bytes]:
        """Take octets of the peer.

        Returns:
            What they say, and what to answer.  Look at `refused` afterwards.
        """
        self._incoming.write(octets)
        said = bytearray()
        try:
            if not self.ready:
                self._shake_hands()
            while self.ready and (part := self._end.read(_READ_SIZE)):
                said += part
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
            pass  # all is read; a peer that has said goodbye closes the socket as well
        except ssl.SSLError as error:
            self.refused = _broken(error) if self.ready else _refusal(error)
        return bytes(said), self._outgoing.read()

    def send(self, octets: bytes) -> bytes:
        """What to send in place of these octets, once `ready`."""
        self._end.write(octets)
        return self._outgoing.read()

    def close(self) -> bytes:
        """The goodbye."""
        with suppress(ssl.SSLError):  # the peer's goodbye is not waited for
            self._end.unwrap()
        return self._outgoing.read()

    def _shake_hands(self) -> None:
        try:
            self._end.do_handshake()
        except ssl.SSLWantReadError:
            return
        self.ready = True


def hint_at_tls(place: object, first: bytes) -> Refused | None:
    """Tell a broker that expects TLS from the first octets that it answers to clear text.

    Args:
        place: Host and port, for the sentence.
        first: The first octets; empty when the broker closed the connection without a word.

    Returns:
        A refusal that names ``amqps://``; None when the octets are no TLS alert or handshake (RFC 8446, 5.1).
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


def _refusal(error: ssl.SSLError) -> Refused:
    if isinstance(error, ssl.SSLCertVerificationError):
        return Refused(
            JmsErrorKind.SECURITY,
            f"the broker's certificate is not believed ({error.verify_message}): name its authority in ca_file, "
            "or connect to the name that the certificate is for",
            mqrc=int(Mqrc.NOT_AUTHORIZED),
        )
    return Refused(
        JmsErrorKind.CONNECTION_LOST,
        f"the broker does not speak TLS here ({error.reason or error}): connect with amqp://, or correct the port",
        mqrc=int(Mqrc.Q_MGR_NOT_AVAILABLE),
    )
