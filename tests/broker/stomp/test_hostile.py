"""Tests of clients that break the protocol or a limit: an ERROR, a closed connection, and nothing else.

Each test has a bystander, a connection that must go on undisturbed.
"""

from __future__ import annotations

import gc
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.broker.stomp.serving import Raw, StompServing, raw, serving
from tests.waiting import until

from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.objects.model import Kind
from assay_broker.stomp.limits import StompLimits
from assay_broker.stomp.session import StompSession
from assay_broker.stomp.sockets import StompSocket
from assay_sdk.stomp import Frame, Version, encode_frame

MEGABYTE = 1 << 20
OLD, MIDDLE, NEW = Version.V1_0, Version.V1_1, Version.V1_2


@pytest.fixture(autouse=True)
def bystander(server: StompServing) -> Iterator[None]:
    """Check that another connection still works, and that the server keeps no connection of the hostile client."""
    with raw(server) as other:
        other.send("SUBSCRIBE", id="0", destination="/topic/bystander", receipt="1")
        other.receipt("1")
        yield
        other.send("SEND", b"x", destination="/topic/bystander")
        assert other.read("MESSAGE").body == b"x"
    until(lambda: server.do(lambda: not server.listener.connections), "the connections are gone")


@contextmanager
def connected(server: StompServing, version: Version = NEW) -> Iterator[Raw]:
    with raw(server, version) as client:
        yield client


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"SEND\n" + b"a:b\n" * 100_000 + b"\n\0", "more than 1000 headers"),
        (b"SEND\na:" + b"b" * 10_000_000 + b"\n\n\0", "more than 65536 octets"),
        (b"S" * 10_000_000, "too long for a command"),
        (b"SEND\ndestination:/queue/q\nx:\\t\n\n\0", "undefined escape"),
        (b"SEND\ndestination:/queue/q\nx:\\\n\n\0", "undefined escape"),
        (b"SEND\ndestination:/queue/q\ncontent-length:3\n\nabcd\0", "no NUL"),
        (b"SEND\ndestination:/queue/q\ncontent-length:9\n\nabcd\0BEGIN\ntransaction:1\n\n\0", "no NUL"),
        (b"SEND\ndestination:/queue/q\ncontent-length:-1\n\nabcd\0", "content-length"),
        (b"SEND\ndestination:/queue/q\ncontent-length:1000000000\n\n", "more than 104857600 octets"),
        (b"SEND\ndestination:/queue/q\ncontent-length:" + b"9" * 60_000 + b"\n\n", "more than 104857600 octets"),
        (b"SEND\ndestination:/queue/q\nx:\xff\xfe\n\n\0", "not UTF-8"),
        (b"\xff\xfe\n\n\0", "not UTF-8"),
        (b"SEND\n\nabc\0", "no header destination"),
        (b"SEND\ndestination:\n\n\0", "has no name"),
        (b"SUBSCRIBE\ndestination:/queue/q\n\n\0", "no header id"),
        (b"SUBSCRIBE\nid:0\n\n\0", "no header destination"),
        (b"SUBSCRIBE\nid:0\ndestination:/queue/q\nack:never\n\n\0", "'never'"),
        (b"SUBSCRIBE\nid:0\ndestination:/queue/q\nselector:a b c\n\n\0", "SELECTOR_SYNTAX_ERROR"),
        (b"SUBSCRIBE\nid:0\ndestination:/queue/q\nactivemq.prefetchSize:many\n\n\0", "whole number"),
        (b"SUBSCRIBE\nid:0\ndestination:/queue/q\n\n\0SUBSCRIBE\nid:0\ndestination:/queue/p\n\n\0", "already"),
        (b"UNSUBSCRIBE\nid:7\n\n\0", "no subscription '7'"),
        (b"ACK\nid:7\n\n\0", "holds no message '7'"),
        (b"NACK\nid:7\n\n\0", "holds no message '7'"),
        (b"ACK\nmessage-id:7\nsubscription:0\n\n\0", "no header id"),
        (b"BEGIN\n\n\0", "no header transaction"),
        (b"BEGIN\ntransaction:1\n\n\0BEGIN\ntransaction:1\n\n\0", "has begun already"),
        (b"COMMIT\ntransaction:1\n\n\0", "no transaction '1'"),
        (b"ABORT\ntransaction:1\n\n\0", "no transaction '1'"),
        (b"SEND\ndestination:/queue/q\ntransaction:1\n\n\0", "no transaction '1'"),
        (b"ACK\nid:7\ntransaction:1\n\n\0", "no transaction '1'"),
        (b"SEND\ndestination:/queue/q\nno colon\n\n\0", "without a colon"),
        (b"CONNECT\naccept-version:1.2\nhost:h\n\n\0", "CONNECT is not allowed"),
        (b"STOMP\naccept-version:1.2\nhost:h\n\n\0", "STOMP is not allowed"),
        (b"MESSAGE\n\n\0", "no command 'MESSAGE'"),
        (b"send\ndestination:/queue/q\n\n\0", "no command 'send'"),
        (b"SEND\ndestination:/queue/q\npriority:11\n\n\0", "priority"),
        (b"SEND\ndestination:/queue/q\nexpires:tomorrow\n\n\0", "whole number"),
        (b"SEND\ndestination:/queue/q\nAMQ_SCHEDULED_DELAY:99999999999999999999999\n\n\0", "whole number"),
        (b"SEND\ndestination:/queue/q\npersistent:yes\n\n\0", "true or false"),
        (b"SEND\ndestination:/queue/q\namq-msg-type:film\n\n\0", "amq-msg-type"),
        (b"SEND\ndestination:/queue/q\namq-msg-type:map\n\n{\0", "amq-msg-type"),
        (b"SEND\ndestination:/queue/q\namq-msg-type:amqp\n\nabc\0", "amq-msg-type"),
        (b"SEND\ndestination:/queue/q\namq-msg-type:list\n\n" + b"[" * 5000 + b"\0", "amq-msg-type"),
        (b"SEND\ndestination:/queue/q\nproperty-types:[]\n\n\0", "property-types"),
        (b'SEND\ndestination:/queue/q\nn:x\nproperty-types:{"n"\\c"integer"}\n\n\0', "'integer'"),
        (b"DISCONNECT\n\nbody\0", "has a body"),
        (b"SEND\ndestination:/queue/q\0", "NUL before the empty line"),
    ],
)
def test_a_bad_frame_is_answered_with_an_error_and_the_connection_closed(
    server: StompServing, octets: bytes, words: str
) -> None:
    with connected(server) as client:
        with suppress(BrokenPipeError, ConnectionResetError):  # the server has closed during the write
            client.write(octets)
        frame = client.error()
        assert words in frame.body.decode()
        assert words.split("'", maxsplit=1)[0] in frame.headers["message"]
        assert int(frame.headers["mqrc"]) > 2000
        assert frame.body.endswith(b".\n")


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"SEND\ndestination:/queue/q\n\n\0", "SEND is not allowed before CONNECT"),
        (b"DISCONNECT\n\n\0", "DISCONNECT is not allowed before CONNECT"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "no command"),
        (b"CONNECT\naccept-version:1.2\nheart-beat:a,b\n\n\0", "heart-beat"),
        (b"CONNECT\naccept-version:1.2\nheart-beat:-1,0\n\n\0", "heart-beat"),
        (b"CONNECT\naccept-version:3.0\n\n\0", "1.0,1.1,1.2"),
        (b"CONNECT\n" + b"a:b\n" * 20_000, "more than"),
        (b"CONNECT\nx:" + b"y" * 70_000, "has accepted it"),
        (b"CONNECT\naccept-version:1.2\nclient-id:" + b"c" * 20_000 + b"\n\n\0", "client id"),
    ],
)
def test_a_bad_beginning_is_answered_with_an_error(server: StompServing, octets: bytes, words: str) -> None:
    client = Raw(server)
    client.write(octets)
    assert words in client.error().body.decode()
    client.close()


def test_an_error_has_the_receipt_of_its_frame(server: StompServing) -> None:
    for octets in (
        b"ACK\nid:7\nreceipt:r:1\n\n\0",
        b"SEND\nreceipt:r\\c1\n\n\0",
        b"SEND\nreceipt:r\\c1\ndestination:/queue/DENIED\nx\n\n\0",
    ):
        with connected(server) as client:
            client.write(octets)
            assert client.error().headers["receipt-id"].replace("\\c", ":") == "r:1"


@pytest.mark.parametrize("version", [OLD, MIDDLE, NEW])
@pytest.mark.parametrize("command", ["ACK", "NACK"])
def test_a_message_is_settled_once(server: StompServing, queue: str, version: Version, command: str) -> None:
    if version is OLD and command == "NACK":
        pytest.skip("STOMP 1.0 has no NACK")
    with connected(server, version) as client:
        client.send("SUBSCRIBE", id="0", destination=queue, ack="client")
        client.send("SEND", b"x", destination=queue)
        headers = client.read("MESSAGE").headers
        named = (
            {"id": headers["ack"]}
            if version is NEW
            else {"message-id": headers["message-id"], "subscription": headers["subscription"]}
        )
        client.frame("ACK", named)
        client.frame(command, named)
        assert client.error().headers["mqrc"] == "2033"


def test_a_message_of_another_connection_cannot_be_settled(server: StompServing, queue: str) -> None:
    with connected(server) as holder, connected(server) as thief:
        holder.send("SUBSCRIBE", id="0", destination=queue, ack="client")
        holder.send("SEND", b"x", destination=queue)
        key = holder.read("MESSAGE").headers["ack"]
        thief.send("ACK", id=key)
        assert thief.error().headers["mqrc"] == "2033"
        holder.send("ACK", id=key, receipt="1")
        holder.receipt("1")


def test_a_message_in_the_mode_auto_cannot_be_settled(server: StompServing, queue: str) -> None:
    with connected(server) as client:
        client.send("SUBSCRIBE", id="0", destination=queue)
        client.send("SEND", b"x", destination=queue)
        client.send("ACK", id=client.read("MESSAGE").headers["message-id"])
        client.error()


def test_a_refusal_of_the_queue_manager_has_its_reason_code(server: StompServing) -> None:
    server.administer(DefineObject(kind=Kind.QLOCAL, name="CLOSED", attributes={"PUT": "DISABLED"}, replace=True))
    with connected(server) as client:
        client.send("SEND", b"x", destination="/queue/CLOSED", receipt="r")
        frame = client.error()
        assert (frame.headers["mqrc"], frame.headers["mqrc-objects"]) == ("2051", "CLOSED")
        assert frame.headers["receipt-id"] == "r"
        assert "MQRC_PUT_INHIBITED" in frame.body.decode()


def test_a_refused_send_aborts_its_transaction(server: StompServing, queue: str) -> None:
    server.administer(DefineObject(kind=Kind.QLOCAL, name="SHUT", attributes={"PUT": "DISABLED"}, replace=True))
    with connected(server) as client:
        client.send("BEGIN", transaction="t")
        client.write(
            b"".join(
                encode_frame(Frame(command, headers), NEW)
                for command, headers in (
                    ("SEND", {"destination": queue, "transaction": "t"}),
                    ("SEND", {"destination": "/queue/SHUT", "transaction": "t"}),
                    ("COMMIT", {"transaction": "t", "receipt": "1"}),
                )
            )
        )
        client.error()
    with connected(server) as client:
        client.send("SUBSCRIBE", id="0", destination=queue)
        client.nothing()


def test_a_cut_of_the_queue_manager_ends_the_connections_with_an_error() -> None:
    with serving() as server, raw(server) as client:
        client.send("SUBSCRIBE", id="0", destination="/queue/cut", receipt="1")
        client.receipt("1")
        server.do(server.queue_manager.cut)
        assert client.error().headers["mqrc"] == "2009"


def test_frames_behind_an_error_do_nothing(server: StompServing, queue: str) -> None:
    with connected(server) as client:
        client.write(b"ACK\nid:7\n\n\0SEND\ndestination:" + queue.encode() + b"\n\nx\0")
        client.error()
    with connected(server) as client:
        client.send("SUBSCRIBE", id="0", destination=queue)
        client.nothing()


def test_the_error_arrives_although_the_client_still_sends(server: StompServing) -> None:
    with connected(server) as client:
        client.write(b"ACK\nid:7\n\n\0" + b"SEND\ndestination:/queue/q\n\nx\0" * 5_000)
        client.error()


# --- limits


def test_a_slow_login_ends_at_its_deadline() -> None:
    with serving(limits=StompLimits(login_ms=200)) as server:
        silent, slow = Raw(server), Raw(server)
        began = time.monotonic()
        for octet in b"CONNECT\naccept-version":
            try:
                slow.write(bytes((octet,)))
            except OSError:
                break
            slow.socket.settimeout(0.02)
            try:
                if not slow.socket.recv(1, socket.MSG_PEEK):
                    break
                break
            except TimeoutError:
                continue
        slow.socket.settimeout(10)
        assert "within 200 ms" in slow.error().body.decode()
        assert "within 200 ms" in silent.error().body.decode()
        assert time.monotonic() - began < 5
        slow.close()
        silent.close()


def test_a_connection_beyond_the_limit_is_closed() -> None:
    with serving(limits=StompLimits(connections=1)) as server, raw(server) as first:
        second = Raw(server)
        assert second.next() is None
        second.close()
        first.sync()


@pytest.mark.parametrize(
    ("limits", "frames", "mqrc"),
    [
        (
            {"subscriptions": 2},
            [("SUBSCRIBE", {"id": str(one), "destination": "/queue/l"}) for one in range(3)],
            "2102",
        ),
        ({"transactions": 2}, [("BEGIN", {"transaction": str(one)}) for one in range(3)], "2102"),
        (
            {"actions": 2},
            [
                ("BEGIN", {"transaction": "t"}),
                *[("SEND", {"destination": "/queue/l", "transaction": "t"}) for _ in range(3)],
            ],
            "2024",
        ),
    ],
)
def test_a_limit_of_a_connection_ends_it(
    limits: dict[str, int], frames: list[tuple[str, dict[str, str]]], mqrc: str
) -> None:
    with serving(limits=StompLimits(**limits)) as server, raw(server) as client:
        for command, headers in frames:
            client.frame(command, headers)
        assert client.error().headers["mqrc"] == mqrc


def test_a_client_that_does_not_read_holds_up_itself_only(server: StompServing, queue: str) -> None:
    body, count = b"x" * 100_000, 300
    with connected(server) as lazy, connected(server) as sender:
        lazy.frame("SUBSCRIBE", {"id": "0", "destination": queue, "prefetch-count": "-1", "receipt": "1"})
        lazy.receipt("1")
        for _ in range(count):
            sender.send("SEND", body, destination=queue)
        sender.sync()
        waiting = server.do(lambda: max(_unsent(server)))
        assert waiting < 4 * MEGABYTE
        for _ in range(count):
            assert len(lazy.read("MESSAGE").body) == len(body)
        lazy.nothing()


def _unsent(server: StompServing) -> list[int]:
    sockets = [one for one in server.listener._clients if isinstance(one, StompSocket)]
    return [
        one._transport.get_write_buffer_size() + (one.session.context.unsent if one.session else 0)
        for one in sockets
        if one._transport is not None
    ]


def test_a_connection_has_at_most_64_links_for_queues(server: StompServing) -> None:
    with raw(server) as sender:
        for _ in range(2):
            for number in range(70):
                sender.send("SEND", b"x", destination=f"/queue/links.{number}")
            sender.sync()
        assert server.do(lambda: max(len(one.context._senders) for one in _sessions(server))) == 64


def _sessions(server: StompServing) -> list[StompSession]:
    sockets = [one for one in server.listener._clients if isinstance(one, StompSocket)]
    return [one.session for one in sockets if one.session is not None]


def test_senders_wait_while_messages_take_too_much_memory() -> None:
    with serving(limits=StompLimits(memory=200_000)) as server, raw(server) as sender, raw(server) as receiver:
        for number in range(100):
            sender.send("SEND", b"x" * 10_000, destination="/queue/full", receipt=str(number))
        receiver.send("SUBSCRIBE", id="0", destination="/queue/full")
        for _ in range(100):
            receiver.read("MESSAGE")
        for number in range(100):
            sender.receipt(str(number))


def test_frames_that_arrive_in_part_have_a_limit_for_all_connections() -> None:
    beginning = b"SEND\ndestination:/queue/p\ncontent-length:500000\n\n" + b"x" * 400_000
    with serving(limits=StompLimits(partial=1_000_000)) as server:
        clients = [Raw(server).open() for _ in range(2)]
        for one in clients:
            one.write(beginning)
        until(lambda: server.do(lambda: server.listener.partial) >= 800_000, "both frames have arrived in part")
        with raw(server) as third:
            third.write(beginning)
            assert third.error().headers["mqrc"] == "2102"
        until(lambda: server.do(lambda: server.listener.partial) < 900_000, "the third is not counted any more")
        for one in clients:
            one.write(b"x" * 100_000 + b"\0")
            one.sync()
            one.close()
        until(lambda: server.do(lambda: server.listener.partial) == 0, "nothing is counted any more")


def test_memory_comes_back_after_hostile_clients(server: StompServing) -> None:
    def hostile() -> None:
        for octets in (b"SEND\ndestination:/queue/m\n\n" + b"x" * 4_000_000, b"SEND\n" + b"a:b\n" * 100_000):
            with connected(server) as client:
                try:
                    client.write(octets)
                except OSError:
                    continue

    def resident() -> int:
        gc.collect()
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4_096

    hostile()
    before = resident()
    for _ in range(20):
        hostile()
    # The server closes a connection a little after its client, and kept octets would be 80 MB.
    until(lambda: resident() - before < 40 * MEGABYTE, "the memory is given back")
