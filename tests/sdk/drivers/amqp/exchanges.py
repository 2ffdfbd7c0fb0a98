"""Helpers for tests of the driver with a scripted peer: the peer's messages, and an open receiver."""

from __future__ import annotations

from typing import Any

from tests.sdk.drivers.amqp.peer import Bench

from assay_sdk.amqp import codec
from assay_sdk.driver import Credit, OpenReceiver
from assay_sdk.model.message import Address, AddressKind, Message

QUEUE = Address(AddressKind.QUEUE, "Q")
TOPIC = Address(AddressKind.TOPIC, "T")
HELLO = Message(body="hello", durable=True)


def deliver(
    made: Bench, count: int = 1, *, drained: bool = False, settled: bool = False, octets: bytes = codec.encode(HELLO)
) -> None:
    """Let the peer send messages, as many as credit allows."""
    link = made.peer.sent_to

    def job() -> None:
        for number in range(count):
            delivery = link.delivery(f"{made.peer.events.count('DELIVERED')}-{number}")
            link.stream(octets)
            link.advance()
            if settled:
                delivery.settle()
        if drained:
            link.drained()
        made.peer.events.append("DELIVERED")

    made.peer.do(job)


def receiver(made: Bench, *, credit: int = 10, **options: Any) -> None:
    """Open a receiver with number 2."""

    def accept(link: Any) -> None:
        made.peer.accept_link(link)
        made.peer.sent_to = link

    made.peer.handlers["LINK_REMOTE_OPEN"] = accept
    made.done(OpenReceiver, session=1, link=2, **({"address": QUEUE} | options))
    if credit:
        made.done(Credit, 2, credit)
