"""Tests of the MQ Light face over AMQP and in real time, with a scripted peer that drops its connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from proton import Condition, Link
from proton import Delivery as WireDelivery
from tests.sdk.drivers.amqp.peer import LIMIT_MS, Peer, settle

from assay_sdk import (
    Backoff,
    Client,
    ConnectionLostError,
    Delivery,
    InvalidClientIdError,
    MessagingError,
    connect_mqlight,
)
from assay_sdk.amqp import codec
from assay_sdk.drivers.amqp import AmqpDriver
from assay_sdk.model.message import Message
from assay_sdk.runners.real import RealRunner

MS = 1_000_000


class World:
    """A peer, and a client that reconnects after a short wait."""

    def __init__(self) -> None:
        self.runner = RealRunner()
        self.peer = Peer(self.runner)
        self.states: list[str] = []
        self.complaints: list[MessagingError] = []
        self.links: list[Any] = []
        self.peer.handlers["LINK_REMOTE_OPEN"] = self._accept
        self.peer.handlers["DELIVERY"] = self.peer.answer(settle(WireDelivery.ACCEPTED))

    def connect(self) -> Client:
        return connect_mqlight(
            self.peer.url,
            client_id="desk",
            runner=self.runner,
            driver=AmqpDriver(),
            backoff=Backoff(first_ms=1, longest_ms=10),
            on_state_changed=lambda state, _why: self.states.append(state),
            on_error=self.complaints.append,
        )

    def until(self, done: Any) -> None:
        assert self.runner.run_until(done, self.runner.clock.monotonic_ns() + LIMIT_MS * MS)

    def close(self) -> None:
        self.peer.close()
        self.runner.close()

    def _accept(self, link: Any) -> None:
        self.links.append(link)
        self.peer.accept_link(link)


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


def test_what_was_not_answered_is_sent_again_on_the_next_connection(world: World) -> None:
    client = world.connect()
    answer = world.peer.handlers["DELIVERY"]

    def lose(delivery: Any) -> None:
        world.peer.handlers["DELIVERY"] = answer
        answer_nothing = world.peer.answer(lambda _delivery: world.peer.drop())
        answer_nothing(delivery)

    world.peer.handlers["DELIVERY"] = lose
    client.send("t", "kept", qos=1)
    client.send("t", "also kept", qos=1)
    copies = [codec.decode(octets).message.body for octets in world.peer.initial if octets.startswith(b"\x00\x53")]
    assert [body for body in copies if body] == ["kept", "kept", "also kept"]
    assert world.states == ["started", "retrying", "started"]
    client.close()


def test_at_most_once_the_line_is_not_waited_for_and_the_link_says_settled(world: World) -> None:
    with world.connect() as client:
        client.send("t", "forgotten")
        client.send("t", "kept", qos=1)
    assert [link.remote_snd_settle_mode for link in world.links] == [Link.SND_SETTLED, Link.SND_UNSETTLED]


def test_a_subscription_is_attached_again_and_confirms_by_itself_before_its_callback(world: World) -> None:
    got: list[tuple[object, bool]] = []
    confirmed: list[int] = []

    def note(delivery: Any) -> None:
        if delivery.updated:
            confirmed.append(int(delivery.remote_state))

    world.peer.handlers["DELIVERY"] = note
    with world.connect() as client:

        def handle(delivery: Delivery) -> None:
            world.until(lambda: bool(confirmed))
            got.append((delivery.data, bool(confirmed)))

        client.subscribe("t", qos=1, ttl=1_500, on_message=handle)
        world.peer.do(world.peer.drop)
        world.until(lambda: len(world.links) == 2)
        first, second = world.links
        assert first.name == second.name == "private:t"
        assert second.remote_source.timeout == 2
        world.until(lambda: second.credit > 0)

        def deliver() -> None:
            second.delivery("1")
            second.send(codec.encode(Message(body="x", content_type="text/plain")))
            second.advance()

        world.peer.do(deliver)
        world.until(lambda: bool(got))
    assert got == [("x", True)]
    assert confirmed[0] == int(WireDelivery.ACCEPTED)


@pytest.mark.parametrize(
    ("condition", "kind", "said"),
    [
        (None, MessagingError, "gave no reason"),
        (Condition("amqp:resource-deleted", "the topic is deleted"), MessagingError, "the topic is deleted"),
        (Condition("amqp:connection:forced", "the server is stopping"), ConnectionLostError, "the server is stopping"),
    ],
)
def test_the_end_of_a_subscription_is_reported_whatever_the_brokers_reason_is(
    world: World, condition: Condition | None, kind: type[MessagingError], said: str
) -> None:
    with world.connect() as client:
        client.subscribe("t")

        def end() -> None:
            world.links[0].condition = condition
            world.links[0].close()

        world.peer.do(end)
        world.until(lambda: bool(world.complaints))
        assert world.states == ["started"]
    (error,) = world.complaints
    assert isinstance(error, kind)
    assert said in error.text


def test_the_loss_of_a_connection_is_reported_as_a_state_only(world: World) -> None:
    with world.connect() as client:
        client.subscribe("t")
        world.peer.do(world.peer.drop)
        world.until(lambda: len(world.links) == 2)
    assert world.complaints == []


def test_a_client_whose_id_another_one_has_taken_over_stops(world: World) -> None:
    client = world.connect()

    def steal() -> None:
        world.peer.connection.condition = Condition("amqp:link:stolen", "another client has connected as desk")
        world.peer.connection.close()

    world.peer.do(steal)
    world.until(lambda: client.state == "stopped")
    with pytest.raises(InvalidClientIdError, match="another client"):
        client.send("t", "x")


def test_a_first_connection_that_cannot_be_had_is_an_error() -> None:
    runner = RealRunner()
    peer = Peer(runner)
    url = peer.url
    peer.close()
    with pytest.raises(ConnectionLostError):
        connect_mqlight(url, runner=runner, driver=AmqpDriver())
    runner.close()
