"""Tests of qualities of service over AMQP: settled transfers, and subscriptions with a time to live."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from proton import Delivery, Link, Terminus
from tests.sdk.drivers.amqp.peer import Bench, bench, settle

from assay_sdk.amqp import codec
from assay_sdk.driver import (
    Arrived,
    CloseLink,
    Credit,
    Done,
    Durability,
    Failed,
    Frame,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Outcome,
    Send,
    Settle,
    Transfer,
    Unsubscribe,
)
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import JmsErrorKind

TOPIC = Address(AddressKind.TOPIC, "T")


@pytest.fixture
def traced() -> Iterator[Bench]:
    with bench(offered=("SHARED-SUBS",)) as made:
        made.connect(client_id="desk", trace=True)
        made.done(OpenSession, 1)
        yield made


def links(made: Bench) -> list[Any]:
    """Return the links that the peer has accepted."""
    accepted: list[Any] = []

    def accept(link: Any) -> None:
        made.peer.accept_link(link)
        accepted.append(link)

    made.peer.handlers["LINK_REMOTE_OPEN"] = accept
    return accepted


def transfers(made: Bench) -> list[Transfer]:
    return [event.transfer for event in made.said if isinstance(event, Frame) and event.transfer is not None]


@pytest.mark.parametrize("settled", [True, False])
def test_a_transfer_is_shown_with_its_message_and_whether_it_was_settled(traced: Bench, *, settled: bool) -> None:
    traced.peer.handlers["DELIVERY"] = traced.peer.answer(settle(Delivery.ACCEPTED))
    traced.done(OpenSender, session=1, link=1, address=TOPIC, settled=settled)
    traced.done(Send, link=1, message=Message(message_id="ID:1", properties={"k": "v"}, body="x"), settled=settled)
    traced.until(lambda: bool(transfers(traced)))
    (shown,) = transfers(traced)
    assert (shown.message.message_id, shown.message.properties, shown.message.durable) == ("ID:1", {"k": "v"}, None)
    assert shown.settled is settled
    assert shown.target == "T"


@pytest.mark.parametrize(("timeout_ms", "seconds"), [(0, 0), (1, 1), (1_000, 1), (1_001, 2), (3_600_000, 3_600)])
def test_a_time_to_live_is_rounded_up_to_whole_seconds_from_the_detach(
    traced: Bench, timeout_ms: int, seconds: int
) -> None:
    accepted = links(traced)
    traced.done(
        OpenReceiver,
        session=1,
        link=1,
        address=TOPIC,
        name="private:T",
        durability=Durability.DURABLE if timeout_ms else Durability.NON_DURABLE,
        timeout_ms=timeout_ms,
    )
    source = accepted[0].remote_source
    assert source.timeout == seconds
    assert source.expiry_policy == Terminus.EXPIRE_WITH_LINK
    assert accepted[0].name == "private:T"


def test_a_share_of_everybody_is_so_though_its_client_has_an_id(traced: Bench) -> None:
    accepted = links(traced)
    share = {"session": 1, "address": TOPIC, "shared": True, "is_global": True}
    traced.done(OpenReceiver, link=1, name="s", durability=Durability.DURABLE, timeout_ms=5, **share)
    traced.done(OpenReceiver, link=2, name="s", **share)
    assert [link.name for link in accepted] == ["s|global", "s|global-volatile1"]
    asked: list[str] = []

    def found(link: Any) -> None:
        asked.append(link.name)
        link.source.address = "found"
        link.open()

    traced.peer.handlers["LINK_REMOTE_OPEN"] = found
    traced.done(Unsubscribe, 1, "other", shared=True, is_global=True)
    assert asked == ["other|global"]


class Receiving:
    """A receiver with one message, from a broker that uses the ``rcv-settle-mode`` of its Attach.

    Args:
        made: The bench.
        mode: The broker's ``rcv-settle-mode``.
    """

    def __init__(self, made: Bench, mode: int) -> None:
        self.made = made
        self.changes: list[Any] = []
        accepted: list[Any] = []

        def accept(link: Any) -> None:
            link.rcv_settle_mode = mode
            made.peer.accept_link(link)
            accepted.append(link)

        made.peer.handlers["LINK_REMOTE_OPEN"] = accept
        made.peer.handlers["DELIVERY"] = self.changes.append
        made.done(OpenReceiver, session=1, link=1, address=TOPIC)
        self.wanted = accepted[0].remote_rcv_settle_mode
        made.done(Credit, 1, 10)

        def send() -> None:
            accepted[0].delivery("1")
            accepted[0].stream(codec.encode(Message(body="x"), codec.Prefixes()))
            accepted[0].advance()

        made.peer.do(send)
        self.number = made.expect(Arrived).delivery

    def answered(self, token: int) -> bool:
        return any(isinstance(event, Done | Failed) and event.token == token for event in self.made.said)

    def confirm(self) -> int:
        """Accept the message, wait until the broker has the outcome, and return the token."""
        token = self.made.submit(Settle, 1, (self.number,), Outcome.ACCEPTED)
        self.made.until(lambda: bool(self.changes))
        return token


def test_a_broker_that_settles_second_is_waited_for(traced: Bench) -> None:
    receiving = Receiving(traced, Link.RCV_SECOND)
    assert receiving.wanted == Link.RCV_SECOND
    token = receiving.confirm()
    assert not receiving.changes[0].settled
    assert not receiving.answered(token)
    traced.peer.do(receiving.changes[0].settle)
    assert isinstance(traced.answer(token), Done)


@pytest.mark.parametrize(
    ("mode", "frames"),
    [
        (Link.RCV_SECOND, [("out", "accepted", False, True), ("in", None, True, False)]),
        (Link.RCV_FIRST, [("out", "accepted", True, True)]),
    ],
)
def test_what_each_end_says_of_a_delivery_is_shown(
    traced: Bench, mode: int, frames: list[tuple[str, str | None, bool, bool]]
) -> None:
    receiving = Receiving(traced, mode)
    token = receiving.confirm()
    traced.peer.do(receiving.changes[0].settle)
    traced.answer(token)
    seen = [event for event in traced.said if isinstance(event, Frame)]
    assert [
        (event.direction, one.outcome, one.settled, one.receiver) for event in seen for one in event.dispositions
    ] == frames


def test_a_broker_that_settles_first_is_waited_for_in_vain_and_so_not_at_all(traced: Bench) -> None:
    receiving = Receiving(traced, Link.RCV_FIRST)
    token = receiving.confirm()
    assert receiving.changes[0].settled
    assert isinstance(traced.answer(token), Done)


def test_what_a_broker_has_not_settled_when_the_line_is_lost_is_not_known_to_be_gone(traced: Bench) -> None:
    receiving = Receiving(traced, Link.RCV_SECOND)
    token = receiving.confirm()
    traced.peer.drop()
    answer = traced.answer(token)
    assert isinstance(answer, Failed)
    assert answer.refused.kind is JmsErrorKind.CONNECTION_LOST


def test_outcomes_that_were_given_before_a_link_is_left_are_done(traced: Bench) -> None:
    receiving = Receiving(traced, Link.RCV_SECOND)
    token = receiving.confirm()
    traced.done(CloseLink, 1)
    assert isinstance(traced.answer(token), Done)
