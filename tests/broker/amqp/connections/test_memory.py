"""Tests of the server's memory limits: credit slows senders down, and no message is lost."""

from __future__ import annotations

from tests.broker.amqp.serving import (
    DISPOSITION,
    FLOW,
    RECEIVER,
    SENDER,
    TRANSFER,
    Raw,
    message,
    raw,
    serving,
    source,
    target,
)

from assay_broker.amqp.limits import AmqpLimits


def credit_left(client: Raw, sent: int) -> int:
    """Return the remaining credit after all flows have arrived."""
    granted = 0
    client.socket.settimeout(0.3)
    try:
        while (seen := client.read()) is not None:
            if seen.code == FLOW:
                granted = seen.at(5) + seen.at(6)
    except TimeoutError:
        pass
    client.socket.settimeout(10)
    return granted - sent


def test_a_sender_gets_no_credit_while_messages_take_too_much_memory_and_goes_on_when_they_are_gone() -> None:
    limits = AmqpLimits(credit=10, memory=40_000)
    with serving(limits=limits) as server, raw(server) as client:
        client.attach("s", SENDER, 0, target=target("FULL"))
        sent = 0
        while (left := credit_left(client, sent)) > 0:
            for _ in range(left):
                client.transfer(sent, message("x" * 4_000))
                sent += 1
        assert 8 <= sent < 30
        with raw(server, container="consumer") as consumer:
            consumer.attach("r", RECEIVER, 0, source=source("FULL"))
            consumer.credit(0, 100)
            for _ in range(sent):
                consumer.settle(consumer.wait(TRANSFER).at(1))
            seen = client.wait(FLOW)
            assert seen.at(5) + seen.at(6) > sent
            client.transfer(sent, message("last"))
            client.wait(DISPOSITION)
            assert b"last" in consumer.wait(TRANSFER).payload
        assert server.do(lambda: server.queue_manager.octets) >= 0
