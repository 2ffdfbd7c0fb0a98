from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_broker.core.objects.attributes import defaults
from assay_broker.core.objects.directory import Directory
from assay_broker.core.objects.factory import BASE_TOPIC, factory
from assay_broker.core.objects.model import Definition, Kind, Namespace, Value
from assay_broker.core.topics.topic_tree import Reach, topic_settings


def topic(name: str, string: str, **given: Value) -> Definition:
    return Definition(Kind.TOPIC, name, defaults(Kind.TOPIC) | {"TOPICSTR": string} | given)


def directory(*topics: Definition) -> Directory:
    return Directory((*factory("QM", zos=False), *topics))


def test_without_topic_objects_the_base_topic_says_everything() -> None:
    settings = topic_settings(directory(), "a/b")
    assert (settings.persistent, settings.priority, settings.publishing, settings.subscribing) == (False, 0, True, True)
    assert (settings.durable, settings.dead_letters) == (True, True)
    assert (settings.reach(persistent=True), settings.reach(persistent=False)) == (Reach.DURABLE, Reach.AVAILABLE)


def test_each_attribute_comes_from_the_nearest_ancestor_that_sets_it() -> None:
    objects = directory(
        topic("TOP", "a", PMSGDLV="ALL", DEFPRTY=7, PUB="DISABLED"),
        topic("DEEP", "a/b/c", PMSGDLV="ALLAVAIL", DEFPSIST="YES"),
        topic("BESIDE", "a/b/x", PUB="ENABLED"),
    )
    settings = topic_settings(objects, "a/b/c/d")
    assert settings.persistent_reach is Reach.AVAILABLE
    assert (settings.priority, settings.persistent, settings.publishing) == (7, True, False)
    assert topic_settings(objects, "a/b").persistent_reach is Reach.ALL
    assert topic_settings(objects, "ab").persistent_reach is Reach.DURABLE


def test_a_change_of_the_base_topic_reaches_every_topic_that_does_not_say_otherwise() -> None:
    objects = directory(topic("OWN", "own", SUB="ENABLED"))
    base = objects.find(Namespace.TOPIC, BASE_TOPIC)
    assert base is not None
    objects.put(Definition(Kind.TOPIC, BASE_TOPIC, base.attributes | {"SUB": "DISABLED"}))
    assert not topic_settings(objects, "other").subscribing
    assert topic_settings(objects, "own/x").subscribing


@pytest.mark.parametrize("inherits", [True, False])
def test_the_shipped_values_hold_when_the_base_topic_is_gone_or_says_nothing(inherits: bool) -> None:
    objects = directory()
    shipped = topic_settings(objects, "a")
    if inherits:
        objects.put(Definition(Kind.TOPIC, BASE_TOPIC, defaults(Kind.TOPIC)))
    else:
        objects.remove(Namespace.TOPIC, BASE_TOPIC)
    assert topic_settings(objects, "a") == shipped


def test_the_default_topic_is_no_part_of_the_tree() -> None:
    objects = directory(topic("SYSTEM.DEFAULT.TOPIC", "", PUB="DISABLED"))
    assert topic_settings(objects, "a").publishing


def test_a_deleted_topic_object_says_nothing_any_more() -> None:
    objects = directory(topic("T", "a/b", PUB="DISABLED"))
    objects.remove(Namespace.TOPIC, "T")
    objects.remove(Namespace.TOPIC, "T")
    assert topic_settings(objects, "a/b").publishing


def test_a_topic_object_defined_anew_at_another_string_has_left_the_first() -> None:
    objects = directory(topic("T", "a", PUB="DISABLED"))
    objects.put(topic("T", "b", PUB="DISABLED"))
    assert topic_settings(objects, "a").publishing
    assert not topic_settings(objects, "b").publishing


def test_an_object_is_found_by_its_topic_string_not_by_its_name() -> None:
    objects = directory(topic("NAME", "string", PUB="DISABLED"))
    assert topic_settings(objects, "NAME").publishing
    assert not topic_settings(objects, "string").publishing


STRING = st.lists(st.sampled_from(["", "a", "b"]), min_size=1, max_size=4).map("/".join)


@given(nodes=st.dictionaries(STRING.filter(bool), st.integers(0, 9), max_size=8), string=STRING)
def test_resolution_is_that_of_walking_up_level_by_level(nodes: dict[str, int], string: str) -> None:
    objects = directory(
        *(topic(f"T{number}", node, DEFPRTY=value) for number, (node, value) in enumerate(nodes.items()))
    )
    expected, at = 0, string.split("/")
    while at:
        if "/".join(at) in nodes:
            expected = nodes["/".join(at)]
            break
        at.pop()
    assert topic_settings(objects, string).priority == expected
