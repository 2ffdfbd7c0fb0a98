"""Tests of ``assay cancel`` with a server: over AMQP and over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Assay
from tests.cli.servers import Running, running

from assay.exits import Exit
from assay_broker.security.users import entry


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    with running(folder, "--data", folder / "data") as found:
        yield found


def url_of(server: Running, protocol: str) -> str:
    return server.amqp if protocol == "amqp" else server.http


@pytest.mark.parametrize("protocol", ["amqp", "http"])
@pytest.mark.parametrize("to", [("ORDERS",), ("--topic", "sport/football")], ids=["queue", "topic"])
def test_what_assay_send_printed_takes_the_message_back(
    assay: Assay, server: Running, protocol: str, to: tuple[str, ...]
) -> None:
    """The topic has no subscriber, so no copy of a publication is staged."""
    handle = assay("send", "--url", server.amqp, *to, "x", "--delay", "10m").out.strip()
    cancelled = assay("cancel", "--url", url_of(server, protocol), handle)
    if to[0] == "ORDERS":
        assert (cancelled.code, cancelled.out, cancelled.err) == (Exit.AS_EXPECTED, "", "")
    again = assay("cancel", "--url", url_of(server, protocol), handle)
    assert again.code is Exit.NOT_AS_EXPECTED
    assert again.err.startswith(f"assay: no delayed message {handle} is staged")


@pytest.mark.parametrize("protocol", ["amqp", "http"])
def test_the_id_outlives_a_kill_of_the_server(assay: Assay, tmp_path: Path, protocol: str) -> None:
    with running(tmp_path, "--data", tmp_path / "data") as server:
        handle = assay("send", "--url", server.amqp, "ORDERS", "x", "--delay", "10m").out.strip()
        server.process.kill()
        server.process.wait()
    with running(tmp_path, "--data", tmp_path / "data") as server:
        assert assay("cancel", "--url", url_of(server, protocol), handle).code is Exit.AS_EXPECTED


@pytest.mark.parametrize("protocol", ["amqp", "http"])
def test_a_user_without_authority_is_refused_by_the_broker_and_a_wrong_password_by_the_login(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    users = tmp_path / "users.toml"
    users.write_text(entry("app", "secret", iterations=4_096) + entry("mqm", "admin", iterations=4_096))
    script = tmp_path / "closed.mqsc"
    script.write_text("SET AUTHREC PROFILE(SECRET) OBJTYPE(QUEUE) GROUP('nobody') AUTHADD(NONE)\n")
    with running(tmp_path, "--users", users, "--mqsc", script) as server:
        at = url_of(server, protocol)
        monkeypatch.setenv("ASSAY_PASSWORD", "admin")
        sent = assay("send", "--url", server.amqp, "--user", "mqm", "SECRET", "x", "--delay", "10m")
        for password, code in (("secret", Exit.NOT_AS_EXPECTED), ("wrong", Exit.INCONCLUSIVE)):
            monkeypatch.setenv("ASSAY_PASSWORD", password)
            refused = assay("cancel", "--url", at, "--user", "app", sent.out.strip())
            assert (refused.code, refused.out, len(refused.err.splitlines())) == (code, "", 1), refused.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("ID:x", "--url", "amqp://127.0.0.1:1"), Exit.INCONCLUSIVE),
        (("ID:x", "--url", "http://127.0.0.1:1"), Exit.INCONCLUSIVE),
        (("ID:x", "--url", "gopher://x"), Exit.USAGE),
        (("ID:x", "--url", "http://127.0.0.1:1/path"), Exit.USAGE),
        (("",), Exit.USAGE),
        ((), Exit.USAGE),
    ],
)
def test_a_call_that_cannot_work_is_one_sentence(assay: Assay, arguments: tuple[str, ...], code: Exit) -> None:
    ended = assay("cancel", *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (code, "", 1)


def test_a_missing_argument_is_called_as_the_help_calls_it(assay: Assay) -> None:
    assert assay("cancel").err.startswith("assay: Missing argument 'ID'. (ID: Id of the message, from assay send")
