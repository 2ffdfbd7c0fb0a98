"""Tests of a late harness and messages that must not come: a watch after the delay may begin too late to find them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.evidence.histories import Story, message

from assay_evidence.events import Admin, Late
from assay_evidence.spans import NS_PER_MS
from assay_evidence.verdicts import Verdict
from assay_evidence.watching import CATCHING_UP_NS

TOPIC = "topic://T"
HELD_MS = 5_000
CATCHING_UP_MS = CATCHING_UP_NS // NS_PER_MS
Tell = Callable[[Story], None]


def held_up(story: Story, held_ms: int = HELD_MS) -> None:
    """Add a delay of the harness that begins now."""
    story.now_ns += held_ms * NS_PER_MS
    story.tell(Late, held_ns=held_ms * NS_PER_MS, late_ns=held_ms * NS_PER_MS)


def later(story: Story, span_ms: int = 1_000) -> Story:
    """Let a time pass."""
    story.now_ns += span_ms * NS_PER_MS
    return story


def received(story: Story, actor: str = "first") -> None:
    """Send a message to the queue, and let an actor receive it."""
    with story.watching(actor):
        story.send()
        story.seen(actor=actor)


def certain(story: Story) -> bool:
    """Return whether no delay can have caused the pass of the claim that the receiver never sees the message again."""
    finding = story.finds("never-seen", {"kids": "m", "actors": "receiver"}, quiet_ms=1_500)
    assert finding.verdict is Verdict.PASS, finding
    return finding.certain


def a_subscription_is_kept_for_a_while_after_its_connection_was_closed(story: Story) -> None:
    story.answer(story.call("close-connection", "passer"))
    held_up(story)
    story.send(to=TOPIC)


def a_subscription_is_kept_for_a_while_after_its_removal(story: Story) -> None:
    story.answer(story.call("unsubscribe", "leaver"))
    held_up(story)
    story.send(to=TOPIC)


def an_administrators_command_takes_effect_late(story: Story) -> None:
    story.tell(Admin, call="a1", command="DELETE SUB(news)", answer={"refused": False})
    held_up(story)
    story.send(to=TOPIC)


def a_message_is_acknowledged_late_and_its_consumer_is_lost(story: Story) -> None:
    received(story)
    held_up(story)
    story.answer(story.call("abort", "first"))


def an_acknowledgement_is_stored_late_and_the_broker_is_killed(story: Story) -> None:
    received(story)
    story.answer(story.call("acknowledge", "first", msg=message("m")))
    held_up(story)
    story.fault("begin")
    later(story).fault("end")


def a_publication_is_kept_for_a_while_for_new_subscribers(story: Story) -> None:
    story.send(to=TOPIC)
    held_up(story)


def a_message_expires_by_its_own_time_to_live(story: Story) -> None:
    story.answer(story.call("send", destination="queue://Q", msg=message("m"), args={"ttl_ms": 4_000}))
    held_up(story)


def a_message_expires_by_a_setting_of_its_queue(story: Story) -> None:
    story.send()
    held_up(story)


def many_short_delays_add_up(story: Story) -> None:
    story.send()
    for _ in range(8):
        held_up(later(story), 200)


@pytest.mark.parametrize(
    "tell",
    [
        a_subscription_is_kept_for_a_while_after_its_connection_was_closed,
        a_subscription_is_kept_for_a_while_after_its_removal,
        an_administrators_command_takes_effect_late,
        a_message_is_acknowledged_late_and_its_consumer_is_lost,
        an_acknowledgement_is_stored_late_and_the_broker_is_killed,
        a_publication_is_kept_for_a_while_for_new_subscribers,
        a_message_expires_by_its_own_time_to_live,
        a_message_expires_by_a_setting_of_its_queue,
        many_short_delays_add_up,
    ],
)
def test_a_delay_before_the_watch_can_hide_a_message_that_goes_away_by_itself(tell: Tell) -> None:
    story = Story()
    tell(story)
    with later(story).watching(of=TOPIC):
        later(story, 2_000)
    assert not certain(story)


@pytest.mark.parametrize("ttl_ms", [0, 4_000])
def test_a_delay_before_the_first_send_hides_nothing(ttl_ms: int) -> None:
    story = Story()
    held_up(story)
    story.answer(story.call("send", destination="queue://Q", msg=message("m"), args={"ttl_ms": ttl_ms}))
    with later(story).watching():
        later(story, 2_000)
    assert certain(story)


@pytest.mark.parametrize(("begun_ms", "hides"), [(CATCHING_UP_MS - 1, True), (CATCHING_UP_MS, False)])
def test_a_delay_during_the_silence_hides_nothing_once_the_consumer_has_asked_for_messages(
    begun_ms: int, *, hides: bool
) -> None:
    story = Story()
    story.send()
    with later(story).watching():
        held_up(later(story, begun_ms))
        later(story, 2_000)
    assert certain(story) is not hides


def test_a_delay_after_the_end_of_a_subscription_hides_nothing_if_the_receiver_already_waits() -> None:
    story = Story()
    with story.watching(of=TOPIC):
        story.answer(story.call("close-connection", "passer"))
        story.send(to=TOPIC)
        held_up(later(story))
        later(story, 2_000)
    assert certain(story)
