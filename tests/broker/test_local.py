"""Tests of the broker on a Unix socket: accepted and refused clients, and malformed frames."""

from __future__ import annotations

import errno
import socket
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pytest
from msgspec import Struct, msgpack

from assay_broker.inprocess import InProcessDriver
from assay_broker.local import LIMITS, Limits, LocalError, LocalServer
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk import Queue, connect, driver
from assay_sdk.driver import DriverEvent
from assay_sdk.drivers.local import LocalDriver
from assay_sdk.local.frames import FromClient, Hello, LocalFrameSplitter, decode_event, encode_command
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.runners.real import RealRunner

SOON_NS = 30_000_000_000
QUEUE = Address(AddressKind.QUEUE, "Q")


class Served(Struct):
    """A broker with a server on a Unix socket."""

    runner: RealRunner
    path: Path
    server: LocalServer

    def until(self, done: Callable[[], bool]) -> bool:
        """Wait for a condition on the broker's loop."""
        return self.runner.run_until(done, self.runner.clock.monotonic_ns() + SOON_NS)


Serve = Callable[..., Served]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    served: list[Served] = []

    def start(limits: Limits = LIMITS, path: Path = tmp_path / "s") -> Served:
        runner = RealRunner()
        broker = InProcessDriver(QueueManager(runner, MemoryStore()))
        try:
            server = LocalServer(path, broker, runner, limits)
        except LocalError:
            runner.close()
            raise
        served.append(Served(runner, path, server))
        return served[-1]

    yield start
    for one in served:
        one.server.close()
        one.until(lambda one=one: one.server.closed)  # type: ignore[misc]  # the default binds the loop's variable
        one.runner.close()


class Caller:
    """A client that can send any frames."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(30)
        self.socket.connect(str(path))
        self._splitter = LocalFrameSplitter()
        self._events: list[DriverEvent] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def say(self, *commands: FromClient) -> None:
        """Send frames."""
        self.socket.sendall(b"".join(map(encode_command, commands)))

    def hear(self) -> DriverEvent | None:
        """Return the next event; None if the broker has closed the connection."""
        while not self._events:
            try:
                octets = self.socket.recv(65_536)
            except ConnectionError:
                return None
            if not octets:
                return None
            self._events += map(decode_event, self._splitter.feed(octets))
        return self._events.pop(0)

    def greet(self) -> Caller:
        """Connect with a correct greeting."""
        self.say(Hello(version=1))
        assert isinstance(self.hear(), driver.Opened)
        return self


def works(served: Served) -> bool:
    """Check whether the broker serves another client."""
    with Caller(served.path).greet() as caller:
        caller.say(driver.OpenSession(1, 1))
        return caller.hear() == driver.Done(1)


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def test_the_sockets_file_is_its_owners_alone_and_goes_with_the_broker(serve: Serve) -> None:
    served = serve()
    assert stat.S_IMODE(served.path.stat().st_mode) == 0o600
    served.server.close()
    assert served.until(lambda: served.server.closed)
    assert not served.path.exists()


def test_a_file_that_a_killed_broker_left_behind_is_replaced(serve: Serve, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(tmp_path / "s"))
    assert works(serve())


def test_a_socket_with_a_listener_is_left_alone(serve: Serve) -> None:
    served = serve()
    with pytest.raises(LocalError, match=r"listens at .* already: stop that broker"):
        LocalServer(served.path, InProcessDriver(QueueManager(served.runner, MemoryStore())), served.runner)
    assert works(served)


def test_a_file_that_is_no_socket_is_left_alone(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "s").write_text("precious")
    with pytest.raises(LocalError, match="is not a socket"):
        serve()
    assert (tmp_path / "s").read_text() == "precious"


@pytest.mark.parametrize("name", ["missing/s", "s" * 200])
def test_a_path_that_no_socket_can_have_is_refused_in_one_sentence(serve: Serve, tmp_path: Path, name: str) -> None:
    with pytest.raises(LocalError, match=r"No socket can be created at .*: name another path\."):
        serve(path=tmp_path / name)


@pytest.mark.parametrize(
    "octets",
    [
        pytest.param(frame(b"\xc1"), id="no MessagePack"),
        pytest.param(frame(msgpack.encode({"type": "Send"})), id="no whole command"),
        pytest.param(frame(msgpack.encode({"type": "Elsewhere"})), id="no command of ours"),
        pytest.param(frame(b"\x91" * 100_000 + b"\xc0"), id="nested too deeply"),
        pytest.param(encode_command(Hello(version=1)), id="a second hello"),
        pytest.param(encode_command(driver.Browse(7, 1, QUEUE)) * 2, id="one token twice"),
        pytest.param((1 << 31).to_bytes(4, "big"), id="a frame that is too long"),
        pytest.param(
            frame(
                msgpack.encode(
                    {"type": "Send", "token": 1, "link": 1, "message": {"properties": {"p": {"nested": 1}}}},
                )
            ),
            id="a property that is no scalar",
        ),
        pytest.param(
            frame(msgpack.encode({"type": "Send", "token": 1, "link": 1, "message": {"body": [1, 2]}})),
            id="a body of another kind",
        ),
    ],
)
def test_a_client_that_sends_nonsense_is_cut_off_and_others_go_on(serve: Serve, octets: bytes) -> None:
    served = serve()
    with Caller(served.path).greet() as bystander, Caller(served.path).greet() as caller:
        caller.socket.sendall(octets)
        while caller.hear() is not None:
            pass
        bystander.say(driver.OpenSession(1, 1))
        assert bystander.hear() == driver.Done(1)


def test_the_first_word_is_a_hello(serve: Serve) -> None:
    with Caller(serve().path) as caller:
        caller.say(driver.OpenSession(1, 1))
        assert caller.hear() is None


def test_another_version_is_refused_with_the_reason(serve: Serve) -> None:
    with Caller(serve().path) as caller:
        caller.say(Hello(version=2))
        refusal = caller.hear()
        assert isinstance(refusal, driver.Closed)
        assert refusal.refused is not None
        assert "install the same release on both sides" in refusal.refused.text
        assert caller.hear() is None


def test_what_a_caller_held_goes_back_when_its_line_breaks(serve: Serve) -> None:
    served = serve()
    with Caller(served.path).greet() as caller:
        receiver = driver.OpenReceiver(token=3, session=1, link=2, address=QUEUE)
        caller.say(driver.OpenSession(1, 1), driver.OpenSender(2, 1, 1, QUEUE), receiver, driver.Credit(4, 2, 1))
        caller.say(driver.Send(5, 1, Message(body="a", durable=True)))
        heard = [caller.hear() for _ in range(6)]
        assert any(isinstance(event, driver.Arrived) for event in heard)
    runner = RealRunner()
    with connect(served.server.url, driver=LocalDriver(), runner=runner) as context:
        came = context.create_consumer(Queue("Q")).receive(5_000)
        assert came is not None
        assert (came.body, came.redelivered) == ("a", True)
    runner.close()


def test_one_caller_too_many_is_turned_away(serve: Serve) -> None:
    served = serve(Limits(callers=1))
    with Caller(served.path).greet(), Caller(served.path) as second:
        assert second.hear() is None
    assert served.until(lambda: not served.server.callers)
    assert works(served)


def test_a_client_that_does_not_read_is_cut_off_when_too_much_waits_for_it(serve: Serve) -> None:
    served = serve(Limits(unsent=1 << 20))
    with Caller(served.path).greet() as caller:
        caller.say(driver.OpenSession(1, 1), driver.OpenSender(2, 1, 1, QUEUE))
        for token in range(10, 40):
            caller.say(driver.Send(token, 1, Message(body="x" * 50_000, durable=False)))
        caller.say(*(driver.Browse(token, 1, QUEUE) for token in range(100, 110)))
        assert served.until(lambda: not served.server.callers)
    assert works(served)


def test_an_answer_that_is_too_long_is_a_refusal(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    with Caller(serve().path).greet() as caller:
        caller.say(driver.OpenSession(1, 1), driver.OpenSender(2, 1, 1, QUEUE))
        for token in range(3, 6):
            caller.say(driver.Send(token, 1, Message(body="x" * 1_000, durable=False)))
        for _ in range(5):
            assert isinstance(caller.hear(), driver.Done)
        monkeypatch.setattr("assay_sdk.local.frames.MAX_FRAME", 2_500)
        caller.say(driver.Browse(9, 1, QUEUE))
        answer = caller.hear()
        assert isinstance(answer, driver.Failed)
        assert answer.refused.mqrc == Mqrc.MSG_TOO_BIG_FOR_CHANNEL


def test_after_a_caller_who_could_not_be_let_in_others_can(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    served = serve()
    fails = [OSError(errno.EMFILE, "too many open files")]
    accept = socket.socket.accept

    def scarce(listener: socket.socket) -> tuple[socket.socket, object]:
        if fails:
            raise fails.pop()
        return accept(listener)

    monkeypatch.setattr(socket.socket, "accept", scarce)
    assert works(served)


def test_closing_cuts_everybody_off(serve: Serve) -> None:
    served = serve()
    with Caller(served.path).greet() as caller:
        served.server.close()
        assert caller.hear() is None
