"""Tests of the predicate `by`: a message arrives within a limit."""

from __future__ import annotations

from tests.evidence.histories import Story, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence.verdicts import Finding, Verdict

rows = Rows()


@rows.expect(Verdict.PASS)
def by_passes_exactly_at_the_limit(story: Story) -> Finding:
    return delivered_at(story, 700)


def as_another(story: Story, seen_ms: int) -> Finding:
    """Return the finding on a message with a duration, compared with another message that takes 100 ms."""
    with story.watching():
        story.send("other")
        story.at(100).seen("other")
        send = story.at(200).send()
        story.at(200 + seen_ms).seen()
    return story.finds("by", {"kid": "m", "call": send.ref, "actors": "receiver", "like": "other"}, limit_ms=50)


@rows.expect(Verdict.PASS)
def by_allows_what_the_other_message_took(story: Story) -> Finding:
    return as_another(story, 150)


@rows.expect(Verdict.FAIL)
def by_does_not_allow_more_than_the_other_message_took(story: Story) -> Finding:
    return as_another(story, 151)


@rows.expect(Verdict.FAIL)
def by_fails_one_nanosecond_past_the_limit(story: Story) -> Finding:
    return delivered_at(story, 700, 1)


@rows.expect(Verdict.INCONCLUSIVE)
def by_cannot_tell_past_the_limit_within_the_uncertainty(story: Story) -> Finding:
    story.unc_ns = 50
    return delivered_at(story, 700, 100)


@rows.expect(Verdict.FAIL)
def by_fails_past_the_limit_beyond_the_uncertainty(story: Story) -> Finding:
    story.unc_ns = 50
    return delivered_at(story, 700, 101)


def delivered_at(story: Story, ms: int, ns: int = 0) -> Finding:
    with story.watching():
        send = story.send(delay_ms=500)
        story.at(ms, ns).seen()
    return story.finds("by", {"kid": "m", "call": send.ref}, delay_ms=500, limit_ms=200)


@rows.expect(Verdict.PASS)
def by_takes_a_look_for_a_delivery(story: Story) -> Finding:
    send = story.send()
    story.at(100).browse("m")
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.FAIL)
def by_fails_when_a_look_in_time_missed_it_and_it_came_late(story: Story) -> Finding:
    send = story.send()
    story.at(100).browse()
    story.at(300).browse("m")
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def by_is_not_tried_when_nobody_watched_before_the_limit(story: Story) -> Finding:
    send = story.send()
    with story.at(300).watching():
        story.seen()
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.PASS)
def by_counts_from_a_later_event_where_one_is_named(story: Story) -> Finding:
    send = story.send()
    watch = story.at(300).watch()
    story.at(310).seen()
    return story.finds("by", {"kid": "m", "call": send.ref, "after": watch.ref}, limit_ms=200)


@rows.expect(Verdict.PASS)
def by_counts_from_the_due_moment_when_the_named_event_is_earlier(story: Story) -> Finding:
    watch = story.watch()
    send = story.send(delay_ms=500)
    story.at(600).seen()
    return story.finds("by", {"kid": "m", "call": send.ref, "after": watch.ref}, delay_ms=500, limit_ms=200)


@rows.expect(Verdict.FAIL)
def by_fails_when_it_never_came_though_watched_for_until_the_limit(story: Story) -> Finding:
    with story.watching():
        send = story.send()
        story.at(200)
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def by_is_not_tried_when_the_watch_ended_before_the_limit(story: Story) -> Finding:
    with story.watching():
        send = story.send()
        story.at(200, -1)
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def by_is_not_tried_when_a_fault_lasts_over_the_limit(story: Story) -> Finding:
    with story.watching():
        send = story.send()
        story.at(100).fault("begin")
        story.at(300).fault("end")
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def by_counts_an_open_watch_no_further_than_the_claim(story: Story) -> Finding:
    story.watch()
    send = story.send()
    story.at(199)
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.INCONCLUSIVE)
def by_cannot_tell_when_the_send_was_refused(story: Story) -> Finding:
    return story.finds("by", {"kid": "m", "call": story.send(refused=refusal()).ref}, limit_ms=200)


@rows.expect(Verdict.ERROR)
def by_blames_the_kit_for_an_event_that_is_not_there(story: Story) -> Finding:
    return story.finds("by", {"kid": "m", "call": story.send().ref, "after": "w:99"}, limit_ms=200)


@rows.expect(Verdict.ERROR)
def by_blames_the_kit_for_a_missing_limit(story: Story) -> Finding:
    return story.finds("by", {"kid": "m", "call": story.send().ref})


@rows.expect(Verdict.FAIL)
def by_looks_at_every_stretch_that_was_watched(story: Story) -> Finding:
    send = story.send()
    for start, end in ((0, 50), (150, 200), (300, 310)):
        with story.at(start).watching():
            story.at(end)
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.PASS)
def by_judges_the_first_of_several_deliveries(story: Story) -> Finding:
    with story.watching():
        send = story.send()
        story.at(100).seen()
        story.at(300).seen(redelivered=True)
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def by_is_not_tried_by_a_watch_that_ended_before_the_due_moment(story: Story) -> Finding:
    with story.watching():
        send = story.send(delay_ms=500)
        story.at(499)
    story.at(800).browse("m")
    return story.finds("by", {"kid": "m", "call": send.ref}, delay_ms=500, limit_ms=200)


@rows.expect(Verdict.FAIL)
def by_looks_at_every_look_in_time(story: Story) -> Finding:
    send = story.send()
    story.browse()
    story.at(200).browse()
    story.at(300).browse("m")
    return story.finds("by", {"kid": "m", "call": send.ref}, limit_ms=200)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def by_is_not_tried_by_a_look_before_the_due_moment(story: Story) -> Finding:
    send = story.send(delay_ms=500)
    story.at(499).browse()
    story.at(800).browse("m")
    return story.finds("by", {"kid": "m", "call": send.ref}, delay_ms=500, limit_ms=200)


@rows.parametrize()
def test_by(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)


def test_a_message_that_is_too_late_says_by_how_much() -> None:
    story = Story()
    with story.watching():
        send = story.send(delay_ms=500)
        late = story.at(701, 250_000).seen()
    finding = story.finds("by", {"kid": "m", "call": send.ref}, delay_ms=500, limit_ms=200)
    assert finding.observed == "receiver had it 201.2 ms after its due moment, 1.25 ms too late"
    assert finding.offenders == (late.ref,)
