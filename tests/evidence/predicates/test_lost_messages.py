"""Tests of missing messages after the broker stopped: whether they count against the client."""

from __future__ import annotations

import pytest
from tests.evidence.histories import QUEUE, Story, message
from tests.evidence.judged import verdicts_of

from assay_evidence.events import Predicate, Settle
from assay_evidence.verdicts import ScenarioVerdict, Verdict

PREDICATES: tuple[Predicate, ...] = ("delivered-at-least", "delivered-exactly", "redelivered")


def missing(
    predicate: Predicate = "delivered-at-least",
    *,
    outcome: str = "",
    stops: bool = True,
    answered: bool = True,
    judged: str = "client",
    ours: tuple[str, ...] = ("client",),
) -> ScenarioVerdict:
    """Return the verdict on a scenario in which one of two messages does not come after the broker stopped.

    Args:
        predicate: The predicate of the claim about both messages.
        outcome: The outcome with which the client settled the missing message; empty if it did not.
        stops: Whether the broker stops at all.
        answered: Whether the broker answered the send of the missing message before it stopped.
        judged: The judged parts.
        ours: The kit's own parts.
    """

    def told(story: Story) -> None:
        send = story.call("send", destination=QUEUE, msg=message("lost"), args={"delay_ms": 0})
        if answered:
            story.answer(send)
        story.send("kept")
        if predicate == "redelivered":
            story.seen("lost")
            story.seen("kept")
        if outcome:
            story.tell(Settle, actor="receiver", link="receiver/1", msg=message("lost"), outcome=outcome)
        if stops:
            story.fault("begin")
            story.fault("end")
        if not answered:
            story.answer(send)
        story.watch()
        story.seen("kept", redelivered=True)
        story.at(story.now_ns // 1_000_000 + 5_000)
        story.claim(predicate, {"kids": "lost|kept", "actors": "receiver"}, quiet_ms=1_500)

    return verdicts_of(told, judged=judged, ours=ours)


@pytest.mark.parametrize("predicate", PREDICATES)
@pytest.mark.parametrize("outcome", ["", "released"])
def test_a_message_that_the_client_had_not_accepted_was_lost_by_the_broker(predicate: Predicate, outcome: str) -> None:
    found = missing(predicate, outcome=outcome)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "The broker lost the missing messages" in found.reason


@pytest.mark.parametrize("predicate", PREDICATES)
def test_a_message_that_the_client_had_accepted_counts_against_the_client(predicate: Predicate) -> None:
    assert missing(predicate, outcome="accepted").verdict is Verdict.FAIL


@pytest.mark.parametrize("predicate", PREDICATES)
def test_a_message_whose_send_was_unanswered_counts_against_the_client(predicate: Predicate) -> None:
    assert missing(predicate, answered=False).verdict is Verdict.FAIL


def test_without_a_stop_of_the_broker_the_client_lost_the_message() -> None:
    assert missing(stops=False).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("judged", "ours"),
    [("broker", ("client",)), ("client+broker", ("client",)), ("client", ("client", "broker"))],
)
def test_a_judged_broker_fails_and_the_kits_own_broker_keeps_its_messages(judged: str, ours: tuple[str, ...]) -> None:
    assert missing(judged=judged, ours=ours).verdict is Verdict.FAIL
