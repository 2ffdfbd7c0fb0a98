from __future__ import annotations

import pytest
from tests.broker.core.harness import TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.effects import Persist
from assay_broker.core.records import MessageStored
from assay_sdk.driver import Durability, Outcome
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "client")
    made.sender(1, 1)
    made.sender(1, 2, TOPIC)
    made.auto = False
    return made


def test_a_persistent_send_is_answered_once_it_is_stored(bench: Bench) -> None:
    token = bench.put(1, 1, message("a"))
    assert token not in bench.answers
    bench.flush()
    assert bench.answers[token].refused is None


def test_a_non_persistent_send_is_answered_and_delivered_at_once_and_never_recorded(bench: Bench) -> None:
    bench.receiver(1, 3)
    token = bench.put(1, 1, message("a", durable=False))
    assert bench.answers[token].refused is None
    assert bench.bodies() == ["a"]
    assert bench.buffer == []


def test_a_persistent_message_leaves_once_it_is_stored(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, message("a"))
    assert bench.bodies() == []
    bench.flush()
    assert bench.bodies() == ["a"]


def test_a_non_persistent_message_does_not_overtake_a_persistent_one_on_its_link(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, message("a"))
    bench.put(1, 1, message("b", durable=False))
    assert bench.bodies() == []
    bench.flush()
    assert bench.bodies() == ["a", "b"]


def test_draining_is_over_after_what_waits_for_the_store(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, message("a"))
    token = bench.token()
    bench.handle(commands.Flow(1, token, 3, 0, drain=True))
    assert token not in bench.answers
    bench.flush()
    assert token in bench.answers


def test_browsing_shows_nothing_that_could_still_be_lost(bench: Bench) -> None:
    bench.put(1, 1, message("a"))
    token = bench.token()
    bench.handle(commands.Browse(1, token, Address(AddressKind.QUEUE, "Q")))
    assert token not in bench.answers
    bench.flush()
    assert [one.message.body for one in bench.answers[token].value or ()] == ["a"]


def test_settling_a_persistent_message_is_answered_once_its_removal_is_stored(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, message("a"))
    bench.flush()
    token = bench.settle(1, 3, 1)
    assert token not in bench.answers
    bench.flush()
    assert token in bench.answers


def test_an_at_most_once_delivery_leaves_once_its_removal_is_stored(bench: Bench) -> None:
    bench.put(1, 1, message("a"))
    bench.flush()
    bench.auto = True
    bench.receiver(1, 3, settled=True, credit=0)
    bench.auto = False
    bench.handle(commands.Flow(1, None, 3, 1))
    assert bench.bodies() == []
    bench.flush()
    assert bench.bodies() == ["a"]


def test_each_durable_subscription_has_its_copy_on_disk_and_no_other_has(bench: Bench) -> None:
    bench.auto = True
    bench.receiver(1, 3, TOPIC, durable="one")
    bench.receiver(1, 4, TOPIC, durable="two")
    bench.handle(commands.Detach(1, None, 4))
    bench.receiver(1, 5, TOPIC)
    bench.receiver(1, 6, TOPIC, shared="s")
    bench.put(1, 2, message("a"))
    assert len([record for record in bench.disk if isinstance(record, MessageStored)]) == 2


def test_a_message_that_says_nothing_is_as_the_queue_managers_default_says() -> None:
    for default in (True, False):
        bench = Bench(limited(persistent=default))
        bench.connect(1)
        bench.sender(1, 1)
        bench.put(1, 1, message("a", durable=None))
        assert bool(bench.disk) is default
        assert bench.browse() == ["a"]


@pytest.mark.parametrize("kill", [True, False])
def test_after_a_restart_persistent_messages_are_there_in_order_and_others_are_not(bench: Bench, *, kill: bool) -> None:
    bench.auto = True
    bench.receiver(1, 3, TOPIC, durable="d")
    bench.receiver(1, 4, TOPIC)
    bench.handle(commands.Detach(1, None, 3))
    for link in (1, 2):
        bench.put(1, link, message(f"np{link}", durable=False))
        for text in "abc":
            bench.put(1, link, message(text))
    bench.restart(kill=kill)
    bench.delivered.clear()
    bench.connect(1, "client")
    bench.receiver(1, 1)
    bench.receiver(1, 2, TOPIC, durable="d")
    bench.receiver(1, 3, TOPIC)
    assert [bench.bodies(link) for link in (1, 2, 3)] == [["a", "b", "c"], ["a", "b", "c"], []]


def test_a_kill_loses_what_was_not_flushed_and_nothing_else(bench: Bench) -> None:
    first = bench.put(1, 1, message("a"))
    bench.flush()
    second = bench.put(1, 1, message("b"))
    bench.restart()
    bench.connect(1)
    assert first in bench.answers
    assert second not in bench.answers
    assert bench.browse() == ["a"]


def test_a_failed_delivery_stays_marked_through_a_restart(bench: Bench) -> None:
    bench.auto = True
    bench.put(1, 1, message("a"))
    bench.receiver(1, 3)
    bench.disconnect(1, clean=False)
    bench.restart()
    bench.connect(1)
    bench.receiver(1, 3)
    assert (bench.delivered[-1].count, bench.delivered[-1].redelivered) == (1, True)


def test_a_delivery_that_never_left_does_not_count(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, message("a"))
    bench.disconnect(1, clean=False)
    bench.flush()
    bench.auto = True
    bench.connect(2)
    bench.receiver(2, 1)
    assert (bench.delivered[-1].count, bench.delivered[-1].redelivered) == (0, False)


def test_what_expired_while_the_broker_was_down_is_removed(bench: Bench) -> None:
    bench.auto = True
    bench.put(1, 1, message("a", ttl_ms=10))
    bench.now += 20
    bench.restart()
    assert [type(record).__name__ for record in bench.disk] == ["MessageStored", "MessageRemoved"]


def test_a_send_that_cannot_be_stored_is_refused_and_has_not_happened(bench: Bench) -> None:
    bench.receiver(1, 3, credit=1)
    token = bench.put(1, 1, message("a"))
    bench.fail()
    refused = bench.answers[token].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.STORAGE_MEDIUM_FULL
    bench.put(1, 1, message("b", durable=False))
    assert bench.bodies() == ["b"], "the credit of the delivery that never left is there again"


def test_a_removal_that_cannot_be_stored_is_refused_and_the_message_comes_again(bench: Bench) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, message("a"))
    bench.flush()
    token = bench.settle(1, 3, 1)
    bench.fail()
    assert bench.answers[token].refused is not None
    assert bench.bodies() == ["a", "a"]
    assert bench.delivered[-1].redelivered


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_commit_that_cannot_be_stored_is_backed_out(bench: Bench, outcome: Outcome) -> None:
    bench.receiver(1, 3)
    bench.put(1, 1, message("in"))
    bench.flush()
    bench.handle(commands.Begin(1, None, 1))
    bench.settle(1, 3, 1, unit=1, outcome=outcome)
    bench.put(1, 1, message("out"), unit=1)
    token = bench.token()
    bench.handle(commands.Commit(1, token, 1))
    bench.fail()
    refused = bench.answers[token].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.BACKED_OUT
    assert bench.bodies() == ["in", "in"]


def test_several_failed_batches_leave_nothing_behind(bench: Bench) -> None:
    bench.auto = True
    bench.receiver(1, 3, credit=5)
    bench.auto = False
    for text in "abc":
        bench.put(1, 1, message(text))
    bench.put(1, 1, message("np", durable=False))
    bench.fail()
    assert bench.bodies() == ["np"]
    bench.auto = True
    assert bench.browse() == []


def test_a_subscription_that_cannot_be_stored_or_removed_is_as_before(bench: Bench) -> None:
    token = bench.token()
    attach = commands.Attach(connection=1, token=token, link=3, address=TOPIC, name="d", shared=True)
    bench.handle(attach)
    bench.handle(commands.Detach(1, None, 3))
    durable = bench.token()
    bench.handle(
        commands.Attach(
            connection=1, token=durable, link=4, address=TOPIC, name="e", durability=commands.Durability.DURABLE
        )
    )
    bench.fail()
    assert bench.answers[token].refused is None
    assert bench.answers[durable].refused is not None
    assert [(one.connection, one.link) for one in bench.closed] == [(1, 4)]
    bench.auto = True
    bench.receiver(1, 5, TOPIC, durable="e", credit=0)
    bench.put(1, 2, message("kept"))
    bench.handle(commands.Detach(1, None, 5))
    bench.auto = False
    token = bench.token()
    bench.handle(commands.Unsubscribe(1, token, "e"))
    bench.fail()
    assert bench.answers[token].refused is not None
    bench.auto = True
    bench.receiver(1, 6, TOPIC, durable="e")
    assert bench.bodies() == ["kept"]


def test_a_cancellation_that_cannot_be_stored_leaves_the_message_staged(bench: Bench) -> None:
    bench.put(1, 1, message("a", delivery_time_ms=bench.now + 100))
    bench.flush()
    token = bench.token()
    bench.handle(commands.Cancel(1, token, "a"))
    bench.fail()
    assert bench.answers[token].refused is not None
    bench.auto = True
    bench.tick(bench.now + 100)
    assert bench.browse() == ["a"]


def test_the_batches_of_one_core_only_grow(bench: Bench) -> None:
    for text in "abc":
        bench.put(1, 1, message(text))
    numbers = [effect.batch for effect in bench.effects if isinstance(effect, Persist)]
    assert numbers == sorted(set(numbers))


def test_an_at_most_once_receiver_is_closed_when_the_store_fails_and_its_message_stays(bench: Bench) -> None:
    bench.put(1, 1, message("a"))
    bench.flush()
    bench.receiver(1, 3, settled=True, credit=0)
    bench.handle(commands.Flow(1, None, 3, 1))
    bench.fail()
    assert [(one.connection, one.link) for one in bench.closed] == [(1, 3)]
    assert bench.bodies() == []
    bench.auto = True
    assert bench.browse() == ["a"]


@pytest.mark.parametrize("outcome", [Outcome.ACCEPTED, Outcome.REJECTED])
def test_a_receiver_whose_client_waits_for_no_answer_is_closed_when_its_removal_cannot_be_stored(
    bench: Bench, outcome: Outcome
) -> None:
    bench.receiver(1, 3, credit=10)
    bench.put(1, 1, message("a"))
    bench.flush()
    bench.handle(commands.Settle(1, None, 3, (1,), outcome))
    bench.fail()
    assert [(one.connection, one.link) for one in bench.closed] == [(1, 3)]
    assert bench.bodies() == ["a"], "it is not delivered again and again"
    bench.auto = True
    assert bench.browse() == ["a"]


def test_a_volatile_settlement_without_an_answer_needs_no_store(bench: Bench) -> None:
    bench.receiver(1, 3, credit=10)
    bench.put(1, 1, message("a", durable=False))
    bench.put(1, 1, message("b"))
    bench.handle(commands.Settle(1, None, 3, (1,), Outcome.ACCEPTED))
    bench.fail()
    assert bench.closed == []


def test_nobody_is_told_that_a_durable_subscription_is_there_before_it_is_stored() -> None:
    bench = Bench(auto=False)
    for number in (1, 2):
        bench.connect(number)
    for number in (1, 2):
        bench.handle(
            commands.Attach(
                connection=number,
                token=100 + number,
                link=1,
                address=TOPIC,
                durability=Durability.DURABLE,
                name="s",
                shared=True,
            )
        )
    assert not {101, 102} & set(bench.answers)
    bench.flush()
    assert {101, 102} <= set(bench.answers)
