"""Tests of the predicate `not-before`: a message is not seen before its delay is over."""

from __future__ import annotations

import pytest
from tests.evidence.histories import Memory, Story, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence.events import Return
from assay_evidence.verdicts import Finding, Verdict

rows = Rows()


def waited_for(story: Story, seen_ms: int, seen_ns: int = 0, *, delay_ms: int = 500) -> Finding:
    with story.watching():
        send = story.send(delay_ms=delay_ms)
        story.at(seen_ms, seen_ns).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref, "actors": "receiver"}, delay_ms=delay_ms)


@rows.expect(Verdict.PASS)
def not_before_passes_exactly_at_the_due_moment(story: Story) -> Finding:
    return waited_for(story, 500)


@rows.expect(Verdict.PASS)
def not_before_passes_late(story: Story) -> Finding:
    return waited_for(story, 5_000)


@rows.expect(Verdict.FAIL)
def not_before_fails_one_nanosecond_early_on_an_exact_clock(story: Story) -> Finding:
    return waited_for(story, 500, -1)


@rows.expect(Verdict.INCONCLUSIVE)
def not_before_cannot_tell_one_nanosecond_early_on_an_uncertain_clock(story: Story) -> Finding:
    story.unc_ns = 1
    return waited_for(story, 500, -1)


@rows.expect(Verdict.INCONCLUSIVE)
def not_before_cannot_tell_exactly_at_the_due_moment_on_an_uncertain_clock(story: Story) -> Finding:
    story.unc_ns = 1
    return waited_for(story, 500)


@rows.expect(Verdict.INCONCLUSIVE)
def not_before_cannot_tell_exactly_at_both_uncertainties(story: Story) -> Finding:
    story.unc_ns = 50
    return waited_for(story, 500, -100)


@rows.expect(Verdict.FAIL)
def not_before_fails_one_nanosecond_beyond_both_uncertainties(story: Story) -> Finding:
    story.unc_ns = 50
    return waited_for(story, 500, -101)


@rows.expect(Verdict.PASS)
def not_before_passes_one_nanosecond_late_on_an_uncertain_clock(story: Story) -> Finding:
    story.unc_ns = 50
    return waited_for(story, 500, 1)


@rows.expect(Verdict.FAIL)
def not_before_fails_when_a_look_lists_it_early(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    story.at(100).browse("m")
    with story.watching():
        story.at(600).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref, "actors": "receiver"}, delay_ms=500)


@rows.expect(Verdict.FAIL)
def not_before_fails_when_the_second_receiver_is_early_and_the_first_is_not_named(story: Story) -> Finding:
    with story.watching(), story.watching("other"):
        send = story.send(delay_ms=500)
        story.at(400).seen(actor="other")
        story.at(500).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.PASS)
def not_before_passes_when_a_look_in_time_does_not_list_it(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    story.at(100).browse("another")
    story.at(600).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.PASS)
def not_before_takes_a_late_look_for_a_delivery(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    story.at(499).browse()
    story.at(500).browse("m")
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_does_not_count_a_look_at_another_queue(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    story.at(100)
    browse = story.call("browse", "browser", destination="queue://OTHER")
    story.answer(browse)
    story.at(600).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_is_not_tried_when_nobody_watched_before_it_was_due(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    with story.at(600).watching():
        story.seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.PASS)
def not_before_is_tried_when_half_the_time_was_watched(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    with story.at(250).watching():
        story.at(500).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_is_not_tried_when_less_than_half_the_time_was_watched(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    with story.at(250, 1).watching():
        story.at(500).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.PASS)
def not_before_is_tried_with_less_where_the_claim_says_so(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    with story.at(450).watching():
        story.at(500).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500, watched_percent=10)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_does_not_count_watching_during_a_fault(story: Story) -> Finding:
    with story.watching():
        send = story.send(delay_ms=500)
        story.at(100).fault("begin")
        story.at(499).fault("end")
        story.at(500).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_does_not_count_the_watch_of_an_actor_not_named(story: Story) -> Finding:
    with story.watching("other"):
        send = story.send(delay_ms=500)
        story.at(500).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref, "actors": "receiver"}, delay_ms=500)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_does_not_count_the_watch_of_another_queue(story: Story) -> Finding:
    with story.watching("other", of="queue://OTHER"):
        send = story.send(delay_ms=500)
        story.at(500).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.PASS)
def not_before_watches_the_send_itself_when_it_outlasts_the_delay(story: Story) -> Finding:
    with story.watching():
        send = story.send(delay_ms=1, took_ms=3)
        story.seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=1)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_shows_nothing_without_a_delay(story: Story) -> Finding:
    return waited_for(story, 0, delay_ms=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_is_not_tried_when_it_was_never_seen(story: Story) -> Finding:
    with story.watching():
        send = story.send(delay_ms=500)
        story.at(900)
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.INCONCLUSIVE)
def not_before_cannot_tell_when_the_send_was_refused(story: Story) -> Finding:
    send = story.send(refused=refusal())
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.INCONCLUSIVE)
def not_before_cannot_tell_when_the_send_did_not_come_back(story: Story) -> Finding:
    send = story.call("send", destination="queue://Q")
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.ERROR)
def not_before_blames_the_kit_for_a_missing_delay(story: Story) -> Finding:
    return story.finds("not-before", {"kid": "m", "call": story.send().ref})


@rows.expect(Verdict.ERROR)
def not_before_blames_the_kit_for_two_messages(story: Story) -> Finding:
    return story.finds("not-before", {"kids": "m|n", "call": story.send().ref}, delay_ms=1)


@rows.expect(Verdict.PASS)
def not_before_compares_the_wall_clocks_of_two_boots(story: Story) -> Finding:
    return two_boots(story, 500, 1)


@rows.expect(Verdict.FAIL)
def not_before_fails_early_by_the_wall_clocks_of_two_boots(story: Story) -> Finding:
    return two_boots(story, 499)


@rows.expect(Verdict.INCONCLUSIVE)
def not_before_adds_the_uncertainties_of_two_boots(story: Story) -> Finding:
    story.unc_ns = 600_000
    return two_boots(story, 499, receiver_unc_ns=400_000)


def two_boots(story: Story, seen_ms: int, seen_ns: int = 0, *, receiver_unc_ns: int = 0) -> Finding:
    far = Story(Memory("far"), boot="other", wall_ns=story.wall_ns - 7_000_000_000_000, unc_ns=receiver_unc_ns)
    offset = 7_000_000
    send = story.send(delay_ms=500)
    with far.at(offset).watching():
        far.at(offset + seen_ms, seen_ns).seen()
    story.at(1_000)
    return story.finds("not-before", {"kid": "m", "call": send.ref}, far, delay_ms=500)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_does_not_count_a_look_before_the_send(story: Story) -> Finding:
    story.browse()
    send = story.at(10).send(delay_ms=500)
    story.at(600).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_does_not_count_a_look_that_was_answered_after_the_due_moment(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    browse = story.at(499).call("browse", "browser", destination="queue://Q")
    story.at(500).answer(browse)
    story.at(600).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.PASS)
def not_before_counts_a_look_at_the_very_answer_of_the_send(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    story.browse()
    story.at(600).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def not_before_does_not_count_watching_before_the_send_was_answered(story: Story) -> Finding:
    with story.watching():
        send = story.send(delay_ms=500, took_ms=300)
    story.at(600).seen()
    return story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)


@rows.parametrize()
def test_not_before(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)


@pytest.mark.parametrize(
    ("seen_ns", "observed"),
    [
        (-1, "receiver had it 500 ms after the send, 1 ns too early"),
        (-499_000, "receiver had it 499.5 ms after the send, 499 µs too early"),
        (0, "receiver had it 500 ms after the send"),
        (499, "receiver had it 500 ms after the send"),
    ],
)
def test_a_rounded_finding_names_by_how_much_a_message_came_too_early(seen_ns: int, observed: str) -> None:
    assert waited_for(Story(), 500, seen_ns).observed.endswith(observed)


def test_a_finding_names_the_browse_that_saw_the_message_too_early() -> None:
    story = Story()
    send = story.send(delay_ms=500)
    story.at(100).browse()
    early = story.at(400).browse("m")
    story.at(600).browse("m")
    finding = story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)
    answer = next(event for event in story.events if isinstance(event, Return) and event.call == early.id)
    assert finding.verdict is Verdict.FAIL
    assert finding.offenders == (answer.ref,)


def test_a_finding_names_the_first_of_several_deliveries() -> None:
    story = Story()
    with story.watching():
        send = story.send(delay_ms=500)
        story.at(600).seen()
        story.at(900).seen(redelivered=True)
    finding = story.finds("not-before", {"kid": "m", "call": send.ref}, delay_ms=500)
    assert "receiver had it 600 ms after the send" in finding.observed
