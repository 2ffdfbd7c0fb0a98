"""Tests of the local driver without a broker, and with silent, malformed and dying ones."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay_sdk import driver
from assay_sdk.driver import DriverEvent, Target, TargetError
from assay_sdk.drivers.local import LocalDriver, LocalWire, path_of
from assay_sdk.local.frames import LocalFrameSplitter, decode_command, encode_event
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc
from assay_sdk.runners.real import RealRunner
from assay_sdk.runners.virtual import VirtualRunner

SOON_NS = 30_000_000_000


@pytest.fixture
def runner() -> Iterator[RealRunner]:
    runner = RealRunner()
    yield runner
    runner.close()


class Deaf:
    """A socket on which the test acts as the broker."""

    def __init__(self, path: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.listener.settimeout(30)

    def accept(self) -> socket.socket:
        """Return the client's connection, after reading its greeting."""
        end, _ = self.listener.accept()
        end.settimeout(30)
        splitter = LocalFrameSplitter()
        while not splitter.feed(end.recv(1)):
            pass
        return end


@pytest.fixture
def deaf(tmp_path: Path) -> Iterator[Deaf]:
    deaf = Deaf(tmp_path / "s")
    yield deaf
    deaf.listener.close()


class Attempt:
    """A wire and its events."""

    def __init__(self, runner: RealRunner, path: Path, **target: Any) -> None:
        self.events: list[DriverEvent] = []
        self._runner = runner
        self.wire: LocalWire = LocalDriver().connect(
            Target(url=f"local://{path}", **target), self.events.append, runner
        )

    def until(self, done: Callable[[], bool]) -> None:
        """Wait until a condition holds."""
        assert self._runner.run_until(done, self._runner.clock.monotonic_ns() + SOON_NS), self.events

    def closed(self) -> driver.Closed:
        """Wait for the end of the wire, and return the event."""
        self.until(lambda: any(isinstance(event, driver.Closed) for event in self.events))
        last = self.events[-1]
        assert isinstance(last, driver.Closed)
        return last


OPENED = encode_event(driver.Opened(99, frozenset(), {}))


def test_where_nobody_listens_the_attempt_ends_with_a_sentence(runner: RealRunner, tmp_path: Path) -> None:
    why = Attempt(runner, tmp_path / "s").closed().refused
    assert why is not None
    assert why.mqrc == Mqrc.Q_MGR_NOT_AVAILABLE
    missing = f"no broker answers at {tmp_path / 's'} (No such file or directory)"
    assert why.text == f"{missing}: start the broker, then connect again"


def test_a_path_that_no_socket_can_have_is_to_be_corrected(runner: RealRunner, tmp_path: Path) -> None:
    why = Attempt(runner, tmp_path / ("s" * 200)).closed().refused
    assert why is not None
    assert "correct the path" in why.text


def test_a_broker_that_says_nothing_is_given_up(runner: RealRunner, deaf: Deaf, tmp_path: Path) -> None:
    attempt = Attempt(runner, tmp_path / "s", open_timeout_ms=50)
    with deaf.accept():
        why = attempt.closed().refused
    assert why is not None
    assert "did not open the connection within 50 ms" in why.text


def test_every_open_command_fails_when_the_broker_dies(runner: RealRunner, deaf: Deaf, tmp_path: Path) -> None:
    attempt = Attempt(runner, tmp_path / "s")
    end = deaf.accept()
    end.sendall(OPENED)
    for token in (1, 2):
        attempt.wire.submit(driver.OpenSession(token, token))
    splitter, heard = LocalFrameSplitter(), 0
    while heard < 2:
        heard += len(splitter.feed(end.recv(65_536)))
    end.close()
    assert attempt.closed().refused is not None
    failed = [event for event in attempt.events if isinstance(event, driver.Failed)]
    assert [event.token for event in failed] == [1, 2]
    assert {event.refused.kind for event in failed} == {JmsErrorKind.CONNECTION_LOST}
    attempt.wire.submit(driver.OpenSession(3, 3))
    attempt.until(lambda: isinstance(attempt.events[-1], driver.Failed))


def test_a_broker_that_talks_nonsense_is_a_lost_connection(runner: RealRunner, deaf: Deaf, tmp_path: Path) -> None:
    attempt = Attempt(runner, tmp_path / "s")
    with deaf.accept() as end:
        end.sendall(OPENED + (1).to_bytes(4, "big") + b"\xc1")
        why = attempt.closed().refused
    assert why is not None
    assert why.kind is JmsErrorKind.CONNECTION_LOST
    assert "does not belong to this protocol" in why.text


def test_an_answer_that_does_not_come_is_a_failure_at_its_time(runner: RealRunner, deaf: Deaf, tmp_path: Path) -> None:
    attempt = Attempt(runner, tmp_path / "s", request_timeout_ms=50)
    with deaf.accept() as end:
        end.sendall(OPENED)
        attempt.wire.submit(driver.OpenSession(1, 1))
        attempt.until(lambda: isinstance(attempt.events[-1:] and attempt.events[-1], driver.Failed))
        attempt.wire.abort()
        attempt.closed()


def test_the_answer_for_a_sender_names_its_capabilities(runner: RealRunner, deaf: Deaf, tmp_path: Path) -> None:
    attempt = Attempt(runner, tmp_path / "s")
    answer = driver.Done(2, "name", {"x": 1}, frozenset({Capability.DELIVERY_DELAY}))
    with deaf.accept() as end:
        end.sendall(OPENED)
        attempt.wire.submit(driver.OpenSender(2, 1, 1, None))
        assert LocalFrameSplitter().feed(end.recv(65_536))  # an answer before its command would be ignored
        end.sendall(encode_event(answer))
        attempt.until(lambda: answer in attempt.events)
        attempt.wire.abort()
        attempt.closed()


def test_what_has_no_form_on_the_wire_fails_by_itself(runner: RealRunner, deaf: Deaf, tmp_path: Path) -> None:
    attempt = Attempt(runner, tmp_path / "s")
    with deaf.accept() as end:
        end.sendall(OPENED)
        attempt.wire.submit(driver.Send(1, 1, Message(properties={"n": 1 << 70})))
        attempt.until(lambda: any(isinstance(event, driver.Failed) for event in attempt.events))
        attempt.wire.submit(driver.OpenSession(2, 2))
        (body,) = LocalFrameSplitter().feed(end.recv(65_536))
        assert decode_command(body) == driver.OpenSession(2, 2)
        attempt.wire.abort()
        attempt.closed()


def test_frames_are_shown_when_they_are_asked_for(runner: RealRunner, deaf: Deaf, tmp_path: Path) -> None:
    attempt = Attempt(runner, tmp_path / "s", trace=True)
    with deaf.accept() as end:
        end.sendall(OPENED)
        attempt.wire.submit(driver.OpenSession(1, 1))
        attempt.until(lambda: len(attempt.events) == 3)
        attempt.wire.abort()
        attempt.closed()
    shown = [event.direction for event in attempt.events if isinstance(event, driver.Frame)]
    assert sorted(shown) == ["in", "out"]


@pytest.mark.parametrize("url", ["local://host/s", "local:", "amqp:///s"])
def test_a_url_without_a_path_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="not a local URL: write local:///path"):
        path_of(url)


def test_a_ca_file_is_refused(runner: RealRunner) -> None:
    with pytest.raises(TargetError, match="local:// has no TLS: leave ca_file out"):
        LocalDriver().connect(Target(url="local:///s", ca_file="x"), lambda _: None, runner)


def test_a_path_may_be_quoted() -> None:
    assert path_of("local:///a%20b") == "/a b"


def test_a_runner_without_sockets_is_refused() -> None:
    with pytest.raises(TypeError, match="use RealRunner"):
        LocalDriver().connect(Target(url="local:///s"), lambda _: None, VirtualRunner())
