"""Tests of edge cases of quiet watches."""

from __future__ import annotations

import pytest
from tests.evidence.histories import Memory, Story, message, refusal

from assay_evidence.verdicts import Verdict

EXACTLY = {"kids": "m"}


def verdict(story: Story, *others: Story, quiet_ms: int = 1) -> Verdict:
    """Return the verdict on the claim that the message came exactly once."""
    return story.finds("delivered-exactly", EXACTLY, *others, quiet_ms=quiet_ms).verdict


def poll(story: Story) -> None:
    """Add a receive call that does not wait and finds no message."""
    with story.watching():
        pass


def test_silence_before_the_send_was_answered_proves_nothing() -> None:
    story = Story()
    watch = story.watch()
    send = story.call("send", destination="queue://Q", msg=message("m"))
    story.at(9).unwatch(watch)
    story.at(10).answer(send)
    assert verdict(story) is Verdict.NOT_DEMONSTRATED


@pytest.mark.parametrize("delay_ms", [None, "5"])
def test_a_send_without_a_delay_is_due_at_its_answer(delay_ms: str | None) -> None:
    story = Story()
    send = story.call("send", destination="queue://Q", msg=message("m"), args={"delay_ms": delay_ms})
    story.answer(send)
    with story.watching():
        story.at(1)
    assert verdict(story) is Verdict.FAIL


def test_silence_after_a_fault_is_silence() -> None:
    story = Story()
    story.send()
    story.at(5).seen()
    story.at(10).fault("begin")
    story.at(20).fault("end")
    with story.watching():
        story.at(21)
    assert verdict(story) is Verdict.PASS


def test_a_poll_at_the_end_of_a_fault_is_silence() -> None:
    story = Story()
    story.send()
    story.at(5).seen()
    story.at(10).fault("begin")
    story.at(20).fault("end")
    poll(story)
    assert verdict(story) is Verdict.PASS


def test_silence_before_a_fault_that_lasts_proves_nothing() -> None:
    story = Story()
    story.send()
    story.at(5).seen()
    with story.watching():
        story.at(9)
    story.at(10).fault("begin")
    assert verdict(story) is Verdict.NOT_DEMONSTRATED


def test_a_poll_at_the_very_instant_at_which_a_message_is_due_proves_nothing() -> None:
    story = Story()
    story.send(delay_ms=10)
    story.at(10)
    poll(story)
    assert verdict(story) is Verdict.NOT_DEMONSTRATED


def test_a_receive_that_starts_at_that_instant_and_lasts_proves_silence() -> None:
    story = Story()
    story.send(delay_ms=10)
    with story.at(10).watching():
        story.at(10, 1)
    assert verdict(story) is Verdict.FAIL


def test_a_poll_after_the_send_at_one_instant_is_ordered_by_its_writer() -> None:
    story = Story()
    story.send()
    poll(story)
    assert verdict(story) is Verdict.FAIL


def test_a_poll_before_the_sighting_at_one_instant_is_ordered_by_its_writer() -> None:
    story = Story()
    story.send()
    poll(story)
    story.seen()
    assert verdict(story) is Verdict.NOT_DEMONSTRATED


def test_a_poll_at_one_instant_with_a_sighting_of_another_writer_proves_nothing() -> None:
    story, other = Story(), Story(Memory("other"))
    story.send()
    other.at(5).seen(actor="far")
    story.at(5)
    poll(story)
    assert verdict(story, other) is Verdict.NOT_DEMONSTRATED


def test_a_receive_that_was_handed_another_message_is_not_in_vain() -> None:
    story = Story()
    story.send()
    with story.watching():
        story.seen("another")
    assert verdict(story) is Verdict.NOT_DEMONSTRATED


def test_a_receive_that_was_refused_proves_no_silence() -> None:
    story = Story()
    story.send()
    with story.watching():
        receive = story.call("receive", actor="receiver")
        story.at(5)
    story.answer(receive, refused=refusal())
    assert verdict(story) is Verdict.NOT_DEMONSTRATED
