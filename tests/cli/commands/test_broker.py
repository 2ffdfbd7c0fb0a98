"""Tests of ``assay broker``: the server as a process, from its first line of output to its end."""

from __future__ import annotations

import io
import itertools
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.cli.conftest import Assay, environment
from tests.cli.servers import ANY, LIMIT_S, Running, running

import assay
from assay.exits import Exit
from assay_broker.security import Users
from assay_sdk import AckMode, Context, DeliveryMode, Queue, connect
from assay_sdk.driver import Login
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.errors import JmsError
from assay_sdk.runners.real import RealRunner

ORDERS = Queue("ORDERS", str)


@pytest.fixture
def runner() -> Generator[RealRunner]:
    runner = RealRunner()
    yield runner
    runner.close()


Dial = Callable[..., Context]


@pytest.fixture
def dial(runner: RealRunner) -> Dial:
    def call(url: str, login: Login | None = None) -> Context:
        return connect(url, login=login, driver=AmqpDriver(), runner=runner)

    return call


def test_it_says_where_it_is_and_that_memory_is_all_it_has(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        assert server.first_line == (
            f"ASSAY is ready at {server.amqp}, {server.stomp} and {server.http}; it keeps its data in memory only.\n"
        )
        with urllib.request.urlopen(f"{server.http}/ready", timeout=5) as answer:  # noqa: S310  our own server
            assert answer.status == 200
        code, out, _ = server.end(signal.SIGTERM)
    assert (code, out) == (0, "")
    assert not (tmp_path / "ready.json").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only there a process can be asked for another's limits")
def test_it_may_have_as_many_files_open_as_there_may_be_connections(tmp_path: Path) -> None:
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before, 512), hard))
    try:
        with running(tmp_path) as server:
            soft, _ = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))
    assert soft == (20_256 if hard == resource.RLIM_INFINITY else min(hard, 20_256))


@pytest.mark.skipif(sys.platform != "linux", reason="its limits are set as there")
def test_who_finds_no_file_left_is_turned_away_and_nobody_else_notices(tmp_path: Path) -> None:
    limited = tmp_path / "limited"
    limited.write_text(f'#!/bin/sh\nulimit -n 128\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    limited.chmod(0o700)
    with running(tmp_path, python=limited) as server:
        with ExitStack() as crowd:
            for _ in range(200):
                crowd.enter_context(socket.create_connection(("127.0.0.1", urlsplit(server.amqp).port or 0), LIMIT_S))
            with urllib.request.urlopen(f"{server.http}/ready", timeout=LIMIT_S) as answer:  # noqa: S310  our own server
                assert answer.status == 200
        code, _, log = server.end(signal.SIGTERM)
    assert code == 0
    assert "at most 64 clients can connect at a time" in log
    assert "Too many open files" not in log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_orderly_end_keeps_what_was_taken_and_clients_hear_of_it(
    tmp_path: Path, dial: Dial, number: signal.Signals
) -> None:
    data = tmp_path / "data"
    with running(tmp_path, "--data", data) as server:
        context = dial(server.amqp)
        context.create_producer(ORDERS, delivery_mode=DeliveryMode.PERSISTENT).send("nails")
        begin = time.monotonic()
        code, _, log = server.end(number)
        assert code == 0, log
        assert time.monotonic() - begin < 10
        with pytest.raises(JmsError):
            context.create_producer(ORDERS).send("too late")
        assert "stopped" in log
        assert "Traceback" not in log
        assert not (tmp_path / "ready.json").exists()
    with running(tmp_path, "--data", data) as server, dial(server.amqp) as context:
        assert data.name in server.first_line
        with context.create_consumer(ORDERS) as consumer:
            message = consumer.receive(timeout=5_000)
        assert message is not None
        assert message.body == "nails"


def test_killed_it_starts_again_on_the_same_folder_with_all_that_was_answered(tmp_path: Path, dial: Dial) -> None:
    data = tmp_path / "data"
    with running(tmp_path, "--data", data) as server:
        producer = dial(server.amqp).create_producer(ORDERS, delivery_mode=DeliveryMode.PERSISTENT)
        for number in range(20):
            producer.send(str(number))
        assert server.end(signal.SIGKILL)[0] == -signal.SIGKILL
    with running(tmp_path, "--data", data) as server, dial(server.amqp) as context:
        with context.create_consumer(ORDERS) as consumer:
            found = [consumer.receive(timeout=5_000) for _ in range(20)]
        assert [message.body for message in found if message is not None] == [str(number) for number in range(20)]


@pytest.mark.parametrize("kind", ["QALIAS(ORDERS) TARGET(OTHER)", "QMODEL(ORDERS)"])
def test_a_script_that_would_hide_messages_is_refused_and_they_stay(
    assay: Assay, tmp_path: Path, dial: Dial, kind: str
) -> None:
    script = tmp_path / "new.mqsc"
    script.write_text(f"DEFINE QLOCAL(OTHER)\nDEFINE {kind}\n", encoding="utf-8")
    data = tmp_path / "data"
    with running(tmp_path, "--data", data) as server:
        with dial(server.amqp) as context:
            context.create_producer(ORDERS).send("one")
        server.end(signal.SIGTERM)
    ended = assay("broker", *ANY, "--data", data, "--mqsc", script)
    assert ended.code is Exit.USAGE
    assert "The local queue ORDERS holds messages (1)" in ended.err
    assert "Traceback" not in ended.err
    with running(tmp_path, "--data", data) as server, dial(server.amqp) as context:
        assert context.create_consumer(ORDERS).receive_body(timeout=5_000) == "one"
    with running(tmp_path, "--data", data, "--mqsc", script):
        pass  # the queue is empty now


def test_killed_amid_large_units_of_work_it_has_each_of_them_whole_or_not_at_all(tmp_path: Path, dial: Dial) -> None:
    data, many = tmp_path / "data", 20
    with running(tmp_path, "--data", data) as server:
        context = dial(server.amqp).create_context(AckMode.TRANSACTED)
        committed = commit_until_it_fails(context, many, threading.Timer(0.5, server.process.kill).start)
    with running(tmp_path, "--data", data) as server, dial(server.amqp) as context:
        found = [message.body for message in context.create_browser(ORDERS)]
    assert committed > 0
    assert found == [str(unit) for unit in range(committed + (len(found) > committed * many)) for _ in range(many)]


def commit_until_it_fails(context: Context, many: int, begun: Callable[[], None]) -> int:
    """Commit units of work until a commit fails; call `begun` after the first; return the number of committed units."""
    producer = context.create_producer(ORDERS, delivery_mode=DeliveryMode.PERSISTENT)
    for committed in itertools.count():
        try:
            for _ in range(many):
                producer.send(str(committed))
            context.commit()
        except JmsError:
            return committed
        if committed == 0:
            begun()
    raise AssertionError


def begins_to_stop(server: Running, number: signal.Signals) -> None:
    """Send a signal, and wait until the server logs that it stops."""
    server.process.send_signal(number)
    assert server.process.stderr is not None
    while "stopping" not in server.process.stderr.readline():
        assert server.process.poll() is None


def test_a_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    config = tmp_path / "broker.toml"
    config.write_text("drain-ms = 600000\n[amqp-limits]\nclose-ms = 600000\n")
    with running(tmp_path, "--config", config) as server, deaf_client(server.amqp):
        begins_to_stop(server, signal.SIGTERM)
        assert server.end(signal.SIGTERM)[0] == 128 + signal.SIGTERM


def test_a_second_hangup_lets_it_stop_in_order(tmp_path: Path) -> None:
    """When a terminal is closed, the shell and the system each send a SIGHUP."""
    config = tmp_path / "broker.toml"
    config.write_text("drain-ms = 2000\n[amqp-limits]\nclose-ms = 1000\n")
    with running(tmp_path, "--config", config) as server, deaf_client(server.amqp):
        begins_to_stop(server, signal.SIGHUP)
        code, _, log = server.end(signal.SIGHUP)
    assert code == 0
    assert "stopped" in log
    assert not (tmp_path / "ready.json").exists()


@contextmanager
def deaf_client(url: str) -> Generator[None]:
    """Provide a client that opens a connection and then does not answer."""
    host, _, port = url.removeprefix("amqp://").partition(":")
    opened = b"AMQP\x00\x01\x00\x00" + frame(bytes.fromhex("005310c00601a103") + b"abc")  # open, container-id "abc"
    with socket.create_connection((host, int(port)), 5) as line:
        line.sendall(opened)
        line.settimeout(5)
        assert line.recv(8) == b"AMQP\x00\x01\x00\x00"
        assert len(line.recv(4096)) > 8  # the answering open
        yield


def frame(body: bytes) -> bytes:
    return (len(body) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + body


def test_two_servers_cannot_have_one_address_or_one_folder(assay: Assay, tmp_path: Path) -> None:
    with running(tmp_path, "--data", tmp_path / "data") as server:
        for option, url in (("--amqp", server.amqp), ("--http", server.http)):
            place = url.partition("://")[2]
            ended = assay("broker", *ANY, option, place, "--data", tmp_path / "new")
            assert ended.code is Exit.INCONCLUSIVE
            assert ended.out == ""
            told = "(Address already in use): end the program that listens there, or name another port."
            assert f"cannot listen on {place} for {option.strip('-').upper()} {told}" in last(ended.err)
            assert not (tmp_path / "new").exists()
        ended = assay("broker", *ANY, "--data", tmp_path / "data")
        assert ended.code is Exit.INCONCLUSIVE
        assert f"is in use by process {server.process.pid}" in last(ended.err)


@pytest.mark.parametrize("ready", ["nosuch/x", ""])
def test_a_ready_file_that_has_no_place_starts_nothing(assay: Assay, tmp_path: Path, ready: str) -> None:
    ended = assay("broker", *ANY, "--data", tmp_path / "new", "--ready-file", tmp_path / ready)
    assert ended.code is Exit.USAGE
    assert [*tmp_path.iterdir()] == []
    assert len(ended.err.splitlines()) == 1
    assert "cannot be written" in last(ended.err)


def test_who_finds_the_folder_in_use_leaves_the_ready_file_alone(assay: Assay, tmp_path: Path) -> None:
    ready, data = tmp_path / "ready.json", tmp_path / "data"
    with running(tmp_path, "--data", data):
        assert assay("broker", *ANY, "--data", data, "--ready-file", ready).code is Exit.INCONCLUSIVE
        assert ready.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no FIFOs")
def test_a_ready_file_that_is_none_of_ours_gives_way(tmp_path: Path) -> None:
    for name, make in (("ready.json", os.mkfifo), ("text.json", lambda path: Path(path).write_text("other"))):
        place = tmp_path / name
        make(place)
        data = tmp_path / f"data-{name}"
        process = subprocess.Popen(  # noqa: S603  our own command
            [sys.executable, "-m", assay.__name__, "broker", *ANY, "--data", str(data), "--ready-file", str(place)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        assert "is ready" in process.stdout.readline()
        assert json.loads(place.read_text())["pid"] == process.pid
        process.terminate()
        process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0


def test_a_ready_file_may_lie_in_the_folder_that_is_made(tmp_path: Path) -> None:
    data = tmp_path / "some" / "data"
    with running(data, "--data", data) as server:
        assert (data / "ready.json").exists()
        assert server.end(signal.SIGTERM)[0] == 0


def last(err: str) -> str:
    """Return the last line of standard error, which is the error message; check that the other lines are the log."""
    lines = err.splitlines()
    for line in lines[:-1]:
        json.loads(line)
    assert lines[-1].startswith("assay: ")
    assert lines[-1].endswith((".", "?"))
    return lines[-1]


def test_a_damaged_folder_is_said(assay: Assay, tmp_path: Path) -> None:
    with running(tmp_path, "--data", tmp_path / "data") as server:
        assert server.end(signal.SIGTERM)[0] == 0
    database = tmp_path / "data" / "assay.db"
    database.write_bytes(database.read_bytes()[:4096])
    ended = assay("broker", *ANY, "--data", tmp_path / "data")
    assert ended.code is Exit.INCONCLUSIVE
    assert "is damaged" in last(ended.err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--amqp", "0.0.0.0:0"), "other machines can reach"),
        (("--amqp", "5672"), "is not an address to listen on"),
        (("--level", "eight"), "'eight' is not a level"),
        (("--defect", "early-delivry"), "did you mean 'early-delivery'?"),
        (("--platform", "vms"), "there is no platform 'vms'; there is distributed, zos"),
        (("--log", "xml"), "there is no form of a log 'xml'"),
        (("--config", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("--mqsc", "nowhere.mqsc"), "nowhere.mqsc cannot be read"),
        (("--users", "nowhere.toml"), "file of users nowhere.toml cannot be read"),
        (("--tls-certificate", "a.pem"), "without its key"),
        (("--tls-certificate", "a.pem", "--tls-key", "b.pem"), "certificate a.pem cannot be read"),
        (("--data", ""), "data is empty: name a file or folder, or leave it out"),
        (("--add-user", "alice"), "the users' file is not named"),
        (("--data", "pyproject.toml"), "pyproject.toml is no folder; give the queue manager a folder"),
    ],
)
def test_a_mistake_is_one_sentence(assay: Assay, arguments: tuple[str, ...], said: str) -> None:
    ended = assay("broker", *ANY, *arguments)
    assert ended.code is Exit.USAGE
    assert ended.out == ""
    assert said in last(ended.err)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_certificate_that_is_none_is_said(assay: Assay, tmp_path: Path) -> None:
    pem = tmp_path / "broker.pem"
    pem.write_text("no certificate")
    ended = assay("broker", *ANY, "--tls-certificate", pem, "--tls-key", pem)
    assert ended.code is Exit.USAGE
    assert "are not a certificate and a key in PEM" in last(ended.err)


def test_a_users_file_that_makes_no_sense_is_said(assay: Assay, tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    users.write_text('[users.alice]\npassword = "pencil"\n')
    ended = assay("broker", *ANY, "--users", users)
    assert ended.code is Exit.USAGE
    assert "holds a password" in last(ended.err)
    assert "pencil" not in ended.err


def test_a_user_is_written_and_can_then_log_in_and_no_secret_stands_in_the_log(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dial: Dial
) -> None:
    users = tmp_path / "users.toml"
    for word in ("first-secret", "opensesame-7231"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{word}\n"))
        ended = assay("broker", "--users", users, "--add-user", "alice")
        assert ended.code is Exit.AS_EXPECTED
    assert ended.out == f"alice has another password in {users}. A running server reads the file at its next start.\n"
    assert Users.read(users).check("alice", "opensesame-7231")

    with running(tmp_path, "--users", users, "--log", "json") as server:
        with pytest.raises(JmsError):
            dial(server.amqp)
        with pytest.raises(JmsError):
            dial(server.amqp, Login("alice", "wrong-secret-9911"))
        with dial(server.amqp, Login("alice", "opensesame-7231")) as context:
            context.create_producer(ORDERS).send("the body nobody shall read")
            with context.create_consumer(ORDERS) as consumer:
                assert consumer.receive(timeout=5_000) is not None
        knock(server.http, "alice", "wrong-secret-9911")
        knock(server.http, "alice", "opensesame-7231")
        code, out, log = server.end(signal.SIGTERM)
    assert code == 0
    for secret in ("opensesame", "wrong-secret", "nobody shall read", "b3BlbnNlc2FtZS", "Traceback"):
        assert secret not in log + out
    for line in log.splitlines():
        assert json.loads(line)["message"]


def knock(url: str, user: str, password: str) -> None:
    """Send an HTTP request that needs a login."""
    manager = urllib.request.HTTPPasswordMgrWithDefaultRealm()
    manager.add_password(None, url, user, password)
    opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(manager))
    try:
        opener.open(f"{url}/ibmmq/rest/v2/admin/qmgr", timeout=LIMIT_S).close()
    except OSError as error:
        assert "40" in str(error)  # noqa: PT017  refused, or nothing there; the log is what counts


def test_a_file_says_what_flags_say_and_flags_win(tmp_path: Path) -> None:
    config = tmp_path / "broker.toml"
    config.write_text('name = "QM1"\nlevel = "9.4"\ndata = "kept"\nhttp = "none"\n')
    with running(tmp_path, "--config", config, "--name", "QM2") as server:
        assert server.first_line.startswith("QM2 is ready at amqp://")
        assert (tmp_path / "kept" / "assay.db").exists()


def test_the_shields_of_a_shell_hold(tmp_path: Path) -> None:
    """A shell starts background processes with SIGINT ignored, because Ctrl-C is for the foreground process."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with running(tmp_path) as server:
            os.kill(server.process.pid, signal.SIGINT)
            with urllib.request.urlopen(f"{server.http}/ready", timeout=5) as answer:  # noqa: S310  our own server
                assert answer.status == 200
            assert server.end(signal.SIGTERM)[0] == 0
    finally:
        signal.signal(signal.SIGINT, before)
