"""Tests of ``assay send`` and ``assay receive`` with a broker on a Unix socket."""

from __future__ import annotations

import errno
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from proton import symbol
from tests.broker.amqp.serving import serving
from tests.broker.security.test_tls import CERTIFICATE, KEY
from tests.cli.conftest import Assay, environment
from tests.cli.servers import running
from tests.sdk.faces.test_foreign_bodies import send as send_foreign

from assay.commands.messages.receive import receive
from assay.exits import CannotRunError, Exit
from assay_broker.inprocess import InProcessDriver
from assay_broker.local import LocalServer
from assay_broker.security.users import entry
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk import drivers
from assay_sdk.runners.real import RealRunner


@pytest.fixture(autouse=True)
def _local_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the local driver as in an installed kit."""
    found = [
        EntryPoint("local", "assay_sdk.drivers.local:LocalDriver", drivers.GROUP),
        *(EntryPoint(name, "assay_sdk.drivers.amqp:AmqpDriver", drivers.GROUP) for name in ("amqp", "amqps")),
        *(EntryPoint(name, "assay_sdk.drivers.stomp:StompDriver", drivers.GROUP) for name in ("stomp", "stomps")),
    ]
    monkeypatch.setattr(drivers, "entry_points", lambda **_: found)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    runner = RealRunner()
    server = LocalServer(tmp_path / "s", InProcessDriver(QueueManager(runner, MemoryStore())), runner)
    yield server.url
    server.close()
    runner.run_until(lambda: server.closed, runner.clock.monotonic_ns() + 5_000_000_000)
    runner.close()


def test_what_is_sent_is_received_once(assay: Assay, url: str) -> None:
    sent = assay("send", "--url", url, "ORDERS", "hello, grüße")
    assert (sent.code, sent.err) == (Exit.AS_EXPECTED, "")
    assert sent.out.startswith("ID:")
    got = assay("receive", "--url", url, "ORDERS")
    assert (got.code, got.out, got.err) == (Exit.AS_EXPECTED, "hello, grüße\n", "")
    none = assay("receive", "--url", url, "ORDERS", "--timeout", "0")
    assert (none.code, none.out) == (Exit.NOT_AS_EXPECTED, "")
    assert none.err == "assay: 0 of 1 messages came within 0 ms.\n"


def test_a_delayed_message_says_when_it_is_due_and_is_not_there_before(assay: Assay, url: str) -> None:
    for delay in ("300ms", "3s", "30s"):  # on a busy machine, a short delay is over before the first receive
        sent = assay("send", "--url", url, "ORDERS", "later", "--delay", delay)
        assert len(sent.out.splitlines()) == 1, "standard output has the id alone"
        due = datetime.strptime(sent.err.strip(), "not before %Y-%m-%d %H:%M:%S.%f UTC").replace(tzinfo=UTC)
        if assay("receive", "--url", url, "ORDERS", "--timeout", "0").code is Exit.NOT_AS_EXPECTED:
            break
        assert datetime.now(UTC) >= due
    assert assay("receive", "--url", url, "ORDERS", "--timeout", "60s").out == "later\n"


def test_several_are_received_in_order_and_too_few_are_told(assay: Assay, url: str) -> None:
    for text in ("a", "b", "c"):
        assay("send", "--url", url, "ORDERS", text)
    got = assay("receive", "--url", url, "ORDERS", "--count", "2")
    assert (got.code, got.out) == (Exit.AS_EXPECTED, "a\nb\n")
    rest = assay("receive", "--url", url, "ORDERS", "--count", "2", "--timeout", "50")
    assert (rest.code, rest.out) == (Exit.NOT_AS_EXPECTED, "c\n")


def test_headers_are_shown_as_json(assay: Assay, url: str) -> None:
    options = ("--persistent", "--priority", "7", "--ttl", "1h", "--correlation-id", "order-1")
    assay("send", "--url", url, "ORDERS", "{}", *options)
    got = json.loads(assay("receive", "--url", url, "ORDERS", "--json").out)
    assert (got["delivery_mode"], got["priority"], got["correlation_id"]) == ("persistent", 7, "order-1")
    assert got["expiration"] > got["timestamp"] > 0
    assert (got["body"], got["body_encoding"], got["redelivered"]) == ("{}", "text", False)


def test_a_message_is_persistent_unless_it_is_said_otherwise(assay: Assay, url: str) -> None:
    assay("send", "--url", url, "ORDERS", "x")
    got = json.loads(assay("receive", "--url", url, "ORDERS", "--json").out)
    assert (got["delivery_mode"], got["priority"]) == ("persistent", 0)
    assay("send", "--url", url, "ORDERS", "x", "--non-persistent")
    got = json.loads(assay("receive", "--url", url, "ORDERS", "--json").out)
    assert got["delivery_mode"] == "non-persistent"


def test_what_send_answered_survives_a_kill(assay: Assay, tmp_path: Path) -> None:
    with running(tmp_path, "--data", tmp_path / "data") as server:
        assert assay("send", "--url", server.amqp, "ORDERS", "kept").code is Exit.AS_EXPECTED
        assert assay("send", "--url", server.amqp, "ORDERS", "later", "--delay", "50ms").code is Exit.AS_EXPECTED
        server.process.kill()
        server.process.wait()
    with running(tmp_path, "--data", tmp_path / "data") as server:
        got = assay("receive", "--url", server.amqp, "ORDERS", "--count", "2")
        assert (got.code, sorted(got.out.split())) == (Exit.AS_EXPECTED, ["kept", "later"])


@pytest.mark.parametrize(("delay", "ms"), [("10m", 600_000), ("1h", 3_600_000), ("2 min", 120_000), ("700", 700)])
def test_a_delay_is_given_as_people_write_it(assay: Assay, url: str, delay: str, ms: int) -> None:
    sent = assay("send", "--url", url, "ORDERS", "x", "--delay", delay)
    due = datetime.strptime(sent.err.strip(), "not before %Y-%m-%d %H:%M:%S.%f UTC").replace(tzinfo=UTC)
    left_ms = due.timestamp() * 1_000 - time.time() * 1_000
    assert ms - 60_000 < left_ms <= ms + 1


@pytest.mark.parametrize("days", [9_999_999, 99_999_999_999])
def test_a_due_time_after_the_year_9999_is_shown_in_days(assay: Assay, url: str, days: int) -> None:
    sent = assay("send", "--url", url, "ORDERS", "x", "--delay", f"{days}d")
    assert (sent.code, sent.out[:3]) == (Exit.AS_EXPECTED, "ID:")
    due = days + int(time.time() // 86_400)
    assert sent.err in {f"not before {day:,} days after 1970-01-01 UTC\n" for day in (due - 1, due)}


@pytest.mark.parametrize("options", [(), ("--delay", "50ms")], ids=["at once", "delayed"])
def test_a_server_with_its_defaults_takes_ten_megabytes(assay: Assay, tmp_path: Path, options: tuple[str, ...]) -> None:
    body = tmp_path / "body"
    body.write_text("x" * 10_000_000)
    with running(tmp_path, "--data", tmp_path / "data") as server, body.open() as stream:
        sent = subprocess.run(  # noqa: S603  our own command
            [sys.executable, "-m", "assay", "send", "--url", server.amqp, "ORDERS", "-", *options],
            env=environment(),
            stdin=stream,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (sent.returncode, sent.stdout[:3]) == (Exit.AS_EXPECTED, "ID:"), sent.stderr
        got = assay("receive", "--url", server.amqp, "ORDERS", "--timeout", "30s")
        assert (got.code, len(got.out)) == (Exit.AS_EXPECTED, 10_000_001)
    with running(tmp_path, "--mqsc", "none", "--mqsc", _queue(tmp_path)) as server:
        refused = assay("send", "--url", server.amqp, "ORDERS", "x" * 5_000_000)
        assert refused.code is Exit.NOT_AS_EXPECTED
        assert "MAXMSGL" in refused.err


def _queue(folder: Path) -> Path:
    """Write an MQSC script that lets all users use one queue."""
    script = folder / "orders.mqsc"
    script.write_text(
        "DEFINE QLOCAL(ORDERS)\n"
        "SET AUTHREC OBJTYPE(QMGR) GROUP('nobody') AUTHADD(CONNECT,INQ)\n"
        "SET AUTHREC PROFILE(ORDERS) OBJTYPE(QUEUE) GROUP('nobody') AUTHADD(GET,PUT,INQ)\n"
    )
    return script


def test_a_url_without_tls_at_a_port_with_tls_is_told_so(assay: Assay, tmp_path: Path) -> None:
    with running(tmp_path, "--data", tmp_path / "data", "--tls-certificate", CERTIFICATE, "--tls-key", KEY) as server:
        sent = assay("send", "--url", server.amqp.replace("amqps:", "amqp:"), "ORDERS", "x")
        assert sent.code is Exit.INCONCLUSIVE
        assert one_sentence(sent.err)
        assert "connect with amqps://" in sent.err
        http = server.http.replace("https:", "http:")
        for at, remedy in ((http, "try https://"), (server.http, "--ca FILE")):
            script = tmp_path / "script.mqsc"
            script.write_text("DISPLAY QMGR\n", encoding="utf-8")
            asked = assay("mqsc", "--url", at, script)
            assert (asked.code, one_sentence(asked.err)) == (Exit.INCONCLUSIVE, True)
            assert remedy in asked.err


@pytest.mark.parametrize(("octets", "shown"), [("grüße".encode(), "text"), (b"\xff\x00", "base64")])
def test_a_body_may_come_from_standard_input(
    assay: Assay, url: str, monkeypatch: pytest.MonkeyPatch, octets: bytes, shown: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(octets), encoding="utf-8"))
    assert assay("send", "--url", url, "ORDERS", "-").code is Exit.AS_EXPECTED
    assert json.loads(assay("receive", "--url", url, "ORDERS", "--json").out)["body_encoding"] == shown


def test_a_selector_chooses(assay: Assay, url: str) -> None:
    assay("send", "--url", url, "ORDERS", "low", "--priority", "1")
    assay("send", "--url", url, "ORDERS", "high", "--priority", "8")
    assert assay("receive", "--url", url, "ORDERS", "--selector", "JMSPriority < 5").out == "low\n"


def test_a_publication_without_subscribers_is_sent(assay: Assay, url: str) -> None:
    assert assay("send", "--url", url, "--topic", "sport/football", "goal").code is Exit.AS_EXPECTED
    none = assay("receive", "--url", url, "--topic", "sport/football", "--timeout", "20ms")
    assert none.code is Exit.NOT_AS_EXPECTED


def test_a_destination_is_named_as_links_name_it(assay: Assay, url: str) -> None:
    assert assay("send", "--url", url, "queue://ORDERS", "nails").code is Exit.AS_EXPECTED
    assert assay("receive", "--url", url, "ORDERS").out == "nails\n"
    assert assay("send", "--url", url, "topic://news/sport", "goal").code is Exit.AS_EXPECTED
    none = assay("receive", "--url", url, "queue://topic://news/sport", "--timeout", "20ms")
    assert (none.code, none.out) == (Exit.NOT_AS_EXPECTED, "")
    wrong = assay("receive", "--url", url, "--topic", "queue://ORDERS")
    assert (wrong.code, wrong.err) == (
        Exit.USAGE,
        "assay: queue://ORDERS is a queue, but --topic requests a topic: leave one of them out.\n",
    )


def test_a_refusal_for_lack_of_authority_is_the_brokers(assay: Assay, url: str) -> None:
    ended = assay("send", "--url", url, "SYSTEM.ADMIN.COMMAND.QUEUE", "x")
    assert (ended.code, one_sentence(ended.err)) == (Exit.NOT_AS_EXPECTED, True)
    assert "2035" in ended.err


@pytest.mark.parametrize("factory", [False, True], ids=["default.mqsc", "factory settings"])
def test_the_pages_example_lets_one_user_alone_use_a_queue(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factory: bool
) -> None:
    page = (Path(__file__).parents[4] / "docs" / "mqsc.md").read_text(encoding="utf-8")
    example = page.partition("$ cat orders.mqsc\nDEFINE QLOCAL(ORDERS)\nSET")[2].partition("$ assay broker")[0]
    connect = next(part for part in page.split("`") if part.startswith("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL"))
    script, users = tmp_path / "orders.mqsc", tmp_path / "users.toml"
    script.write_text(f"DEFINE QLOCAL(ORDERS)\nSET{example}{connect}\n", encoding="utf-8")
    users.write_text("".join(entry(name, "secret", iterations=4_096) for name in ("app", "other")), encoding="utf-8")
    monkeypatch.setenv("ASSAY_PASSWORD", "secret")
    scripts = ("--mqsc", "none", "--mqsc", script) if factory else ("--mqsc", script)
    with running(tmp_path, "--users", users, *scripts) as server:
        sent = assay("send", "--url", server.amqp, "ORDERS", "x", "--user", "app")
        refused = assay("send", "--url", server.amqp, "ORDERS", "x", "--user", "other")
        got = assay("receive", "--url", server.amqp, "ORDERS", "--user", "app")
    assert (sent.code, got.out) == (Exit.AS_EXPECTED, "x\n"), sent.err
    assert refused.code is not Exit.AS_EXPECTED
    assert "2035" in refused.err or factory


class Full(io.RawIOBase):
    """Standard output on a full disk."""

    def writable(self) -> bool:
        return True

    def write(self, _octets: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def one_sentence(err: str) -> bool:
    return err.startswith("assay: ") and len(err.splitlines()) == 1 and err.rstrip().endswith((".", ")"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("send", "ORDERS", "x", "--delay", "soon"),
        ("send", "ORDERS", "x", "--ttl", "5 parsecs"),
        ("send", "ORDERS", "x", "--priority", "12"),
        ("send", "ORDERS", "x", "--priority", "-1"),
        ("send", "", "x"),
        ("receive", "ORDERS", "--count", "0"),
        ("receive", "ORDERS", "--timeout", "-1"),
    ],
)
def test_a_wrong_call_is_told_in_one_sentence(assay: Assay, url: str, arguments: tuple[str, ...]) -> None:
    ended = assay(*arguments, "--url", url)
    assert ended.code is Exit.USAGE
    assert one_sentence(ended.err)


@pytest.mark.parametrize(
    ("at", "code"),
    [
        ("nonsense", Exit.USAGE),
        ("gopher://x", Exit.USAGE),
        ("http://127.0.0.1:1", Exit.USAGE),
        ("local://host/path", Exit.USAGE),
        ("local:///no/such/socket", Exit.INCONCLUSIVE),
        ("amqp://127.0.0.1:1", Exit.INCONCLUSIVE),
        ("amqp://user:secret@127.0.0.1:1", Exit.USAGE),
        ("amqp://127.0.0.1:notaport", Exit.USAGE),
        ("amqp://127.0.0.1:99999", Exit.USAGE),
        ("amqp://[::1", Exit.USAGE),
        ("amqps://127.0.0.1:1", Exit.INCONCLUSIVE),
    ],
)
def test_a_broker_that_is_not_there_is_told_in_one_sentence(assay: Assay, at: str, code: Exit) -> None:
    for command in ("send", "receive"):
        ended = assay(command, "--url", at, "ORDERS", *(["x"] if command == "send" else []))
        assert ended.code is code
        assert one_sentence(ended.err)
        assert "secret" not in ended.err
        assert "as login" not in ended.err


def test_what_is_refused_is_not_as_expected(assay: Assay, url: str) -> None:
    ended = assay("send", "--url", url, "ORDERS", "x", "--delay", "2s", "--ttl", "1s")
    assert ended.code is Exit.NOT_AS_EXPECTED
    assert "MQRC_EXPIRY_ERROR (2013)" in ended.err
    assert one_sentence(ended.err)
    wrong = assay("receive", "--url", url, "ORDERS", "--selector", "a b c")
    assert wrong.code is Exit.USAGE
    assert one_sentence(wrong.err)


def test_a_password_is_never_on_the_command_line(assay: Assay, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b""), encoding="utf-8"))
    monkeypatch.delenv("ASSAY_PASSWORD", raising=False)
    ended = assay("send", "--url", url, "ORDERS", "x", "--user", "alice")
    assert ended.code is Exit.USAGE
    assert "ASSAY_PASSWORD" in ended.err
    monkeypatch.setenv("ASSAY_PASSWORD", "secret")
    assert assay("send", "--url", url, "ORDERS", "x", "--user", "alice").code is Exit.AS_EXPECTED


def test_a_reader_that_goes_away_gets_nothing_and_nobody_loses_anything(
    assay: Assay, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in ("a", "b"):
        assay("send", "--url", url, "ORDERS", text)

    class Gone(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _octets: object) -> int:
            raise BrokenPipeError

    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(Gone()), encoding="utf-8"))
        patched.setattr("assay.terminal.hush", lambda: None)
        with pytest.raises(CannotRunError, match="delivers the message again"):
            receive(name="ORDERS", url=url, count=2)
    got = assay("receive", "--url", url, "ORDERS", "--count", "2")
    assert got.out == "a\nb\n"


def test_what_standard_output_does_not_take_is_told_and_comes_again(
    assay: Assay, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assay("send", "--url", url, "ORDERS", "kept")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(Full()), encoding="utf-8"))
        patched.setattr("assay.terminal.hush", lambda: setattr(sys, "stdout", io.StringIO()))
        ended = assay("receive", "--url", url, "ORDERS")
    assert ended.code is Exit.INCONCLUSIVE
    assert (
        ended.err == "assay: standard output cannot be written (No space left on device): free some space, and retry; "
        "the broker delivers the message again.\n"
    )
    assert assay("receive", "--url", url, "ORDERS").out == "kept\n"


def test_what_is_sent_is_sent_though_nobody_can_print_its_id(
    assay: Assay, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(Full()), encoding="utf-8"))
        patched.setattr("assay.terminal.hush", lambda: setattr(sys, "stdout", io.StringIO()))
        ended = assay("send", "--url", url, "ORDERS", "once")
    assert ended.code is Exit.AS_EXPECTED
    assert "the broker has the message ID:" in ended.err
    assert one_sentence(ended.err)
    got = assay("receive", "--url", url, "ORDERS", "--count", "2", "--timeout", "20ms")
    assert got.out == "once\n"


def in_shell(redirected: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command in a new process; a shell redirects the command's streams."""
    return subprocess.run(  # noqa: S603  our own command
        ["/bin/sh", "-c", f'"$@" {redirected}', "sh", sys.executable, "-m", "assay", *arguments],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_closed_standard_output_loses_no_message(assay: Assay, tmp_path: Path) -> None:
    with running(tmp_path) as server:
        sent = in_shell(">&-", "send", "--url", server.amqp, "ORDERS", "once", "--delay", "1ms")
        assert (sent.returncode, one_sentence(sent.stderr)) == (Exit.AS_EXPECTED, True), sent.stderr
        assert "the broker has the message ID:" in sent.stderr
        assert "standard output is closed" in sent.stderr
        got = in_shell(">&-", "receive", "--url", server.amqp, "ORDERS")
        assert got.returncode == Exit.INCONCLUSIVE
        assert got.stderr == (
            "assay: standard output is closed: redirect it to a file or a program; "
            "the broker delivers the message again.\n"
        )
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            gone = subprocess.run(  # noqa: S603  our own command
                [sys.executable, "-m", "assay", "receive", "--url", server.amqp, "ORDERS"],
                env=environment(),
                stdout=pipe,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert (gone.returncode, one_sentence(gone.stderr)) == (Exit.INCONCLUSIVE, True), gone.stderr
        assert "the program that reads standard output has ended" in gone.stderr
        assert assay("receive", "--url", server.amqp, "ORDERS").out == "once\n"


@pytest.mark.parametrize("streams", [">&-", ">&- 2>&-", "<&- >&-"])
@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("rules", "--json"), ("rules",), ("steps",)])
def test_a_closed_standard_output_is_told_without_a_stack_trace(streams: str, arguments: tuple[str, ...]) -> None:
    ended = in_shell(streams, *arguments)
    assert ended.returncode == Exit.INCONCLUSIVE
    told = "assay: standard output is closed: redirect it to a file or a program.\n"
    assert ended.stderr == ("" if "2>&-" in streams else told)


def test_a_closed_standard_input_is_told_in_one_sentence(url: str) -> None:
    ended = in_shell("<&-", "send", "--url", url, "ORDERS")
    assert (ended.returncode, one_sentence(ended.stderr)) == (Exit.USAGE, True), ended.stderr
    assert "Standard input cannot be read" in ended.stderr


def test_a_broker_behind_tls_is_believed_by_its_certificate(assay: Assay, tmp_path: Path) -> None:
    script = tmp_path / "one.mqsc"
    script.write_text("DISPLAY QMGR\n")
    tls = ("--tls-certificate", CERTIFICATE, "--tls-key", KEY, "--http", "127.0.0.2:0")
    with running(tmp_path, *tls) as server:
        amqp, stomp = (url.replace("127.0.0.1", "localhost") for url in (server.amqp, server.stomp))
        for at, scheme in ((amqp, "amqps"), (stomp, "stomps")):
            assert at.startswith(f"{scheme}://")
            sent = assay("send", "--url", at, "--ca", CERTIFICATE, "ORDERS", scheme)
            assert (sent.code, sent.err) == (Exit.AS_EXPECTED, "")
            assert assay("receive", "--url", at, "--ca", CERTIFICATE, "ORDERS").out == f"{scheme}\n"
        stranger = assay("receive", "--url", amqp, "ORDERS")
        misnamed = assay("mqsc", script, "--url", server.http, "--ca", CERTIFICATE)
    assert "its certificate is for another name: connect with a name in the certificate" in misnamed.err
    assert one_sentence(misnamed.err)
    assert stranger.code is Exit.INCONCLUSIVE
    assert "name its authority with --ca, or connect with the host name" in stranger.err
    assert one_sentence(stranger.err)


@pytest.mark.parametrize("scheme", ["AMQPS", "stomps"])
def test_certificates_are_for_a_broker_behind_tls(assay: Assay, tmp_path: Path, scheme: str) -> None:
    at = f"{scheme}://127.0.0.1:1"
    assert assay("send", "--url", at, "--ca", CERTIFICATE, "ORDERS", "x").code is Exit.INCONCLUSIVE
    none = assay("send", "--url", at, "--ca", tmp_path / "none.pem", "ORDERS", "x")
    assert none.code is Exit.USAGE
    assert "none.pem has no readable certificate" in none.err
    assert one_sentence(none.err)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("amqp://127.0.0.1:1", "--ca is given, but amqp:// has no TLS: connect with amqps://, or leave --ca out."),
        ("stomp://127.0.0.1:1", "--ca is given, but stomp:// has no TLS: connect with stomps://, or leave --ca out."),
        ("local:///no/such/socket", "--ca is given, but local:// has no TLS: leave --ca out."),
        ("amqp://user:secret@127.0.0.1:1", "the URL contains a user: give it with --user NAME instead"),
        ("gopher://x", "no driver serves 'gopher://x'"),
    ],
)
def test_certificates_for_a_url_without_tls_are_refused(assay: Assay, at: str, said: str) -> None:
    ended = assay("send", "--url", at, "--ca", CERTIFICATE, "ORDERS", "x")
    assert ended.code is Exit.USAGE
    assert said in ended.err
    assert "secret" not in ended.err
    assert one_sentence(ended.err)


def test_bodies_of_other_clients_are_printed_as_text(assay: Assay) -> None:
    with serving() as server:
        send_foreign(server.url, "FOREIGN", {"order": 1}, symbol("sym"), 42)
        got = assay("receive", "--url", server.url, "FOREIGN", "--count", "2")
        assert (got.code, got.out) == (Exit.AS_EXPECTED, '{"order":1}\nsym\n')
        got = assay("receive", "--url", server.url, "FOREIGN", "--json")
        assert (json.loads(got.out)["body"], json.loads(got.out)["body_encoding"]) == ("42", "text")
