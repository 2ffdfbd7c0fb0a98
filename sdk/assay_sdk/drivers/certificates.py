"""TLS contexts of clients, and the refusals of brokers' certificates.

The client uses TLS 1.2 or later, and checks the broker's certificate and name.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from assay_sdk.driver import TargetError
from assay_sdk.model.reasons import JmsErrorKind, Mqrc, Refused

OUT_OF_DATE: Mapping[int, str] = {
    9: "correct the clock of this machine, or wait until the certificate is valid",
    10: "ask the administrator of the broker to renew it",
}
"""Advice for a certificate that is not yet valid or has expired, by OpenSSL's code (``X509_V_ERR_CERT_NOT_YET_VALID``,
``X509_V_ERR_CERT_HAS_EXPIRED``)."""


def client_context(ca_file: str | None) -> ssl.SSLContext:
    """Return the TLS context of a client.

    Args:
        ca_file: PEM file with the trusted certificates; None for the system's certificates.

    Raises:
        TargetError: The file cannot be read, or contains no certificate.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # `ssl.SSLError` is a subclass
        why = error.strerror or str(error)
        raise TargetError(f"the CA file {ca_file} has no readable certificate ({why}): correct the file") from error
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def refusal_of(error: ssl.SSLError, clear: str) -> Refused:
    """Return the refusal for a failed handshake, with advice that depends on the fault of the certificate.

    Args:
        error: The error of the handshake.
        clear: The URL scheme without TLS, for the advice.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        advice = OUT_OF_DATE.get(
            error.verify_code, "name its authority in ca_file, or connect with the host name in the certificate"
        )
        return Refused(
            JmsErrorKind.SECURITY,
            f"the client does not trust the broker's certificate ({error.verify_message}): {advice}",
            mqrc=int(Mqrc.NOT_AUTHORIZED),
        )
    return Refused(
        JmsErrorKind.CONNECTION_LOST,
        f"the broker has no TLS on this port ({error.reason or error}): connect with {clear}://, or correct the port",
        mqrc=int(Mqrc.Q_MGR_NOT_AVAILABLE),
    )
