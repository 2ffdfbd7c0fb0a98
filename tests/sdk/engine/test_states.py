"""Tests that the state tables have every pair of state and input, and that the engine follows every pair."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from itertools import product
from typing import Any

import pytest

from assay_sdk.engine.calls import RefusedError
from assay_sdk.engine.states import (
    LIFE,
    LINK,
    REFUSALS,
    SERVICE,
    UNIT,
    USE,
    Act,
    Life,
    LifeEvent,
    Link,
    LinkEvent,
    Machine,
    Service,
    ServiceEvent,
    UnitEvent,
    UnitState,
    Use,
    UseEvent,
)

Table = Mapping[tuple[Any, Any], tuple[Any, Act]]
TABLES: dict[str, tuple[Table, type[StrEnum], type[StrEnum]]] = {
    "life": (LIFE, Life, LifeEvent),
    "link": (LINK, Link, LinkEvent),
    "unit": (UNIT, UnitState, UnitEvent),
    "use": (USE, Use, UseEvent),
    "service": (SERVICE, Service, ServiceEvent),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_holds_every_state_with_every_event(name: str) -> None:
    table, states, events = TABLES[name]
    assert set(table) == set(product(states, events))


@pytest.mark.parametrize("name", TABLES)
def test_every_state_can_be_reached(name: str) -> None:
    table, states, _ = TABLES[name]
    first = next(iter(states))
    reached = {first}
    for _ in states:
        reached |= {target for (state, _), (target, _) in table.items() if state in reached}
    assert reached == set(states)


def test_every_cell_makes_its_transition_or_its_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    cells = refusals = 0
    for table, _, _ in TABLES.values():
        for (state, event), (target, act) in table.items():
            machine: Machine[Any, Any] = Machine(table, state, "the thing")
            cells += 1
            if act in REFUSALS:
                with pytest.raises(RefusedError) as caught:
                    machine.take(event)
                kind, _ = REFUSALS[act]
                assert caught.value.refused.kind is kind
                assert caught.value.refused.text.startswith("the thing ")
                assert target is machine.state is state
                refusals += 1
            else:
                assert machine.take(event) is act
                assert machine.state is target
    with capsys.disabled():
        print(f"\nengine tables: {cells} cells hit, {refusals} of them refusals")  # noqa: T201  the count is to be seen
    assert cells == sum(len(table) for table, _, _ in TABLES.values())


def test_every_act_is_used_and_every_refusal_has_its_sentence() -> None:
    used = {act for table, _, _ in TABLES.values() for _, act in table.values()}
    assert used == set(Act)
    assert set(REFUSALS) == {act for act in Act if act.value.startswith("refuse")}
