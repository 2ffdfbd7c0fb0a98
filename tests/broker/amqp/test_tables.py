"""The state tables: whatever happens in whatever state has an answer, and everything ends."""

from __future__ import annotations

import pytest

from assay_broker.amqp import lifecycle, links


def test_a_link_has_an_answer_to_everything_that_can_happen_to_it() -> None:
    impossible = {
        (links.State.ATTACHING, links.Input.RELEASED),
        (links.State.LEFT, links.Input.DETACHED),
        (links.State.LEFT, links.Input.RELEASED),
        (links.State.OPEN, links.Input.GRANTED),
        (links.State.OPEN, links.Input.REFUSED),
        (links.State.OPEN, links.Input.RELEASED),
        (links.State.LEAVING, links.Input.GRANTED),
        (links.State.LEAVING, links.Input.REFUSED),
        (links.State.LEAVING, links.Input.DETACHED),
        (links.State.EXPELLED, links.Input.RELEASED),
        (links.State.GONE, links.Input.DETACHED),
    }
    every = {(state, what) for state in links.State for what in links.Input}
    assert every - set(links.TABLE) == impossible


@pytest.mark.parametrize("state", [state for state in links.State if state is not links.State.GONE])
def test_a_link_whose_session_ends_is_gone_from_every_state(state: links.State) -> None:
    assert links.TABLE[state, links.Input.CUT][0] is links.State.GONE


def test_a_link_that_is_gone_stays_gone() -> None:
    assert {after for (before, _), (after, _) in links.TABLE.items() if before is links.State.GONE} == {
        links.State.GONE
    }


@pytest.mark.parametrize("state", [state for state in lifecycle.State if state is not lifecycle.State.GONE])
def test_a_connection_whose_line_is_lost_is_gone_from_every_state(state: lifecycle.State) -> None:
    assert lifecycle.TABLE[state, lifecycle.Input.LOST] == (lifecycle.State.GONE, lifecycle.Act.FORGET)


@pytest.mark.parametrize(
    "state",
    [
        state
        for state in lifecycle.State
        if state not in {lifecycle.State.GONE, lifecycle.State.ENDED, lifecycle.State.PARTED, lifecycle.State.ENDING}
    ],
)
def test_a_connection_that_is_expelled_ends_from_every_state(state: lifecycle.State) -> None:
    after, _ = lifecycle.TABLE[state, lifecycle.Input.EXPELLED]
    assert after in {lifecycle.State.ENDING, lifecycle.State.ENDED, lifecycle.State.PARTED}
