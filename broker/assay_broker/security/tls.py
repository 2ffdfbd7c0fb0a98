"""The TLS context of a server, from a certificate and its key in PEM files."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NoReturn

from assay_broker.security.errors import TlsError


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a server's TLS context: TLS 1.2 or later, without client certificates.

    Args:
        certificate: A PEM file with the server's certificate, followed by its intermediate certificates.
        key: A PEM file with the certificate's private key, without a passphrase.

    Raises:
        TlsError: One of the files cannot be read or is not PEM, the key has a passphrase, or the key does not belong to
            the certificate.
    """
    for path, what in ((certificate, "certificate"), (key, "key")):
        try:
            path.open("rb").close()
        except OSError as error:
            raise TlsError(f"the {what} {path} cannot be read ({error.strerror}); correct its path.") from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2

    def no_passphrase() -> NoReturn:  # otherwise OpenSSL would ask for the passphrase at the terminal
        raise TlsError(f"the key {key} is protected by a passphrase; give a key without one.")

    try:
        context.load_cert_chain(certificate, key, password=no_passphrase)
    except ssl.SSLError as error:
        raise TlsError(_why(error, certificate, key)) from error
    return context


def _why(error: ssl.SSLError, certificate: Path, key: Path) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"the key {key} does not belong to the certificate {certificate}; give the certificate's own key."
    return (
        f"{certificate} and {key} are not a certificate and a key in PEM ({error.reason or error}); "
        "give files in PEM format."
    )
