"""Tests of the predicate never-seen."""

from __future__ import annotations

from tests.evidence.histories import Story, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row, received

from assay_evidence.verdicts import Finding, Verdict

rows = Rows()


@rows.expect(Verdict.PASS)
def never_passes_a_watch_in_vain(story: Story) -> Finding:
    received(story)
    return story.finds("never-seen", {"kids": "m", "actors": "receiver"}, window_ms=20)


@rows.expect(Verdict.PASS)
def never_adds_up_the_watches_of_its_actors(story: Story) -> Finding:
    story.send()
    with story.watching():
        story.at(10)
    with story.at(20).watching("other"):
        story.at(30)
    return story.finds("never-seen", {"kids": "m", "actors": "receiver|other"}, window_ms=20)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def never_counts_what_two_watch_at_once_once(story: Story) -> Finding:
    story.send()
    with story.watching(), story.watching("other"):
        story.at(10)
    return story.finds("never-seen", {"kids": "m", "actors": "receiver|other"}, window_ms=20)


@rows.expect(Verdict.FAIL)
def never_fails_a_sighting(story: Story) -> Finding:
    received(story, "m")
    return story.finds("never-seen", {"kids": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def never_does_not_decide_on_what_a_step_awaited_in_vain(story: Story) -> Finding:
    received(story, "m")
    return story.finds("never-seen", {"kids": "m|n", "missed": "m"})


@rows.expect(Verdict.FAIL)
def never_fails_a_message_that_no_step_awaited_in_vain(story: Story) -> Finding:
    received(story, "m", "n", sent="m|n")
    return story.finds("never-seen", {"kids": "m|n", "missed": "m"})


@rows.expect(Verdict.FAIL)
def never_fails_a_sighting_though_nobody_watched(story: Story) -> Finding:
    story.seen()
    return story.finds("never-seen", {"kids": "n|m"})


@rows.expect(Verdict.PASS)
def never_does_not_mind_what_others_saw(story: Story) -> Finding:
    story.seen(actor="other")
    received(story)
    return story.finds("never-seen", {"kids": "m", "actors": "receiver"})


@rows.expect(Verdict.PASS)
def never_counts_from_the_event_that_it_names(story: Story) -> Finding:
    received(story, "m")
    close = story.asks("close-consumer")
    with story.watching():
        story.at(90)
    return story.finds("never-seen", {"kids": "m", "from": close.ref}, window_ms=70)


@rows.expect(Verdict.FAIL)
def never_fails_a_sighting_after_the_event_that_it_names(story: Story) -> Finding:
    close = story.asks("close-consumer")
    received(story, "m")
    return story.finds("never-seen", {"kids": "m", "from": close.ref})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def never_is_not_tried_without_a_watch(story: Story) -> Finding:
    story.send()
    return story.finds("never-seen", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def never_is_not_tried_when_the_watch_was_too_short(story: Story) -> Finding:
    received(story)
    return story.finds("never-seen", {"kids": "m"}, window_ms=21)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def never_counts_from_the_last_of_its_sends(story: Story) -> Finding:
    with story.watching():
        story.send()
        story.at(50).send("n")
        story.at(60)
    return story.finds("never-seen", {"kids": "m|n"}, window_ms=20)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def never_is_not_tried_before_the_message_is_due(story: Story) -> Finding:
    story.send(delay_ms=100)
    with story.watching():
        story.at(90)
    return story.finds("never-seen", {"kids": "m"}, window_ms=20)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def never_knows_nothing_of_a_message_that_was_never_sent(story: Story) -> Finding:
    with story.watching():
        story.at(90)
    return story.finds("never-seen", {"kids": "m"})


@rows.expect(Verdict.PASS)
def never_passes_a_refused_message_that_nobody_saw(story: Story) -> Finding:
    story.send(refused=refusal())
    with story.watching():
        story.at(90)
    return story.finds("never-seen", {"kids": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def never_cannot_tell_when_the_send_that_it_names_was_refused(story: Story) -> Finding:
    return story.finds("never-seen", {"kids": "m", "call": story.send(refused=refusal()).ref})


@rows.expect(Verdict.ERROR)
def never_blames_the_kit_for_an_event_that_is_not_there(story: Story) -> Finding:
    return story.finds("never-seen", {"kids": "m", "from": "w:99"})


@rows.parametrize()
def test_absence(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
