"""Tests of long outgoing messages, which the server sends in portions, as the peer takes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cproton import lib
from tests.broker.amqp.serving import (
    ACCEPTED,
    BEGIN,
    DETACH,
    DISPOSITION,
    FLOW,
    RECEIVER,
    RELEASED,
    SENDER,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    performative,
    put,
    raw,
    source,
    target,
)

from assay_broker.amqp.engine import SHORT, _links
from assay_sdk.amqp import types

LENGTH = 300_000
HEAD = performative(0x70, types.boolean(value=True))
ABORTED = 9
COPY = (b"", b"", b"", b"", b"", types.symbol("copy"))


def long_body(fill: str) -> bytes:
    return types.described(0x75, types.binary(fill.encode() * LENGTH))


def put_long(server: Serving, queue: str, *fills: str) -> None:
    with raw(server, container="sends") as client:
        client.attach("s", SENDER, target=target(queue))
        for number, fill in enumerate(fills):
            client.transfer(number, HEAD + long_body(fill))
        done = 0
        while done < len(fills):
            seen = client.wait(DISPOSITION)
            done += (seen.at(1) if seen.at(2) is None else seen.at(2)) - seen.at(1) + 1


class Narrow:
    """A receiver whose session window has room for a few frames."""

    def __init__(self, client: Raw, window: int) -> None:
        self.client = client
        self._window = window
        self._frames = 0
        client.say(BEGIN, b"", types.uint(0), types.uint(window), types.uint(1000))
        client.wait(BEGIN)

    def take(self) -> Seen:
        """Return the next frame of a message, and open the window for another frame."""
        return self.wait(TRANSFER)

    def hold(self) -> Seen:
        """Return the next frame of a message, and keep the window closed until `open`."""
        self._frames += 1
        return self.client.wait(TRANSFER)

    def wait(self, code: int) -> Seen:
        """Return the next frame of a kind; drop the frames before it."""
        while (seen := self.client.read()) is not None:
            if seen.code == TRANSFER:
                self.count()
            if seen.code == code:
                return seen
        raise AssertionError("the server hung up")

    def count(self) -> None:
        """Count a frame of a message, and open the window for another frame."""
        self._frames += 1
        if not self._frames % self._window:
            self.open()

    def open(self) -> None:
        self.client.say(FLOW, types.uint(self._frames), types.uint(self._window), types.uint(0), types.uint(1000))

    def message(self) -> tuple[bytes, Seen]:
        """Return the rest of a message, without its header, and its last frame."""
        octets = b""
        while True:
            seen = self.take()
            octets += seen.payload
            if not seen.at(5):
                return octets[octets.index(types.described(0x75, b"")[:3]) :], seen

    def grant(self, credit: int, *, handle: int = 0, drain: bool = False) -> None:
        numbers = (self._frames, self._window, 0, 1000, handle, 0, credit)
        self.client.say(FLOW, *(types.uint(number) for number in numbers), b"", types.boolean(drain))


@contextmanager
def narrow(server: Serving, *, window: int = 1, frame: int = 4_096) -> Iterator[Narrow]:
    with Raw(server.port) as client:
        client.open("narrow", b"", types.uint(frame))
        yield Narrow(client, window)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Record the bytes that the engine holds for a session at each write, and the size of the write."""
    found: list[tuple[int, int]] = []

    class Recording:
        """Proton's functions; cffi allows no other function in its own object."""

        def __getattr__(self, name: str) -> object:
            return getattr(lib, name)

        def pn_link_send(self, link: object, octets: object, size: int) -> object:
            found.append((lib.pn_session_outgoing_bytes(lib.pn_link_session(link)), size))
            return lib.pn_link_send(link, octets, size)

    monkeypatch.setattr(_links, "lib", Recording())
    return found


@pytest.mark.parametrize("filters", [(), COPY], ids=["takes", "looks"])
@pytest.mark.parametrize("settled", [False, True], ids=["unsettled", "settled"])
@pytest.mark.parametrize("takes", [(1, 512), (1, 65_536), (3, 20_000), (1000, 1 << 20)])
def test_a_long_message_comes_whole_however_little_its_receiver_takes_at_a_time(
    server: Serving, given: list[tuple[int, int]], takes: tuple[int, int], settled: bool, filters: tuple[bytes, ...]
) -> None:
    window, frame = takes
    queue = f"LONG.{window}.{frame}.{settled}.{len(filters)}"
    put_long(server, queue, "a", "b")
    given.clear()
    with narrow(server, window=window, frame=frame) as receiver:
        receiver.client.attach("r", RECEIVER, source=source(queue, *filters), settled=settled)
        receiver.grant(5)
        for fill in "ab":
            octets, last = receiver.message()
            assert octets == long_body(fill)
            assert bool(last.at(4)) is settled
    most = max(SHORT, min(frame, 1 << 18))
    assert all(size <= most and held <= most + 100 for held, size in given)


def test_messages_after_a_long_one_wait_for_its_end(server: Serving, client: Raw) -> None:
    put_long(server, "FOLLOWS", "a")
    put(client, "FOLLOWS", "short")
    with narrow(server) as receiver:
        receiver.client.attach("r", RECEIVER, source=source("FOLLOWS"))
        receiver.grant(5, drain=True)
        assert receiver.message()[0] == long_body("a")
        assert b"short" in receiver.take().payload
        answer = receiver.wait(FLOW)
        assert (answer.at(5), answer.at(6)) == (5, 0)


def test_other_links_of_the_session_are_served_between(server: Serving, client: Raw) -> None:
    put_long(server, "ONE", "a")
    put(client, "TWO", "short")
    with narrow(server) as receiver:
        receiver.client.attach("one", RECEIVER, source=source("ONE"))
        receiver.client.attach("two", RECEIVER, 1, source=source("TWO"))
        receiver.grant(1)
        assert receiver.take().at(5) is True
        receiver.grant(1, handle=1)
        frames = 0
        while b"short" not in receiver.take().payload:
            frames += 1
        assert frames < LENGTH // 4_096


@pytest.mark.parametrize("second", [False, True], ids=["first", "second"])
@pytest.mark.parametrize("state", [ACCEPTED, RELEASED])
@pytest.mark.parametrize("settled", [False, True], ids=["unsettled", "settled"])
def test_the_rest_of_a_message_that_has_its_outcome_already_is_not_sent(
    server: Serving, state: int, second: bool, settled: bool
) -> None:
    queue = f"ENOUGH.{state}.{second}.{settled}"
    put_long(server, queue, "a", "b")
    with narrow(server) as receiver:
        receiver.client.attach("r", RECEIVER, source=source(queue), settled=settled, second=second)
        receiver.grant(1)
        begun = receiver.take()
        receiver.client.settle(begun.at(1), performative(state), settled=not second)
        frames = 1
        while not (last := receiver.take()).at(ABORTED):
            frames += 1
        assert frames < 10
        assert bool(last.at(5)) is False
        receiver.grant(2)
        octets, _ = receiver.message()
        assert octets == long_body("a" if state == RELEASED and not settled else "b")


def test_a_browser_may_settle_a_long_message_before_its_end(server: Serving) -> None:
    put_long(server, "SEEN", "a", "b")
    with narrow(server) as receiver:
        receiver.client.attach("r", RECEIVER, source=source("SEEN", *COPY))
        receiver.grant(2)
        receiver.client.settle(receiver.take().at(1))
        while not receiver.take().at(ABORTED):
            pass
        assert receiver.message()[0] == long_body("b")


@pytest.mark.parametrize("filters", [(), COPY], ids=["takes", "looks"])
def test_a_link_that_is_stolen_in_the_middle_of_a_message_hears_no_more_of_it(
    server: Serving, filters: tuple[bytes, ...]
) -> None:
    queue = f"STOLEN.{len(filters)}"
    put_long(server, queue, "a")
    with narrow(server) as receiver:
        client = receiver.client
        client.attach("r", RECEIVER, source=source(queue, *filters))
        receiver.grant(1)
        begun = receiver.take()
        client.begin(1)
        with client.in_one_piece():
            client.attach("r", RECEIVER, source=source(queue, *filters), channel=1, wait=False)
            client.settle(begun.at(1))
        while client.wait(DETACH).channel:
            pass
        client.begin(2)  # the server keeps the connection and begins the session


def test_credit_that_is_taken_back_in_the_middle_of_a_message_is_not_used(server: Serving) -> None:
    put_long(server, "BACK", "a", "b")
    with narrow(server) as receiver:
        receiver.client.attach("r", RECEIVER, source=source("BACK"))
        receiver.grant(1)
        receiver.take()
        receiver.grant(0)
        receiver.grant(1)
        while receiver.take().at(5):
            pass
        receiver.client.credit(0, 0, count=1, drain=True, next_in=1_000)
        assert receiver.wait(FLOW).at(5) == 1
        with raw(server, container="other") as other:
            other.attach("r", RECEIVER, source=source("BACK"))
            other.credit(0, 1)
            assert b"bbb" in other.wait(TRANSFER).payload


@pytest.mark.parametrize("closed", [True, False])
def test_a_link_may_go_in_the_middle_of_a_message(server: Serving, closed: bool) -> None:
    queue = f"MIDDLE.{closed}"
    put_long(server, queue, "a")
    with narrow(server) as receiver:
        receiver.client.attach("r", RECEIVER, source=source(queue))
        receiver.grant(1)
        receiver.take()
        receiver.client.say(DETACH, types.uint(0), types.boolean(closed))
        receiver.wait(DETACH)
        receiver.client.attach("again", RECEIVER, 1, source=source(queue))
        receiver.grant(1, handle=1)
        assert receiver.message()[0] == long_body("a")


def test_a_receiver_that_hangs_up_within_a_message_leaves_it_on_its_queue(server: Serving) -> None:
    put_long(server, "HANGS.UP", "a")
    with narrow(server) as receiver:
        receiver.client.attach("r", RECEIVER, source=source("HANGS.UP"))
        receiver.grant(1)
        receiver.take()
    with raw(server, container="other") as other:
        other.attach("r", RECEIVER, source=source("HANGS.UP"))
        other.credit(0, 1)
        assert b"aaa" in other.wait(TRANSFER).payload
