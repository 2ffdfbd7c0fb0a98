"""Tests of the predicates delivered-exactly and delivered-at-most."""

from __future__ import annotations

from tests.evidence.histories import Memory, Story, message, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row, received

from assay_evidence import events as ev
from assay_evidence.verdicts import Finding, Verdict

rows = Rows()


@rows.expect(Verdict.PASS)
def exactly_passes_one_delivery_and_silence(story: Story) -> Finding:
    received(story, "m")
    return story.finds("delivered-exactly", {"kids": "m", "actors": "receiver"}, quiet_ms=10)


@rows.expect(Verdict.INCONCLUSIVE)
def exactly_knows_nothing_of_a_send_that_was_cut_off(story: Story) -> Finding:
    story.send("m", refused=refusal("connection-lost"))
    received(story, "m", sent="other")
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.PASS)
def exactly_may_hold_for_a_send_that_was_cut_off(story: Story) -> Finding:
    story.send("m", refused=refusal("connection-lost"))
    received(story, "m", sent="other")
    return story.finds("delivered-exactly", {"kids": "m"}, unanswered=1)


@rows.expect(Verdict.INCONCLUSIVE)
def exactly_knows_nothing_of_a_message_whose_commit_was_refused(story: Story) -> Finding:
    story.send("m", unit="work/0")
    story.answer(story.call("commit", unit="work/0"), refusal("transaction-rolled-back"))
    received(story, sent="other")
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def at_least_knows_nothing_of_a_message_whose_commit_was_refused(story: Story) -> Finding:
    story.send("m", unit="work/0")
    story.answer(story.call("commit", unit="work/0"), refusal("transaction-rolled-back"))
    received(story, sent="other")
    return story.finds("delivered-at-least", {"kids": "m"})


@rows.expect(Verdict.FAIL)
def exactly_finds_a_missing_message_whose_commit_was_accepted(story: Story) -> Finding:
    story.send("m", unit="work/0")
    story.answer(story.call("commit", unit="work/1"), refusal("transaction-rolled-back"))
    story.answer(story.call("commit", unit="work/0"))
    received(story, sent="other")
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.PASS, disclosed="lost")
def at_most_may_hold_for_a_send_that_never_came_back(story: Story) -> Finding:
    story.call("send", destination="queue://Q", msg=message("m"))
    received(story, sent="other")
    return story.finds("delivered-at-most", {"kids": "m"}, unanswered=1)


@rows.expect(Verdict.INCONCLUSIVE)
def at_most_says_nothing_of_a_send_that_was_refused(story: Story) -> Finding:
    story.send("m", refused=refusal("messaging"))
    received(story, sent="other")
    return story.finds("delivered-at-most", {"kids": "m"}, unanswered=1)


@rows.expect(Verdict.PASS)
def exactly_passes_two_where_two_are_asked_for(story: Story) -> Finding:
    received(story, "m", "n", "m", "n", sent="m|n")
    return story.finds("delivered-exactly", {"kids": "m|n"}, times=2)


@rows.expect(Verdict.PASS)
def exactly_counts_an_open_watch_up_to_the_claim(story: Story) -> Finding:
    story.watch()
    send = story.send()
    story.at(10).seen()
    story.at(20)
    return story.finds("delivered-exactly", {"kids": "m", "call": send.ref}, quiet_ms=10)


@rows.expect(Verdict.PASS)
def exactly_takes_a_receive_in_vain_for_silence(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    with story.watching():
        pass
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_is_not_tried_by_a_receive_in_vain_that_is_shorter_than_the_silence_asked_for(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    with story.watching():
        story.at(1_009)
    return story.finds("delivered-exactly", {"kids": "m"}, quiet_ms=1_000)


@rows.expect(Verdict.FAIL)
def exactly_fails_a_second_delivery(story: Story) -> Finding:
    received(story, "m", "m")
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.FAIL)
def exactly_fails_a_second_delivery_to_another_actor_even_without_silence(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    story.seen(actor="other")
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.PASS)
def exactly_counts_the_named_actors_only(story: Story) -> Finding:
    received(story, "m")
    story.seen(actor="other")
    with story.watching():
        story.at(40)
    return story.finds("delivered-exactly", {"kids": "m", "actors": "receiver"})


@rows.expect(Verdict.FAIL)
def exactly_fails_when_one_of_two_did_not_come(story: Story) -> Finding:
    received(story, "m", sent="m|n")
    return story.finds("delivered-exactly", {"kids": "m|n"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_is_not_tried_when_it_did_not_come_and_nobody_watched(story: Story) -> Finding:
    story.send()
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_is_not_tried_without_silence_afterwards(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_does_not_take_a_shorter_silence(story: Story) -> Finding:
    received(story, "m", then_ms=9)
    return story.finds("delivered-exactly", {"kids": "m"}, quiet_ms=10)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_does_not_take_the_silence_of_an_actor_not_named(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    with story.watching("other"):
        story.at(90)
    return story.finds("delivered-exactly", {"kids": "m", "actors": "receiver"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_does_not_take_silence_on_another_queue(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    with story.watching("other", of="queue://OTHER"):
        story.at(90)
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_does_not_take_silence_before_the_message_is_due(story: Story) -> Finding:
    story.send(delay_ms=100)
    with story.watching():
        story.at(99)
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.FAIL)
def exactly_takes_silence_after_the_message_is_due(story: Story) -> Finding:
    story.send(delay_ms=100)
    with story.watching():
        story.at(101)
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_does_not_take_silence_before_a_fault(story: Story) -> Finding:
    received(story, "m")
    story.at(30).fault("begin")
    story.at(40).fault("end")
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_does_not_take_silence_while_a_fault_lasts(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    story.at(20).fault("begin")
    with story.watching():
        story.at(40)
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_does_not_take_a_receive_in_vain_during_a_fault(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    watch = story.at(20).watch()
    story.at(21).fault("begin")
    story.at(40).unwatch(watch)
    story.at(40).fault("end")
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_does_not_take_a_watch_with_other_messages_close_together(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    with story.watching():
        for ms in range(11, 20):
            story.at(ms).seen("other")
    return story.finds("delivered-exactly", {"kids": "m"}, quiet_ms=2)


@rows.expect(Verdict.INCONCLUSIVE)
def exactly_cannot_tell_when_the_send_was_refused(story: Story) -> Finding:
    send = story.send(refused=refusal("connection-lost"))
    return story.finds("delivered-exactly", {"kids": "m", "call": send.ref})


@rows.expect(Verdict.INCONCLUSIVE)
def exactly_cannot_tell_when_every_send_of_the_message_was_refused(story: Story) -> Finding:
    story.send(refused=refusal())
    with story.watching():
        story.at(90)
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.PASS)
def exactly_counts_a_message_that_was_accepted_at_the_second_try(story: Story) -> Finding:
    story.send(refused=refusal())
    received(story, "m")
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def exactly_knows_nothing_of_a_message_that_was_never_sent(story: Story) -> Finding:
    received(story, "m")
    return story.finds("delivered-exactly", {"kids": "x"})


@rows.expect(Verdict.ERROR)
def exactly_blames_the_kit_for_no_message(story: Story) -> Finding:
    return story.finds("delivered-exactly", {})


@rows.expect(Verdict.ERROR)
def exactly_blames_the_kit_for_a_watch_that_ends_without_having_begun(story: Story) -> Finding:
    story.unwatch(Story(Memory("other")).watch())
    return story.finds("delivered-exactly", {"kids": "m"})


@rows.expect(Verdict.PASS, "kept")
def at_most_discloses_that_all_were_kept(story: Story) -> Finding:
    received(story, "m", "n", sent="m|n")
    return story.finds("delivered-at-most", {"kids": "m|n"})


@rows.expect(Verdict.PASS, "lost")
def at_most_discloses_that_all_were_lost(story: Story) -> Finding:
    received(story, sent="m|n")
    return story.finds("delivered-at-most", {"kids": "m|n"})


@rows.expect(Verdict.PASS, "1 of 2")
def at_most_discloses_how_many_were_kept(story: Story) -> Finding:
    received(story, "m", sent="m|n")
    return story.finds("delivered-at-most", {"kids": "m|n"})


@rows.expect(Verdict.FAIL)
def at_most_fails_a_second_delivery(story: Story) -> Finding:
    received(story, "m", "m")
    return story.finds("delivered-at-most", {"kids": "m"})


def _altered(story: Story, predicate: ev.Predicate, **bounds: int) -> Finding:
    story.send("m")
    with story.watching():
        story.at(5).seen("m", body="something else")
        story.at(50)
    return story.finds(predicate, {"kids": "m"}, **bounds)


@rows.expect(Verdict.FAIL)
def at_most_fails_an_altered_message(story: Story) -> Finding:
    return _altered(story, "delivered-at-most")


@rows.expect(Verdict.FAIL)
def exactly_fails_an_altered_message(story: Story) -> Finding:
    return _altered(story, "delivered-exactly")


@rows.expect(Verdict.FAIL)
def at_least_fails_an_altered_message(story: Story) -> Finding:
    return _altered(story, "delivered-at-least")


@rows.expect(Verdict.FAIL)
def redelivered_fails_an_altered_message(story: Story) -> Finding:
    return _altered(story, "redelivered", times=1, flagged=0)


@rows.expect(Verdict.PASS, "kept")
def at_most_permits_as_many_as_the_claim_says(story: Story) -> Finding:
    received(story, "m", "m")
    return story.finds("delivered-at-most", {"kids": "m"}, times=2)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def at_most_is_not_tried_without_silence(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    return story.finds("delivered-at-most", {"kids": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def at_most_cannot_tell_when_the_send_was_refused(story: Story) -> Finding:
    return story.finds("delivered-at-most", {"kids": "m", "call": story.send(refused=refusal()).ref})


@rows.expect(Verdict.FAIL)
def exactly_fails_when_one_of_two_came_twice(story: Story) -> Finding:
    received(story, "m", "m", "n", sent="m|n")
    return story.finds("delivered-exactly", {"kids": "m|n"})


@rows.expect(Verdict.FAIL)
def at_most_fails_when_one_of_two_came_twice(story: Story) -> Finding:
    received(story, "m", "n", "n", sent="m|n")
    return story.finds("delivered-at-most", {"kids": "m|n"})


@rows.parametrize()
def test_delivery(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)


def test_a_claim_without_a_watch_after_a_fault_names_the_fault() -> None:
    story = Story()
    received(story, "m")
    story.at(30).fault("begin")
    story.at(40).fault("end")
    for predicate in ("delivered-exactly", "delivered-at-most"):
        finding = story.finds(predicate, {"kids": "m"})
        assert finding.reason == (
            "No actor watched after the last fault (kill), which may have ended the actors' connections."
        )
    with story.watching():
        story.at(45)
    assert story.finds("delivered-exactly", {"kids": "m"}, quiet_ms=50).reason == (
        "No actor watched long enough afterwards."
    )
