"""Tests of the proxy with real sockets; the test acts as client and as broker."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress

import pytest
from tests.adapters.faults.test_sightings import begin, disposition, message, transfer

from assay_adapters.containers.host_ports import LOOPBACK, hold_port
from assay_adapters.faults.proxy import Proxy
from assay_adapters.faults.sightings import Direction
from assay_adapters.ports.backend import BackendError
from assay_adapters.ports.faults import AfterAnswer, Arrival, BeforeAnswer, FirstSight
from assay_sdk.amqp.frames import PROTOCOL_HEADER

LIMIT_S = 30.0
QUIET_S = 0.1


class Ends:
    """A proxy with a listening socket behind it; the test has both ends of each connection."""

    def __init__(self) -> None:
        self.listener = socket.create_server((LOOPBACK, 0))
        self.listener.settimeout(LIMIT_S)
        self.proxy = Proxy(self.listener.getsockname()[1])
        self.proxy.start()
        self._open: list[socket.socket] = []

    def line(self) -> tuple[socket.socket, socket.socket]:
        """Open a connection, and return the client's end and the broker's end."""
        client = socket.create_connection((LOOPBACK, self.proxy.port), LIMIT_S)
        broker, _ = self.listener.accept()
        broker.settimeout(LIMIT_S)
        self._open += [client, broker]
        return client, broker

    def session(self) -> tuple[socket.socket, socket.socket]:
        """Open a connection with a session, and return both ends."""
        client, broker = self.line()
        said, answered = PROTOCOL_HEADER + begin(0), PROTOCOL_HEADER + begin(0, remote=0)
        client.sendall(said)
        broker.sendall(answered)
        assert take(broker, len(said)) == said
        assert take(client, len(answered)) == answered
        return client, broker

    def send(self, client: socket.socket, broker: socket.socket, key: str, delivery: int = 0) -> None:
        """Send a message from the client; the broker reads it and does not answer."""
        octets = transfer(message(key), delivery=delivery)
        client.sendall(octets)
        assert take(broker, len(octets)) == octets

    def close(self) -> None:
        self.proxy.close()
        for end in (*self._open, self.listener):
            end.close()


@pytest.fixture
def ends() -> Iterator[Ends]:
    with closing(Ends()) as made:
        yield made


def take(end: socket.socket, size: int) -> bytes:
    """Read a number of bytes, or fewer if the connection ends first."""
    octets = b""
    with suppress(ConnectionResetError):
        while len(octets) < size and (more := end.recv(size - len(octets))):
            octets += more
    return octets


def is_silent(end: socket.socket) -> bool:
    """Check that neither bytes nor the end of the connection arrive for a while.

    A fault asks this in the proxy's thread while the test reads in its own: a time limit set on the socket would also
    apply to the test.
    """
    return not select.select([end], [], [], QUIET_S)[0]


def has_ended(end: socket.socket) -> bool:
    """Check whether the connection has ended without further bytes."""
    try:
        return end.recv(1) == b""
    except ConnectionResetError:
        return True


def test_octets_go_through_both_ways(ends: Ends) -> None:
    client, broker = ends.session()
    for number in range(3):
        sent, answer = transfer(message(f"k{number}"), delivery=number), disposition(number)
        client.sendall(sent)
        assert take(broker, len(sent)) == sent
        broker.sendall(answer)
        assert take(client, len(answer)) == answer


@pytest.mark.parametrize("octets", [b"\x00\x00\x00\x01 no frame, and it says so", b"CONNECT\naccept-version:1.2\n\n\0"])
def test_what_is_no_amqp_goes_through_as_it_comes(ends: Ends, octets: bytes) -> None:
    client, broker = ends.line()
    client.sendall(octets)
    assert take(broker, len(octets)) == octets
    client.sendall(b"more")
    assert take(broker, 4) == b"more"


def test_behind_a_header_of_tls_everything_goes_through_as_it_comes(ends: Ends) -> None:
    client, broker = ends.line()
    octets = b"AMQP\x02\x01\x00\x00" + b"\x16\x03\x01"
    client.sendall(octets)
    assert take(broker, len(octets)) == octets


def test_half_a_frame_goes_through_when_its_sender_is_done(ends: Ends) -> None:
    client, broker = ends.session()
    client.sendall(transfer(message("k"))[:20])
    client.shutdown(socket.SHUT_WR)
    assert take(broker, 99) == transfer(message("k"))[:20]
    broker.sendall(b"\x00\x00\x00\x08\x02\x00\x00\x00")
    assert take(client, 8) == b"\x00\x00\x00\x08\x02\x00\x00\x00"


def test_when_the_broker_ends_a_line_the_client_has_its_last_words(ends: Ends) -> None:
    client, broker = ends.session()
    broker.sendall(disposition(0))
    broker.close()
    assert take(client, 999) == disposition(0)
    assert has_ended(client)


def test_a_cut_ends_every_line_and_the_door_stays_open(ends: Ends) -> None:
    lines = [ends.session(), ends.session()]
    ends.proxy.cut()
    assert all(has_ended(end) for line in lines for end in line)
    client, broker = ends.session()
    client.sendall(begin(1))
    assert take(broker, len(begin(1))) == begin(1)


def test_a_shut_proxy_lets_nobody_in_and_keeps_its_port(ends: Ends) -> None:
    ends.proxy.shut()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK, ends.proxy.port), LIMIT_S)
    with pytest.raises(BackendError, match="another program uses port"):
        hold_port(ends.proxy.port)
    ends.proxy.open()
    ends.session()


def test_a_line_to_a_broker_that_is_gone_ends(ends: Ends) -> None:
    ends.listener.close()
    with closing(socket.create_connection((LOOPBACK, ends.proxy.port), LIMIT_S)) as client:
        assert has_ended(client)


def test_a_paused_direction_is_silent_and_the_other_is_not(ends: Ends) -> None:
    client, broker = ends.session()
    ends.proxy.pause(Direction.TO_BROKER)
    client.sendall(begin(1))
    broker.sendall(disposition(0))
    assert take(client, len(disposition(0))) == disposition(0)
    assert is_silent(broker)
    ends.proxy.resume(Direction.TO_BROKER)
    assert take(broker, len(begin(1))) == begin(1)


def test_a_half_open_line_ends_for_nobody_until_it_is_cut(ends: Ends) -> None:
    client, broker = ends.session()
    ends.proxy.pause()
    broker.close()
    assert is_silent(client)
    ends.proxy.cut()
    assert has_ended(client)
    assert ends.proxy.connections == 0


def test_before_an_answer_a_fault_is_done_and_the_answer_never_comes(ends: Ends) -> None:
    client, broker = ends.session()
    seen: list[bool] = []
    ends.proxy.arm(BeforeAnswer("k"), lambda: seen.append(is_silent(client)))
    ends.send(client, broker, "k")
    broker.sendall(disposition(0))
    assert has_ended(client)
    assert seen == [True]


def test_a_fault_before_an_answer_leaves_the_answer_to_a_second_send_alone(ends: Ends) -> None:
    client, broker = ends.session()
    ends.proxy.arm(BeforeAnswer("k"), lambda: None)
    ends.send(client, broker, "k")
    broker.sendall(disposition(0))
    assert has_ended(client)
    client, broker = ends.session()
    ends.send(client, broker, "k")
    broker.sendall(disposition(0))
    assert take(client, len(disposition(0))) == disposition(0)


def test_when_the_broker_has_a_message_a_fault_is_done_before_anything_behind_it(ends: Ends) -> None:
    client, broker = ends.session()
    first, second = transfer(message("k")), transfer(message("other"), delivery=1)
    struck = threading.Event()
    seen: list[bytes | bool] = []

    def strike() -> None:
        seen.append(take(broker, len(first)))
        seen.append(is_silent(broker))
        struck.set()

    ends.proxy.arm(Arrival("k"), strike)
    client.sendall(first + second)
    assert struck.wait(LIMIT_S)
    assert take(broker, len(second)) == second
    assert seen == [first, True]


def test_after_an_answer_a_fault_is_done_before_anything_behind_it(ends: Ends) -> None:
    client, broker = ends.session()
    struck = threading.Event()
    seen: list[bytes | bool] = []

    def strike() -> None:
        seen.append(take(client, len(disposition(1))))
        seen.append(is_silent(client))
        struck.set()

    ends.proxy.arm(AfterAnswer("k"), strike)
    ends.send(client, broker, "other")
    ends.send(client, broker, "k", delivery=1)
    broker.sendall(disposition(0))
    assert take(client, len(disposition(0))) == disposition(0)
    broker.sendall(disposition(1) + disposition(2))
    assert struck.wait(LIMIT_S)
    assert take(client, len(disposition(2))) == disposition(2)
    assert seen == [disposition(1), True]


def test_at_its_first_sight_a_fault_is_done_and_no_settlement_reaches_the_broker(ends: Ends) -> None:
    client, broker = ends.session()
    struck, go_on = threading.Event(), threading.Event()

    def strike() -> None:
        struck.set()
        go_on.wait(LIMIT_S)

    ends.proxy.arm(FirstSight("k"), strike)
    broker.sendall(transfer(message("k")))
    assert take(client, len(transfer(message("k"))))
    assert not struck.is_set()
    ends.proxy.seen("another")
    ends.proxy.seen("k")
    assert struck.wait(LIMIT_S)
    client.sendall(disposition(0))
    assert is_silent(broker)
    go_on.set()
    assert has_ended(client)
    assert has_ended(broker)


def test_a_settlement_that_is_faster_than_the_telling_strikes_itself(ends: Ends) -> None:
    client, broker = ends.session()
    struck: list[str] = []
    ends.proxy.arm(FirstSight("k"), lambda: struck.append("k"))
    broker.sendall(transfer(message("k")))
    assert take(client, len(transfer(message("k"))))
    ends.proxy.sighted("k")
    client.sendall(disposition(0))
    assert has_ended(broker)
    ends.proxy.seen("k")
    assert struck == ["k"]


def test_what_is_settled_before_it_is_sighted_is_settled(ends: Ends) -> None:
    client, broker = ends.session()
    struck = threading.Event()
    ends.proxy.arm(FirstSight("k"), struck.set)
    broker.sendall(transfer(message("k")))
    assert take(client, len(transfer(message("k"))))
    client.sendall(disposition(0))
    assert take(broker, len(disposition(0))) == disposition(0)
    assert not struck.is_set()
    ends.proxy.seen("k")
    assert struck.wait(LIMIT_S)


def test_a_fault_may_cut_the_very_lines_that_it_waits_on(ends: Ends) -> None:
    client, broker = ends.session()
    other, _ = ends.session()
    ends.proxy.arm(AfterAnswer("k"), ends.proxy.cut)
    ends.send(client, broker, "k")
    broker.sendall(disposition(0))
    assert take(client, 999) == disposition(0)
    assert has_ended(other)


def test_a_closed_proxy_is_gone() -> None:
    with closing(Ends()) as ends:
        client, broker = ends.session()
        ends.proxy.close()
        ends.proxy.close()
        assert has_ended(client)
        assert has_ended(broker)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((LOOPBACK, ends.proxy.port), LIMIT_S)


@pytest.mark.parametrize("size", [200_000, 3_000_000])
def test_large_messages_go_through_whole(ends: Ends, size: int) -> None:
    client, broker = ends.session()
    octets = transfer(message("k", "x" * size))
    sender: Callable[[], None] = lambda: client.sendall(octets)  # noqa: E731  a thread's target
    thread = threading.Thread(target=sender)
    thread.start()
    assert take(broker, len(octets)) == octets
    thread.join()
