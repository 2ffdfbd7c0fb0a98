"""Tests of peers that use up sockets, sessions, links, memory or time."""

from __future__ import annotations

import ctypes
import gc
import resource
import socket
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.broker.amqp.hostile.peers import besieged, closed_with, ended_with, last_words
from tests.broker.amqp.serving import (
    ATTACH,
    BEGIN,
    CLOSE,
    DETACH,
    OPEN,
    RECEIVER,
    SENDER,
    Raw,
    Serving,
    message,
    performative,
    raw,
    source,
    target,
)
from tests.waiting import until, until_still

from assay_broker.amqp.limits import AmqpLimits
from assay_broker.core.messages.entries import CopyState
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, frame

CROWD = 2_000
MEGABYTE = 1 << 20


def descriptors() -> int:
    """Return the number of open files and sockets of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def resident() -> int:
    """Return the memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4_096


def test_two_thousand_half_open_sockets_go_after_their_time() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8_192)), hard))
    with besieged(limits=AmqpLimits(login_ms=3_000)) as server:
        before = descriptors()
        crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(CROWD)]
        for number, one in enumerate(crowd):
            one.settimeout(30)
            if number % 3 == 0:
                one.sendall(PROTOCOL_HEADER[: number % 8])
        with raw(server, container="late") as client:
            client.attach("in", SENDER, 0, target=target("LATE"))
            client.close()
        for one in crowd:
            assert one.recv(1) == b""
            one.close()
        until(lambda: descriptors() <= before, "the file descriptors are back")
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_more_connections_than_there_may_be_are_turned_away() -> None:
    with besieged(limits=AmqpLimits(connections=20, login_ms=30_000)) as server:
        crowd = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(60)]
        gone = 0
        for one in crowd[25:]:
            try:
                gone += one.recv(1) == b""
            except ConnectionResetError:
                gone += 1
        assert gone == 35
        for one in crowd:
            one.close()
        until(lambda: len(server.do(lambda: dict(server.listener._clients))) <= 1, "there is room again")
        with raw(server) as client:
            client.close()


def test_more_sessions_than_there_may_be_end_the_connection() -> None:
    with besieged(limits=AmqpLimits(sessions=5)) as server, raw(server, sessions=5) as client:
        client.say(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1), channel=5)
        assert closed_with(client) == "amqp:connection:framing-error"


def test_more_links_than_there_may_be_are_refused_and_a_flood_of_them_ends_the_connection() -> None:
    with besieged(limits=AmqpLimits(links=10)) as server, raw(server) as client:
        for handle in range(10):
            client.attach(f"link {handle}", SENDER, handle, target=target("Q"))
        client.attach("one more", SENDER, 10, target=target("Q"))
        assert ended_with(client, DETACH) == "amqp:resource-limit-exceeded"
        flood = b"".join(attach(f"flood {handle}", handle) for handle in range(11, 2_000))
        client.raw(flood)
        assert closed_with(client) == "amqp:resource-limit-exceeded"


def attach(name: str, handle: int) -> bytes:
    fields = types.string(name), types.uint(handle), types.boolean(SENDER), b"", b"", source(None), target("Q")
    return frame(performative(ATTACH, *fields, b"", b"", types.uint(0)))


def test_a_flood_of_sessions_begun_and_ended_leaves_nothing() -> None:
    window = types.uint(100)
    begin, end = frame(performative(BEGIN, b"", types.uint(0), window, window)), frame(performative(0x17))
    with besieged() as server, raw(server) as client:
        client.say(0x17)
        client.raw((begin + attach("a", 0) + end) * 1_000)
        client.close()


@contextmanager
def filled(server: Serving, queue: str) -> Iterator[None]:
    """Fill a queue with a hundred megabytes; their sender stays connected during the block."""
    with raw(server, container="writer") as writer:
        writer.attach("in", SENDER, 0, target=target(queue))
        writer.wait(0x13)
        big = types.described(0x75, types.binary(b"x" * (MEGABYTE // 2)))
        for number in range(200):
            writer.transfer(number, big, 0)
            writer.wait(0x15)
        yield
        writer.close()


def given_out(server: Serving, queue: str) -> int:
    """Return the number of a queue's messages that the server holds for a receiver."""

    def held() -> int:
        found = server.queue_manager._life.core._state.queues.named(queue)
        assert found is not None
        return sum(entry.state is CopyState.HELD for entry in found.entries.values())

    return server.do(held)


def test_a_reader_that_never_reads_does_not_fill_the_memory() -> None:
    limits = AmqpLimits(unsent=MEGABYTE, stuck=4 * MEGABYTE)
    with besieged(limits=limits) as server, filled(server, "UNREAD"):
        before = resident()
        with raw(server, container="reader") as reader:
            reader.attach("out", RECEIVER, 0, source=source("UNREAD"))
            reader.credit(0, 1_000)
            until_still(lambda: given_out(server, "UNREAD"), "the server gives out no more")
            grown = resident() - before
            assert grown < 24 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB wait for a reader that does not read"


def test_a_reader_that_never_reads_does_not_stay_when_it_has_closed() -> None:
    limits = AmqpLimits(unsent=MEGABYTE, stuck=40 * MEGABYTE, close_ms=200)
    with besieged(limits=limits) as server, filled(server, "LEFT"), raw(server, container="reader") as reader:
        reader.attach("out", RECEIVER, 0, source=source("LEFT"))
        reader.credit(0, 1_000)
        until_still(lambda: given_out(server, "LEFT"), "the server gives out no more")
        reader.say(CLOSE)
        until(lambda: "reader" not in _containers(server), "the reader is cut off")


def _containers(server: Serving) -> list[str]:
    return [view.container_id for view in server.do(lambda: server.listener.connections)]


def test_a_session_whose_window_stays_shut_does_not_fill_the_memory() -> None:
    limits = AmqpLimits(unsent=MEGABYTE, stuck=4 * MEGABYTE)
    with besieged(limits=limits) as server, filled(server, "SHUT"):
        before = resident()
        with Raw(server.port) as reader:
            reader.open("shut")
            reader.say(BEGIN, b"", types.uint(0), types.uint(0), types.uint(0))
            reader.wait(BEGIN)
            reader.attach("out", RECEIVER, 0, source=source("SHUT"))
            shut = types.uint(0)
            reader.say(0x13, shut, shut, shut, shut, types.uint(0), shut, types.uint(1_000))
            until_still(lambda: given_out(server, "SHUT"), "the server gives out no more")
            grown = resident() - before
            assert grown < 24 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB wait for a window that stays shut"


def test_a_writer_of_one_octet_at_a_time_is_served_like_any_other() -> None:
    octets = frame(performative(OPEN, types.string("slow")))
    with besieged() as server, Raw(server.port, header=b"") as client:
        for octet in PROTOCOL_HEADER + octets:
            client.raw(bytes((octet,)))
            time.sleep(0.01)  # a pause in real time, so that each byte arrives alone
        client.wait(OPEN)
        client.close()


def test_a_writer_of_one_octet_a_second_does_not_get_through_its_login() -> None:
    with besieged(limits=AmqpLimits(login_ms=2_500)) as server, Raw(server.port, header=b"") as client:
        for octet in PROTOCOL_HEADER:
            try:
                client.raw(bytes((octet,)))
            except (BrokenPipeError, ConnectionResetError):
                break
            time.sleep(1)  # the server's time limit runs in real time
        else:
            raise AssertionError("nobody has cut off a writer that takes eight seconds for a header")


def test_a_frame_that_comes_octet_by_octet_costs_no_more_than_its_octets() -> None:
    piece = b"\x00\x0f\x00\x00\x02\x00\x00\x00" + performative(
        0x14, types.uint(0), types.uint(0), types.binary(b"0"), b"\x43"
    )
    with besieged() as server, raw(server) as client:
        client.attach("in", SENDER, 0, target=target("PIECES"))
        client.raw(piece)
        began = time.monotonic()
        for _ in range(900):
            client.raw(b"x" * 1_000)
        assert time.monotonic() - began < 10


def test_a_message_in_endless_pieces_is_refused_at_its_size() -> None:
    with besieged(limits=AmqpLimits(max_message=1_000_000, max_frame=65_536)) as server, raw(server) as client:
        client.attach("in", SENDER, 0, target=target("ENDLESS"))
        for _ in range(30):
            client.transfer(0, b"x" * 50_000, more=True)
        assert ended_with(client, DETACH) == "amqp:link:message-size-exceeded"
        client.close()


def test_a_peer_that_wants_a_sign_of_life_every_millisecond_is_refused() -> None:
    with besieged() as server, Raw(server.port) as client:
        client.say(OPEN, types.string("restless"), b"", b"", b"", types.uint(1))
        assert closed_with(client) == "amqp:resource-limit-exceeded"


class _Heap(ctypes.Structure):
    """The result of glibc's mallinfo2."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "a", "b", "c", "d", "e", "f", "used", "free", "g")]


def heap() -> int:
    """Return the bytes that C code has allocated and not freed."""
    libc = ctypes.CDLL(None)
    tell = getattr(libc, "mallinfo2", None)
    if tell is None:
        pytest.skip("the C library does not tell how much of its heap is in use")
    tell.restype = _Heap
    gc.collect()
    return int(tell().used)


def test_the_engine_gives_back_all_that_a_connection_had() -> None:
    with besieged() as server:

        def visit(number: int) -> None:
            with raw(server, container=f"visit {number}") as client:
                client.attach("in", SENDER, 0, target=target("VISITS"))
                client.transfer(0, message("x"), settled=True)
                client.begin(1)

        for number in range(20):
            visit(number)
        until(lambda: server.do(lambda: len(server.listener.connections)) <= 1, "they are gone")
        before = heap()
        for number in range(100):
            visit(number)
        until(lambda: server.do(lambda: len(server.listener.connections)) <= 1, "they are gone")
        assert (heap() - before) / 100 < 2_000, "each connection leaves some of the engine behind"


def test_memory_comes_back_after_a_siege() -> None:
    with besieged() as server:
        names = "n" * 50_000

        def siege() -> None:
            for number in range(20):
                with raw(server, container=f"siege {number}") as client:
                    for handle in range(20):
                        client.attach(f"{names}{handle}", SENDER, handle, target=target("SIEGE"))
                    client.transfer(0, message("x") * 1)
                    client.raw(b"\0\0\0\0\0\0\0\0")
                    last_words(client)

        siege()
        tracemalloc.start()
        try:
            siege()
            until(lambda: server.do(lambda: len(server.listener.connections)) <= 1, "they are gone")
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            siege()
            until(lambda: server.do(lambda: len(server.listener.connections)) <= 1, "they are gone")
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert after - before < MEGABYTE, f"{after - before} octets are left of a siege"
