"""Tests of one connection to a scripted peer: sending."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from proton import Condition, Delivery, symbol
from tests.sdk.drivers.amqp.exchanges import HELLO, QUEUE, TOPIC
from tests.sdk.drivers.amqp.peer import Bench, bench, settle

from assay_sdk.amqp import codec
from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import Closed, Done, Failed, Frame, LinkClosed, OpenSender, OpenSession, Send
from assay_sdk.drivers.amqp.transport.link_offers import LinkOffers
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import JmsErrorKind, Mqrc


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        (Delivery.ACCEPTED, None),
        (Delivery.RELEASED, JmsErrorKind.RESOURCE_ALLOCATION),
        (Delivery.MODIFIED, JmsErrorKind.RESOURCE_ALLOCATION),
        (Delivery.REJECTED, JmsErrorKind.MESSAGING),
        (0, JmsErrorKind.MESSAGING),
    ],
)
def test_a_send_is_answered_with_the_broker_s_outcome(opened: Bench, state: int, kind: JmsErrorKind | None) -> None:
    opened.peer.handlers["DELIVERY"] = opened.peer.answer(
        settle(state) if state else lambda delivery: delivery.settle()
    )
    opened.done(OpenSender, 1, 1, QUEUE)
    answer = opened.ask(Send, 1, HELLO)
    assert (answer.refused.kind if isinstance(answer, Failed) else None) == kind
    assert codec.decode(opened.peer.initial[-1]).message.body == "hello"


def test_a_rejection_with_a_reason_code_carries_code_and_objects(opened: Bench) -> None:
    def reject(delivery: Any) -> None:
        info = {symbol("x-opt-mqrc"): 2053, symbol("x-opt-mqrc-objects"): ["ORDERS"]}
        delivery.local.condition = Condition("amqp:resource-limit-exceeded", "MQRC_Q_FULL (2053): ORDERS", info)
        settle(Delivery.REJECTED)(delivery)

    opened.peer.handlers["DELIVERY"] = opened.peer.answer(reject)
    opened.done(OpenSender, 1, 1, QUEUE)
    refused = opened.refused(Send, 1, HELLO)
    assert refused.kind is JmsErrorKind.RESOURCE_ALLOCATION
    assert (refused.mqrc, refused.objects) == (2053, ("ORDERS",))


def test_messages_wait_for_credit_and_go_in_order(opened: Bench) -> None:
    links: list[Any] = []

    def accept(link: Any) -> None:
        link.target.copy(link.remote_target)
        link.open()
        links.append(link)

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    opened.peer.handlers["DELIVERY"] = opened.peer.answer(settle(Delivery.ACCEPTED))
    opened.done(OpenSender, 1, 1, QUEUE)
    tokens = [opened.submit(Send, 1, Message(body=str(number))) for number in range(3)]
    opened.peer.do(lambda: links[0].flow(2))
    opened.answer(tokens[1])
    assert not any(isinstance(event, Done) and event.token == tokens[2] for event in opened.said)
    opened.peer.do(lambda: links[0].flow(1))
    opened.answer(tokens[2])
    assert [codec.decode(octets).message.body for octets in opened.peer.initial[-3:]] == ["0", "1", "2"]


def test_a_settled_send_is_answered_at_once(opened: Bench) -> None:
    opened.done(OpenSender, 1, 1, QUEUE, settled=True)
    opened.done(Send, 1, HELLO, settled=True)


def test_an_anonymous_sender_names_the_destination_in_the_message(opened: Bench) -> None:
    opened.peer.handlers["DELIVERY"] = opened.peer.answer(settle(Delivery.ACCEPTED))
    opened.done(OpenSender, 1, 1, None)
    opened.done(Send, 1, Message(body="x", to=QUEUE))
    assert codec.decode(opened.peer.initial[-1]).message.to == QUEUE


@pytest.mark.parametrize("to", [QUEUE, TOPIC])
def test_a_released_publication_has_reached_nobody_where_the_broker_means_it_so(to: Address) -> None:
    with bench() as made:
        made.peer.handlers["DELIVERY"] = made.peer.answer(settle(Delivery.RELEASED))
        made.connect(conventions=Conventions(released_publications=True))
        made.done(OpenSession, 1)
        made.done(OpenSender, 1, 1, to)
        assert isinstance(made.ask(Send, 1, structs.replace(HELLO, to=to)), Done if to == TOPIC else Failed)


def test_names_in_messages_may_have_another_prefix_than_in_links() -> None:
    conventions = Conventions(queue_prefix="/queue/", message_queue_prefix="/queues/", slash="%2F")
    queue = Address(AddressKind.QUEUE, "a/b")
    with bench() as made:
        made.peer.handlers["DELIVERY"] = made.peer.answer(settle(Delivery.ACCEPTED))
        made.connect(conventions=conventions)
        made.done(OpenSession, 1)
        made.done(OpenSender, 1, 1, None)
        made.done(Send, 1, structs.replace(HELLO, to=queue, reply_to=queue))
        decoded = codec.decode(made.peer.initial[-1]).message
        assert (decoded.to, decoded.reply_to) == (Address(AddressKind.QUEUE, "/queues/a%2Fb"),) * 2
        assert codec.decode(made.peer.initial[-1], prefixes=codec.Prefixes("/queues/", slash="%2F")).message.to == queue


@pytest.mark.parametrize("taken", [True, False])
def test_messages_have_no_annotations_where_the_broker_rejects_them(*, taken: bool) -> None:
    with bench() as made:
        made.peer.handlers["DELIVERY"] = made.peer.answer(settle(Delivery.ACCEPTED))
        made.connect(conventions=Conventions(message_annotations=taken))
        made.done(OpenSession, 1)
        made.done(OpenSender, 1, 1, QUEUE)
        made.done(Send, 1, HELLO)
        octets = made.peer.initial[-1]
        assert (b"x-opt-jms-msg-type" in octets) == taken
        assert codec.decode(octets).message.body == HELLO.body


def test_what_the_broker_says_of_a_destination_comes_with_the_sender(opened: Bench) -> None:
    def accept(link: Any) -> None:
        link.properties = {symbol("x-opt-mq-defbind"): symbol("OPEN"), symbol("x-opt-mq-clustered"): True}
        opened.peer.accept_link(link)

    assert opened.done(OpenSender, 1, 1, QUEUE).properties == {}
    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    told = opened.done(OpenSender, 1, 2, QUEUE).properties
    assert told == {"x-opt-mq-defbind": "OPEN", "x-opt-mq-clustered": True}
    assert type(told["x-opt-mq-defbind"]) is str
    assert opened.done(OpenSender, 1, 3, None).properties == {}, "nothing is known of what each send will name"


@pytest.mark.parametrize("offered", [(), ("DELAYED_DELIVERY", "x")])
def test_a_broker_may_offer_delayed_delivery_on_the_link_alone(
    monkeypatch: pytest.MonkeyPatch, offered: tuple[str, ...]
) -> None:
    monkeypatch.setattr(
        LinkOffers, "take", lambda _self, _name: offered
    )  # the peer's Proton cannot offer capabilities in an attach
    with bench() as made:
        made.connect(trace=True)
        made.done(OpenSession, 1)
        answer = made.done(OpenSender, 1, 1, QUEUE)
        assert answer.capabilities == ({Capability.DELIVERY_DELAY} if offered else set())
        assert any("['DELAYED_DELIVERY']" in event.text for event in made.said if isinstance(event, Frame))


def test_nothing_is_desired_of_a_link_that_the_connection_offers() -> None:
    with bench(offered=("DELAYED_DELIVERY",)) as made:
        made.connect(trace=True)
        made.done(OpenSession, 1)
        assert made.done(OpenSender, 1, 1, QUEUE).capabilities == set()
        frames = [event.text for event in made.said if isinstance(event, Frame) and event.direction == "out"]
        assert not any("attach" in text and "DELAYED_DELIVERY" in text for text in frames)


def test_a_message_that_amqp_cannot_carry_is_refused_by_itself(opened: Bench) -> None:
    opened.done(OpenSender, 1, 1, QUEUE)
    assert opened.refused(Send, 1, Message(properties={"big": 2**70})).kind is JmsErrorKind.MESSAGE_FORMAT
    assert opened.refused(Send, 1, Message(priority=700)).kind is JmsErrorKind.MESSAGE_FORMAT


def test_a_message_beyond_the_peer_s_limit_is_refused_before_it_is_sent(opened: Bench) -> None:
    def accept(link: Any) -> None:
        link.max_message_size = 100
        opened.peer.accept_link(link)

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    opened.done(OpenSender, 1, 1, QUEUE)
    assert opened.refused(Send, 1, Message(body="x" * 200)).mqrc == Mqrc.MSG_TOO_BIG_FOR_Q


def test_a_large_message_goes_in_many_frames_and_comes_back_whole(opened: Bench) -> None:
    opened.peer.handlers["DELIVERY"] = opened.peer.answer(settle(Delivery.ACCEPTED))
    opened.done(OpenSender, 1, 1, QUEUE)
    opened.done(Send, 1, Message(body=b"x" * 3_000_000))
    assert len(codec.decode(opened.peer.initial[-1]).message.body or b"") == 3_000_000


def test_sends_without_an_answer_fail_when_the_line_drops(opened: Bench) -> None:
    opened.done(OpenSender, 1, 1, QUEUE)
    tokens = [opened.submit(Send, 1, HELLO) for _ in range(12)]
    opened.until(lambda: opened.peer.events.count("DELIVERY") == 10)
    opened.peer.do(opened.peer.drop)
    for token in tokens:
        answer = opened.answer(token)
        assert isinstance(answer, Failed)
        assert answer.refused.kind is JmsErrorKind.CONNECTION_LOST
    closed = opened.expect(Closed)
    assert closed.refused is not None
    assert opened.said[-1] is closed
    assert opened.refused(Send, 1, HELLO).kind is JmsErrorKind.CONNECTION_LOST


def detach(link: Any, name: str) -> None:
    link.condition = Condition(name, "no room", {symbol("x-opt-mqrc"): 2053})
    link.close()


def test_a_detach_with_an_error_about_the_message_refuses_it(opened: Bench) -> None:
    opened.peer.handlers["DELIVERY"] = lambda delivery: detach(delivery.link, "amqp:resource-limit-exceeded")
    opened.done(OpenSender, 1, 1, QUEUE)
    refused = opened.refused(Send, 1, HELLO)
    assert (refused.kind, refused.mqrc) == (JmsErrorKind.RESOURCE_ALLOCATION, 2053)
    assert "no room" in refused.text
    assert opened.expect(LinkClosed).refused is not None


@pytest.mark.parametrize(
    ("name", "sends"), [("amqp:link:detach-forced", 1), ("amqp:internal-error", 1), ("amqp:not-allowed", 2)]
)
def test_after_any_other_detach_nobody_knows_what_became_of_the_messages(opened: Bench, name: str, sends: int) -> None:
    links: list[Any] = []
    opened.peer.handlers["DELIVERY"] = lambda delivery: links.append(delivery.link)
    opened.done(OpenSender, 1, 1, QUEUE)
    tokens = [opened.submit(Send, 1, HELLO) for _ in range(sends)]
    opened.until(lambda: len(links) == sends)

    def leave() -> None:
        links[0].condition = Condition(name, "gone")
        links[0].close()

    opened.peer.do(leave)
    for token in tokens:
        answer = opened.answer(token)
        assert isinstance(answer, Failed)
        assert answer.refused.kind is JmsErrorKind.CONNECTION_LOST
