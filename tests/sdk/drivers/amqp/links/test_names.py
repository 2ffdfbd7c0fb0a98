"""Tests of one connection to a scripted peer: links and their subscriptions."""

from __future__ import annotations

from typing import Any

import pytest
from proton import Condition, Link, Terminus
from tests.sdk.drivers.amqp.exchanges import QUEUE, TOPIC, receiver
from tests.sdk.drivers.amqp.peer import Bench, bench

from assay_sdk.amqp.conventions import Conventions
from assay_sdk.driver import (
    CloseLink,
    Credit,
    Durability,
    Frame,
    LinkClosed,
    OpenReceiver,
    OpenSender,
    OpenSession,
    Unsubscribe,
)
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc


@pytest.mark.parametrize(
    ("condition", "kind"),
    [
        ("amqp:not-found", JmsErrorKind.INVALID_DESTINATION),
        ("amqp:unauthorized-access", JmsErrorKind.SECURITY),
        ("amqp:resource-limit-exceeded", JmsErrorKind.RESOURCE_ALLOCATION),
        ("amqp:not-implemented", JmsErrorKind.UNSUPPORTED),
        ("vendor:something", JmsErrorKind.INVALID_DESTINATION),
    ],
)
def test_a_refused_link_says_why_and_the_session_goes_on(opened: Bench, condition: str, kind: JmsErrorKind) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition(condition, "no"))
    assert opened.refused(OpenSender, 1, 1, QUEUE).kind is kind
    assert opened.refused(OpenReceiver, session=1, link=2, address=QUEUE).kind is kind
    opened.until(lambda: opened.peer.events.count("LINK_REMOTE_CLOSE") == 2)
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.accept_link
    opened.done(OpenSender, 1, 1, QUEUE)


def test_a_refused_selector_is_an_invalid_selector(opened: Bench) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition("amqp:invalid-field", "syntax"))
    refused = opened.refused(OpenReceiver, session=1, link=2, address=QUEUE, selector="a =")
    assert refused.kind is JmsErrorKind.INVALID_SELECTOR


def test_a_broker_that_leaves_the_selector_aside_is_not_consumed_from(opened: Bench) -> None:
    def accept(link: Any) -> None:
        link.source.address = link.remote_source.address
        link.open()

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    refused = opened.refused(OpenReceiver, session=1, link=2, address=QUEUE, selector="a = 1")
    assert refused.kind is JmsErrorKind.UNSUPPORTED
    assert "jms-selector" in refused.text
    opened.until(lambda: "LINK_REMOTE_CLOSE" in opened.peer.events)


def test_a_link_that_the_peer_closes_is_told(opened: Bench) -> None:
    receiver(opened)

    def close() -> None:
        opened.peer.sent_to.condition = Condition("amqp:resource-deleted", "gone")
        opened.peer.sent_to.close()

    opened.peer.do(close)
    closed = opened.expect(LinkClosed)
    assert closed.link == 2
    assert closed.refused is not None
    assert closed.refused.kind is JmsErrorKind.INVALID_DESTINATION
    assert opened.refused(Credit, 2, 1).kind is JmsErrorKind.ILLEGAL_STATE
    opened.done(CloseLink, 2)


SUBSCRIPTIONS = [
    ({"name": "s", "durability": Durability.DURABLE}, ["s"], ["topic"]),
    ({"name": "s", "durability": Durability.DURABLE, "shared": True}, ["s", "s|2", "s|3"], ["topic", "shared"]),
    ({"name": "s", "shared": True}, ["s|volatile1", "s|volatile2"], ["topic", "shared"]),
]


@pytest.mark.parametrize(("options", "names", "capabilities"), SUBSCRIPTIONS)
def test_subscriptions_are_named_and_attached_as_qpid_jms_does(
    options: dict[str, Any], names: list[str], capabilities: list[str]
) -> None:
    with bench() as made:
        made.connect(client_id="me")
        made.done(OpenSession, 1)
        links: list[Any] = []

        def accept(link: Any) -> None:
            made.peer.accept_link(link)
            links.append(link)

        made.peer.handlers["LINK_REMOTE_OPEN"] = accept
        for number, _ in enumerate(names):
            made.done(OpenReceiver, session=1, link=number, address=TOPIC, **options)
        assert [link.name for link in links] == names
        source = links[0].remote_source
        source.capabilities.rewind()
        source.capabilities.next()
        assert [str(name) for name in source.capabilities.get_py_array().elements] == capabilities
        durable = options.get("durability") is Durability.DURABLE
        assert source.durability == (Terminus.DELIVERIES if durable else Terminus.NONDURABLE)
        assert source.expiry_policy == (Terminus.EXPIRE_NEVER if durable else Terminus.EXPIRE_WITH_LINK)


def test_without_a_client_id_shared_subscriptions_are_everybody_s(opened: Bench) -> None:
    links: list[Any] = []

    def accept(link: Any) -> None:
        opened.peer.accept_link(link)
        links.append(link)

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    durable = {"session": 1, "address": TOPIC, "name": "s", "shared": True, "durability": Durability.DURABLE}
    opened.done(OpenReceiver, link=1, **durable)
    opened.done(OpenReceiver, link=2, **durable)
    opened.done(OpenReceiver, link=3, session=1, address=TOPIC, name="s", shared=True)
    assert [link.name for link in links] == ["s|global", "s|global2", "s|global-volatile1"]


@pytest.mark.parametrize(
    ("conventions", "told", "queue", "topic"),
    [
        (Conventions(), {}, "q", "t"),
        (Conventions(), {"queue-prefix": "queue://", "topic-prefix": "topic://"}, "queue://q", "topic://t"),
        (Conventions(), {"topic-prefix": "topic://"}, "q", "topic://t"),
        (Conventions(queue_prefix="/queue/", topic_prefix="/topic/"), {}, "/queue/q", "/topic/t"),
        (Conventions(topic_prefix="amq.topic/"), {"queue-prefix": "queue://"}, "queue://q", "amq.topic/t"),
        (Conventions(topic_prefix=""), {"topic-prefix": "topic://"}, "q", "t"),
    ],
)
def test_names_have_the_prefixes_that_the_broker_tells_or_the_driver_was_given(
    conventions: Conventions, told: dict[str, object], queue: str, topic: str
) -> None:
    with bench(properties=told) as made:
        made.connect(conventions=conventions)
        made.done(OpenSession, 1)
        links: list[Any] = []

        def accept(link: Any) -> None:
            made.peer.accept_link(link)
            links.append(link)

        made.peer.handlers["LINK_REMOTE_OPEN"] = accept
        made.done(OpenSender, link=1, session=1, address=Address(AddressKind.QUEUE, "q"))
        made.done(OpenReceiver, link=2, session=1, address=Address(AddressKind.TOPIC, "t"))
        sender, receiver = links
        assert (sender.remote_target.address, receiver.remote_source.address) == (queue, topic)


@pytest.mark.parametrize("conventions", [Conventions(), Conventions(settles_second=False, durable_termini=True)])
def test_settle_mode_and_durability_of_a_queue_s_links_follow_the_conventions(conventions: Conventions) -> None:
    with bench() as made:
        made.connect(conventions=conventions)
        made.done(OpenSession, 1)
        links: list[Any] = []

        def accept(link: Any) -> None:
            made.peer.accept_link(link)
            links.append(link)

        made.peer.handlers["LINK_REMOTE_OPEN"] = accept
        made.done(OpenSender, link=1, session=1, address=QUEUE)
        made.done(OpenReceiver, link=2, session=1, address=QUEUE)
        made.done(OpenReceiver, link=3, session=1, address=TOPIC)
        sender, receiver, subscriber = links
        durability = Terminus.CONFIGURATION if conventions.durable_termini else Terminus.NONDURABLE
        assert sender.remote_target.durability == receiver.remote_source.durability == durability
        assert subscriber.remote_source.durability == Terminus.NONDURABLE
        second = Link.RCV_SECOND if conventions.settles_second else Link.RCV_FIRST
        assert receiver.remote_rcv_settle_mode == subscriber.remote_rcv_settle_mode == second


def test_an_unshared_subscription_in_use_and_an_illegal_name_are_refused_here(opened: Bench) -> None:
    durable = {"session": 1, "address": TOPIC, "durability": Durability.DURABLE}
    opened.done(OpenReceiver, link=1, name="s", **durable)
    assert opened.refused(OpenReceiver, link=2, name="s", **durable).mqrc == Mqrc.SUBSCRIPTION_IN_USE
    assert opened.refused(OpenReceiver, link=3, name="a|b", **durable).mqrc == Mqrc.SUB_NAME_ERROR
    opened.done(CloseLink, 1)
    opened.done(OpenReceiver, link=4, name="s", **durable)


@pytest.mark.parametrize("shared", [True, False])
def test_an_illegal_name_is_refused_before_it_removes_another_subscription(opened: Bench, *, shared: bool) -> None:
    refused = opened.refused(Unsubscribe, session=1, name="a|b", shared=shared)
    assert refused.mqrc == Mqrc.SUB_NAME_ERROR


def test_closing_a_durable_consumer_detaches_and_any_other_closes(opened: Bench) -> None:
    opened.done(OpenReceiver, session=1, link=1, address=TOPIC, name="s", durability=Durability.DURABLE)
    opened.done(CloseLink, 1)
    assert "LINK_REMOTE_DETACH" in opened.peer.events
    assert "LINK_REMOTE_CLOSE" not in opened.peer.events
    opened.done(OpenReceiver, session=1, link=2, address=QUEUE)
    opened.done(CloseLink, 2)
    assert "LINK_REMOTE_CLOSE" in opened.peer.events


def test_unsubscribing_looks_the_subscription_up_by_name_and_closes_the_link(opened: Bench) -> None:
    asked: list[tuple[str, int]] = []

    def accept(link: Any) -> None:
        asked.append((link.name, link.remote_source.type))
        link.source.address = "found"
        link.open()

    opened.peer.handlers["LINK_REMOTE_OPEN"] = accept
    opened.done(Unsubscribe, 1, "s")
    assert asked == [("s", Terminus.UNSPECIFIED)]
    assert "LINK_REMOTE_CLOSE" in opened.peer.events


def test_a_shared_subscription_of_nobody_is_looked_up_with_desired_capabilities() -> None:
    with bench() as made:
        made.connect(trace=True)
        made.done(OpenSession, 1)

        def accept(link: Any) -> None:
            link.source.address = "found"
            link.open()

        made.peer.handlers["LINK_REMOTE_OPEN"] = accept
        made.done(Unsubscribe, 1, "s", shared=True)
        attach = next(
            e.text for e in made.said if isinstance(e, Frame) and e.direction == "out" and " attach " in e.text
        )
        assert "'s|global'" in attach
        assert "['shared', 'global']" in attach


def test_unsubscribing_what_is_not_there_is_an_invalid_destination(opened: Bench) -> None:
    opened.peer.handlers["LINK_REMOTE_OPEN"] = opened.peer.refuse_link(Condition("amqp:not-found", "unknown"))
    refused = opened.refused(Unsubscribe, 1, "s")
    assert (refused.kind, refused.objects) == (JmsErrorKind.INVALID_DESTINATION, ("s",))
