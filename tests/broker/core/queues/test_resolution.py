"""Tests of the two resolutions of a queue's name (DD-50, DD-52, DD-78)."""

from __future__ import annotations

import pytest
from tests.broker.core.harness import T0, Bench, alias, limited, message, queue, topic

from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE, LOCAL_DEFAULT, STAGING_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.settings import Settings
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

ALIAS, DEAD = Address(AddressKind.QUEUE, "A"), Address(AddressKind.QUEUE, DEAD_LETTER_QUEUE)
STAGED = Address(AddressKind.QUEUE, STAGING_QUEUE)
X, Y, TOPIC = (Address(AddressKind.QUEUE, name) for name in ("X", "Y", "T"))
DUE = T0 + 10


@pytest.fixture
def bench() -> Bench:
    """Provide a queue manager without queues created on use; the alias A has the target X."""
    made = Bench(limited())
    made.define(queue("X"), queue("Y"), alias("A", "X"))
    made.alter("ASSAY", CUSTOM="")
    made.connect(1)
    made.sender(1, 1, ALIAS)
    return made


def refusal_of(bench: Bench, **fields: object) -> tuple[int | None, tuple[str, ...]]:
    refused = bench.answers[bench.put(1, 1, message("refused", **fields))].refused
    assert refused is not None
    return refused.mqrc, refused.objects


def test_the_second_resolution_decides(bench: Bench) -> None:
    bench.put(1, 1, message("at once"))
    bench.put(1, 1, message("later", delivery_time_ms=DUE))
    bench.alter("A", TARGET="Y")
    bench.tick(DUE)
    assert (bench.browse(X), bench.browse(Y)) == (["at once"], ["later"])


def test_the_second_resolution_decides_after_a_restart_too(bench: Bench) -> None:
    bench.put(1, 1, message("later", delivery_time_ms=DUE))
    bench.alter("A", TARGET="Y")
    bench.restart()
    bench.connect(1)
    bench.tick(DUE)
    assert (bench.browse(X), bench.browse(Y)) == ([], ["later"])


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"TARGET": "NOWHERE"}, Mqrc.UNKNOWN_ALIAS_BASE_Q),
        ({"TARGET": ""}, Mqrc.UNKNOWN_ALIAS_BASE_Q),
        ({"TARGET": "SYSTEM.DEFAULT.ALIAS.QUEUE"}, Mqrc.ALIAS_BASE_Q_TYPE_ERROR),
        ({"TARGET": "SYSTEM.DEFAULT.MODEL.QUEUE"}, Mqrc.UNKNOWN_OBJECT_NAME),
        ({"PUT": "DISABLED"}, Mqrc.PUT_INHIBITED),
    ],
)
def test_an_alias_that_leads_nowhere_is_refused_first_and_dead_lettered_later(
    bench: Bench, attributes: dict[str, Value], reason: Mqrc
) -> None:
    bench.put(1, 1, message("later", delivery_time_ms=DUE))
    bench.alter("A", **attributes)
    assert refusal_of(bench)[0] == reason
    assert refusal_of(bench, delivery_time_ms=DUE)[0] == reason
    bench.tick(DUE)
    (dead,) = bench.shown(DEAD_LETTER_QUEUE)
    assert (dead.headers[0]["Reason"], dead.headers[0]["DestQName"]) == (int(reason), "A")
    assert (bench.browse(X), bench.browse(Y), bench.browse(STAGED)) == ([], [], [])


def test_a_name_that_has_gone_is_dead_lettered(bench: Bench) -> None:
    bench.put(1, 1, message("later", delivery_time_ms=DUE))
    bench.delete("A")
    bench.tick(DUE)
    assert bench.shown(DEAD_LETTER_QUEUE)[0].headers[0]["Reason"] == Mqrc.UNKNOWN_OBJECT_NAME


@pytest.mark.parametrize("durable", [True, False])
def test_a_name_that_has_become_an_alias_of_a_topic_is_published_to_who_subscribes_now(
    bench: Bench, *, durable: bool
) -> None:
    string = Address(AddressKind.TOPIC, "sport/football")
    bench.define(topic("T", string.name))
    bench.put(1, 1, message("later", durable=durable, delivery_time_ms=DUE))
    bench.alter("A", TARGET="T", TARGTYPE="TOPIC")
    bench.receiver(1, 2, string)
    bench.receiver(1, 3, string, shared="S")
    bench.receiver(1, 4, string, shared="S")
    bench.tick(DUE)
    assert (bench.bodies(2), bench.bodies(3) + bench.bodies(4)) == (["later"], ["later"])
    assert (bench.browse(DEAD), bench.browse(STAGED)) == ([], [])


def test_a_delayed_message_to_an_alias_of_a_topic_is_a_publication(bench: Bench) -> None:
    string = Address(AddressKind.TOPIC, "sport/football")
    bench.define(topic("T", string.name))
    bench.alter("A", TARGET="T", TARGTYPE="TOPIC")
    bench.receiver(1, 2, string)
    bench.put(1, 1, message("later", delivery_time_ms=DUE))
    bench.receiver(1, 3, string)
    bench.alter("A", TARGET="X", TARGTYPE="QUEUE")
    bench.tick(DUE)
    assert (bench.bodies(2), bench.bodies(3), bench.browse(X)) == (["later"], [], [])


def test_an_alias_of_a_topic_publishes_to_the_topic_objects_string_and_not_to_its_name(bench: Bench) -> None:
    bench.define(topic("T", "sport/football"))
    bench.alter("A", TARGET="T", TARGTYPE="TOPIC")
    bench.receiver(1, 2, Address(AddressKind.TOPIC, "sport/football"))
    bench.receiver(1, 3, Address(AddressKind.TOPIC, "T"))
    bench.put(1, 1, message("at once"))
    bench.put(1, 1, message("later", delivery_time_ms=DUE))
    bench.tick(DUE)
    assert (bench.bodies(2), bench.bodies(3)) == (["at once", "later"], [])


def test_an_alias_of_a_topic_object_that_does_not_exist_is_refused(bench: Bench) -> None:
    bench.alter("A", TARGET="T", TARGTYPE="TOPIC")
    for due in (None, DUE):
        refused = bench.answers[bench.put(1, 1, message("a", delivery_time_ms=due))].refused
        assert refused is not None
        assert (refused.mqrc, refused.objects) == (int(Mqrc.UNKNOWN_ALIAS_BASE_Q), ("A",))
        assert "no such TOPIC object" in refused.text


def test_an_alias_of_a_topic_object_without_a_topic_string_is_refused(bench: Bench) -> None:
    bench.alter("A", TARGET="SYSTEM.BASE.TOPIC", TARGTYPE="TOPIC")
    refused = bench.answers[bench.put(1, 1, message("a"))].refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.TOPIC_STRING_ERROR), ("A",))


def test_a_topic_object_that_goes_during_the_delay_leads_to_the_dead_letter_queue(bench: Bench) -> None:
    """The target of a message that was staged for a queue is resolved again when its delay is over (DD-50)."""
    bench.put(1, 1, message("later", delivery_time_ms=DUE))
    bench.alter("A", TARGET="T", TARGTYPE="TOPIC")
    bench.tick(DUE)
    assert bench.shown(DEAD_LETTER_QUEUE)[0].headers[0]["Reason"] == Mqrc.UNKNOWN_ALIAS_BASE_Q


@pytest.mark.parametrize("delayed", [True, False])
def test_persistence_and_priority_are_the_first_objects_on_the_way(bench: Bench, *, delayed: bool) -> None:
    bench.alter("A", DEFPSIST="YES", DEFPRTY=7)
    bench.put(1, 1, message("a", durable=None, delivery_time_ms=DUE if delayed else None))
    bench.alter("A", DEFPSIST="NO", DEFPRTY=1)
    bench.alter("X", DEFPSIST="NO", DEFPRTY=2)
    bench.tick(DUE)
    (shown,) = bench.shown("X")
    assert (shown.descriptor["Persistence"], shown.descriptor["Priority"]) == (1, 7)


def test_a_defined_queue_with_messages_keeps_them_when_it_is_defined_anew(bench: Bench) -> None:
    bench.put(1, 1, message("a"))
    bench.define(queue("X", MAXDEPTH=1))
    assert bench.browse(X) == ["a"]
    assert refusal_of(bench) == (int(Mqrc.Q_FULL), ("X",))


def test_at_the_send_the_target_is_checked_at_once(bench: Bench) -> None:
    bench.alter("X", MAXMSGL=5)
    assert bench.answers[bench.put(1, 1, message("12345", delivery_time_ms=DUE))].refused is None
    assert refusal_of(bench, delivery_time_ms=DUE) == (int(Mqrc.MSG_TOO_BIG_FOR_Q), ("X",))
    bench.alter("X", MAXMSGL=100, PUT="DISABLED")
    assert refusal_of(bench, delivery_time_ms=DUE) == (int(Mqrc.PUT_INHIBITED), ("X",))
    bench.alter("X", PUT="ENABLED", MAXDEPTH=1)
    assert bench.answers[bench.put(1, 1, message("b", delivery_time_ms=DUE))].refused is None
    bench.put(1, 1, message("fills"))
    assert refusal_of(bench, delivery_time_ms=DUE) == (int(Mqrc.Q_FULL), ("X",))
    bench.receiver(1, 2, X)
    bench.settle(1, 2, 1)
    assert bench.browse(STAGED) == ["12345", "b"]


def test_every_queue_at_fault_is_named(bench: Bench) -> None:
    bench.alter("X", MAXDEPTH=0)
    bench.alter(STAGING_QUEUE, PUT="DISABLED")
    assert refusal_of(bench, delivery_time_ms=DUE) == (int(Mqrc.Q_FULL), ("X", STAGING_QUEUE))
    bench.alter(STAGING_QUEUE, PUT="ENABLED", GET="DISABLED")  # this stops the processor, not sends (DD-19)
    bench.alter("X", MAXDEPTH=1)
    assert bench.answers[bench.put(1, 1, message("a", delivery_time_ms=DUE))].refused is None


# the dead-letter queue ---------------------------------------------------------------------------------------------


def test_a_target_that_is_the_dead_letter_queue_itself_is_tried_again_until_there_is_room(bench: Bench) -> None:
    bench.alter("ASSAY", DEADQ="X")
    bench.put(1, 1, message("a", delivery_time_ms=DUE))
    bench.alter("X", MAXDEPTH=0)
    bench.tick(DUE + 5 * bench.settings.retry_ms)
    assert bench.browse(STAGED) == ["a"]
    bench.alter("X", MAXDEPTH=1)
    bench.tick(bench.now + bench.settings.retry_ms)
    (shown,) = bench.shown("X")
    assert shown.headers == ()
    assert bench.browse(STAGED) == []


def test_a_dead_letter_queue_may_be_named_by_an_alias_of_a_queue(bench: Bench) -> None:
    bench.define(alias("DLQ", "Y"))
    bench.alter("ASSAY", DEADQ="DLQ")
    bench.put(1, 1, message("a", delivery_time_ms=DUE))
    bench.alter("X", MAXDEPTH=0)
    bench.tick(DUE)
    (shown,) = bench.shown("Y")
    assert shown.headers[0]["DestQName"] == "A"


@pytest.mark.parametrize(
    "dead",
    [
        {"DEADQ": "DLQ"},  # an alias of a topic: a publication does not keep the message
        {"DEADQ": "CHAIN"},
        {"DEADQ": "SYSTEM.DEFAULT.MODEL.QUEUE"},
        {"DEADQ": "A"},  # an alias of the full queue itself
        {"DEADQ": "NOWHERE"},
    ],
)
def test_a_dead_letter_queue_that_is_none_keeps_the_message_staged(bench: Bench, dead: dict[str, Value]) -> None:
    bench.define(topic("T", "T"), alias("DLQ", "T", TARGTYPE="TOPIC"), alias("CHAIN", "A"))
    bench.alter("ASSAY", **dead)
    bench.receiver(1, 2, Address(AddressKind.TOPIC, "T"))
    bench.put(1, 1, message("a", delivery_time_ms=DUE))
    bench.alter("X", MAXDEPTH=0)
    bench.tick(DUE + 3 * bench.settings.retry_ms)
    assert (bench.browse(STAGED), bench.bodies()) == (["a"], [])
    bench.alter("X", MAXDEPTH=1)
    bench.tick(bench.now + bench.settings.retry_ms)
    assert (bench.browse(X), bench.browse(STAGED)) == (["a"], [])


@pytest.mark.parametrize("durable", [True, False])
def test_reply_queue_target_and_dead_letter_queue_in_one_with_a_single_free_place(
    bench: Bench, *, durable: bool
) -> None:
    """The message takes the only place, so the queue has no place for the report.

    A persistent message then stays on the staging queue; for a non-persistent message, the report is dropped.
    """
    asked = {"JMS_IBM_Report_Exception": 0x1000000}
    bench.put(1, 1, message("a" * 50, durable=durable, delivery_time_ms=DUE, reply_to=ALIAS, properties=asked))
    bench.alter("ASSAY", DEADQ="X")
    bench.define(alias("A", "X", PUT="DISABLED"))
    bench.alter("X", MAXDEPTH=1)
    bench.tick(DUE + 3 * bench.settings.retry_ms)
    assert (len(bench.browse(X)), len(bench.browse(STAGED))) == ((0, 1) if durable else (1, 0))
    bench.alter("X", MAXDEPTH=2)
    bench.tick(bench.now + bench.settings.retry_ms)
    assert (len(bench.browse(X)), len(bench.browse(STAGED))) == ((2, 0) if durable else (1, 0))


def test_several_that_fall_due_together_share_the_places_there_are(bench: Bench) -> None:
    for text in "abc":
        bench.put(1, 1, message(text, delivery_time_ms=DUE))
    bench.alter("X", MAXDEPTH=1)
    bench.alter(DEAD_LETTER_QUEUE, MAXDEPTH=1)
    bench.tick(DUE)
    assert (bench.browse(X), bench.browse(DEAD), bench.browse(STAGED)) == (["a"], ["b"], ["c"])


# temporary queues, and names that are used first ---------------------------------------------------------------------


@pytest.mark.parametrize("durable", [True, False])
def test_a_message_for_a_temporary_queue_that_has_gone_is_dead_lettered(bench: Bench, *, durable: bool) -> None:
    temporary = Address(AddressKind.TEMPORARY_QUEUE, "TMP")
    bench.connect(2)
    bench.receiver(2, 1, temporary)
    bench.sender(1, 2, temporary)
    bench.put(1, 2, message("in time", durable=durable, delivery_time_ms=DUE))
    bench.put(1, 2, message("too late", durable=durable, delivery_time_ms=DUE + 10))
    bench.tick(DUE)
    bench.disconnect(2)
    bench.tick(DUE + 10)
    assert bench.bodies() == ["in time"]
    (shown,) = bench.shown(DEAD_LETTER_QUEUE)
    assert (shown.message.body, shown.headers[0]["Reason"]) == ("too late", int(Mqrc.UNKNOWN_OBJECT_NAME))


def test_a_queue_made_on_use_is_limited_by_the_default_of_that_moment() -> None:
    bench = Bench(limited(MAXDEPTH=1))
    bench.connect(1)
    bench.sender(1, 1)
    bench.put(1, 1, message("a"))
    assert bench.answers[bench.put(1, 1, message("b"))].refused is not None


def test_messages_of_a_queue_made_on_use_outlive_a_default_that_has_been_deleted() -> None:
    bench = Bench()
    bench.connect(1)
    bench.sender(1, 1)
    bench.put(1, 1, message("a"))
    bench.delete(LOCAL_DEFAULT)
    bench.restart()
    bench.connect(1)
    bench.define(Definition(Kind.QLOCAL, LOCAL_DEFAULT, queue("x").attributes))
    assert bench.browse() == ["a"]


def test_factory_settings_make_nothing_on_use() -> None:
    bench = Bench(Settings())
    assert bench.connect(1, user=ADMINISTRATOR) is None
    refused = bench.sender(1, 1)
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.UNKNOWN_OBJECT_NAME), ("Q",))
