"""TLS: a server's context from a certificate and its key in PEM files."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import NoReturn

from assay_broker.security.errors import TlsError


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return a server's context: TLS 1.2 or later, without client certificates.

    Args:
        certificate: The server's certificate in PEM, followed by those that lead to a known authority.
        key: Its private key in PEM, without a passphrase.

    Raises:
        TlsError: One cannot be read, or they do not belong together.
    """
    for path, what in ((certificate, "certificate"), (key, "key")):
        try:
            path.open("rb").close()
        except OSError as error:
            raise TlsError(f"the {what} {path} cannot be read ({error.strerror}); correct its path.") from error
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2

    def no_passphrase() -> NoReturn:  # a server cannot ask for a passphrase
        raise TlsError(f"the key {key} is protected by a passphrase; give a key without one.")

    try:
        context.load_cert_chain(certificate, key, password=no_passphrase)
    except ssl.SSLError as error:
        raise TlsError(_why(error, certificate, key)) from error
    return context


def _why(error: ssl.SSLError, certificate: Path, key: Path) -> str:
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"the key {key} is not that of the certificate {certificate}; give the pair that belongs together."
    return f"{certificate} and {key} are no certificate and key in PEM ({error.reason or error}); give those."
