from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import T0, TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import (
    AlterObject,
    ClearRetained,
    DefineObject,
    DeleteObject,
    DisplayObjects,
)
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import BASE_TOPIC, DEAD_LETTER_QUEUE
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_broker.core.records import MessageStored
from assay_broker.core.settings import Settings
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc


def ready(settings: Settings | None = None) -> Bench:
    bench = Bench(settings)
    bench.connect(1, "publisher")
    bench.sender(1, 1, TOPIC)
    return bench


@pytest.fixture
def bench() -> Bench:
    return ready()


def define(bench: Bench, kind: Kind, name: str, **given: Value) -> int | None:
    refused = bench.administer(DefineObject(kind=kind, name=name, attributes=given)).refused
    return None if refused is None else refused.mqrc


def sub(bench: Bench, name: str = "S", **given: Value) -> int | None:
    return define(bench, Kind.SUB, name, **({"TOPICSTR": "T", "DEST": "Q"} | given))


def again(bench: Bench) -> Bench:
    bench.restart()
    bench.connect(1, "publisher")
    bench.sender(1, 1, TOPIC)
    return bench


def test_a_sub_object_puts_publications_to_its_queue(bench: Bench) -> None:
    bench.put(1, 1, message("early"))
    assert sub(bench) is None
    bench.put(1, 1, message("a"))
    assert bench.browse() == ["a"]
    again(bench).put(1, 1, message("b"))
    assert bench.browse() == ["a", "b"]


def test_wildcards_and_a_selector_hold(bench: Bench) -> None:
    assert sub(bench, TOPICSTR="#", SELECTOR="colour = 'red'") is None
    bench.put(1, 1, message("red", properties={"colour": "red"}))
    bench.put(1, 1, message("blue", properties={"colour": "blue"}))
    assert bench.browse() == ["red"]


@pytest.mark.parametrize(("own", "published"), [("", "top"), ("below", "top/below")])
def test_a_topic_object_gives_the_beginning_of_the_topic_string(bench: Bench, own: str, published: str) -> None:
    define(bench, Kind.TOPIC, "OBJECT", TOPICSTR="top")
    assert sub(bench, TOPICSTR=own, TOPICOBJ="OBJECT") is None
    bench.sender(1, 2, Address(AddressKind.TOPIC, published))
    bench.put(1, 2, message("a"))
    assert bench.browse() == ["a"]


@pytest.mark.parametrize("change", ["none", "the object is deleted", "the object has another string"])
def test_a_sub_object_keeps_the_topic_string_that_its_topic_object_had(bench: Bench, change: str) -> None:
    define(bench, Kind.TOPIC, "OBJECT", TOPICSTR="top")
    assert sub(bench, TOPICSTR="below", TOPICOBJ="OBJECT") is None
    if change != "none":
        bench.administer(DeleteObject(Kind.TOPIC, "OBJECT"))
    if change == "the object has another string":
        define(bench, Kind.TOPIC, "OBJECT", TOPICSTR="elsewhere")
    assert bench.administer(AlterObject(Kind.SUB, "S", {"PUBPRTY": 3})).refused is None
    shown = bench.administer(DisplayObjects(kinds=(Kind.SUB,), name="S")).value
    assert [found.text("TOPICSTR") for found in shown] == ["top/below"]
    after = again(bench)
    after.sender(1, 2, Address(AddressKind.TOPIC, "top/below"))
    after.put(1, 2, message("a"))
    assert after.browse() == ["a"]


def test_two_sub_objects_with_one_queue_put_two_copies_as_far_as_there_is_room() -> None:
    bench = ready(limited(MAXDEPTH=3))
    sub(bench, "S1")
    sub(bench, "S2")
    bench.put(1, 1, message("a"))
    bench.put(1, 1, message("b"))
    assert bench.browse() == ["a", "a", "b"]


def test_an_altered_destination_is_the_next_publications(bench: Bench) -> None:
    sub(bench)
    bench.put(1, 1, message("a"))
    bench.administer(AlterObject(Kind.SUB, "S", {"DEST": "OTHER"}))
    bench.put(1, 1, message("b"))
    assert bench.browse() == ["a"]
    assert bench.browse(Address(AddressKind.QUEUE, "OTHER")) == ["b"]


@pytest.mark.parametrize("stored", [True, False])
def test_a_deleted_sub_object_gets_nothing_more_unless_the_store_could_not_say_so(
    bench: Bench, *, stored: bool
) -> None:
    sub(bench)
    bench.connect(9, user=ADMINISTRATOR)
    bench.auto = False
    bench.handle(commands.Administer(9, bench.token(), DeleteObject(Kind.SUB, "S")))
    if stored:
        bench.flush()
    else:
        bench.fail()
    bench.auto = True
    bench.put(1, 1, message("a"))
    assert bench.browse() == ([] if stored else ["a"])


def test_a_delayed_publication_comes_to_the_destination_that_holds_when_its_delay_is_over(bench: Bench) -> None:
    sub(bench)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000))
    bench.administer(AlterObject(Kind.SUB, "S", {"DEST": "OTHER"}))
    again(bench).tick(T0 + 1_000)
    assert bench.browse() == []
    assert bench.browse(Address(AddressKind.QUEUE, "OTHER")) == ["a"]


def test_a_delayed_publication_is_dropped_with_its_sub_object(bench: Bench) -> None:
    sub(bench)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000))
    bench.administer(DeleteObject(Kind.SUB, "S"))
    bench.tick(T0 + 2_000)
    assert bench.browse() == []
    assert bench.browse(Address(AddressKind.QUEUE, DEAD_LETTER_QUEUE)) == []
    assert bench.core.next_due_ms() is None


@pytest.mark.parametrize("restarts", [True, False])
@pytest.mark.parametrize("given", [{}, {"TOPICSTR": "other"}, {"LIKE": "OTHER"}, {"DEST": "OTHER"}])
def test_a_sub_object_defined_anew_gets_no_delayed_publication_of_the_former_one(
    bench: Bench, given: dict[str, Value], *, restarts: bool
) -> None:
    sub(bench)
    sub(bench, "OTHER", TOPICSTR="elsewhere")
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000))
    bench.administer(DeleteObject(Kind.SUB, "S"))
    terms: dict[str, Value] = {"TOPICSTR": "T", "DEST": "Q"} | given
    like = str(terms.pop("LIKE")) if "LIKE" in terms else None
    assert bench.administer(DefineObject(kind=Kind.SUB, name="S", attributes=terms, like=like)).refused is None
    if restarts:
        again(bench)
    bench.put(1, 1, message("b", delivery_time_ms=T0 + 1_000))
    bench.tick(T0 + 2_000)
    got = [*bench.browse(), *bench.browse(Address(AddressKind.QUEUE, "OTHER"))]
    assert got == ([] if "TOPICSTR" in given else ["b"])
    assert bench.browse(Address(AddressKind.QUEUE, DEAD_LETTER_QUEUE)) == []


def test_a_sub_object_from_the_settings_that_is_defined_anew_gets_no_delayed_publication_of_the_former_one() -> None:
    first = Definition(Kind.SUB, "S", defaults(Kind.SUB) | {"TOPICSTR": "T", "DEST": "Q"})
    settings = limited()
    bench = ready(replace(settings, objects=(*settings.objects, first)))
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000))
    bench.administer(DeleteObject(Kind.SUB, "S"))
    sub(bench)
    again(bench).tick(T0 + 2_000)
    assert bench.browse() == []


def test_a_unit_of_work_stages_nothing_for_a_sub_object_that_is_defined_anew_before_the_commit(bench: Bench) -> None:
    sub(bench)
    bench.begin(1, 1)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000), unit=1)
    bench.administer(DeleteObject(Kind.SUB, "S"))
    sub(bench)
    bench.commit(1, 1)
    bench.tick(T0 + 2_000)
    assert bench.browse() == []
    assert bench.core.next_due_ms() is None


@pytest.mark.parametrize("restarts", [True, False])
def test_a_sub_object_that_is_replaced_keeps_its_delayed_publications(bench: Bench, *, restarts: bool) -> None:
    sub(bench)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000))
    change = DefineObject(kind=Kind.SUB, name="S", attributes={"TOPICSTR": "T", "DEST": "OTHER"}, replace=True)
    assert bench.administer(change).refused is None
    if restarts:
        again(bench)
    bench.tick(T0 + 1_000)
    assert bench.browse(Address(AddressKind.QUEUE, "OTHER")) == ["a"]


def test_a_delayed_publication_returns_with_its_sub_object_if_the_store_refuses_the_deletion(bench: Bench) -> None:
    sub(bench)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000))
    bench.connect(9, user=ADMINISTRATOR)
    bench.auto = False
    bench.handle(commands.Administer(9, bench.token(), DeleteObject(Kind.SUB, "S")))
    bench.fail()
    bench.auto = True
    bench.tick(T0 + 1_000)
    assert bench.browse() == ["a"]


def test_a_sub_object_that_is_defined_anew_has_another_subid(bench: Bench) -> None:
    shown = set()
    for _ in range(2):
        sub(bench)
        (found,) = bench.administer(DisplayObjects(kinds=(Kind.SUB,), name="S")).value
        shown.add(found.text("SUBID"))
        bench.administer(AlterObject(Kind.SUB, "S", {"DEST": "OTHER"}))
        again(bench)
        (altered,) = bench.administer(DisplayObjects(kinds=(Kind.SUB,), name="S")).value
        assert altered.text("SUBID") == found.text("SUBID")
        bench.administer(DeleteObject(Kind.SUB, "S"))
        bench.tick(T0 + 1)
    assert len(shown) == 2
    assert {len(one) for one in shown} == {48}


def test_a_delayed_publication_that_has_no_place_anywhere_is_discarded() -> None:
    bench = ready(limited(dead_letters=False))
    define(bench, Kind.QLOCAL, "Q")
    sub(bench)
    bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000))
    bench.administer(AlterObject(Kind.QLOCAL, "Q", {"PUT": "DISABLED"}))
    bench.tick(T0 + 1_000)
    bench.administer(AlterObject(Kind.QLOCAL, "Q", {"PUT": "ENABLED"}))
    bench.tick(T0 + 60_000)
    assert bench.browse() == []


def test_in_a_unit_of_work_nobody_sees_a_publication_before_the_commit(bench: Bench) -> None:
    sub(bench)
    bench.handle(commands.Begin(1, None, 1, 7))
    bench.put(1, 1, message("a"), unit=1)
    bench.receiver(1, 2)
    assert (bench.browse(), bench.bodies()) == ([], [])
    bench.handle(commands.Commit(1, None, 1))
    assert bench.bodies() == ["a"]


def test_a_new_sub_object_is_given_retained_publications_once(bench: Bench) -> None:
    bench.put(1, 1, message("state", properties={"JMS_IBM_Retain": 1}))
    sub(bench)
    bench.administer(AlterObject(Kind.SUB, "S", {"DEST": "OTHER"}))
    again(bench)
    assert bench.browse() == ["state"]
    assert bench.browse(Address(AddressKind.QUEUE, "OTHER")) == []


def test_a_retained_publication_is_cleared_by_its_topic_string(bench: Bench) -> None:
    bench.put(1, 1, message("state", properties={"JMS_IBM_Retain": 1}))
    assert bench.administer(ClearRetained("#")).refused is None
    bench.receiver(1, 2, TOPIC)
    assert bench.administer(ClearRetained("T")).refused is None
    assert bench.administer(ClearRetained("T")).refused is None
    bench.receiver(1, 3, TOPIC)
    again(bench)
    bench.receiver(1, 4, TOPIC)
    assert [one.link for one in bench.delivered] == [2]


@pytest.mark.parametrize(
    ("topic", "given", "reason"),
    [
        ({"SUB": "DISABLED"}, {}, Mqrc.SUB_INHIBITED),
        ({"DURSUB": "NO"}, {}, Mqrc.DURABILITY_NOT_ALLOWED),
        ({}, {"SELECTOR": "no selector ("}, Mqrc.SELECTOR_SYNTAX_ERROR),
        ({}, {"DESTCLAS": "MANAGED", "DEST": ""}, Mqrc.FUNCTION_NOT_SUPPORTED),
    ],
)
def test_a_sub_object_that_cannot_be_at_work_is_refused(
    bench: Bench, topic: dict[str, Value], given: dict[str, Value], reason: Mqrc
) -> None:
    define(bench, Kind.TOPIC, "OBJECT", TOPICSTR="T", **topic)
    assert sub(bench, "S", **given) == reason
    bench.put(1, 1, message("a"))
    assert bench.browse() == []


def reach(bench: Bench, **given: Value) -> None:
    bench.administer(AlterObject(Kind.TOPIC, BASE_TOPIC, given))


@pytest.mark.parametrize("destination", ["MISSING", "TO.TOPIC", "FULL"])
def test_a_destination_that_cannot_take_it_fails_a_publication_that_must_reach_it(destination: str) -> None:
    bench = ready(limited(dead_letters=False))
    define(bench, Kind.QLOCAL, "FULL", MAXDEPTH=0)
    define(bench, Kind.QALIAS, "MISSING", TARGET="NOTHING")
    define(bench, Kind.TOPIC, "T", TOPICSTR="elsewhere")
    define(bench, Kind.QALIAS, "TO.TOPIC", TARGET="T", TARGTYPE="TOPIC")
    reach(bench, PMSGDLV="ALLDUR")
    sub(bench, DEST=destination)
    sub(bench, "BESIDE")
    refused = bench.answers[bench.put(1, 1, message("persistent"))].refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.PUBLICATION_FAILURE), (destination,))
    assert bench.answers[bench.put(1, 1, message("not", durable=False))].refused is None
    assert bench.browse() == ["not"]


@pytest.mark.parametrize("allowed", [True, False])
def test_a_dead_letter_counts_as_having_reached_a_subscriber_where_the_topic_allows_it(
    bench: Bench, *, allowed: bool
) -> None:
    reach(bench, PMSGDLV="ALL", USEDLQ="YES" if allowed else "NO")
    define(bench, Kind.QLOCAL, "FULL", MAXDEPTH=0)
    sub(bench, DEST="FULL")
    sub(bench, "BESIDE")
    refused = bench.answers[bench.put(1, 1, message("a"))].refused
    assert (refused is None) is allowed
    dead = Address(AddressKind.QUEUE, DEAD_LETTER_QUEUE)
    assert (bench.browse(), bench.browse(dead)) == ((["a"], ["a"]) if allowed else ([], []))
    headers = [record.dead for record in bench.disk if isinstance(record, MessageStored) and record.dead]
    assert [(one.reason, one.queue) for one in headers] == ([(Mqrc.Q_FULL, "FULL")] if allowed else [])


def test_a_dead_letter_queue_that_is_full_takes_no_dead_letter(bench: Bench) -> None:
    reach(bench, PMSGDLV="ALL")
    bench.administer(AlterObject(Kind.QLOCAL, DEAD_LETTER_QUEUE, {"MAXDEPTH": 1}))
    define(bench, Kind.QLOCAL, "FULL", MAXDEPTH=0)
    for name in ("S1", "S2"):
        sub(bench, name, DEST="FULL")
    assert bench.answers[bench.put(1, 1, message("a"))].refused is not None
    assert bench.browse(Address(AddressKind.QUEUE, DEAD_LETTER_QUEUE)) == []
