"""A small fixed part of the fuzzing; `make fuzz` tries many more cases."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.broker.amqp.fuzzing.attackers import WrongError
from tests.broker.amqp.fuzzing.frames import Maker
from tests.broker.amqp.fuzzing.hunt import hunt
from tests.broker.amqp.fuzzing.mutation import Mutator
from tests.broker.amqp.fuzzing.scenes import GUARDED, SCENES
from tests.broker.amqp.fuzzing.trees import parse

from assay_broker.amqp.links.incoming import IncomingEnd
from assay_sdk.amqp import types

SHARE = 300


def test_the_first_cases_find_no_fault() -> None:
    tally = hunt(7, lambda tally: tally.cases < SHARE)
    assert tally.cases == SHARE
    assert set(tally.scenes) == {*SCENES, *GUARDED}


def test_a_mistake_of_the_servers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(end: IncomingEnd, delivery: object) -> None:
        del end, delivery
        raise KeyError("a mistake")

    monkeypatch.setattr(IncomingEnd, "changed", mistaken)
    with pytest.raises((WrongError, TimeoutError)):
        hunt(7, lambda tally: tally.cases < SHARE)


def test_the_hunt_finds_objects_that_are_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[object] = []
    begin = IncomingEnd.begin

    def keeping(end: IncomingEnd) -> None:
        kept.append(end)
        begin(end)

    monkeypatch.setattr(IncomingEnd, "begin", keeping)
    with pytest.raises(WrongError, match="are left"):
        hunt(7, lambda tally: tally.cases < 40)


def test_a_case_depends_on_its_seed_and_number_alone() -> None:
    def case() -> bytes:
        chance = random.Random("7/3")  # noqa: S311  no secret
        maker = Maker(chance, (b"unit",))
        return Mutator(chance).stream([maker.frame() for _ in range(5)])

    assert case() == case()


@given(st.randoms(use_true_random=False))
def test_every_frame_that_is_made_is_well_formed_and_its_tree_says_the_same(chance: random.Random) -> None:
    made = Maker(chance, (b"unit",)).frame()
    assert parse(made.performative).encode() == made.performative
    types.decode(made.performative)
