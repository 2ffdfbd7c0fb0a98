"""Tests with a queue manager that answers late or not at all, and with messages from AMQP clients."""

from __future__ import annotations

import threading

import pytest
from tests.broker.http.conftest import ORDERS, Reply, Serve, Served
from tests.waiting import until

from assay_broker.core.commands import AttachSender, Connect, Put
from assay_broker.core.effects import Deliver
from assay_broker.http import HttpLimits
from assay_broker.http.requests.connections import ManagerConnection
from assay_sdk.amqp.codec import encode
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

PERSISTENT = {"ibm-mq-md-persistence": "persistent"}
ADDRESS = Address(AddressKind.QUEUE, "ORDERS")


def put_as(served: Served, message: Message) -> None:
    """Put a message like a client of another protocol."""

    def put() -> None:
        for command in (Connect(9_000, None, None, "mqm"), AttachSender(9_000, None, 1, ADDRESS)):
            served.queue_manager.handle(command)
        served.queue_manager.handle(Put(9_000, None, 1, message))

    served.do(put)


def arrived(served: Served) -> bool:
    """Check whether a message is on the queue, visible or not."""

    def there() -> bool:
        found = served.queue_manager._life.core._state.queues.named("ORDERS")
        return found is not None and len(found.entries) > 0

    return served.do(there)


def test_a_store_that_does_not_write_makes_the_server_busy(serve: Serve) -> None:
    served = serve(limits=HttpLimits(answer_ms=100))
    unblock = served.do(lambda: served.queue_manager.block_writes("ORDERS"))
    assert served.ask("POST", ORDERS, "m", PERSISTENT).error == (503, "ASWB0004E", 0)
    served.do(unblock)
    assert served.ask("GET", ORDERS).text == "m"


def test_an_answer_comes_as_soon_as_the_store_has_written(serve: Serve) -> None:
    served = serve()
    unblock = served.do(lambda: served.queue_manager.block_writes("ORDERS"))
    got: list[Reply] = []
    asking = threading.Thread(target=lambda: got.append(served.ask("POST", ORDERS, "m", PERSISTENT)))
    asking.start()
    until(lambda: arrived(served), "the message has come")
    assert got == []
    served.do(unblock)
    asking.join(20)
    assert got[0].status == 201


@pytest.mark.parametrize("how", ["cut", "stop", "kill"])
def test_a_queue_manager_that_goes_down_meanwhile_is_told(serve: Serve, how: str) -> None:
    served = serve()
    served.do(lambda: served.queue_manager.block_writes("ORDERS"))
    got: list[Reply] = []
    asking = threading.Thread(target=lambda: got.append(served.ask("POST", ORDERS, "m", PERSISTENT)))
    asking.start()
    until(lambda: arrived(served), "the message has come")
    served.do(getattr(served.queue_manager, how))
    asking.join(20)
    assert got[0].error == (503, "MQWB0300E", Mqrc.CONNECTION_BROKEN)


def test_a_request_has_no_receivers(served: Served) -> None:
    async def make() -> ManagerConnection:
        return ManagerConnection(served.queue_manager, "mqm", 100)

    asker = served.on_loop(make())
    with pytest.raises(RuntimeError, match="no receiver 7"):
        asker.deliver(
            Deliver(
                connection=1,
                link=7,
                origin=ADDRESS,
                delivery=1,
                message=Message(),
                count=0,
                redelivered=False,
                after=None,
            )
        )


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("grüße", ("text/plain; charset=utf-8", "grüße".encode())),
        (b"\xff\x00", ("application/octet-stream", b"\xff\x00")),
    ],
)
def test_what_came_over_amqp_is_given_out_as_what_it_is(
    served: Served, body: str | bytes, shown: tuple[str, bytes]
) -> None:
    octets = encode(Message(body=body, content_type="text/plain"))
    put_as(served, Message(message_id="ID:1", encoded=octets, to=ADDRESS))
    looked = served.ask("GET", ORDERS)
    assert (looked.headers["content-type"], looked.body) == shown
    (one,) = served.ask("GET", f"{ORDERS}list?detail=full").json["messages"]
    assert one["bodyEncoding"] == ("text" if isinstance(body, str) else "base64")


@pytest.mark.parametrize("octets", [b"\x00\x53\x77\xc1\x01\x00", b"\xff\xff"])
def test_what_is_neither_text_nor_octets_is_given_out_in_its_sections(served: Served, octets: bytes) -> None:
    put_as(served, Message(message_id="ID:1", encoded=octets, to=ADDRESS))
    looked = served.ask("GET", ORDERS)
    assert (looked.headers["content-type"], looked.body) == ("application/octet-stream", octets)


def test_names_that_no_header_can_hold_are_encoded(served: Served) -> None:
    odd = "Q\r\nSet-Cookie: a=b é"
    message = Message(
        message_id="ID:1",
        body="m",
        to=ADDRESS,
        reply_to=Address(AddressKind.QUEUE, odd),
        properties={"a;b": 1, "octets": b"x", "order": 4711, "nothing": None, "line": "a\r\nb", "note": "\u200d é"},
    )
    put_as(served, message)
    headers = served.ask("GET", ORDERS.replace("v2", "v3")).headers
    assert headers["ibm-mq-md-replyto"] == "Q%0D%0ASet-Cookie: a=b %C3%A9"
    assert "set-cookie" not in headers
    assert headers["ibm-mq-usr"].encode("latin-1").decode() == 'order;4711;long, note;"\u200d é";string'
    assert headers["assay-properties-left-out"] == "4"
    (one,) = served.ask("GET", f"{ORDERS}list?detail=full").json["messages"]
    others = {"order": 4711, "note": "\u200d é"}
    assert one["properties"] == {"a;b": 1, "octets": "eA==", "nothing": None, "line": "a\r\nb"} | others
