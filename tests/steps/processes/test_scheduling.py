"""Tests of the order of scenarios when several processes run them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay_steps.processes.scheduling import interleaved


def test_those_that_are_alike_are_dealt_out_evenly() -> None:
    assert "".join(interleaved("aaaabbc", lambda letter: letter)) == "abcaaba"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers())))
def test_nothing_is_lost_and_those_of_a_kind_keep_their_order(items: list[tuple[int, int]]) -> None:
    found = interleaved(items, lambda item: item[0])
    for kind in range(6):
        assert [item for item in found if item[0] == kind] == [item for item in items if item[0] == kind]
    assert len(found) == len(items)
