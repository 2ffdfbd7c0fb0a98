"""Tests of one connection to a scripted peer: receiving and browsing."""

from __future__ import annotations

from typing import Any

import pytest
from proton import Condition, Delivery
from tests.sdk.drivers.amqp.exchanges import HELLO, QUEUE, TOPIC, deliver, receiver
from tests.sdk.drivers.amqp.peer import Bench, bench

from assay_sdk.amqp import codec, types
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.amqp.sections import HEADER
from assay_sdk.driver import Arrived, Browse, CloseLink, Done, Drain, Drained, Durability, OpenSession, Outcome, Settle
from assay_sdk.model.reasons import JmsErrorKind


def test_messages_arrive_within_the_credit_and_are_settled_with_their_outcome(opened: Bench) -> None:
    receiver(opened)
    deliver(opened, 4)
    arrived = [opened.expect(Arrived, number) for number in range(1, 5)]
    assert {event.message.body for event in arrived} == {"hello"}
    assert {(event.link, event.epoch, event.count, event.redelivered) for event in arrived} == {(2, 1, 0, False)}
    states: list[int] = []
    opened.peer.handlers["DELIVERY"] = lambda delivery: states.append(int(delivery.remote_state))
    for event, outcome in zip(arrived, Outcome, strict=True):
        opened.done(Settle, 2, (event.delivery,), outcome)
    opened.until(lambda: len(states) == 4)
    assert states == [Delivery.ACCEPTED, Delivery.REJECTED, Delivery.RELEASED, Delivery.MODIFIED]
    refused = opened.refused(Settle, 2, (arrived[0].delivery,), Outcome.ACCEPTED)
    assert refused.kind is JmsErrorKind.ILLEGAL_STATE


@pytest.mark.parametrize(
    ("conventions", "first_acquirer", "redelivered"),
    [
        (Conventions(), types.boolean(value=False), False),
        (Conventions(first_acquirer=True), types.boolean(value=False), True),
        (Conventions(first_acquirer=True), types.boolean(value=True), False),
        (Conventions(first_acquirer=True), types.null(), False),
    ],
)
def test_a_first_acquirer_of_false_is_a_redelivery_where_the_broker_means_it_so(
    conventions: Conventions, first_acquirer: bytes, *, redelivered: bool
) -> None:
    header = types.described(HEADER, types.fields((types.null(), types.null(), types.null(), first_acquirer)))
    with bench() as made:
        made.connect(conventions=conventions)
        made.done(OpenSession, 1)
        receiver(made)
        deliver(made, octets=header + codec.without_header(HELLO))
        arrived = made.expect(Arrived)
        assert (arrived.count, arrived.redelivered) == (0, redelivered)


def test_a_drain_gives_the_credit_back_after_what_is_there(opened: Bench) -> None:
    receiver(opened)
    token = opened.submit(Drain, 2)
    opened.until(lambda: opened.peer.sent_to.drain_mode)
    deliver(opened, 2, drained=True)
    opened.answer(token)
    kinds = [type(event) for event in opened.said[-4:]]
    assert kinds == [Arrived, Arrived, Drained, Done]


def test_a_drain_without_credit_is_over_at_once(opened: Bench) -> None:
    receiver(opened, credit=0)
    opened.done(Drain, 2)
    assert isinstance(opened.said[-2], Drained)


def test_a_drain_is_over_when_messages_take_the_last_credit(opened: Bench) -> None:
    receiver(opened, credit=1)
    token = opened.submit(Drain, 2)
    opened.until(lambda: opened.peer.sent_to.drain_mode)
    deliver(opened)
    opened.answer(token)


def test_closing_a_receiver_gives_back_what_it_holds_as_failed_deliveries(opened: Bench) -> None:
    receiver(opened)
    deliver(opened)
    opened.expect(Arrived)
    states: list[tuple[int, bool]] = []
    opened.peer.handlers["DELIVERY"] = lambda d: states.append((int(d.remote_state), bool(d.remote.failed)))
    opened.done(CloseLink, 2)
    assert states == [(Delivery.MODIFIED, True)]


def test_leaving_a_durable_subscription_takes_credit_back_before_it_gives_messages_back(opened: Bench) -> None:
    receiver(opened, address=TOPIC, name="s", durability=Durability.DURABLE)
    deliver(opened)
    opened.expect(Arrived)
    credit: list[int] = []
    opened.peer.handlers["DELIVERY"] = lambda _delivery: credit.append(opened.peer.sent_to.credit)
    opened.done(CloseLink, 2)
    assert credit == [0]


def test_a_message_nobody_can_read_is_rejected_and_its_credit_given_again(opened: Bench) -> None:
    receiver(opened, credit=1)

    def job() -> None:
        opened.peer.sent_to.delivery("bad")
        opened.peer.sent_to.stream(b"\x00\x53\x99\x40")
        opened.peer.sent_to.advance()

    states: list[int] = []
    opened.peer.handlers["DELIVERY"] = lambda delivery: states.append(int(delivery.remote_state))
    opened.peer.do(job)
    opened.until(lambda: states == [Delivery.REJECTED] and opened.peer.sent_to.credit == 1)


def test_a_browse_goes_round_until_a_round_is_not_filled(opened: Bench) -> None:
    rounds: list[int] = []
    octets = codec.encode(HELLO)

    def flow(link: Any) -> None:
        if link.is_sender and link.drain_mode and link.credit:
            rounds.append(link.credit)
            for number in range(link.credit if len(rounds) == 1 else 3):
                link.delivery(f"{len(rounds)}-{number}")
                link.stream(octets)
                link.advance()
            link.drained()

    opened.peer.handlers["LINK_FLOW"] = flow
    done = opened.done(Browse, 1, QUEUE)
    assert isinstance(done.value, tuple)
    assert (len(done.value), len(rounds)) == (1_003, 2)
    opened.until(lambda: "LINK_REMOTE_CLOSE" in opened.peer.events)


def test_a_browse_of_a_queue_that_is_not_there_is_refused(opened: Bench) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition("amqp:not-found", "no"))
    assert opened.refused(Browse, 1, QUEUE).kind is JmsErrorKind.INVALID_DESTINATION
