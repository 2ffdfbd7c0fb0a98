from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.broker.core.harness import T0, TOPIC, Bench, limited, message

from assay_broker.core import commands
from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.factory import BASE_TOPIC, STAGING_QUEUE, factory
from assay_broker.core.objects.model import Definition, Kind, Value
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

BASE = next(one for one in factory("ASSAY", zos=False) if one.name == BASE_TOPIC)
STRINGS = ["T", "T/#", "+", "#", "T/#/#"]


def at(string: str) -> Address:
    return Address(AddressKind.TOPIC, string)


def node(name: str, string: str, **given: Value) -> Definition:
    return Definition(Kind.TOPIC, name, defaults(Kind.TOPIC) | {"TOPICSTR": string} | given)


def ready(*topics: Definition, depth: int = 5_000) -> Bench:
    """Return a bench with the default topics and these topic objects; connection 1 sends to T on link 1."""
    settings = limited(MAXDEPTH=depth, dead_letters=False)
    bench = Bench(replace(settings, objects=(*settings.objects, BASE, *topics)))
    bench.connect(1, "publisher")
    bench.sender(1, 1, TOPIC)
    bench.connect(2, "subscriber")
    return bench


def reason(bench: Bench, token: int) -> int | None:
    refused = bench.answers[token].refused
    return None if refused is None else refused.mqrc


@pytest.mark.parametrize("string", STRINGS)
def test_a_wildcard_subscription_gets_one_copy(string: str) -> None:
    bench = ready()
    bench.receiver(2, 1, at(string))
    bench.receiver(2, 2, at("other/#"))
    bench.put(1, 1, message("a"))
    assert [one.link for one in bench.delivered] == [1]


def test_a_durable_wildcard_subscription_matches_after_a_restart_and_not_after_it_is_gone() -> None:
    bench = ready()
    bench.receiver(2, 1, at("+"), durable="d", credit=0)
    bench.restart()
    bench.connect(1)
    bench.sender(1, 1, TOPIC)
    bench.put(1, 1, message("a"))
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, at("+"), durable="d")
    assert bench.bodies() == ["a"]
    bench.settle(2, 1, bench.delivered[-1].delivery)
    bench.handle(commands.Detach(2, None, 1))
    token = bench.token()
    assert bench.ask(commands.Unsubscribe(2, token, "d"), token) is None
    disk = len(bench.disk)
    bench.put(1, 1, message("b"))
    assert len(bench.disk) == disk


def test_a_wildcard_in_a_publication_is_literal() -> None:
    bench = ready()
    bench.sender(1, 2, at("#"))
    bench.receiver(2, 1, TOPIC)
    bench.receiver(2, 2, at("#"))
    bench.put(1, 2, message("a"))
    assert [one.link for one in bench.delivered] == [2]


def test_a_wildcard_does_not_reach_a_temporary_topic() -> None:
    bench = ready()
    temporary = Address(AddressKind.TEMPORARY_TOPIC, "TEMP")
    bench.sender(1, 2, temporary)
    bench.receiver(2, 1, at("#"))
    bench.put(1, 2, message("a"))
    assert bench.bodies() == []


def test_subscribers_are_served_in_the_order_of_their_subscriptions() -> None:
    bench = ready()
    for link, string in enumerate(["#", "T", "+", "T"], start=1):
        bench.receiver(2, link, at(string))
    bench.put(1, 1, message("a"))
    assert [one.link for one in bench.delivered] == [1, 2, 3, 4]


def test_a_publication_to_a_disabled_topic_is_refused() -> None:
    bench = ready(node("NODE", "T", PUB="DISABLED"))
    bench.receiver(2, 1, TOPIC)
    assert reason(bench, bench.put(1, 1, message("a"))) == Mqrc.PUT_INHIBITED
    assert bench.bodies() == []


def test_a_subscription_to_a_disabled_topic_is_refused_and_leaves_no_trace() -> None:
    bench = ready(node("NODE", "T", SUB="DISABLED"))
    refused = bench.receiver(2, 1, TOPIC, durable="d")
    assert refused is not None
    assert (refused.mqrc, refused.objects) == (int(Mqrc.SUB_INHIBITED), ("T",))
    assert bench.disk == []
    assert bench.receiver(2, 1, at("other")) is None


def test_a_durable_subscription_is_refused_where_only_others_are_allowed() -> None:
    bench = ready(node("NODE", "T", DURSUB="NO"))
    refused = bench.receiver(2, 1, TOPIC, durable="d")
    assert refused is not None
    assert refused.mqrc == Mqrc.DURABILITY_NOT_ALLOWED
    assert bench.receiver(2, 1, TOPIC) is None


def test_a_durable_subscription_that_is_there_already_goes_on() -> None:
    bench = ready(node("NODE", "T", DURSUB="NO"))
    bench.receiver(2, 1, at("before"), durable="d")
    bench.disconnect(2)
    bench.settings = replace(bench.settings, objects=(*bench.settings.objects, node("NODE", "before", DURSUB="NO")))
    bench.restart()
    bench.connect(2, "subscriber")
    assert bench.receiver(2, 1, at("before"), durable="d") is None
    assert bench.receiver(2, 2, at("before/x"), durable="e") is not None


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize(
    ("reach", "full", "reached"),
    [
        ("ALL", "durable", False),
        ("ALL", "other", False),
        ("ALLDUR", "durable", False),
        ("ALLDUR", "other", True),
        ("ALLAVAIL", "durable", True),
        ("ALLAVAIL", "other", True),
        ("ALL", "none", True),
    ],
)
def test_whom_a_publication_must_reach_is_as_the_topic_says_for_its_persistence(
    reach: str, full: str, *, persistent: bool, reached: bool
) -> None:
    other = "NPMSGDLV" if persistent else "PMSGDLV"
    keyword = "PMSGDLV" if persistent else "NPMSGDLV"
    bench = ready(node("NODE", "T", **{keyword: reach, other: "ALLAVAIL"}), depth=1)
    bench.receiver(2, 1, TOPIC, durable="d", credit=0 if full == "durable" else 100, settled=True)
    bench.receiver(2, 2, TOPIC, credit=0 if full == "other" else 100, settled=True)
    bench.receiver(2, 3, TOPIC, settled=True)
    assert reason(bench, bench.put(1, 1, message("first", durable=persistent))) is None
    before = len(bench.delivered)
    token = bench.put(1, 1, message("second", durable=persistent))
    assert reason(bench, token) == (None if reached else Mqrc.PUBLICATION_FAILURE)
    ready_links = {1, 2, 3} - ({1} if full == "durable" else {2} if full == "other" else set())
    assert {one.link for one in bench.delivered[before:]} == (ready_links if reached else set())


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("reach", ["ALL", "ALLDUR", "ALLAVAIL", "ASPARENT"])
def test_a_delayed_publication_needs_allavail_for_its_persistence(reach: str, *, persistent: bool) -> None:
    keyword = "PMSGDLV" if persistent else "NPMSGDLV"
    bench = ready(node("NODE", "T", **{keyword: reach}))
    bench.receiver(2, 1, TOPIC)
    assert reason(bench, bench.put(1, 1, message("now", durable=persistent))) is None
    token = bench.put(1, 1, message("later", durable=persistent, delivery_time_ms=T0 + 1_000))
    allowed = reach == "ALLAVAIL" or (reach == "ASPARENT" and not persistent)
    assert reason(bench, token) == (None if allowed else Mqrc.PUBLICATION_FAILURE)
    bench.tick(T0 + 2_000)
    assert bench.bodies() == (["now", "later"] if allowed else ["now"])


@pytest.mark.parametrize(("length", "refused"), [(10, None), (11, Mqrc.MSG_TOO_BIG_FOR_Q)])
def test_the_staging_queue_limits_the_body_of_a_publication_as_that_of_a_message(
    length: int, refused: Mqrc | None
) -> None:
    bench = ready(node("NODE", "T", PMSGDLV="ALLAVAIL", NPMSGDLV="ALLAVAIL"))
    bench.receiver(2, 1, TOPIC)
    bench.alter(STAGING_QUEUE, MAXMSGL=10)
    token = bench.put(1, 1, message("a" * length, delivery_time_ms=T0 + 1_000, properties={"colour": "red"}))
    assert reason(bench, token) == refused


def test_a_delayed_publication_without_subscribers_is_refused_all_the_same() -> None:
    bench = ready()
    token = bench.put(1, 1, message("a", delivery_time_ms=T0 + 1_000))
    assert reason(bench, token) == Mqrc.PUBLICATION_FAILURE


def test_persistence_and_priority_left_to_the_topic_are_the_topics() -> None:
    bench = ready(node("NODE", "T", DEFPSIST="YES", DEFPRTY=7))
    bench.receiver(2, 1, TOPIC, durable="d")
    bench.put(1, 1, message("said", durable=False, priority=2))
    bench.put(1, 1, message("unsaid", durable=None))
    shown = [(one.message.durable, one.message.priority) for one in bench.delivered]
    assert shown == [(False, 2), (True, 7)]
    bench.restart()
    bench.connect(2, "subscriber")
    bench.receiver(2, 1, TOPIC, durable="d")
    assert bench.bodies()[2:] == ["unsaid"]


def test_the_base_topic_decides_for_topics_without_an_object() -> None:
    base = Definition(Kind.TOPIC, BASE_TOPIC, defaults(Kind.TOPIC) | {"PUB": "DISABLED"})
    bench = ready(base)
    assert reason(bench, bench.put(1, 1, message("a"))) == Mqrc.PUT_INHIBITED


@pytest.mark.parametrize(
    "grouped",
    [
        {"group_id": "G"},
        {"group_sequence": 0},
        {"properties": {"JMS_IBM_Last_Msg_In_Group": True}},
    ],
)
@pytest.mark.parametrize("link", [1, 2])
def test_a_message_of_a_group_with_a_delay_is_refused(link: int, grouped: dict[str, object]) -> None:
    bench = ready(node("NODE", "T", PMSGDLV="ALLAVAIL"))
    bench.sender(1, 2)
    bench.receiver(2, 1, TOPIC)
    bench.receiver(2, 2)
    token = bench.put(1, link, message("late", durable=True, delivery_time_ms=T0 + 1_000, **grouped))
    assert reason(bench, token) == Mqrc.OPTIONS_ERROR
    assert reason(bench, bench.put(1, link, message("now", durable=True, **grouped))) is None
    assert reason(bench, bench.put(1, link, message("past", durable=True, delivery_time_ms=T0, **grouped))) is None
    bench.tick(T0 + 2_000)
    assert bench.bodies() == ["now", "past"]
    assert bench.core.next_due_ms() is None


def test_a_message_that_says_it_is_not_the_last_of_a_group_may_be_delayed() -> None:
    bench = ready()
    bench.sender(1, 2)
    properties = {"JMS_IBM_Last_Msg_In_Group": False}
    token = bench.put(1, 2, message("a", delivery_time_ms=T0 + 1_000, group_id="", properties=properties))
    assert reason(bench, token) is None
