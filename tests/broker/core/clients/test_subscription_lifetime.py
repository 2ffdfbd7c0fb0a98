"""Tests of subscriptions with a time to live, and of persistence with at-most-once receivers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import QUEUE, T0, TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.administration.changes import Condition, DisplayObjects
from assay_broker.core.objects.factory import DURABLE_MODEL
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.records import SubscriptionDefined, SubscriptionRemoved
from assay_sdk.model.properties import RETAIN
from assay_sdk.model.reasons import Mqrc

TTL = 10_000
NAME = "private:T"


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "publisher")
    made.sender(1, 1, TOPIC)
    return made


def come(bench: Bench, number: int = 2, timeout_ms: int | None = TTL, *, client_id: str = "c", credit: int = 9) -> None:
    bench.connect(number, client_id)
    assert bench.receiver(number, 1, TOPIC, durable=NAME, timeout_ms=timeout_ms, credit=credit) is None


def number_of_subscriptions(bench: Bench) -> int:
    return len(list(bench.core._state.topics))


@pytest.mark.parametrize("clean", [True, False])
def test_it_resumes_with_what_came_one_millisecond_before_its_end(bench: Bench, *, clean: bool) -> None:
    come(bench)
    bench.now = T0 + 5
    bench.disconnect(2, clean=clean)
    bench.put(1, 1, message("a"))
    bench.put(1, 1, message("b", durable=False))
    bench.tick(T0 + 5 + TTL - 1)
    come(bench, 3)
    assert bench.bodies() == ["a", "b"]


@pytest.mark.parametrize("clean", [True, False])
def test_it_ends_at_the_very_millisecond_with_all_that_it_holds(bench: Bench, *, clean: bool) -> None:
    come(bench)
    bench.now = T0 + 5
    bench.disconnect(2, clean=clean)
    bench.put(1, 1, message("a"))
    assert bench.core.next_due_ms() == T0 + 5 + TTL
    bench.tick(T0 + 5 + TTL)
    assert number_of_subscriptions(bench) == 0
    bench.restart()
    come(bench, 3)
    assert bench.bodies() == []
    bench.at_rest()


def test_a_receiver_at_the_end_but_before_the_tick_comes_too_late(bench: Bench) -> None:
    come(bench)
    bench.disconnect(2)
    bench.put(1, 1, message("a"))
    bench.now = T0 + TTL
    come(bench, 3)
    assert bench.bodies() == []
    bench.put(1, 1, message("b"))
    assert bench.bodies() == ["b"]


def test_closing_the_link_alone_is_a_leaving_too(bench: Bench) -> None:
    come(bench)
    bench.handle(commands.Detach(2, None, 1))
    bench.tick(T0 + TTL)
    assert number_of_subscriptions(bench) == 0


def test_the_time_starts_anew_at_each_leaving(bench: Bench) -> None:
    come(bench)
    for turn in range(3):
        bench.disconnect(2 + turn)
        bench.tick(bench.now + TTL - 1)
        come(bench, 3 + turn)
        assert bench.core.next_due_ms() is None
        bench.tick(bench.now + TTL)
    assert number_of_subscriptions(bench) == 1


def test_a_later_value_replaces_an_earlier_one(bench: Bench) -> None:
    come(bench)
    bench.disconnect(2)
    come(bench, 3, 2 * TTL)
    bench.disconnect(3)
    bench.put(1, 1, message("a"))
    bench.tick(T0 + 2 * TTL - 1)
    come(bench, 4, 1)
    assert bench.bodies() == ["a"]
    bench.disconnect(4)
    bench.tick(bench.now + 1)
    assert number_of_subscriptions(bench) == 0


@pytest.mark.parametrize("durable", [True, False])
def test_zero_ends_it_at_once_also_one_that_lasted_before(bench: Bench, *, durable: bool) -> None:
    come(bench)
    bench.put(1, 1, message("a"))
    bench.disconnect(2)
    bench.connect(3, "c")
    if durable:
        bench.receiver(3, 1, TOPIC, durable=NAME, timeout_ms=0)
    else:
        token = bench.token()
        attach = commands.Attach(connection=3, token=token, link=1, address=TOPIC, name=NAME, timeout_ms=0)
        assert bench.ask(attach, token) is None
        bench.handle(commands.Flow(3, None, 1, 9))
    assert bench.bodies() == ["a", "a"]
    bench.disconnect(3)
    assert number_of_subscriptions(bench) == 0
    come(bench, 4)
    assert bench.bodies() == ["a", "a"]


def test_a_receiver_without_time_to_live_after_the_end_gets_a_non_durable_subscription(bench: Bench) -> None:
    come(bench)
    bench.disconnect(2)
    bench.now = T0 + TTL
    bench.connect(3, "c")
    token = bench.token()
    attach = commands.Attach(connection=3, token=token, link=1, address=TOPIC, name=NAME, timeout_ms=0)
    assert bench.ask(attach, token) is None
    (subscription,) = subscriptions(bench)
    assert subscription.attributes["DURABLE"] == "NO"


def test_without_a_time_to_live_a_durable_one_stays_for_ever(bench: Bench) -> None:
    come(bench, timeout_ms=None)
    bench.disconnect(2)
    assert bench.core.next_due_ms() is None


def test_of_several_receivers_the_last_to_leave_starts_the_time(bench: Bench) -> None:
    for number, client_id in ((2, "a"), (3, "b")):
        bench.connect(number, client_id)
        token = bench.token()
        attach = commands.Attach(
            connection=number,
            token=token,
            link=1,
            address=TOPIC,
            name="share",
            shared=True,
            durability=commands.Durability.DURABLE,
            timeout_ms=TTL,
            is_global=True,
        )
        assert bench.ask(attach, token) is None
    assert number_of_subscriptions(bench) == 1
    bench.disconnect(2)
    assert bench.core.next_due_ms() is None
    bench.now += 7
    bench.disconnect(3)
    assert bench.core.next_due_ms() == T0 + 7 + TTL
    token = bench.token()
    bench.connect(4, "z")
    assert bench.ask(commands.Unsubscribe(4, token, "share", is_global=True), token) is None
    assert bench.core.next_due_ms() is None


@pytest.mark.parametrize("kill", [True, False])
def test_across_a_restart_the_time_counts_from_the_leaving(bench: Bench, *, kill: bool) -> None:
    come(bench)
    bench.disconnect(2)
    bench.put(1, 1, message("a"))
    bench.now += 4
    bench.restart(kill=kill)
    assert bench.core.next_due_ms() == T0 + TTL
    bench.tick(T0 + TTL - 1)
    come(bench, 3)
    assert bench.bodies() == ["a"]


def test_a_subscription_that_ended_meanwhile_is_removed_at_a_start(bench: Bench) -> None:
    come(bench)
    bench.disconnect(2)
    bench.put(1, 1, message("a"))
    bench.now += TTL
    bench.restart()
    assert number_of_subscriptions(bench) == 0
    assert isinstance(bench.disk[-2], SubscriptionRemoved)


def test_a_receiver_at_a_kill_has_left_with_the_start_and_only_once(bench: Bench) -> None:
    come(bench, credit=0)
    bench.put(1, 1, message("a"))
    bench.now += 50
    bench.restart()
    assert bench.core.next_due_ms() == T0 + 50 + TTL
    bench.now += 50
    bench.restart()
    assert bench.core.next_due_ms() == T0 + 50 + TTL
    bench.tick(T0 + 50 + TTL)
    assert number_of_subscriptions(bench) == 0


def test_a_receiver_that_came_back_before_a_kill_had_not_left(bench: Bench) -> None:
    come(bench)
    bench.disconnect(2)
    bench.now += TTL - 1
    come(bench, 3)
    bench.now += TTL
    bench.restart()
    assert bench.core.next_due_ms() == bench.now + TTL


def test_a_coming_that_the_store_refuses_has_not_happened() -> None:
    bench = Bench()
    come(bench, credit=0)
    bench.disconnect(2)
    bench.auto = False
    bench.now += 3
    bench.connect(3, "c")
    token = bench.token()
    bench.handle(
        commands.Attach(
            connection=3,
            token=token,
            link=1,
            address=TOPIC,
            name=NAME,
            durability=commands.Durability.DURABLE,
            timeout_ms=5,
        )
    )
    assert token not in bench.answers
    bench.fail()
    bench.fail()  # the store also refuses the record of the receiver's leaving
    refused = bench.answers[token].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.STORAGE_MEDIUM_FULL
    assert bench.core.next_due_ms() == T0 + TTL
    bench.restart()
    assert bench.core.next_due_ms() == T0 + TTL


def test_an_end_that_the_store_refuses_is_tried_again() -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    come(bench, credit=0)
    bench.disconnect(2)
    bench.put(1, 1, message("a"))
    bench.put(1, 1, message("b", durable=False))
    bench.auto = False
    bench.tick(T0 + TTL)
    assert number_of_subscriptions(bench) == 0
    bench.fail()
    (subscription,) = subscriptions(bench)
    assert len(bench.shown(str(subscription.attributes["DEST"]))) == 2
    due = bench.core.next_due_ms()
    assert due is not None
    assert due > bench.now
    bench.auto = True
    bench.tick(due)
    assert number_of_subscriptions(bench) == 0
    assert bench.core.next_due_ms() is None


def test_a_subscription_that_cannot_be_stored_leaves_no_end_behind() -> None:
    bench = Bench()
    bench.connect(2, "c")
    bench.auto = False
    token = bench.token()
    bench.handle(
        commands.Attach(
            connection=2,
            token=token,
            link=1,
            address=TOPIC,
            name=NAME,
            durability=commands.Durability.DURABLE,
            timeout_ms=5,
        )
    )
    bench.fail()
    assert bench.answers[token].refused is not None
    assert bench.core.next_due_ms() is None
    assert bench.disk == []


def test_only_a_durable_one_outlives_its_receivers(bench: Bench) -> None:
    bench.connect(2, "c")
    for timeout_ms, durable in ((5, None), (-1, NAME)):
        refused = bench.receiver(2, 1, TOPIC, durable=durable, timeout_ms=timeout_ms)
        assert refused is not None
        assert refused.mqrc == Mqrc.OPTIONS_ERROR


def test_a_queue_has_no_time_to_live(bench: Bench) -> None:
    refused = bench.receiver(1, 2, QUEUE, timeout_ms=5)
    assert refused is not None
    assert refused.mqrc == Mqrc.OPTIONS_ERROR


def test_its_record_says_how_long_and_since_when(bench: Bench) -> None:
    come(bench)
    bench.now += 4
    bench.disconnect(2)
    records = [one for one in bench.disk if isinstance(one, SubscriptionDefined)]
    assert [(one.timeout_ms, one.left_ms) for one in records] == [(TTL, None), (TTL, T0 + 4)]


# persistence ---------------------------------------------------------------------------------------------------------


def subscriptions(bench: Bench) -> list[Definition]:
    """Return the rows of DISPLAY SUB for the topic."""
    where = Condition("TOPICSTR", "EQ", TOPIC.name)
    value = bench.administer(DisplayObjects(kinds=(Kind.SUB,), name="*", where=where)).value or ()
    return [one for one in value if isinstance(one, Definition)]


@pytest.mark.parametrize("header", [True, False, None])
@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("defpsist", [True, False])
def test_at_most_once_and_non_durable_together_make_every_copy_non_persistent(
    *, header: bool | None, settled: bool, durable: bool, defpsist: bool
) -> None:
    bench = Bench(limited(persistent=defpsist))
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    bench.connect(2, "c")
    bench.receiver(2, 1, TOPIC, durable=NAME if durable else None, settled=settled, credit=0)
    bench.put(1, 1, message("a", durable=header))
    (subscription,) = subscriptions(bench)
    (shown,) = bench.shown(str(subscription.attributes["DEST"]))
    sent = defpsist if header is None else header
    assert shown.descriptor["Persistence"] == int(sent and (durable or not settled))
    assert shown.message.durable is bool(shown.descriptor["Persistence"])


def test_with_one_at_least_once_receiver_a_shared_one_takes_messages_as_they_are() -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    for number, settled in ((2, True), (3, False)):
        bench.connect(number)
        bench.receiver(number, 1, TOPIC, shared="s", settled=settled, credit=0)
        bench.put(1, 1, message(str(number)))
    (subscription,) = subscriptions(bench)
    shown = bench.shown(str(subscription.attributes["DEST"]))
    assert [one.descriptor["Persistence"] for one in shown] == [0, 1]


def test_a_retained_publication_is_non_persistent_for_it_too() -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    bench.put(1, 1, message("a", properties={RETAIN: 1}))
    bench.connect(2, "c")
    bench.receiver(2, 1, TOPIC, settled=True)
    assert [one.message.durable for one in bench.delivered] == [False]


def test_an_anonymous_subscription_is_shown_without_a_name_and_its_queue_is_made_up(bench: Bench) -> None:
    bench.connect(2)
    bench.receiver(2, 1, TOPIC, credit=0)
    (subscription,) = subscriptions(bench)
    assert subscription.name == ""
    assert subscription.attributes["DEST"] == "SYSTEM.MANAGED.NDURABLE.1"


def test_what_is_settled_as_it_leaves_never_comes_back(bench: Bench) -> None:
    bench.connect(2, "c")
    bench.receiver(2, 1, TOPIC, durable=NAME, settled=True)
    bench.put(1, 1, message("a"))
    assert bench.bodies() == ["a"]
    bench.disconnect(2, clean=False)
    bench.restart()
    bench.connect(3, "c")
    bench.receiver(3, 1, TOPIC, durable=NAME, settled=True)
    assert bench.bodies() == ["a"]


def lower_the_limit(bench: Bench) -> None:
    bench.settings = replace(bench.settings, max_queues=0)


def delete_the_model(bench: Bench) -> None:
    bench.delete(DURABLE_MODEL)


@pytest.mark.parametrize("change", [lower_the_limit, delete_the_model])
def test_it_survives_a_start_at_which_no_new_subscription_is_possible(change: Callable[[Bench], None]) -> None:
    bench = Bench()
    bench.connect(1, "c")
    bench.receiver(1, 1, TOPIC, durable=NAME)
    change(bench)
    bench.restart()
    bench.connect(2, "c")
    bench.sender(2, 1, TOPIC)
    assert bench.receiver(2, 2, TOPIC, durable=NAME) is None
    bench.put(2, 1, message("a"))
    assert bench.bodies() == ["a"]
