"""Tests of logins, their mechanisms, and the addresses on which a server may listen."""

from __future__ import annotations

import pytest

from assay_broker.security import ExposedError, Security, Users, is_loopback, keys_of

USERS = Users({"alice": keys_of("secret", 4096)})


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("::1%lo", True),
        ("::ffff:127.0.0.1", True),
        ("[::1]", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("localhost.", True),
        ("0.0.0.0", False),  # noqa: S104  the server refuses it
        ("::", False),
        ("::ffff:10.0.0.1", False),
        ("10.0.0.1", False),
        ("localhost.example.org", False),
        ("", False),
        (None, False),
    ],
)
def test_only_loopback_addresses_are_this_machines_own(host: str | None, own: bool) -> None:
    assert is_loopback(host) is own


@pytest.mark.parametrize("host", ["0.0.0.0", "10.0.0.1", ""])  # noqa: S104  the server refuses it
def test_without_users_a_server_listens_on_loopback_only(host: str) -> None:
    with pytest.raises(ExposedError, match="file of users"):
        Security().check_place(host)
    Security(USERS).check_place(host)
    Security().check_place("127.0.0.1")


@pytest.mark.parametrize("private", [False, True])
def test_without_users_everybody_is_anonymous(private: bool) -> None:
    assert Security().anonymous
    assert Security().mechanisms(private=private) == ("ANONYMOUS",)


def test_with_users_a_password_is_sent_only_where_nobody_can_listen_in() -> None:
    security = Security(USERS)
    assert not security.anonymous
    assert security.mechanisms(private=True) == ("SCRAM-SHA-256", "PLAIN")
    assert security.mechanisms(private=False) == ("SCRAM-SHA-256",)
    assert security.is_private("127.0.0.1", encrypted=False)
    assert security.is_private("10.0.0.1", encrypted=True)
    assert not security.is_private("10.0.0.1", encrypted=False)
