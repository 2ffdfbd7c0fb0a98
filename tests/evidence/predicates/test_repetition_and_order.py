"""Tests of the predicates redelivered and in-order."""

from __future__ import annotations

from tests.evidence.histories import Memory, Story, message, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row, received

from assay_evidence.verdicts import Finding, Verdict

rows = Rows()
TOPIC = "topic://T"


@rows.expect(Verdict.PASS)
def redelivered_passes_a_second_delivery_marked_as_such(story: Story) -> Finding:
    received(story, "m")
    story.asks("recover")
    story.seen(redelivered=True)
    return story.finds("redelivered", {"kids": "m"})


@rows.expect(Verdict.FAIL)
def redelivered_does_not_count_a_duplicate_before_the_fault_for_a_redelivery_after_it(story: Story) -> Finding:
    received(story, "m", "m")
    story.fault("begin")
    story.fault("end")
    with story.watching():
        story.at(90)
    return story.finds("redelivered", {"kids": "m"}, flagged=0)


@rows.expect(Verdict.PASS)
def redelivered_counts_a_send_as_taken_whose_message_came_before_the_connection_was_lost(story: Story) -> Finding:
    send = story.call("send", msg=message("m"), destination=TOPIC)
    story.seen("m")
    story.fault("begin")
    story.answer(send, refusal("connection-lost"))
    story.fault("end")
    story.seen("m")
    return story.finds("redelivered", {"kids": "m"}, flagged=0)


@rows.expect(Verdict.INCONCLUSIVE)
def redelivered_asks_nothing_of_a_send_that_was_lost_before_its_message_came(story: Story) -> Finding:
    send = story.call("send", msg=message("m"), destination=TOPIC)
    story.fault("begin")
    story.answer(send, refusal("connection-lost"))
    story.fault("end")
    with story.watching():
        story.at(90)
    return story.finds("redelivered", {"kids": "m"}, flagged=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def redelivered_is_not_tried_by_a_duplicate_that_nothing_gave_back(story: Story) -> Finding:
    received(story, "m", "m")
    return story.finds("redelivered", {"kids": "m"}, flagged=0)


@rows.expect(Verdict.PASS)
def redelivered_says_of_one_delivery_only_that_the_message_came(story: Story) -> Finding:
    received(story, "m")
    finding = story.finds("redelivered", {"kids": "m"}, times=1, flagged=0)
    assert finding.reason == "Each message came."
    return finding


@rows.expect(Verdict.PASS)
def at_least_once_passes_one_delivery(story: Story) -> Finding:
    received(story, "m")
    return story.finds("delivered-at-least", {"kids": "m"})


@rows.expect(Verdict.PASS)
def at_least_once_passes_two_deliveries(story: Story) -> Finding:
    received(story, "m", "m")
    return story.finds("delivered-at-least", {"kids": "m"})


@rows.expect(Verdict.FAIL)
def at_least_once_fails_when_one_of_two_did_not_come(story: Story) -> Finding:
    received(story, "m", sent="m|n")
    return story.finds("delivered-at-least", {"kids": "m|n"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def at_least_once_is_not_tried_without_silence(story: Story) -> Finding:
    story.send()
    return story.finds("delivered-at-least", {"kids": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def at_least_once_cannot_tell_when_the_send_was_refused(story: Story) -> Finding:
    return story.finds("delivered-at-least", {"kids": "m", "call": story.send(refused=refusal()).ref})


@rows.expect(Verdict.PASS)
def redelivered_takes_a_count_for_a_mark(story: Story) -> Finding:
    received(story, "m")
    story.asks("recover")
    story.seen(count=2)
    return story.finds("redelivered", {"kid": "m"})


@rows.expect(Verdict.FAIL)
def redelivered_fails_a_second_delivery_without_a_mark(story: Story) -> Finding:
    received(story, "m", "m")
    return story.finds("redelivered", {"kids": "m"})


@rows.expect(Verdict.PASS, disclosed="1 of 2 marked")
def redelivered_discloses_how_many_are_marked_where_none_must_be(story: Story) -> Finding:
    received(story, "m", "m")
    story.seen(redelivered=True)
    return story.finds("redelivered", {"kids": "m"}, times=0, flagged=0)


@rows.expect(Verdict.PASS)
def redelivered_does_not_ask_for_the_mark_where_the_claim_does_not(story: Story) -> Finding:
    received(story, "m")
    story.asks("recover")
    story.seen()
    return story.finds("redelivered", {"kids": "m"}, flagged=0)


@rows.expect(Verdict.FAIL)
def redelivered_fails_an_unmarked_one_whose_earlier_receiver_the_claim_does_not_name(story: Story) -> Finding:
    received(story, "m")
    story.seen(actor="after")
    return story.finds("redelivered", {"kids": "m", "actors": "after"}, times=0)


@rows.expect(Verdict.PASS)
def redelivered_passes_a_marked_one_whose_earlier_receiver_the_claim_does_not_name(story: Story) -> Finding:
    received(story, "m")
    story.seen(actor="after", redelivered=True)
    return story.finds("redelivered", {"kids": "m", "actors": "after"}, times=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def redelivered_asks_no_mark_of_what_comes_to_somebody_else_than_the_claim_names(story: Story) -> Finding:
    received(story, "m")
    story.seen(actor="after")
    return story.finds("redelivered", {"kids": "m", "actors": "receiver"}, times=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def redelivered_asks_no_mark_of_a_first_delivery_after_somebody_had_another_message(story: Story) -> Finding:
    received(story, "n")
    story.send("m")
    story.seen("m", actor="after")
    return story.finds("redelivered", {"kids": "m|n", "actors": "after"}, times=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def redelivered_asks_no_mark_of_another_subscriptions_first_copy(story: Story) -> Finding:
    story.send(to=TOPIC)
    story.seen(of=TOPIC)
    story.seen(actor="after", of=TOPIC)
    return story.finds("redelivered", {"kids": "m", "actors": "receiver|after"}, times=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def redelivered_asks_no_mark_of_a_copy_on_another_queue(story: Story) -> Finding:
    received(story, "m")
    story.seen(actor="after", of="queue://OTHER")
    return story.finds("redelivered", {"kids": "m", "actors": "after"}, times=0)


@rows.expect(Verdict.FAIL)
def redelivered_asks_the_mark_of_whoever_shares_the_subscription(story: Story) -> Finding:
    for actor in ("receiver", "after"):
        story.call("consumer", actor, destination=TOPIC, args={"name": "club", "shared": True})
    story.send(to=TOPIC)
    story.seen(of=TOPIC)
    story.seen(actor="after", of=TOPIC)
    return story.finds("redelivered", {"kids": "m", "actors": "after"}, times=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def redelivered_has_no_mark_to_look_at_when_nothing_came_again(story: Story) -> Finding:
    received(story, "m")
    return story.finds("redelivered", {"kids": "m", "actors": "after"}, times=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def redelivered_is_not_tried_where_nobody_saw_anything(story: Story) -> Finding:
    story.send()
    return story.finds("redelivered", {"kids": "m", "actors": "after"}, times=0)


@rows.expect(Verdict.FAIL)
def redelivered_fails_when_it_did_not_come_again(story: Story) -> Finding:
    story.send()
    story.seen()
    story.asks("recover")
    with story.watching():
        story.at(90)
    return story.finds("redelivered", {"kids": "m"})


@rows.expect(Verdict.FAIL)
def redelivered_fails_when_it_came_fewer_times_than_asked_for(story: Story) -> Finding:
    received(story, "m")
    story.asks("recover")
    with story.watching():
        story.seen(redelivered=True)
        story.at(90)
    return story.finds("redelivered", {"kids": "m"}, times=3)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def redelivered_is_not_tried_without_silence(story: Story) -> Finding:
    received(story, "m", then_ms=0)
    return story.finds("redelivered", {"kids": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def redelivered_cannot_tell_when_the_send_was_refused(story: Story) -> Finding:
    return story.finds("redelivered", {"kids": "m", "call": story.send(refused=refusal()).ref})


@rows.expect(Verdict.PASS)
def in_order_passes_the_order_of_the_claim(story: Story) -> Finding:
    received(story, "a", "b", "c")
    return story.finds("in-order", {"kids": "a|b|c"})


@rows.expect(Verdict.PASS)
def in_order_looks_at_first_sightings(story: Story) -> Finding:
    received(story, "a", "b", "a")
    return story.finds("in-order", {"kids": "a|b"})


@rows.expect(Verdict.FAIL)
def in_order_fails_an_inversion(story: Story) -> Finding:
    received(story, "a", "c", "b")
    return story.finds("in-order", {"kids": "a|b|c", "actors": "receiver"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def in_order_is_not_tried_with_one_message(story: Story) -> Finding:
    received(story, "a")
    return story.finds("in-order", {"kids": "a|b"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def in_order_is_not_shown_by_two_of_five(story: Story) -> Finding:
    received(story, "a", "c")
    return story.finds("in-order", {"kids": "a|b|c|d|e"})


@rows.expect(Verdict.FAIL)
def in_order_fails_an_inversion_even_if_a_message_is_missing(story: Story) -> Finding:
    received(story, "c", "a")
    return story.finds("in-order", {"kids": "a|b|c"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def in_order_is_not_tried_with_none(story: Story) -> Finding:
    return story.finds("in-order", {"kids": "a|b"})


def by_two_writers(story: Story, apart_ns: int) -> Finding:
    other = Story(Memory("other"), unc_ns=story.unc_ns)
    story.at(5).seen("a")
    other.at(5, apart_ns).seen("b")
    story.at(10)
    return story.finds("in-order", {"kids": "a|b"}, other)


@rows.expect(Verdict.PASS)
def in_order_compares_the_times_of_two_writers(story: Story) -> Finding:
    return by_two_writers(story, 1)


@rows.expect(Verdict.FAIL)
def in_order_fails_an_inversion_between_two_writers(story: Story) -> Finding:
    return by_two_writers(story, -1)


@rows.expect(Verdict.INCONCLUSIVE)
def in_order_cannot_tell_within_the_uncertainty_of_two_writers(story: Story) -> Finding:
    story.unc_ns = 1
    return by_two_writers(story, -2)


@rows.expect(Verdict.INCONCLUSIVE)
def in_order_cannot_tell_one_instant_of_two_writers(story: Story) -> Finding:
    return by_two_writers(story, 0)


@rows.expect(Verdict.FAIL)
def redelivered_fails_when_one_of_two_did_not_come_again(story: Story) -> Finding:
    received(story, "m", "n", sent="m|n")
    story.asks("recover")
    with story.watching():
        story.seen(redelivered=True)
        story.at(90)
    return story.finds("redelivered", {"kids": "m|n"})


@rows.parametrize()
def test_repetition_and_order(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
