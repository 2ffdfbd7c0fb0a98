from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.objects.factory import BASE_TOPIC, factory
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import JmsErrorKind, Mqrc

OTHER = Address(AddressKind.TOPIC, "OTHER")


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "publisher")
    made.sender(1, 1, TOPIC)
    return made


def test_every_open_subscription_gets_a_copy(bench: Bench) -> None:
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC)
    bench.receiver(2, 2, TOPIC, durable="d")
    bench.receiver(2, 3, TOPIC, shared="s")
    bench.put(1, 1, message("a"))
    assert sorted(one.link for one in bench.delivered) == [1, 2, 3]


def test_consumers_of_a_shared_subscription_share_its_messages(bench: Bench) -> None:
    for number in (2, 3):
        bench.connect(number)
        bench.receiver(number, 1, TOPIC, shared="s")
    for text in "abcd":
        bench.put(1, 1, message(text))
    assert [one.connection for one in bench.delivered] == [2, 3, 2, 3]


def test_a_later_subscriber_gets_nothing_earlier(bench: Bench) -> None:
    bench.put(1, 1, message("early"))
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC)
    bench.receiver(2, 2, TOPIC, durable="d")
    assert bench.bodies() == []


@pytest.mark.parametrize("durable_message", [True, False])
def test_a_durable_subscription_keeps_what_comes_while_it_is_inactive_in_order(
    bench: Bench, *, durable_message: bool
) -> None:
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC, durable="d")
    bench.disconnect(2)
    for text in "abc":
        bench.put(1, 1, message(text, durable=durable_message))
    bench.connect(3, "subscriber")
    bench.receiver(3, 1, TOPIC, durable="d")
    assert bench.bodies() == ["a", "b", "c"]


@pytest.mark.parametrize("clean", [True, False])
def test_a_non_durable_subscription_ends_with_its_connection(bench: Bench, *, clean: bool) -> None:
    bench.connect(2)
    bench.receiver(2, 1, TOPIC)
    bench.disconnect(2, clean=clean)
    bench.put(1, 1, message("a"))
    bench.connect(3)
    bench.receiver(3, 1, TOPIC)
    assert bench.bodies() == []
    assert bench.disk == []


def test_a_shared_non_durable_subscription_ends_with_its_last_consumer(bench: Bench) -> None:
    bench.connect(2)
    for link in (1, 2):
        bench.receiver(2, link, TOPIC, shared="s", credit=0)
    bench.handle(commands.Detach(2, None, 1))
    bench.put(1, 1, message("kept"))
    bench.handle(commands.Detach(2, None, 2))
    bench.receiver(2, 3, TOPIC, shared="s")
    assert bench.bodies() == []


def test_the_same_name_under_another_client_id_is_another_subscription(bench: Bench) -> None:
    for number, client_id in ((2, "one"), (3, "two")):
        bench.connect(number, client_id)
        assert bench.receiver(number, 1, TOPIC, durable="same") is None
    bench.put(1, 1, message("a"))
    assert sorted(one.connection for one in bench.delivered) == [2, 3]


def test_an_unshared_durable_subscription_needs_a_client_id_and_a_shared_one_does_not(bench: Bench) -> None:
    bench.connect(2)
    refused = bench.receiver(2, 1, TOPIC, durable="d")
    assert refused is not None
    assert refused.kind is JmsErrorKind.ILLEGAL_STATE
    assert bench.receiver(2, 1, TOPIC, durable="d", shared="d") is None


def test_an_unshared_durable_subscription_has_one_consumer_at_a_time(bench: Bench) -> None:
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC, durable="d")
    refused = bench.receiver(2, 2, TOPIC, durable="d")
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.SUBSCRIPTION_IN_USE), ("d",))


@pytest.mark.parametrize(("topic", "selector"), [(OTHER, None), (TOPIC, "JMSPriority = 4")])
def test_an_inactive_durable_subscription_is_made_anew_for_another_topic_or_selector(
    bench: Bench, topic: Address, selector: str | None
) -> None:
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC, durable="d", credit=0)
    bench.put(1, 1, message("old"))
    bench.handle(commands.Detach(2, None, 1))
    assert bench.receiver(2, 2, topic, durable="d", selector=selector) is None
    assert bench.bodies() == []
    bench.restart()
    bench.connect(2, "subscriber")
    assert bench.receiver(2, 2, topic, durable="d", selector=selector) is None
    assert bench.bodies() == []


def test_an_active_shared_subscription_refuses_another_topic_or_selector(bench: Bench) -> None:
    bench.connect(2)
    bench.receiver(2, 1, TOPIC, durable="d", shared="d")
    for topic, selector in ((OTHER, None), (TOPIC, "JMSPriority = 4")):
        refused = bench.receiver(2, 2, topic, durable="d", shared="d", selector=selector)
        assert refused is not None
        assert refused.mqrc == Mqrc.SUBSCRIPTION_IN_USE
    assert bench.receiver(2, 3, TOPIC, durable="d", shared="d") is None


@pytest.mark.parametrize("stored", [True, False])
def test_every_consumer_waits_until_the_store_has_taken_or_refused_their_shared_subscription(*, stored: bool) -> None:
    bench = Bench(auto=False)
    tokens: list[int] = []
    for number in (1, 2):
        bench.connect(number)
        tokens.append(bench.token())
        attach = commands.Attach(
            connection=number,
            token=tokens[-1],
            link=1,
            address=TOPIC,
            durability=commands.Durability.DURABLE,
            name="d",
            shared=True,
        )
        bench.handle(attach)
    assert not bench.answers.keys() & set(tokens)
    if stored:
        bench.flush()
    else:
        bench.fail()
    assert [bench.answers[token].refused is None for token in tokens] == [stored, stored]


def test_shared_and_unshared_durable_subscriptions_do_not_take_each_others_names(bench: Bench) -> None:
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC, durable="d")
    bench.handle(commands.Detach(2, None, 1))
    assert bench.receiver(2, 2, TOPIC, durable="d", shared="d") is not None


def test_durable_and_non_durable_shared_subscriptions_of_one_name_are_two(bench: Bench) -> None:
    bench.connect(2)
    assert bench.receiver(2, 1, TOPIC, shared="s") is None
    assert bench.receiver(2, 2, TOPIC, durable="s", shared="s") is None
    bench.put(1, 1, message("a"))
    assert len(bench.delivered) == 2


def test_a_subscription_selects_before_it_keeps(bench: Bench) -> None:
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC, durable="d", selector="colour = 'red'")
    bench.put(1, 1, message("red", properties={"colour": "red"}))
    bench.put(1, 1, message("blue", properties={"colour": "blue"}))
    assert bench.bodies() == ["red"]
    assert [record.message.body for record in bench.disk if hasattr(record, "message")] == ["red"]


def test_no_local_leaves_out_what_the_own_client_sends(bench: Bench) -> None:
    bench.receiver(1, 2, TOPIC, no_local=True)
    bench.receiver(1, 3, TOPIC)
    bench.connect(2)
    bench.sender(2, 1, TOPIC)
    bench.put(1, 1, message("own"))
    bench.put(2, 1, message("other"))
    assert bench.bodies(2) == ["other"]
    assert bench.bodies(3) == ["own", "other"]


def test_an_ended_subscription_starts_empty_when_it_comes_again(bench: Bench) -> None:
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC, durable="d", credit=0)
    bench.put(1, 1, message("a"))
    token = bench.token()
    refused = bench.ask(commands.Unsubscribe(2, token, "d"), token)
    assert refused is not None
    assert refused.mqrc == Mqrc.SUBSCRIPTION_IN_USE
    bench.handle(commands.Detach(2, None, 1))
    token = bench.token()
    assert bench.ask(commands.Unsubscribe(2, token, "d"), token) is None
    token = bench.token()
    refused = bench.ask(commands.Unsubscribe(2, token, "d"), token)
    assert refused is not None
    assert refused.mqrc == Mqrc.NO_SUBSCRIPTION
    bench.receiver(2, 2, TOPIC, durable="d")
    assert bench.bodies() == []
    bench.restart()
    bench.connect(2, "subscriber")
    bench.receiver(2, 2, TOPIC, durable="d")
    assert bench.bodies() == []


def test_a_full_durable_subscription_fails_a_persistent_publication_for_all() -> None:
    settings = limited(MAXDEPTH=1, dead_letters=False)
    base = next(one for one in factory("ASSAY", zos=False) if one.name == BASE_TOPIC)
    bench = Bench(replace(settings, objects=(*settings.objects, base)))
    bench.connect(1, "c")
    bench.sender(1, 1, TOPIC)
    bench.receiver(1, 2, TOPIC, durable="d", credit=0)
    bench.receiver(1, 3, TOPIC)
    bench.put(1, 1, message("fits"))
    bench.settle(1, 3, bench.delivered[-1].delivery)
    refused = bench.answers[bench.put(1, 1, message("persistent"))].refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.PUBLICATION_FAILURE), ("d",))
    assert bench.answers[bench.put(1, 1, message("not", durable=False))].refused is None
    assert bench.bodies(3) == ["fits", "not"]


@pytest.mark.parametrize(("durable", "shared"), [(None, ""), ("", "")])
def test_a_subscription_without_its_name_is_refused(bench: Bench, durable: str | None, shared: str) -> None:
    refused = bench.receiver(1, 2, TOPIC, durable=durable, shared=shared)
    assert refused is not None
    assert refused.mqrc == Mqrc.SUB_NAME_ERROR


def test_a_durable_subscription_to_a_queue_is_refused(bench: Bench) -> None:
    refused = bench.receiver(1, 2, durable="d")
    assert refused is not None
    assert refused.mqrc == Mqrc.OPTIONS_ERROR


def test_a_client_id_belongs_to_one_connection_at_a_time(bench: Bench) -> None:
    refused = bench.connect(2, "publisher")
    assert refused is not None
    assert (refused.kind, refused.objects) == (JmsErrorKind.INVALID_CLIENT_ID, ("publisher",))
    bench.disconnect(1, clean=False)
    assert bench.connect(3, "publisher") is None
