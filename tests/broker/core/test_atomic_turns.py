"""Tests that a turn is atomic: if the store refuses its records, its other effects are undone, too."""

from __future__ import annotations

import pytest
from tests.broker.core.harness import QUEUE, T0, TOPIC, Bench, alias, limited, message, queue, topic

from assay_broker.core import commands
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE, STAGING_QUEUE
from assay_broker.core.objects.model import Definition
from assay_broker.mqsc.defaults import default_settings
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

DEAD = Address(AddressKind.QUEUE, DEAD_LETTER_QUEUE)
STAGED = Address(AddressKind.QUEUE, STAGING_QUEUE)
OTHER = Address(AddressKind.QUEUE, "OTHER")
COD = {"JMS_IBM_Report_COD": 0x800}


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.connect(1, "client")
    made.sender(1, 1)
    return made


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("session", [None, 7])
def test_no_part_of_a_unit_leaves_before_all_of_it_is_stored(
    bench: Bench, *, settled: bool, session: int | None
) -> None:
    bench.receiver(1, 2, settled=settled)
    bench.begin(1, 1, session)
    bench.auto = False
    bench.put(1, 1, message("first", durable=False), unit=1)
    bench.put(1, 1, message("second"), unit=1)
    token = bench.commit(1, 1)
    assert bench.bodies() == []
    bench.flush()
    assert bench.answers[token].refused is None
    assert bench.bodies() == ["first", "second"]


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("session", [None, 7])
def test_a_unit_that_the_store_refuses_sends_nothing(bench: Bench, *, settled: bool, session: int | None) -> None:
    bench.receiver(1, 2, settled=settled)
    bench.begin(1, 1, session)
    bench.auto = False
    bench.put(1, 1, message("first", durable=False), unit=1)
    bench.put(1, 1, message("second"), unit=1)
    token = bench.commit(1, 1)
    bench.fail()
    refused = bench.answers[token].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.BACKED_OUT
    assert (bench.bodies(), bench.browse()) == ([], [])
    bench.at_rest()


def test_a_unit_that_the_store_refuses_has_taken_nothing(bench: Bench) -> None:
    bench.put(1, 1, message("taken", durable=False))
    bench.receiver(1, 2, credit=1)
    bench.begin(1, 1)
    bench.auto = False
    bench.settle(1, 2, 1, unit=1)
    bench.put(1, 1, message("put"), unit=1)
    bench.commit(1, 1)
    bench.fail()
    assert bench.browse() == ["taken"]
    bench.handle(commands.Flow(1, None, 2, 1))
    assert [(one.message.body, one.redelivered) for one in bench.delivered] == [("taken", False), ("taken", True)]


def test_what_is_not_persistent_alone_waits_for_nothing(bench: Bench) -> None:
    bench.auto = False
    bench.receiver(1, 2)
    bench.begin(1, 1)
    bench.put(1, 1, message("a", durable=False), unit=1)
    token = bench.commit(1, 1)
    assert (bench.bodies(), bench.buffer) == (["a"], [])
    assert token in bench.answers


def test_a_delayed_message_of_a_refused_unit_is_not_staged(bench: Bench) -> None:
    bench.begin(1, 1)
    bench.auto = False
    bench.put(1, 1, message("a", durable=False, delivery_time_ms=T0 + 10), unit=1)
    bench.put(1, 1, message("b", delivery_time_ms=T0 + 10), unit=1)
    bench.commit(1, 1)
    bench.fail()
    bench.auto = True
    assert bench.browse(STAGED) == []
    bench.tick(T0 + 10)
    assert bench.browse() == []
    bench.at_rest()


def test_a_copy_that_is_not_recorded_does_not_leave_before_its_release_is_stored(bench: Bench) -> None:
    """The target is now an alias of a topic with a non-durable subscriber, so a kill would bring the copy back."""
    bench.receiver(1, 2, TOPIC)
    bench.define(queue("Q"), alias("A", "Q"))
    bench.sender(1, 3, Address(AddressKind.QUEUE, "A"))
    bench.put(1, 3, message("a", delivery_time_ms=T0 + 10))
    bench.define(topic("OBJECT", TOPIC.name))
    bench.alter("A", TARGET="OBJECT", TARGTYPE="TOPIC")
    bench.auto = False
    bench.tick(T0 + 10)
    assert bench.bodies() == []
    bench.fail()
    bench.auto = True
    bench.tick(T0 + 20 + bench.settings.retry_ms)
    assert bench.bodies() == ["a"]
    assert bench.browse(STAGED) == []


def test_a_persistent_message_for_a_non_durable_subscription_is_not_lost_on_its_way_to_the_dead_letter_queue() -> None:
    bench = Bench(limited(MAXDEPTH=1))
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    bench.receiver(1, 2, TOPIC, credit=0)
    bench.put(1, 1, message("late", delivery_time_ms=T0 + 10))
    bench.put(1, 1, message("fills"))
    bench.auto = False
    bench.tick(T0 + 10)
    bench.fail()
    bench.auto = True
    assert bench.browse(STAGED) == ["late"]
    bench.tick(T0 + 20 + bench.settings.retry_ms)
    assert (bench.browse(DEAD), bench.browse(STAGED)) == (["late"], [])


def test_a_confirmation_of_delivery_goes_out_once_although_the_store_fails_in_between(bench: Bench) -> None:
    temporary = Address(AddressKind.TEMPORARY_QUEUE, "REPLIES")
    bench.receiver(1, 2, temporary)
    bench.put(1, 1, message("a", reply_to=temporary, properties=COD))
    bench.receiver(1, 3)
    (first,) = (one.delivery for one in bench.delivered)
    bench.auto = False
    bench.settle(1, 3, first)
    assert bench.bodies(2) == []
    bench.fail()
    bench.auto = True
    (again,) = (one.delivery for one in bench.delivered if one.delivery != first)
    bench.settle(1, 3, again)
    assert len(bench.bodies(2)) == 1


def test_a_cancellation_that_cannot_be_stored_leaves_every_copy_staged(bench: Bench) -> None:
    bench.sender(1, 9, TOPIC)
    bench.receiver(1, 2, TOPIC)
    bench.receiver(1, 3, TOPIC, durable="d")
    bench.put(1, 9, message("a", delivery_time_ms=T0 + 10))
    bench.auto = False
    token = bench.token()
    bench.handle(commands.Cancel(1, token, "a"))
    bench.fail()
    bench.auto = True
    assert bench.answers[token].refused is not None
    bench.tick(T0 + 10)
    assert bench.bodies() == ["a", "a"]


@pytest.mark.parametrize("asked", ["disconnect", "administer"])
def test_an_answer_does_not_wait_for_a_batch_that_has_failed(bench: Bench, asked: str) -> None:
    bench.auto = False
    bench.put(1, 1, message("a"))
    bench.fail()
    if asked == "disconnect":
        token = bench.token()
        bench.handle(commands.Disconnect(1, token, clean=True))
        assert token in bench.answers
    else:
        assert bench.shown("Q") == []


def test_an_answer_waits_for_what_is_older_than_a_batch_that_has_failed(bench: Bench) -> None:
    bench.auto = False
    bench.put(1, 1, message("a"))
    older = list(bench.buffer)
    bench.put(1, 1, message("b"))
    bench.buffer = bench.buffer[1:]
    bench.fail()
    bench.buffer = older
    token = bench.token()
    bench.handle(commands.Disconnect(1, token, clean=True))
    assert token not in bench.answers
    bench.flush()
    assert token in bench.answers


def test_looking_and_being_refused_make_no_queue(bench: Bench) -> None:
    for number in range(20):
        name = Address(AddressKind.QUEUE, f"Q{number}")
        bench.browse(name)
        bench.sender(1, 100 + number, None)
        bench.put(1, 100 + number, message(to=name, priority=77))
        bench.put(1, 100 + number, message(to=name, delivery_time_ms=bench.now + 10, ttl_ms=5))
        bench.shown(name.name)
    bench.at_rest()
    assert len(tuple(bench.core._state.queues)) == 1  # the sender's queue


def test_a_plan_that_comes_to_nothing_makes_no_queue() -> None:
    bench = Bench(limited(dead_letters=False))
    bench.connect(1)
    bench.sender(1, 1)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 10))
    bench.handle(commands.Detach(1, None, 1))
    bench.define(queue("Q", PUT="DISABLED"))
    bench.tick(T0 + 10 + 3 * bench.settings.retry_ms)
    assert bench.browse(STAGED) == ["a"]
    assert tuple(bench.core._state.queues) == ()
    bench.alter("Q", PUT="ENABLED")
    bench.tick(bench.now + bench.settings.retry_ms)
    assert bench.browse() == ["a"]


def test_an_alteration_of_a_queue_is_taken_back_with_its_batch(bench: Bench) -> None:
    bench.define(queue("Q", MAXDEPTH=1))
    bench.auto = False
    bench.alter("Q", MAXDEPTH=5)
    bench.fail()
    bench.auto = True
    found = bench.core._state.objects.queue("Q")
    assert isinstance(found, Definition)
    assert found.number("MAXDEPTH") == 1
    bench.put(1, 1, message("a"))
    assert bench.answers[bench.put(1, 1, message("b"))].refused is not None
    assert bench.browse(QUEUE) == ["a"]


def test_no_copy_of_a_delayed_publication_is_left_that_the_store_has_refused(bench: Bench) -> None:
    bench.receiver(1, 2, TOPIC, durable="durable")
    bench.receiver(1, 3, TOPIC)
    bench.sender(1, 4, TOPIC)
    bench.auto = False
    token = bench.put(1, 4, message("refused", delivery_time_ms=T0 + 5))
    bench.fail()
    bench.auto = True
    assert bench.answers[token].refused is not None
    assert bench.browse(STAGED) == []
    bench.tick(T0 + 5)
    assert bench.bodies() == []


@pytest.mark.parametrize("anew", [True, False])
def test_a_subscription_whose_end_the_store_refuses_has_all_its_messages(bench: Bench, *, anew: bool) -> None:
    bench.receiver(1, 2, TOPIC, durable="durable", credit=0)
    bench.sender(1, 3, TOPIC)
    bench.put(1, 3, message("persistent"))
    bench.put(1, 3, message("not", durable=False, expiry_ms=T0 + 9))
    bench.handle(commands.Detach(1, None, 2))
    bench.auto = False
    token = bench.token()
    if anew:
        bench.handle(
            commands.Attach(
                connection=1,
                token=token,
                link=4,
                address=TOPIC,
                selector="a = 1",
                durability=Durability.DURABLE,
                name="durable",
            )
        )
    else:
        bench.handle(commands.Unsubscribe(1, token, "durable"))
    bench.fail()
    bench.auto = True
    assert bench.answers[token].refused is not None
    assert bench.core.next_due_ms() == T0 + 9
    bench.receiver(1, 5, TOPIC, durable="durable")
    assert bench.bodies() == ["persistent", "not"]


def test_batches_that_failed_together_are_undone_before_anything_else() -> None:
    bench = Bench(default_settings(platform="zos"))
    bench.define(queue(STAGING_QUEUE, MSGDLVSQ="FIFO"))
    bench.connect(1)
    bench.sender(1, 1)
    bench.auto = False
    token = bench.put(1, 1, message("refused", delivery_time_ms=T0 + 5))
    bench.alter(STAGING_QUEUE, PUT="DISABLED")
    bench.tick(T0 + 5)
    bench.fail()  # the processor runs again, and the due message has never been sent
    bench.auto = True
    assert bench.answers[token].refused is not None
    assert (bench.browse(), bench.browse(STAGED)) == ([], [])
    bench.receiver(1, 2)
    assert bench.bodies() == []


@pytest.mark.parametrize("timeout_ms", [0, 5])
def test_a_receiver_whose_coming_the_store_refuses_changes_no_time_to_live(bench: Bench, *, timeout_ms: int) -> None:
    bench.receiver(1, 2, TOPIC, durable="durable", credit=0)
    bench.sender(1, 3, TOPIC)
    bench.put(1, 3, message("kept"))
    bench.handle(commands.Detach(1, None, 2))
    bench.auto = False
    token = bench.token()
    bench.handle(
        commands.Attach(
            connection=1,
            token=token,
            link=4,
            address=TOPIC,
            durability=Durability.DURABLE,
            name="durable",
            timeout_ms=timeout_ms,
        )
    )
    bench.fail()
    bench.auto = True
    assert bench.answers[token].refused is not None
    assert bench.core.next_due_ms() is None
    bench.tick(T0 + 60)
    bench.receiver(1, 5, TOPIC, durable="durable")
    assert bench.bodies() == ["kept"]


def test_a_refused_message_is_not_found_on_its_queue_made_anew(bench: Bench) -> None:
    bench.receiver(1, 3, OTHER, settled=True)
    bench.sender(1, 4, OTHER)
    bench.auto = False
    token = bench.put(1, 4, message("refused"))
    for link in (3, 4):  # the message is on its way, no client uses the queue, and the core forgets the queue
        bench.handle(commands.Detach(1, None, link))
    bench.receiver(1, 5, OTHER)
    bench.fail()
    bench.auto = True
    assert bench.answers[token].refused is not None
    assert bench.bodies() == []
    assert bench.browse(OTHER) == []


def test_a_refused_subscription_is_not_found_at_a_restart(bench: Bench) -> None:
    bench.sender(1, 3, TOPIC)
    bench.auto = False
    bench.handle(
        commands.Attach(
            connection=1,
            token=bench.token(),
            link=4,
            address=TOPIC,
            durability=Durability.DURABLE,
            name="short",
            timeout_ms=5,
            settled=True,
        )
    )
    bench.handle(commands.Flow(1, None, 4, 1))
    bench.put(1, 3, message("refused"))
    bench.put(1, 3, message("not persistent", durable=False, expiry_ms=T0 + 3))
    bench.fail()
    bench.auto = True
    assert bench.core.next_due_ms() is None
    bench.restart(kill=False)
    assert bench.core.next_due_ms() is None
    assert bench.disk == []


def test_what_another_receiver_has_got_meanwhile_stays_with_it_when_the_store_fails(bench: Bench) -> None:
    bench.connect(2)
    bench.receiver(2, 1)
    bench.auto = False
    bench.put(1, 1, message("refused"))
    bench.put(1, 1, message("not persistent", durable=False))  # does not overtake the other message
    assert bench.bodies() == []
    bench.handle(commands.Detach(2, None, 1))
    bench.receiver(1, 2, credit=0, selector="JMSDeliveryMode = 'NON_PERSISTENT'")
    bench.handle(commands.Flow(1, None, 2, 1))
    assert bench.bodies() == ["not persistent"]
    bench.receiver(1, 3)
    bench.fail()
    bench.auto = True
    assert bench.bodies() == ["not persistent"]
    assert bench.browse() == []


def test_what_expires_while_it_waits_for_a_batch_that_fails_goes_all_the_same(bench: Bench) -> None:
    bench.receiver(1, 2, credit=2)
    bench.auto = False
    bench.put(1, 1, message("refused"))
    bench.put(1, 1, message("short", durable=False, expiry_ms=T0 + 5))
    bench.tick(T0 + 5)
    for text in ("a", "b"):  # the two receivers use the returned credit
        bench.put(1, 1, message(text, durable=False, priority=9))
    bench.fail()
    bench.auto = True
    assert bench.bodies() == ["a", "b"]
    bench.tick(T0 + 6)
    for delivery in (1, 2, 3, 4):
        bench.settle(1, 2, delivery)
    bench.disconnect(1)
    bench.at_rest()  # the queue is empty, so the core has forgotten it
    assert not list(bench.core._state.queues)
