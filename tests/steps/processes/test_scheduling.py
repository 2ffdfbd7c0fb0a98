"""Tests of the order of scenarios when several processes run them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_adapters.ports.backend import FaultSharing
from assay_adapters.ports.capabilities import Needs
from assay_sdk.model.capabilities import Capability
from assay_steps.plugin.cases import needs_of
from assay_steps.processes.scheduling import (
    EARLY,
    FAULT_GROUPS,
    SHARERS,
    groups_of,
    interleaved,
    is_long,
    repeated_group,
)

NAMES = [f"delay/early.feature::scenario {number}" for number in range(100)]


def groups(needs: Needs, sharing: FaultSharing) -> set[str]:
    found = groups_of(dict.fromkeys(NAMES, needs), sharing)
    return {found.get(name, "") for name in NAMES}


@pytest.mark.parametrize(
    ("tags", "kind", "number"),
    [
        (("needs-restart",), "restart", SHARERS[Capability.RESTART]),
        (("needs-kill",), "kill", SHARERS[Capability.KILL]),
        (("needs-kill", "needs-cut"), "kill", SHARERS[Capability.KILL]),
        (("needs-restart", "needs-cut"), "restart", SHARERS[Capability.RESTART]),
        (("needs-restart", "needs-kill"), "faults", FAULT_GROUPS),
        (("needs-kill-at-answer", "needs-kill"), "faults", FAULT_GROUPS),
        (("needs-restart", "own-instance"), "faults", FAULT_GROUPS),
        (("needs-restart", "needs-delivery-delay"), "restart", SHARERS[Capability.RESTART]),
        (("own-instance",), "apart", FAULT_GROUPS),
        (("own-instance", "needs-topic"), "apart", FAULT_GROUPS),
    ],
)
def test_scenarios_with_the_same_plain_fault_and_those_without_a_fault_form_groups_of_their_own(
    tags: tuple[str, ...], kind: str, number: int
) -> None:
    found = groups(needs_of(tags), FaultSharing.TOGETHER)
    assert {name.rpartition("-")[0] for name in found} == {kind}
    assert len(found) == number


@pytest.mark.parametrize("tags", [("needs-cut",), ("needs-cut", "needs-delivery-delay"), (), ("needs-topic",)])
def test_scenarios_that_end_no_broker_need_no_group(tags: tuple[str, ...]) -> None:
    assert groups(needs_of(tags), FaultSharing.TOGETHER) == {""}


def test_where_brokers_serve_in_turn_each_fault_needs_one_of_the_few_brokers() -> None:
    for tag in ("needs-restart", "needs-kill", "needs-cut", "own-instance"):
        assert len(groups(needs_of((tag,)), FaultSharing.IN_TURN)) == FAULT_GROUPS
        assert groups(needs_of((tag,)), FaultSharing.NONE) == {""}


def test_the_groups_of_a_fault_have_about_the_same_size() -> None:
    needs = {**dict.fromkeys(NAMES[:57], needs_of(("needs-restart",))), NAMES[90]: needs_of(("needs-kill",))}
    found = groups_of(needs, FaultSharing.TOGETHER)
    sizes = Counter(found.values())
    assert sizes.pop("kill-0") == 1
    assert set(sizes.values()) == {3, 4}


def test_repeated_scenarios_use_the_few_brokers_one_after_the_other() -> None:
    found = {repeated_group(group) for group in groups(needs_of(("needs-restart",)), FaultSharing.TOGETHER)}
    assert found == groups(needs_of(("needs-restart", "own-instance")), FaultSharing.TOGETHER)
    assert repeated_group("apart-4") == "faults-4"
    assert repeated_group("faults-3") == "faults-3"
    assert repeated_group("") == ""


def test_those_that_are_alike_are_dealt_out_evenly() -> None:
    assert "".join(interleaved("aaaabbc", lambda letter: letter, lambda _letter: False)) == "abcaaba"


def test_those_that_take_long_begin_in_the_first_part() -> None:
    found = interleaved(range(100), lambda number: number % 3, lambda number: number % 10 == 7)
    assert max(place for place, number in enumerate(found) if number % 10 == 7) < EARLY * 100
    assert sorted(found) == list(range(100))


@pytest.mark.parametrize(
    ("sentence", "long"),
    [
        ('message "m1" is sent to the queue with a delivery delay of 20 s', True),
        ("a time to live of 10000 ms", True),
        ("2 min pass", True),
        ("5 m pass", True),
        ("1 minute pass", True),
        ("0.5m pass", True),
        ("2 days pass", True),
        ("0.1 m pass", False),
        ("10000.5 ms pass", False),
        ("5 messages are sent to the queue", False),
        ("a delivery delay of 9999 ms", False),
        ("a delivery delay of 9 s", False),
        ('queue "A2000 sent" has 10 messages', False),
        ("no delivery delay", False),
    ],
)
def test_a_scenario_may_last_long_if_a_step_names_ten_seconds_or_more(sentence: str, *, long: bool) -> None:
    assert is_long(["an empty queue", sentence]) is long


@given(st.lists(st.tuples(st.integers(0, 5), st.integers())))
def test_nothing_is_lost_and_those_of_a_kind_keep_their_order(items: list[tuple[int, int]]) -> None:
    found = interleaved(items, lambda item: item[0], lambda _item: False)
    for kind in range(6):
        assert [item for item in found if item[0] == kind] == [item for item in items if item[0] == kind]
    assert len(found) == len(items)
