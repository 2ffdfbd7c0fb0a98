"""Tests of cancelling delayed messages over AMQP, and of messages without an id."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.broker.amqp.serving import (
    ACCEPTED,
    DETACH,
    DISPOSITION,
    FLOW,
    RECEIVER,
    REJECTED,
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

from assay_broker.core.administration.changes import NativeBrowse
from assay_broker.core.commands import Administer
from assay_broker.core.effects import Answer
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk.amqp import types
from assay_sdk.amqp.terms import CANCEL_NODE, DELIVERY_DELAY

CANCEL_HANDLE, SEND_HANDLE = 1, 2


@pytest.fixture
def server() -> Iterator[Serving]:
    """Provide a server whose staging queue is empty."""
    with serving() as found:
        yield found


@pytest.fixture
def client(server: Serving) -> Iterator[Raw]:
    with raw(server) as found:
        found.attach("cancel", SENDER, CANCEL_HANDLE, target=target(CANCEL_NODE))
        found.wait(FLOW)
        yield found


def value(octets: bytes) -> bytes:
    return types.described(0x77, octets)


def delayed(text: str, ms: int = 600_000, *, message_id: bytes = b"") -> bytes:
    annotations = types.described(0x72, types.mapping({types.symbol(DELIVERY_DELAY): types.ulong(ms)}))
    properties = performative(0x73, message_id) if message_id else b""
    return annotations + properties + value(types.string(text))


def asked(client: Raw, number: int, octets: bytes) -> Seen:
    client.transfer(number, octets, CANCEL_HANDLE)
    return client.wait(DISPOSITION)


def send(client: Raw, number: int, octets: bytes, to: str = "ORDERS", handle: int = SEND_HANDLE) -> None:
    client.attach(f"send-{to}", SENDER, handle, target=target(to))
    client.wait(FLOW)
    client.transfer(number, octets, handle)
    assert client.wait(DISPOSITION).at(4).descriptor == ACCEPTED


def shown(server: Serving, queue: str) -> list[dict[str, object]]:
    """Return the descriptors of a queue's messages, as an administrator sees them."""
    seen: list[Answer] = []

    class Looking:
        def answer(self, answer: Answer, sent: object) -> None:
            seen.append(answer)
            if callable(sent):
                sent()

        def deliver(self, *_: object) -> None: ...

        def close_link(self, *_: object) -> None: ...

    def look() -> None:
        number = server.queue_manager.connect(Looking(), 1, None)  # type: ignore[arg-type]  # answers are enough
        server.queue_manager.handle(Administer(number, 2, NativeBrowse(queue)))
        server.queue_manager.forget(number)

    server.do(look)
    rows = seen[-1].value
    assert isinstance(rows, tuple)
    return [row.descriptor for row in rows]  # type: ignore[union-attr]  # described messages


@pytest.mark.parametrize(
    ("given", "handle"),
    [
        (types.string("ID:order-1"), "ID:order-1"),
        (types.string("größe"), "größe"),
        (types.binary(b"\x00\xff"), "ID:AMQP_BINARY:00FF"),
        (types.ulong(7), "ID:AMQP_ULONG:7"),
    ],
)
def test_a_client_takes_back_what_it_has_sent_under_ids_of_every_type(client: Raw, given: bytes, handle: str) -> None:
    send(client, 0, delayed("x", message_id=given))
    assert asked(client, 1, value(types.string(handle))).at(4).descriptor == ACCEPTED
    again = asked(client, 2, value(types.string(handle))).at(4)
    assert again.descriptor == REJECTED
    error = again.value[0].value
    assert (str(error[0]), error[2]["x-opt-mqrc"]) == ("amqp:not-found", 2033)


def test_messages_without_an_id_are_staged_under_one_each_that_takes_them_back(server: Serving, client: Raw) -> None:
    send(client, 0, delayed("a"))
    client.transfer(1, delayed("b"), SEND_HANDLE)
    client.wait(DISPOSITION)
    first, second = (str(row["CorrelId"]) for row in shown(server, STAGING_QUEUE))
    assert len({first, second, "0" * 48}) == 3
    assert asked(client, 2, value(types.string(f"ID:{first}"))).at(4).descriptor == ACCEPTED
    assert [row["CorrelId"] for row in shown(server, STAGING_QUEUE)] == [second]


def test_an_id_that_the_queue_manager_gives_does_not_change_the_bare_message(server: Serving, client: Raw) -> None:
    sent = value(types.string("as it is"))
    send(client, 0, sent)
    (row,) = shown(server, "ORDERS")
    assert row["MsgId"] != "0" * 48
    client.attach("take", RECEIVER, 9, source=source("ORDERS"))
    client.credit(9, 1)
    assert client.wait(TRANSFER).payload.endswith(sent)
    send(client, 1, delayed("later", 1), "LATER", 3)
    client.attach("take-later", RECEIVER, 10, source=source("LATER"))
    client.credit(10, 1)
    assert client.wait(TRANSFER).payload.endswith(value(types.string("later")))


@pytest.mark.parametrize(
    "octets",
    [value(types.string("")), value(types.ulong(1)), value(b"\x40"), message(""), b"\x00\x53\x77", b"\xff" * 8],
    ids=["empty", "number", "null", "empty message", "cut off", "noise"],
)
def test_a_request_that_names_no_message_is_rejected_and_the_link_goes_on(client: Raw, octets: bytes) -> None:
    assert asked(client, 0, octets).at(4).descriptor == REJECTED
    send(client, 1, delayed("x", message_id=types.string("ID:1")))
    assert asked(client, 2, value(types.string("ID:1"))).at(4).descriptor == ACCEPTED


def test_a_request_that_is_too_long_ends_its_link_alone(client: Raw) -> None:
    client.transfer(0, value(types.string("x" * 5_000)), CANCEL_HANDLE)
    assert str(client.wait(DETACH).at(2).value[0]) == "amqp:decode-error"
    send(client, 1, message("the session goes on"))


def test_a_settled_request_ends_its_link_because_nobody_would_get_the_answer(client: Raw) -> None:
    client.transfer(0, value(types.string("ID:1")), CANCEL_HANDLE, settled=True)
    assert str(client.wait(DETACH).at(2).value[0]) == "amqp:not-allowed"
