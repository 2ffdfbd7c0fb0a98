from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import QUEUE, T0, TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.administration.authority import ADMINISTRATOR
from assay_broker.core.administration.changes import ClearRetained
from assay_broker.core.objects.factory import RETAINED_QUEUE
from assay_broker.core.objects.model import Definition, Value
from assay_broker.core.records import RetainedSet
from assay_broker.mqsc.defaults import default_settings
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Mqrc

OTHER = Address(AddressKind.TOPIC, "T/x")


def kept(text: str, *, durable: bool | None = True, value: object = 1, **fields: object) -> Message:
    return message(text, durable=durable, properties={"JMS_IBM_Retain": value, "own": "p"}, **fields)


@pytest.fixture
def bench() -> Bench:
    return ready(Bench())


def ready(bench: Bench, client_id: str | None = "publisher") -> Bench:
    bench.connect(1, client_id)
    bench.sender(1, 1, TOPIC)
    bench.sender(1, 2, OTHER)
    bench.connect(2, "subscriber")
    bench.flush()
    return bench


def again(bench: Bench) -> Bench:
    bench.restart()
    return ready(bench)


def test_a_later_subscriber_gets_the_retained_publication_at_once_and_marked(bench: Bench) -> None:
    bench.put(1, 1, kept("state"))
    bench.put(1, 1, message("event"))
    bench.receiver(2, 1, TOPIC)
    bench.put(1, 1, message("next"))
    assert bench.bodies() == ["state", "next"]
    assert bench.delivered[0].message.properties == {"JMS_IBM_Retain": 1, "own": "p"}


def test_a_present_subscriber_gets_it_as_any_other_publication(bench: Bench) -> None:
    bench.receiver(2, 1, TOPIC)
    bench.put(1, 1, kept("state"))
    assert bench.bodies() == ["state"]
    assert bench.delivered[0].message.properties == {"own": "p"}


def test_each_topic_has_one_and_the_next_replaces_it(bench: Bench) -> None:
    bench.put(1, 1, kept("first"))
    bench.put(1, 2, kept("other"))
    bench.put(1, 1, kept("second"))
    bench.receiver(2, 1, TOPIC)
    bench.receiver(2, 2, OTHER)
    assert (bench.bodies(1), bench.bodies(2)) == (["second"], ["other"])


def test_a_wildcard_subscription_is_given_all_that_fit_in_the_order_of_their_publishing(bench: Bench) -> None:
    bench.put(1, 1, kept("replaced"))
    bench.put(1, 2, kept("other"))
    bench.put(1, 1, kept("newer"))
    bench.receiver(2, 1, Address(AddressKind.TOPIC, "T/#"))
    bench.receiver(2, 2, Address(AddressKind.TOPIC, "U/#"))
    assert bench.bodies() == ["other", "newer"]


@pytest.mark.parametrize("value", [0, 2, True, "1", 1.0, None])
def test_any_value_but_the_number_1_retains_nothing(bench: Bench, value: object) -> None:
    bench.put(1, 1, kept("state", value=value))
    bench.receiver(2, 1, TOPIC)
    assert bench.bodies() == []


def test_on_a_queue_the_property_says_nothing(bench: Bench) -> None:
    bench.sender(1, 3, QUEUE)
    bench.put(1, 3, kept("m", delivery_time_ms=T0 + 1_000))
    bench.put(1, 3, kept("n"))
    bench.tick(T0 + 1_000)
    assert bench.browse() == ["n", "m"]


def test_an_open_subscription_is_given_it_once(bench: Bench) -> None:
    bench.put(1, 1, kept("state"))
    bench.receiver(2, 1, TOPIC, durable="d", credit=0)
    bench.handle(commands.Detach(2, None, 1))
    bench.receiver(2, 2, TOPIC, durable="d")
    bench.receiver(2, 3, TOPIC, shared="s")
    bench.receiver(2, 4, TOPIC, shared="s")
    assert [one.link for one in bench.delivered] == [2, 3]


def test_selector_and_no_local_hold_for_it_too(bench: Bench) -> None:
    bench.put(1, 1, kept("state"))
    bench.receiver(2, 1, TOPIC, selector="own = 'other'")
    bench.receiver(2, 2, TOPIC, selector="own = 'p'")
    bench.receiver(1, 3, TOPIC, no_local=True)
    assert [one.link for one in bench.delivered] == [2]


def test_no_local_knows_the_client_after_a_restart_too(bench: Bench) -> None:
    bench.put(1, 1, kept("state"))
    again(bench)
    bench.receiver(1, 3, TOPIC, no_local=True)
    assert bench.bodies() == []


@pytest.mark.parametrize("durable", [True, False])
def test_a_persistent_one_is_there_after_a_restart_and_another_is_not(bench: Bench, *, durable: bool) -> None:
    bench.put(1, 1, kept("state", durable=durable))
    again(bench)
    bench.receiver(2, 1, TOPIC)
    assert bench.bodies() == (["state"] if durable else [])


def test_a_persistent_one_that_was_replaced_by_another_does_not_come_back(bench: Bench) -> None:
    bench.put(1, 1, kept("old"))
    bench.put(1, 1, kept("new", durable=False))
    again(bench)
    bench.receiver(2, 1, TOPIC)
    assert bench.bodies() == []


def test_it_expires(bench: Bench) -> None:
    bench.put(1, 1, kept("state", ttl_ms=1_000))
    bench.put(1, 2, kept("gone", ttl_ms=100))
    bench.tick(T0 + 999)
    bench.receiver(2, 1, Address(AddressKind.TOPIC, "T/#"), credit=0)
    bench.receiver(2, 2, Address(AddressKind.TOPIC, "T/#"))
    bench.tick(T0 + 1_000)
    bench.handle(commands.Flow(2, None, 1, 5))
    bench.receiver(2, 3, TOPIC)
    assert [(one.link, one.message.body) for one in bench.delivered] == [(2, "state")]
    again(bench)
    assert bench.disk[-1] == RetainedSet(topic=OTHER, message=None, client_id="publisher")


def test_with_a_delay_it_is_refused_and_nothing_is_retained_or_staged(bench: Bench) -> None:
    bench.receiver(2, 1, TOPIC)
    token = bench.put(1, 1, kept("late", delivery_time_ms=T0 + 1_000))
    refused = bench.answers[token].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.OPTIONS_ERROR
    bench.tick(T0 + 2_000)
    bench.receiver(2, 2, TOPIC)
    assert bench.bodies() == []
    assert bench.disk == []


@pytest.mark.parametrize("commit", [True, False])
def test_in_a_unit_of_work_it_is_retained_at_the_commit(bench: Bench, *, commit: bool) -> None:
    bench.handle(commands.Begin(1, None, 1))
    bench.put(1, 1, kept("state"), unit=1)
    bench.receiver(2, 1, TOPIC)
    assert bench.bodies() == []
    bench.handle((commands.Commit if commit else commands.Backout)(1, None, 1))
    bench.receiver(2, 2, TOPIC)
    assert bench.bodies() == (["state"] if commit else [])


def storing(**given: Value) -> Bench:
    objects = tuple(
        Definition(one.kind, one.name, one.attributes | given) if one.name == RETAINED_QUEUE else one
        for one in default_settings().objects
        if one.name != RETAINED_QUEUE or given
    )
    return ready(Bench(replace(default_settings(), objects=objects)))


@pytest.mark.parametrize("given", [{}, {"PUT": "DISABLED"}, {"MAXDEPTH": 0}])
def test_what_cannot_be_retained_reaches_nobody(given: dict[str, Value]) -> None:
    bench = storing(**given)
    bench.receiver(2, 1, TOPIC)
    refused = bench.answers[bench.put(1, 1, kept("state"))].refused
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.PUT_NOT_RETAINED), (RETAINED_QUEUE,))
    assert bench.answers[bench.put(1, 1, message("event"))].refused is None
    assert bench.bodies() == ["event"]


def test_a_full_store_takes_a_replacement_and_the_place_of_an_expired_one() -> None:
    bench = storing(MAXDEPTH=1)
    bench.put(1, 1, kept("first", ttl_ms=1_000))
    assert bench.answers[bench.put(1, 1, kept("second", ttl_ms=1_000))].refused is None
    assert bench.answers[bench.put(1, 2, kept("other"))].refused is not None
    bench.tick(T0 + 1_000)
    assert bench.answers[bench.put(1, 2, kept("other"))].refused is None
    again(bench)
    bench.receiver(2, 1, Address(AddressKind.TOPIC, "#"))
    assert bench.bodies() == ["other"]


def test_a_subscription_is_refused_when_its_queue_cannot_take_its_retained_publications() -> None:
    bench = ready(Bench(limited(MAXDEPTH=1)))
    bench.put(1, 1, kept("a"))
    bench.put(1, 2, kept("b"))
    disk = len(bench.disk)
    refused = bench.receiver(2, 1, Address(AddressKind.TOPIC, "#"), durable="d")
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.RETAINED_NOT_DELIVERED), ("d",))
    assert len(bench.disk) == disk
    assert bench.receiver(2, 1, TOPIC, durable="d") is None
    assert bench.bodies() == ["a"]


def test_that_of_a_temporary_topic_goes_with_it(bench: Bench) -> None:
    temporary = Address(AddressKind.TEMPORARY_TOPIC, "TEMP")
    bench.sender(1, 3, temporary)
    bench.put(1, 3, kept("state"))
    bench.receiver(1, 4, temporary)
    assert bench.bodies() == ["state"]
    assert bench.disk == []
    bench.disconnect(1)
    bench.connect(3)
    bench.receiver(3, 1, temporary)
    assert bench.bodies() == ["state"]


def clear(bench: Bench, topic: Address) -> None:
    bench.connect(9, user=ADMINISTRATOR)
    bench.handle(commands.Administer(9, bench.token(), ClearRetained(topic.name)))
    bench.disconnect(9)


@pytest.mark.parametrize("durable", [True, False])
def test_a_cleared_one_is_gone_for_good(bench: Bench, *, durable: bool) -> None:
    bench.put(1, 1, kept("state", durable=durable))
    clear(bench, TOPIC)
    clear(bench, TOPIC)
    bench.receiver(2, 1, TOPIC)
    again(bench)
    bench.receiver(2, 1, TOPIC)
    assert bench.bodies() == []


# the store ---------------------------------------------------------------------------------------------------------


def slow() -> Bench:
    return ready(Bench(auto=False))


def test_it_leaves_for_a_subscriber_only_once_it_is_stored() -> None:
    bench = slow()
    bench.put(1, 1, kept("state"))
    bench.receiver(2, 1, TOPIC)
    assert bench.bodies() == []
    bench.flush()
    assert bench.bodies() == ["state"]


@pytest.mark.parametrize("durability", list(Durability))
def test_when_it_cannot_be_stored_no_copy_of_it_stays(durability: Durability) -> None:
    bench = slow()
    bench.put(1, 1, kept("state"))
    name = "d" if durability is Durability.DURABLE else None
    attach = commands.Attach(connection=2, token=None, link=1, address=TOPIC, durability=durability, name=name)
    bench.handle(attach)
    bench.handle(commands.Flow(2, None, 1, 10))
    bench.fail()
    bench.receiver(2, 2, TOPIC)
    bench.put(1, 1, message("event", durable=False))
    assert set(bench.bodies()) == {"event"}


def test_a_failed_change_leaves_the_one_before_it_in_place() -> None:
    bench = slow()
    bench.put(1, 1, kept("stored"))
    bench.flush()
    bench.put(1, 1, kept("second"))
    bench.put(1, 1, kept("third", durable=False))
    bench.put(1, 1, kept("fourth", durable=False))
    assert len(bench.buffer) == 3, "each change says so while the one before it is on its way"
    bench.fail()
    bench.receiver(2, 1, TOPIC)
    assert bench.bodies() == ["stored"]


def test_a_failed_clearing_leaves_it_in_place() -> None:
    bench = slow()
    bench.put(1, 1, kept("state"))
    bench.flush()
    clear(bench, TOPIC)
    bench.receiver(2, 1, TOPIC)
    bench.fail()
    bench.receiver(2, 2, TOPIC)
    assert bench.bodies(2) == ["state"]
