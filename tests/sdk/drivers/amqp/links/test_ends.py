"""Tests of the table of link states, and of its completeness."""

from __future__ import annotations

import pytest

from assay_sdk.drivers.amqp.errors import KINDS, refusal
from assay_sdk.drivers.amqp.links.ends import TABLE, LinkInput, LinkState
from assay_sdk.model.reasons import REASONS, JmsErrorKind, Mqrc

IMPOSSIBLE = {
    (LinkState.REFUSING, LinkInput.ATTACHED),
    (LinkState.REFUSING, LinkInput.ATTACHED_WITHOUT),
    (LinkState.OPEN, LinkInput.ATTACHED),
    (LinkState.OPEN, LinkInput.ATTACHED_WITHOUT),
    (LinkState.CLOSING, LinkInput.CLOSE),
    *((LinkState.GONE, what) for what in LinkInput),
}
"""Pairs of state and input that cannot happen.

Proton refuses a second attach, `LinkEnd.close` answers a second close without the table, and no input follows the end.
"""


@pytest.mark.parametrize("state", LinkState)
@pytest.mark.parametrize("what", LinkInput)
def test_every_state_knows_every_input_that_can_come(state: LinkState, what: LinkInput) -> None:
    assert ((state, what) in TABLE) is not ((state, what) in IMPOSSIBLE)


def test_every_state_leads_to_the_end() -> None:
    reachable = {LinkState.GONE}
    for _ in LinkState:
        reachable |= {state for (state, _), (target, _) in TABLE.items() if target in reachable}
    assert reachable == set(LinkState)


class Condition:
    def __init__(self, name: str, info: object = None) -> None:
        self.name = name
        self.description = "why"
        self.info = info


@pytest.mark.parametrize("mqrc", Mqrc)
def test_a_reason_code_decides_before_the_condition(mqrc: Mqrc) -> None:
    condition = Condition(REASONS[mqrc].condition, {"x-opt-mqrc": int(mqrc), "x-opt-mqrc-objects": ["A", "B"]})
    refused = refusal(condition, "it")
    assert (refused.kind, refused.mqrc, refused.objects) == (REASONS[mqrc].kind, int(mqrc), ("A", "B"))


def test_an_unknown_reason_code_is_told_with_its_number() -> None:
    refused = refusal(Condition("amqp:not-found", {"x-opt-mqrc": 9999}), "it", "Q")
    assert (refused.kind, refused.mqrc, refused.objects) == (JmsErrorKind.INVALID_DESTINATION, 9999, ("Q",))


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_a_condition_alone_has_a_kind_and_no_made_up_code(name: str, kind: JmsErrorKind) -> None:
    refused = refusal(Condition(name), "it")
    assert (refused.kind, refused.mqrc) == (kind, None)
    assert "why" in refused.text


def test_no_condition_is_said_to_be_none() -> None:
    assert "no reason" in refusal(None, "it").text
