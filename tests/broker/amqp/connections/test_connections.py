"""Tests of AMQP connections: opening, refusals and ends."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import socket
import time

import pytest
from tests.broker.amqp.connections.probe import probe
from tests.broker.amqp.serving import (
    BEGIN,
    CLOSE,
    DETACH,
    DISPOSITION,
    END,
    FLOW,
    OPEN,
    RECEIVER,
    SENDER,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    message,
    performative,
    raw,
    serving,
    source,
    target,
)
from tests.waiting import until

from assay_broker.amqp.connections.connection import AmqpConnection
from assay_broker.amqp.connections.sockets import AmqpSocket
from assay_broker.amqp.limits import AmqpLimits
from assay_broker.amqp.links import incoming
from assay_broker.amqp.listener import AmqpListener, AmqpListenError
from assay_broker.security import ExposedError, Security
from assay_broker.sockets.client_socket import READ
from assay_sdk.amqp import types
from assay_sdk.amqp.frames import PROTOCOL_HEADER, SASL_HEADER, frame

SOLE = types.symbols(("sole-connection-for-container",))
OPEN_DESIRED = (b"",) * 6


def opened(client: Raw, container: str, *, sole: bool = False) -> Seen:
    return client.open(container, *OPEN_DESIRED, b"", SOLE if sole else b"")


def test_the_open_says_who_we_are_and_what_we_can(server: Serving) -> None:
    with Raw(server.port) as client:
        seen = opened(client, "asks", sole=True)
    offered = {str(one) for one in seen.at(7)}
    assert offered == {"DELAYED_DELIVERY", "SHARED-SUBS", "ANONYMOUS-RELAY", "sole-connection-for-container"}
    properties = {str(name): value for name, value in seen.at(9).items()}
    assert properties["product"] == "Assay reference broker"
    assert properties["x-opt-mq-level"] == "8.0"
    assert properties["x-opt-mq-platform"] == "distributed"


def test_to_be_alone_is_offered_only_when_it_is_desired(server: Serving) -> None:
    with Raw(server.port) as client:
        assert "sole-connection-for-container" not in [str(one) for one in opened(client, "asks").at(7)]


@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_a_client_id_that_is_in_use_is_refused(server: Serving, first: bool, second: bool) -> None:
    with Raw(server.port) as one, Raw(server.port) as two:
        opened(one, "unique", sole=first)
        seen = opened(two, "unique", sole=second)
        assert seen.at(9)["amqp:connection-establishment-failed"] is True
        closed = two.wait(CLOSE)
        assert closed.error()[0] == "amqp:invalid-field"
        assert closed.info()["invalid-field"] == "container-id"
        two.say(CLOSE)
        assert two.read() is None


def test_a_container_that_does_not_want_to_be_alone_may_have_two_connections(server: Serving) -> None:
    with Raw(server.port) as one, Raw(server.port) as two:
        opened(one, "pair")
        opened(two, "pair")
        two.begin()


def test_a_container_id_with_a_nul_is_refused_as_it_would_be_cut_there(server: Serving) -> None:
    with Raw(server.port) as client:
        client.say(OPEN, types.string("n\0A"))
        assert client.wait(CLOSE).error() == (
            "amqp:invalid-field",
            "The connection is closed: a container id whose character 2 is U+0000; leave it out.",
        )
        assert client.read() is None
    probe(server)


def test_a_client_id_is_free_again_after_its_connection(server: Serving) -> None:
    with Raw(server.port) as client:
        opened(client, "comes again", sole=True)
        client.close()
    with Raw(server.port) as client:
        opened(client, "comes again", sole=True)
        client.begin()


def test_sasl_anonymous_lets_a_client_in(server: Serving) -> None:
    with Raw(server.port, header=SASL_HEADER) as client:
        client.raw(frame(types.described(0x41, types.fields((types.symbol("ANONYMOUS"),))), sasl=True))
        assert client.wait(0x44).at(0) == 0
        client.raw(b"AMQP\x00\x01\x00\x00")
        opened(client, "sasl")


def test_a_wrong_mechanism_is_refused_and_the_line_closed(server: Serving) -> None:
    with Raw(server.port, header=SASL_HEADER) as client:
        client.raw(frame(types.described(0x41, types.fields((types.symbol("EXTERNAL"),))), sasl=True))
        assert client.wait(0x44).at(0) == 1
        assert client.read() is None


def test_a_session_can_be_begun_and_ended_again_and_again(server: Serving) -> None:
    with raw(server) as client:
        for _ in range(50):
            client.attach("s", SENDER, 0, target=target("AGAIN"))
            client.wait(FLOW)
            client.say(END)
            client.wait(END)
            client.begin()


def test_a_begin_is_answered_with_a_begin_and_nothing_else(server: Serving) -> None:
    with Raw(server.port) as client:
        client.open("first")
        client.say(BEGIN, b"", types.uint(7), types.uint(10), types.uint(10))
        client.say(CLOSE)
        begin = client.read()
        assert begin is not None
        assert (begin.code, begin.at(2)) == (BEGIN, AmqpLimits().session_frames)
        after = client.read()
        assert after is not None
        assert after.code == CLOSE


def test_a_client_that_does_not_open_in_time_is_cut_off() -> None:
    with serving(limits=AmqpLimits(login_ms=500)) as server:
        with Raw(server.port, header=b"AM") as silent:
            assert silent.read() is None
        with Raw(server.port) as header_only:
            header_only.wait(OPEN)
            assert header_only.wait(CLOSE).error()[0] == "amqp:connection:forced"


def test_a_client_that_has_opened_in_time_may_be_silent() -> None:
    with serving(limits=AmqpLimits(login_ms=1_000)) as server, raw(server) as client:
        client.socket.settimeout(1.3)
        with pytest.raises(TimeoutError):
            client.read()
        client.socket.settimeout(30)
        client.close()


def test_too_many_connections_are_turned_away(caplog: pytest.LogCaptureFixture) -> None:
    with serving(limits=AmqpLimits(connections=1)) as server, raw(server):
        with Raw(server.port) as second:
            assert second.read() is None
        assert "was refused" in caplog.text


def test_too_many_links_are_refused() -> None:
    with serving(limits=AmqpLimits(links=1)) as server, raw(server) as client:
        client.attach("one", SENDER, 0, target=target("Q"))
        assert client.attach("two", SENDER, 1, target=target("Q")).at(6) is None
        assert client.wait(DETACH).error(2)[0] == "amqp:resource-limit-exceeded"


def test_too_many_sessions_are_the_peers_error() -> None:
    with serving(limits=AmqpLimits(sessions=2)) as server, raw(server, sessions=2) as client:
        client.raw(frame(performative(BEGIN, b"", types.uint(0), types.uint(1), types.uint(1)), channel=2))
        assert client.wait(CLOSE).error()[0] == "amqp:connection:framing-error"


class Greedy(asyncio.Transport):
    """A fake transport that records whether the server reads from it."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = True

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        del high, low

    def write(self, data: bytes | bytearray | memoryview) -> None:
        del data

    def abort(self) -> None:
        pass


def test_a_socket_with_more_octets_is_read_again_after_the_others() -> None:
    heartbeat = b"\x00\x00\x00\x08\x02\x00\x00\x00"
    portion = PROTOCOL_HEADER + heartbeat * (READ // 8 - 1)
    transport = Greedy()
    with serving() as server:
        seen: list[bool] = []
        line = server.do(lambda: AmqpSocket(server.listener))

        def fill() -> None:
            line.connection_made(transport)
            server.listener.buffer[:] = portion
            server.runner.call_soon(lambda: seen.append(transport.reads))
            line.buffer_updated(READ)
            server.runner.call_soon(lambda: seen.append(transport.reads))

        server.do(fill)
        server.do(lambda: line.connection_lost(None))
        assert seen == [False, True]
        assert server.errors == []


@pytest.mark.parametrize("login_ms", [1_000, 10_000], ids=["opened long ago", "opened just now"])
def test_a_silent_peer_is_given_up_and_heartbeats_are_sent(login_ms: int) -> None:
    with serving(idle_timeout_ms=1_400, limits=AmqpLimits(login_ms=login_ms)) as server:
        with Raw(server.port) as client:
            seen = client.open("silent")
            assert seen.at(4) == 700
            assert client.wait(CLOSE).error()[0] == "amqp:resource-limit-exceeded"
        with Raw(server.port) as client:
            client.open("wants beats", b"", b"", b"", types.uint(200))
            client.socket.settimeout(30)
            assert client._take(8) == b"\x00\x00\x00\x08\x02\x00\x00\x00"


def test_a_queue_manager_that_stops_closes_its_connections() -> None:
    with serving() as server, raw(server) as client:
        server.do(server.queue_manager.stop)
        assert client.wait(CLOSE).error()[0] == "amqp:connection:forced"
        client.say(CLOSE)
        with Raw(server.port) as late:
            late.open("late")
            assert late.wait(CLOSE).error()[0] == "amqp:connection:forced"
        server.do(server.queue_manager.start)
        probe(server)


def test_a_drained_listener_closes_everybody_in_order() -> None:
    with serving() as server, raw(server) as client, raw(server, container="rude"):
        waiting = server.loop.create_future
        del waiting
        import asyncio

        drained = asyncio.run_coroutine_threadsafe(server.listener.drain(), server.loop)
        assert client.wait(CLOSE).error()[0] == "amqp:connection:forced"
        client.say(CLOSE)
        assert client.read() is None
        drained.result(10)
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", server.port), timeout=1)


def test_a_link_is_stolen_by_another_connection_of_its_container(server: Serving) -> None:
    with raw(server, container="twins") as one, raw(server, container="twins") as two:
        one.attach("shared name", SENDER, 0, target=target("Q"))
        one.wait(FLOW)
        two.attach("shared name", RECEIVER, 0, source=source("Q"))  # a link of the other direction is another link
        two.attach("shared name", SENDER, 1, target=target("Q"))
        assert one.wait(DETACH).error(2)[0] == "amqp:link:stolen"
        with raw(server, container="stranger") as three:
            three.attach("shared name", SENDER, 0, target=target("Q"))
            three.wait(FLOW)
        two.transfer(0, message("still there"), 1)
        two.wait(DISPOSITION)


@pytest.mark.parametrize("in_order", [True, False])
def test_a_connection_that_is_over_does_not_wait_for_the_collector_of_cycles(
    server: Serving, *, in_order: bool
) -> None:
    gc.collect()
    gc.disable()
    try:
        with raw(server, container="brief") as client:
            client.attach("s", SENDER, target=target("Q"))
            client.attach("r", RECEIVER, 1, source=source("Q"))
            if in_order:
                client.close()
        deadline = time.monotonic() + 60
        while any(type(one) is AmqpConnection for one in gc.get_objects()):
            assert time.monotonic() < deadline, "something of it refers to itself"
            time.sleep(0.01)  # the server's thread needs real time to notice, and nothing signals that
    finally:
        gc.enable()


def test_a_view_shows_user_address_and_links_of_a_connection(server: Serving) -> None:
    with raw(server, container="seen") as client:
        client.attach("s", SENDER, target=target("Q"))
        views = {view.container_id: view for view in server.do(lambda: server.listener.connections)}
        view = views["seen"]
        assert (view.links, view.user) == (1, None)
        assert view.peer.startswith("127.0.0.1:")
        assert view.since_ms > 0


def test_a_mistake_of_ours_ends_one_connection_and_is_logged(
    server: Serving, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("ours")

    with raw(server) as client:
        client.attach("s", SENDER, target=target("Q"))
        client.wait(FLOW)
        monkeypatch.setattr(incoming.transcoding, "read", fail)
        client.transfer(0, message("secret"))
        assert client.wait(CLOSE).error()[0] == "amqp:internal-error"
        monkeypatch.undo()
        assert "secret" not in caplog.text
    probe(server)
    assert [record.levelno for record in caplog.records if record.exc_info] == [logging.ERROR]


def test_an_address_that_is_taken_is_refused_with_a_sentence(server: Serving) -> None:
    async def listen() -> None:
        other = AmqpListener(server.queue_manager, server.runner, security=Security())
        await other.start("127.0.0.1", server.port)

    with pytest.raises(AmqpListenError, match="name another port"):
        server.run(listen())


def test_without_users_nobody_else_can_come(server: Serving) -> None:
    async def listen() -> None:
        other = AmqpListener(server.queue_manager, server.runner, security=Security())
        await other.start("0.0.0.0", 0)  # noqa: S104  that is what is tried

    with pytest.raises(ExposedError):
        server.run(listen())


def test_a_client_that_has_closed_need_not_hang_up() -> None:
    limits = AmqpLimits(close_ms=600_000)
    with serving(limits=limits) as server, raw(server) as client:
        client.say(CLOSE)
        client.wait(CLOSE)
        assert client.read() is None
        until(lambda: not server.do(lambda: server.listener.connections), "the connection is gone")


def test_a_line_that_the_peer_resets_while_we_hang_up_is_given_up(
    server: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reset(_transport: object) -> None:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    put = performative(TRANSFER, types.uint(0), types.uint(0), types.binary(b"t"), types.uint(0)) + message("kept")
    with raw(server) as client, monkeypatch.context() as patch:
        client.attach("in", SENDER, target=target("Q"))
        client.wait(FLOW)
        patch.setattr("asyncio.selector_events._SelectorSocketTransport.write_eof", reset)
        client.raw(frame(put) + frame(performative(OPEN, types.string("again"))))
        assert client.wait(CLOSE).error()[0] == "amqp:illegal-state"
        assert client.read() is None
    assert not server.errors
    probe(server)
