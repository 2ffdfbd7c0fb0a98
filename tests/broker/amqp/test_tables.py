"""Tests of the state tables: each state has an answer to each input, and can reach its end."""

from __future__ import annotations

import pytest

from assay_broker.amqp.connections.states import TABLE as CONNECTIONS
from assay_broker.amqp.connections.states import ConnectionAction, ConnectionInput, ConnectionState
from assay_broker.amqp.links.states import TABLE as LINKS
from assay_broker.amqp.links.states import LinkEndInput, LinkEndState


def test_a_link_has_an_answer_to_everything_that_can_happen_to_it() -> None:
    impossible = {
        (LinkEndState.ATTACHING, LinkEndInput.RELEASED),
        (LinkEndState.LEFT, LinkEndInput.DETACHED),
        (LinkEndState.LEFT, LinkEndInput.RELEASED),
        (LinkEndState.OPEN, LinkEndInput.GRANTED),
        (LinkEndState.OPEN, LinkEndInput.REFUSED),
        (LinkEndState.OPEN, LinkEndInput.RELEASED),
        (LinkEndState.LEAVING, LinkEndInput.GRANTED),
        (LinkEndState.LEAVING, LinkEndInput.REFUSED),
        (LinkEndState.LEAVING, LinkEndInput.DETACHED),
        (LinkEndState.EXPELLED, LinkEndInput.RELEASED),
        (LinkEndState.GONE, LinkEndInput.DETACHED),
    }
    every = {(state, what) for state in LinkEndState for what in LinkEndInput}
    assert every - set(LINKS) == impossible


@pytest.mark.parametrize("state", [state for state in LinkEndState if state is not LinkEndState.GONE])
def test_a_link_whose_session_ends_is_gone_from_every_state(state: LinkEndState) -> None:
    assert LINKS[state, LinkEndInput.CUT][0] is LinkEndState.GONE


def test_a_link_that_is_gone_stays_gone() -> None:
    assert {after for (before, _), (after, _) in LINKS.items() if before is LinkEndState.GONE} == {LinkEndState.GONE}


@pytest.mark.parametrize("state", [state for state in ConnectionState if state is not ConnectionState.GONE])
def test_a_connection_whose_line_is_lost_is_gone_from_every_state(state: ConnectionState) -> None:
    assert CONNECTIONS[state, ConnectionInput.LOST] == (ConnectionState.GONE, ConnectionAction.FORGET)


@pytest.mark.parametrize(
    "state",
    [
        state
        for state in ConnectionState
        if state not in {ConnectionState.GONE, ConnectionState.ENDED, ConnectionState.PARTED, ConnectionState.ENDING}
    ],
)
def test_a_connection_that_is_expelled_ends_from_every_state(state: ConnectionState) -> None:
    after, _ = CONNECTIONS[state, ConnectionInput.EXPELLED]
    assert after in {ConnectionState.ENDING, ConnectionState.ENDED, ConnectionState.PARTED}
