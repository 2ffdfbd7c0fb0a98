"""Tests of a late harness: its late events prove neither a pass nor a fail."""

from __future__ import annotations

import pytest
from tests.evidence.histories import Memory, Story, begin, message, plan, planned, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence.events import Late
from assay_evidence.judge import judge, judge_claim
from assay_evidence.spans import NS_PER_MS
from assay_evidence.verdicts import Finding, ScenarioVerdict, Verdict
from assay_evidence.watching import CATCHING_UP_NS
from assay_features import load_catalogue

rows = Rows()
RECEIVER = {"kid": "m", "actors": "receiver"}
CATCHING_UP_MS = CATCHING_UP_NS // NS_PER_MS


def held_up(story: Story, until_ms: int, held_ms: int) -> None:
    """Add a delay of the harness that lasts `held_ms` and ends at `until_ms`."""
    story.at(until_ms).tell(Late, held_ns=held_ms * NS_PER_MS, late_ns=held_ms * NS_PER_MS)


def early(story: Story, *, until_ms: int, held_ms: int, seen_ms: int, delay_ms: int = 2_000) -> Finding:
    """Return a finding on a watched delayed message, with a delay of the harness."""
    with story.watching():
        send = story.send(delay_ms=delay_ms)
        held_up(story, until_ms, held_ms)
        story.at(seen_ms).seen()
    return story.finds("not-before", RECEIVER | {"call": send.ref}, delay_ms=delay_ms)


@rows.expect(Verdict.INCONCLUSIVE)
def an_early_message_may_be_noted_only_when_it_is_due(story: Story) -> Finding:
    return early(story, until_ms=5_000, held_ms=4_000, seen_ms=5_001)


@rows.expect(Verdict.INCONCLUSIVE)
def an_early_message_may_be_noted_while_the_harness_catches_up(story: Story) -> Finding:
    return early(story, until_ms=2_500, held_ms=501, seen_ms=2_500 + CATCHING_UP_MS)


@rows.expect(Verdict.PASS)
def a_message_that_is_noted_after_the_harness_has_caught_up_came_after_it(story: Story) -> Finding:
    return early(story, until_ms=2_500, held_ms=501, seen_ms=2_501 + CATCHING_UP_MS)


@rows.expect(Verdict.PASS)
def a_delay_that_began_at_the_due_moment_hides_nothing_early(story: Story) -> Finding:
    return early(story, until_ms=2_500, held_ms=500, seen_ms=2_501)


@rows.expect(Verdict.FAIL)
def an_early_message_that_is_noted_early_is_early_however_late_it_was_noted(story: Story) -> Finding:
    return early(story, until_ms=1_900, held_ms=1_800, seen_ms=1_901)


@rows.expect(Verdict.INCONCLUSIVE)
def two_delays_in_a_row_are_one(story: Story) -> Finding:
    with story.watching():
        send = story.send(delay_ms=2_000)
        held_up(story, 2_500, 1_000)
        held_up(story, 3_500, 900)
        held_up(story, 4_600, 1_050)
        story.seen()
    return story.finds("not-before", RECEIVER | {"call": send.ref}, delay_ms=2_000)


@rows.expect(Verdict.PASS)
def a_look_that_was_asked_for_after_the_due_moment_lists_nothing_early(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    story.at(100).browse()
    look = story.at(501).call("browse", "browser", destination="queue://Q")
    held_up(story, 5_000, 4_900)
    story.answer(look, keys=("m",))
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.INCONCLUSIVE)
def a_look_that_was_asked_for_before_may_have_listed_it_early(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    story.at(100).browse()
    look = story.at(499).call("browse", "browser", destination="queue://Q")
    held_up(story, 5_000, 4_900)
    story.answer(look, keys=("m",))
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


def late(story: Story, *, until_ms: int, held_ms: int, seen_ms: int | None) -> Finding:
    """Return a finding on a watched message that must come within 200 ms, with a delay of the harness."""
    with story.watching():
        send = story.send()
        held_up(story, until_ms, held_ms)
        if seen_ms is not None:
            story.at(seen_ms).seen()
        story.at(10_000)
    return story.finds("by", RECEIVER | {"call": send.ref}, limit_ms=200)


@rows.expect(Verdict.INCONCLUSIVE)
def a_message_may_come_in_time_and_be_noted_too_late(story: Story) -> Finding:
    return late(story, until_ms=5_000, held_ms=4_900, seen_ms=5_001)


@rows.expect(Verdict.FAIL)
def a_delay_that_began_after_the_limit_makes_nothing_late(story: Story) -> Finding:
    return late(story, until_ms=5_000, held_ms=4_799, seen_ms=5_001)


@rows.expect(Verdict.PASS)
def what_is_noted_in_time_came_in_time(story: Story) -> Finding:
    return late(story, until_ms=150, held_ms=150, seen_ms=151)


@rows.expect(Verdict.FAIL)
def a_message_that_is_not_noted_after_the_delay_did_not_come_meanwhile(story: Story) -> Finding:
    return late(story, until_ms=5_000, held_ms=4_900, seen_ms=None)


@rows.expect(Verdict.INCONCLUSIVE)
def a_claim_right_after_the_delay_cannot_tell_what_came_meanwhile(story: Story) -> Finding:
    with story.watching():
        send = story.send()
        held_up(story, 5_000, 4_900)
        story.at(5_001)
    return story.finds("by", RECEIVER | {"call": send.ref}, limit_ms=200)


@rows.expect(Verdict.INCONCLUSIVE)
def an_event_that_is_noted_late_makes_what_follows_look_in_time(story: Story) -> Finding:
    with story.watching():
        send = story.send(unit="u")
        held_up(story, 5_000, 4_900)
        commit = story.call("commit")
        answer = story.answer(commit)
        story.at(5_100).seen()
    return story.finds("by", RECEIVER | {"call": send.ref, "after": answer.ref}, limit_ms=200)


@rows.expect(Verdict.INCONCLUSIVE)
def silence_while_the_harness_was_held_up_is_none(story: Story) -> Finding:
    with story.watching():
        story.send()
        story.seen()
        held_up(story, 2_000, 1_900)
    return story.finds("delivered-exactly", {"kids": "m"}, quiet_ms=1_500)


@rows.expect(Verdict.PASS)
def silence_after_the_harness_has_caught_up_counts(story: Story) -> Finding:
    with story.watching():
        story.send()
        story.seen()
        held_up(story, 2_000, 1_900)
        story.at(2_000 + CATCHING_UP_MS + 1_400)
    return story.finds("delivered-exactly", {"kids": "m"}, quiet_ms=1_500)


@rows.expect(Verdict.INCONCLUSIVE)
def a_message_does_not_count_as_lost_before_the_harness_has_caught_up(story: Story) -> Finding:
    with story.watching():
        story.send()
        held_up(story, 5_000, 4_900)
    return story.finds("delivered-exactly", {"kids": "m"}, quiet_ms=1_500)


@rows.expect(Verdict.INCONCLUSIVE)
def a_receive_in_vain_during_a_delay_proves_no_silence(story: Story) -> Finding:
    story.send()
    story.seen()
    with story.watching():
        held_up(story, 5_000, 5_000)
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def never_seen_does_not_pass_in_a_delay(story: Story) -> Finding:
    with story.watching():
        send = story.send()
        held_up(story, 3_000, 2_900)
    return story.finds("never-seen", {"kids": "m", "actors": "receiver", "call": send.ref}, window_ms=2_000)


@rows.expect(Verdict.INCONCLUSIVE)
def a_unit_of_work_is_not_whole_while_the_harness_is_held_up(story: Story) -> Finding:
    with story.watching():
        story.send("sent")
        end = story.answer(story.call("commit"))
        story.seen("sent")
        held_up(story, 5_000, 4_990)
    return story.finds("all-or-nothing", {"kids": "sent", "after": end.ref}, quiet_ms=1_500)


@rows.expect(Verdict.INCONCLUSIVE, disclosed="")
def an_answer_that_is_noted_late_may_come_before_the_flush(story: Story) -> Finding:
    send = story.call("send", destination="queue://Q", msg=message("m"))
    story.at(100).disk("write", "m")
    story.disk("flush", "m")
    held_up(story, 5_000, 4_950)
    story.answer(send)
    return story.finds("flushed-before", {"kid": "m", "call": send.ref})


@rows.expect(Verdict.PASS, disclosed="simulated disk")
def a_flush_before_the_delay_is_before_the_answer(story: Story) -> Finding:
    send = story.call("send", destination="queue://Q", msg=message("m"))
    story.at(40).disk("write", "m")
    story.disk("flush", "m")
    held_up(story, 5_000, 4_950)
    story.answer(send)
    return story.finds("flushed-before", {"kid": "m", "call": send.ref})


@rows.expect(Verdict.INCONCLUSIVE)
def a_batch_may_be_noted_too_late(story: Story) -> Finding:
    story.watch()
    story.send()
    held_up(story, 5_000, 4_950)
    story.seen(batch=0)
    return story.finds("batch-shape", {"actor": "receiver"}, max=1, full_ms=100)


@rows.expect(Verdict.INCONCLUSIVE)
def a_batch_may_have_waited_since_before_its_send_was_noted_as_answered(story: Story) -> Finding:
    story.watch()
    send = story.call("send", destination="queue://Q", msg=message("m"))
    held_up(story, 5_000, 4_950)
    story.answer(send)
    story.at(5_050).seen(batch=0)
    return story.finds("batch-shape", {"actor": "receiver"}, max=1, full_ms=100)


@rows.expect(Verdict.INCONCLUSIVE)
def a_message_to_compare_with_that_was_noted_late_widens_no_limit(story: Story) -> Finding:
    with story.watching():
        story.send("usual")
        held_up(story, 5_000, 4_950)
        story.seen("usual")
        send = story.at(6_000).send()
        story.at(9_000).seen()
    return story.finds("by", RECEIVER | {"call": send.ref, "like": "usual"}, limit_ms=200)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_call_that_was_turned_away_at_once_is_not_given_up_because_the_answer_was_noted_late(story: Story) -> Finding:
    call = story.call("consumer")
    held_up(story, 6_000, 5_900)
    story.answer(call, refusal("connection-lost"))
    return story.finds("one-of", {"option.waited": f"given-up {call.ref}"}, given_up_ms=5_000)


@rows.parametrize()
def test_lateness(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)


def silence(story: Story) -> None:
    with story.watching():
        story.send()
        story.seen()
        story.at(2_000)
    story.claim("delivered-exactly", {"kids": "m"}, quiet_ms=1_500)


def whole(*, late_ns: int, placed: bool) -> ScenarioVerdict:
    """Return the verdict of a scenario that passes by silence, with a delay of the harness after it."""
    sink = Memory()
    begin(sink)
    plan(sink, planned("delay/basics.feature::it"))
    story = Story(sink)
    story.starts()
    silence(story)
    if placed:
        story.at(9_000).tell(Late, held_ns=late_ns, late_ns=late_ns)
    story.ends(late_ns=late_ns, longest_ns=late_ns if placed else None)
    return judge(sink.events, load_catalogue()).rules[0].scenarios[0]


@pytest.mark.parametrize(("placed", "verdict"), [(True, Verdict.PASS), (False, Verdict.INCONCLUSIVE)])
def test_a_pass_by_silence_stands_if_the_journal_says_that_the_delay_came_later(
    *, placed: bool, verdict: Verdict
) -> None:
    assert whole(late_ns=5_000_000_000, placed=placed).verdict is verdict


def test_a_delay_that_is_noted_only_after_the_claim_counts_too() -> None:
    story = Story()
    with story.watching():
        story.send()
        story.seen()
        story.at(2_000)
    claim = story.claim("delivered-exactly", {"kids": "m"}, quiet_ms=1_500)
    story.at(2_000, 1).tell(Late, held_ns=1_900_000_000, late_ns=1_850_000_000)
    assert judge_claim(claim, story.everything()).verdict is Verdict.INCONCLUSIVE
