"""Tests of certificates and keys, valid and invalid.

The certificate is self-signed, for localhost, and used only in tests.
"""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from assay_broker.security import TlsError, server_context

FOLDER = Path(__file__).parent / "certificates"
CERTIFICATE, KEY = FOLDER / "certificate.pem", FOLDER / "key.pem"


def handshake(client: ssl.SSLContext) -> str | None:
    """Return the version that both ends agree upon."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = server_context(CERTIFICATE, KEY).wrap_bio(to_server, to_client, server_side=True)
    theirs = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    for _ in range(5):
        for end in (theirs, ours):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return theirs.version()


def test_a_client_that_trusts_the_certificate_gets_a_line() -> None:
    assert handshake(ssl.create_default_context(cafile=str(CERTIFICATE))) == "TLSv1.3"


def test_nothing_older_than_tls_1_2_is_spoken() -> None:
    assert server_context(CERTIFICATE, KEY).minimum_version is ssl.TLSVersion.TLSv1_2
    client = ssl.create_default_context(cafile=str(CERTIFICATE))
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    assert handshake(client) == "TLSv1.2"


@pytest.mark.parametrize(
    ("certificate", "key", "says"),
    [
        (FOLDER / "none.pem", KEY, "certificate .*none.pem cannot be read .*correct its path"),
        (CERTIFICATE, FOLDER / "none.pem", "key .*none.pem cannot be read"),
        (FOLDER, KEY, "cannot be read"),
        (CERTIFICATE, FOLDER / "other-key.pem", "other-key.pem does not belong to the certificate"),
        (CERTIFICATE, FOLDER / "protected-key.pem", "protected by a passphrase; give a key without one"),
        (KEY, KEY, "are not a certificate and a key in PEM"),
        (Path(__file__), KEY, "are not a certificate and a key in PEM"),
    ],
)
def test_files_that_do_not_work_are_named(certificate: Path, key: Path, says: str) -> None:
    with pytest.raises(TlsError, match=says):
        server_context(certificate, key)
