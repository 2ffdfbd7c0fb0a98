"""Tests that each failing predicate names the events that break the rule, so that a report can mark them."""

from __future__ import annotations

from tests.evidence.histories import Story

from assay_evidence.events import Return
from assay_evidence.verdicts import Verdict


def answer_to(story: Story, call_id: str) -> str:
    return next(event.ref for event in story.events if isinstance(event, Return) and event.call == call_id)


def test_the_second_delivery_of_a_message_that_may_come_once() -> None:
    story = Story()
    with story.watching():
        story.send()
        story.at(10).seen()
        again = story.at(20).seen()
    finding = story.finds("delivered-exactly", {"kid": "m"}, times=1)
    assert finding.verdict is Verdict.FAIL
    assert finding.offenders == (again.ref,)
    assert "delivered exactly 1 time" in finding.expected
    assert "m seen 2 times" in finding.observed


def test_a_message_that_nobody_may_see() -> None:
    story = Story()
    with story.watching():
        story.send()
        seen = story.at(10).seen()
    finding = story.finds("never-seen", {"kid": "m"})
    assert finding.offenders == (seen.ref,)


def test_the_browse_that_lists_something_else() -> None:
    story = Story()
    story.send()
    look = story.at(10).browse()
    finding = story.finds("found-by-browse", {"kid": "m", "call": look.ref})
    assert finding.verdict is Verdict.FAIL
    assert finding.offenders == (answer_to(story, look.id),)
    assert finding.observed == "m 0 times, of 0 listed"


def test_nothing_is_named_where_a_message_did_not_come() -> None:
    story = Story()
    with story.watching():
        story.send()
        story.at(100)
    finding = story.finds("delivered-exactly", {"kid": "m"}, times=1)
    assert finding.verdict is Verdict.FAIL
    assert finding.offenders == ()
