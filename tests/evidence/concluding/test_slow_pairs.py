"""Tests of the periods that are too short for a slow pair."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.evidence.histories import Memory, Story, begin, message, plan, planned
from tests.evidence.judged import CATALOGUE, NAME

from assay_evidence import events as ev
from assay_evidence.concluding.slow_pairs import short_periods
from assay_evidence.judge import judge
from assay_evidence.verdicts import ScenarioVerdict, Verdict

NS_PER_MS = 1_000_000


def asks(story: Story, op: str, took_ms: int, actor: str = "sender", **args: ev.Scalar) -> None:
    """Write a call that takes some milliseconds."""
    call = story.call(op, actor, args=dict(args))
    story.now_ns += took_ms * NS_PER_MS
    story.answer(call)


def commands(story: Story, took_ms: int | None) -> None:
    """Write an administrator's command that ended at the story's present time."""
    took_ns = None if took_ms is None else took_ms * NS_PER_MS
    story.tell(ev.Admin, call="admin1", command="ALTER QLOCAL('q') PUT(DISABLED)", took_ns=took_ns)


def slow_send(story: Story) -> None:
    story.send(delay_ms=1_000, took_ms=500)


def quick_send(story: Story) -> None:
    story.send(delay_ms=1_000, took_ms=499)


def slow_send_with_a_tiny_delay(story: Story) -> None:
    story.send(delay_ms=249, took_ms=500)


def slow_connect_that_ends_later(story: Story) -> None:
    story.send(delay_ms=1_000)
    asks(story.at(900), "connect", 600)


def slow_connect_that_begins_later(story: Story) -> None:
    story.send(delay_ms=1_000)
    asks(story.at(1_000), "connect", 600)


def slow_command(story: Story) -> None:
    story.send(delay_ms=1_000)
    commands(story.at(700), 600)


def command_without_a_time(story: Story) -> None:
    story.send(delay_ms=1_000)
    commands(story.at(700), None)


def wait_for_a_message(story: Story) -> None:
    story.send(delay_ms=1_000)
    asks(story, "receive", 900)


def call_without_an_answer(story: Story) -> None:
    story.send(delay_ms=1_000)
    story.call("connect", "other")
    story.at(2_000)


def call_during_a_kill(story: Story) -> None:
    story.send(delay_ms=1_000)
    call = story.call("commit")
    story.fault("begin")
    story.at(600).fault("end")
    story.answer(call)


def two_calls_at_once(story: Story) -> None:
    story.send(delay_ms=1_000)
    first, second = story.call("connect", "a"), story.call("connect", "b")
    story.at(300).answer(first)
    story.answer(second)


def time_to_live(story: Story) -> None:
    call = story.call("send", msg=message("m"), args={"ttl_ms": 400, "delay_ms": 200})  # too short a delay to count
    story.answer(call)
    asks(story, "consumer", 300, "receiver")


def subscription(story: Story) -> None:
    asks(story, "consumer", 10, "s", ttl_ms=2_000)
    asks(story, "close-connection", 200, "s")
    asks(story, "connect", 900, "s")


def subscription_without_an_end(story: Story) -> None:
    asks(story, "consumer", 10, "s")
    asks(story, "close-connection", 200, "s")
    asks(story, "connect", 900, "s")


def connection_without_a_subscription(story: Story) -> None:
    asks(story, "consumer", 10, "s", ttl_ms=2_000)
    asks(story, "abort", 200, "sender")
    asks(story, "connect", 900, "sender")


@pytest.mark.parametrize(
    ("tell", "answers_ms"),
    [
        (slow_send, 500),
        (slow_connect_that_ends_later, 600),
        (slow_command, 600),
        (time_to_live, 300),
        (subscription, 1_100),
    ],
)
def test_answers_that_take_half_of_a_period_make_it_too_short(tell: Callable[[Story], None], answers_ms: int) -> None:
    story = Story()
    tell(story)
    *_, period = short_periods(story.events)
    assert period.answers_ns == answers_ms * NS_PER_MS
    assert "answers took" in str(period)


@pytest.mark.parametrize(
    "tell",
    [
        quick_send,
        slow_send_with_a_tiny_delay,
        slow_connect_that_begins_later,
        command_without_a_time,
        wait_for_a_message,
        call_without_an_answer,
        call_during_a_kill,
        two_calls_at_once,
        subscription_without_an_end,
        connection_without_a_subscription,
    ],
)
def test_other_times_do_not_count(tell: Callable[[Story], None]) -> None:
    story = Story()
    tell(story)
    assert short_periods(story.events) == ()


def scenario(tell: Callable[[Story], None]) -> ScenarioVerdict:
    """Return the verdict on a scenario with one attempt."""
    sink = Memory()
    begin(sink)
    plan(sink, planned(NAME))
    story = Story(sink, NAME)
    story.starts()
    tell(story)
    story.ends()
    ((found,),) = (rule.scenarios for rule in judge(sink.events, CATALOGUE).rules)
    return found


def misses(story: Story) -> None:
    """Write a claim on a message that nobody received."""
    with story.watching():
        story.at(9_000)
    story.claim("delivered-exactly", {"kids": "m"})


def misses_in_time(story: Story) -> None:
    """Write a claim that a message, which nobody received, came in time."""
    send = next(event for event in story.events if isinstance(event, ev.Call))
    with story.watching():
        story.at(9_000)
    story.claim("by", {"kid": "m", "call": send.ref}, delay_ms=1_000, limit_ms=100)


@pytest.mark.parametrize(
    ("tell", "verdict", "delayed"),
    [
        (lambda story: (slow_send(story), misses(story)), Verdict.INCONCLUSIVE, True),
        (lambda story: (quick_send(story), misses(story)), Verdict.FAIL, False),
        (lambda story: (slow_send(story), misses_in_time(story)), Verdict.FAIL, False),
        (
            lambda story: (slow_send(story), story.at(2_000).seen(), story.seen(), misses(story)),
            Verdict.FAIL,
            False,
        ),
        (
            lambda story: (slow_send(story), story.claim("delivered-exactly", {"kids": "m"})),
            Verdict.NOT_DEMONSTRATED,
            True,
        ),
    ],
    ids=["missing", "missing at a quick pair", "late", "too often", "not demonstrated"],
)
def test_a_fail_after_a_period_that_was_too_short_is_open_and_tried_again(
    tell: Callable[[Story], object], verdict: Verdict, delayed: bool
) -> None:
    found = scenario(lambda story: (tell(story), None)[1])
    assert (found.verdict, found.delayed) == (verdict, delayed), found.reason
    assert ("The pair was too slow" in found.reason) is (verdict is Verdict.INCONCLUSIVE)


def sees_again(story: Story) -> None:
    """Write the sighting of a message after all periods, and a claim that nobody sees the message."""
    story.at(9_000).seen()
    story.claim("never-seen", {"kids": "m"})


@pytest.mark.parametrize(
    ("tell", "verdict"), [(time_to_live, Verdict.FAIL), (subscription, Verdict.FAIL), (slow_send, Verdict.INCONCLUSIVE)]
)
def test_only_the_end_of_a_delay_can_let_a_message_be_seen(tell: Callable[[Story], None], verdict: Verdict) -> None:
    def told(story: Story) -> None:
        tell(story)
        sees_again(story)

    assert scenario(told).verdict is verdict


def test_a_fail_before_the_end_of_the_period_stays() -> None:
    def tell(story: Story) -> None:
        story.send(delay_ms=9_500, took_ms=5_000)
        story.seen()
        story.seen()
        story.claim("in-order", {"kids": "m"})
        story.claim("never-seen", {"kids": "m"})

    assert scenario(tell).verdict is Verdict.FAIL
