"""Tests of the queue manager's own interface: put, browse and get (DD-20, DD-38)."""

from __future__ import annotations

import pytest
from tests.broker.core.harness import T0, TOPIC, Bench, alias, message, queue, topic

from assay_broker.core.administration.changes import NativeBrowse, NativePut, NativeTake
from assay_broker.core.messages.descriptor import native_id
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

STAGED = Address(AddressKind.QUEUE, STAGING_QUEUE)
DUE = T0 + 10


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.define(queue("Q"), alias("A", "Q"), topic("T", "T"), alias("TA", "T", TARGTYPE="TOPIC"))
    made.connect(1)
    made.sender(1, 1)
    return made


def take(bench: Bench, correlation: str, name: str = STAGING_QUEUE) -> list[str]:
    value = bench.administer(NativeTake(name, native_id(correlation))).value or ()
    return [str(one.message.body) for one in value if hasattr(one, "descriptor")]


@pytest.mark.parametrize("name", ["Q", "A"])
def test_a_native_put_arrives_at_once(bench: Bench, name: str) -> None:
    assert bench.administer(NativePut(name, message("a"))).refused is None
    assert bench.browse() == ["a"]
    bench.restart()
    bench.connect(1)
    assert bench.browse() == ["a"]


@pytest.mark.parametrize("delay_ms", [1, 60_000])
def test_a_native_put_is_never_delayed(bench: Bench, delay_ms: int) -> None:
    for put in (
        NativePut("Q", message("a"), delay_ms=delay_ms),
        NativePut("Q", message("a", delivery_time_ms=T0 + delay_ms)),
    ):
        refused = bench.administer(put).refused
        assert refused is not None
        assert refused.mqrc == Mqrc.OPTIONS_ERROR
    assert (bench.browse(), bench.browse(STAGED)) == ([], [])


@pytest.mark.parametrize(
    ("put", "reason"),
    [
        (NativePut("NOBODY", message(priority=10)), Mqrc.PRIORITY_ERROR),
        (NativePut("TA", message()), Mqrc.UNKNOWN_OBJECT_NAME),
        (NativePut("FULL", message()), Mqrc.Q_FULL),
        (NativePut("Q", message("x" * 5_000_000)), Mqrc.MSG_TOO_BIG_FOR_Q_MGR),
        (NativePut("Q", message(properties={"JMS_IBM_MQMD_Report": 0x100})), Mqrc.MISSING_REPLY_TO_Q),
    ],
)
def test_a_native_put_is_checked_like_any_other(bench: Bench, put: NativePut, reason: Mqrc) -> None:
    bench.define(queue("FULL", MAXDEPTH=0))
    bench.alter("ASSAY", MAXMSGL=4_194_304)
    before = list(bench.disk)
    refused = bench.administer(put).refused
    assert refused is not None
    assert refused.mqrc == reason
    assert bench.disk == before


def test_browsing_the_staging_queue_shows_what_is_due_first_first(bench: Bench) -> None:
    for text, due in (("late", 30), ("soon", 10), ("middle", 20)):
        bench.put(1, 1, message(text, delivery_time_ms=T0 + due))
    assert [one.message.body for one in bench.shown(STAGING_QUEUE)] == ["soon", "middle", "late"]
    assert bench.browse(STAGED) == ["soon", "middle", "late"]


def test_a_staged_message_is_taken_back_by_its_correlation_id_and_never_delivered(bench: Bench) -> None:
    for text in "abc":
        bench.put(1, 1, message(text, delivery_time_ms=DUE))
    assert take(bench, "b") == ["b"]
    assert take(bench, "b") == []
    bench.tick(DUE)
    assert bench.browse() == ["a", "c"]
    bench.restart()
    bench.connect(1)
    assert bench.browse() == ["a", "c"]
    bench.at_rest()


def test_one_take_takes_one_copy_of_a_publication(bench: Bench) -> None:
    bench.sender(1, 2, TOPIC)
    for link in (3, 4, 5):
        bench.receiver(1, link, TOPIC)
    bench.put(1, 2, message("a", delivery_time_ms=DUE))
    assert take(bench, "a") == ["a"]
    bench.tick(DUE)
    assert len(bench.delivered) == 2


def test_a_take_that_cannot_be_stored_has_taken_nothing(bench: Bench) -> None:
    bench.put(1, 1, message("a", delivery_time_ms=DUE))
    bench.auto = False
    bench.handle_as_administrator(NativeTake(STAGING_QUEUE, native_id("a")))
    bench.fail()
    bench.auto = True
    bench.tick(DUE)
    assert bench.browse() == ["a"]


def test_what_is_taken_frees_its_place_on_the_staging_queue(bench: Bench) -> None:
    bench.alter(STAGING_QUEUE, MAXDEPTH=1)
    bench.put(1, 1, message("a", delivery_time_ms=DUE))
    assert bench.answers[bench.put(1, 1, message("b", delivery_time_ms=DUE))].refused is not None
    take(bench, "a")
    assert bench.answers[bench.put(1, 1, message("b", delivery_time_ms=DUE))].refused is None


def test_a_waiting_message_is_taken_from_any_queue_and_a_held_one_is_not(bench: Bench) -> None:
    bench.put(1, 1, message("a", correlation_id="c"))
    bench.put(1, 1, message("b", correlation_id="c"))
    bench.receiver(1, 2, credit=1)
    assert bench.bodies() == ["a"]
    assert [take(bench, "c", "Q") for _ in range(2)] == [["b"], []]
    bench.settle(1, 2, 1)
    bench.at_rest()


def test_an_expired_message_cannot_be_taken(bench: Bench) -> None:
    bench.put(1, 1, message("a", correlation_id="c", ttl_ms=10))
    bench.now += 10
    assert take(bench, "c", "Q") == []


def test_on_zos_the_staging_queue_is_browsed_once_it_is_defined(bench: Bench) -> None:
    bench.delete(STAGING_QUEUE)
    refused = bench.administer(NativeBrowse(STAGING_QUEUE)).refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.UNKNOWN_OBJECT_NAME), (STAGING_QUEUE,))


def bodies(bench: Bench, change: NativeBrowse | NativeTake) -> list[str]:
    return [str(one.message.body) for one in bench.administer(change).value or () if hasattr(one, "descriptor")]


def test_messages_are_chosen_by_their_ids_and_counted(bench: Bench) -> None:
    for name, correlation in (("a", "x"), ("b", "y"), ("c", "x")):
        bench.administer(NativePut("Q", message(name, correlation_id=correlation)))
    assert bodies(bench, NativeBrowse("Q", correlation_id=native_id("x"))) == ["a", "c"]
    assert bodies(bench, NativeBrowse("Q", correlation_id=native_id("x"), limit=1)) == ["a"]
    assert bodies(bench, NativeBrowse("Q", message_id=native_id("b"))) == ["b"]
    assert bodies(bench, NativeBrowse("Q", native_id("x"), native_id("b"))) == []
    assert bodies(bench, NativeBrowse("Q", limit=2)) == ["a", "b"]
    assert bodies(bench, NativeTake("Q", message_id=native_id("c"))) == ["c"]
    assert bodies(bench, NativeTake("Q")) == ["a"]
    assert bodies(bench, NativeTake("Q")) == ["b"]
    assert bodies(bench, NativeTake("Q")) == []


@pytest.mark.parametrize(("shut", "name"), [("Q", "Q"), ("Q", "A"), ("A", "A")])
def test_nothing_is_taken_off_a_queue_that_is_disabled_for_gets(bench: Bench, shut: str, name: str) -> None:
    bench.administer(NativePut("Q", message("a")))
    bench.alter(shut, GET="DISABLED")
    refused = bench.administer(NativeTake(name)).refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (Mqrc.GET_INHIBITED, (shut,))
    bench.alter(shut, GET="ENABLED")
    assert bodies(bench, NativeTake(name)) == ["a"]
