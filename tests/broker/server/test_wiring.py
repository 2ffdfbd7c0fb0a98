"""Tests of a server's checks of its options before it listens."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay_broker.security import entry
from assay_broker.security.users import LEAST_ITERATIONS
from assay_broker.server.addresses import HostPort
from assay_broker.server.options import ServerOptions
from assay_broker.server.wiring import Wiring

CERTIFICATES = Path(__file__).parents[1] / "security" / "certificates"
HERE = HostPort("127.0.0.1", 5672)
EVERYWHERE = HostPort("0.0.0.0", 9443)  # noqa: S104  nothing listens in these tests
ADVICE = "give --tls-certificate and --tls-key, or listen on 127.0.0.1"


@pytest.fixture
def users(tmp_path: Path) -> Path:
    path = tmp_path / "users.toml"
    path.write_text(entry("alice", "secret", LEAST_ITERATIONS))
    path.chmod(0o600)
    return path


def warnings(options: ServerOptions, caplog: pytest.LogCaptureFixture) -> list[str]:
    with caplog.at_level(logging.INFO, logger="assay_broker"):
        Wiring().secure(options)
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("options", "where", "what"),
    [
        (ServerOptions(amqp=HERE, http=EVERYWHERE), "HTTP at 0.0.0.0:9443", "messages"),
        (ServerOptions(amqp=EVERYWHERE, http=HERE), "AMQP at 0.0.0.0:9443", "messages"),
        (ServerOptions(amqp=HostPort("::", 5672), http=None), "AMQP at [::]:5672", "messages"),
        (ServerOptions(amqp=HostPort("mq.example.com", 5672), http=None), "AMQP at mq.example.com:5672", "messages"),
        (
            ServerOptions(amqp=HostPort("0.0.0.0", 5672), http=EVERYWHERE, clear_passwords=True),  # noqa: S104  nothing listens in these tests
            "AMQP at 0.0.0.0:5672 and HTTP at 0.0.0.0:9443",
            "messages and passwords",
        ),
    ],
)
def test_a_listener_that_other_machines_reach_without_tls_is_warned_of_once(
    options: ServerOptions, where: str, what: str, users: Path, caplog: pytest.LogCaptureFixture
) -> None:
    said = f"other machines may reach {where} without TLS, so {what} can be read on the network: {ADVICE}"
    assert warnings(_with(options, users), caplog) == [said]


def test_a_file_without_a_user_is_warned_of(users: Path, caplog: pytest.LogCaptureFixture) -> None:
    users.write_text("[users]\n")
    said = f"{users} has no user, so no client can log in; add one (--add-user)"
    assert warnings(_with(ServerOptions(amqp=HERE, http=None), users), caplog) == [said]


def test_nothing_is_said_of_loopback_addresses_and_of_tls(users: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert warnings(_with(ServerOptions(amqp=HERE, http=HostPort("localhost", 9443)), users), caplog) == []
    secure = ServerOptions(
        amqp=EVERYWHERE,
        http=None,
        users=users,
        tls_certificate=CERTIFICATES / "certificate.pem",
        tls_key=CERTIFICATES / "key.pem",
    )
    assert warnings(secure, caplog) == []


def _with(options: ServerOptions, users: Path) -> ServerOptions:
    return replace(options, users=users)
