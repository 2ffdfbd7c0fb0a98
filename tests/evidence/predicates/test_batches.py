from __future__ import annotations

from tests.evidence.histories import Story
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence.events import Callback, Unit
from assay_evidence.verdicts import Finding, Verdict

rows = Rows()
OF = {"actor": "receiver"}


def batches(story: Story, *sizes: int) -> None:
    """Send all messages at 0 ms, then receive batches of these sizes, 10 ms apart."""
    for number in range(sum(sizes)):
        story.send(f"m{number}")
    story.watch()
    number = 0
    for batch, size in enumerate(sizes):
        story.at(10 * (batch + 1))
        for _ in range(size):
            story.seen(f"m{number}", batch=batch)
            number += 1
        story.tell(Callback, actor="receiver", link="receiver/1", batch=batch, ended="returned")


@rows.expect(Verdict.PASS)
def batches_within_the_size_pass(story: Story) -> Finding:
    batches(story, 2, 2, 1)
    return story.finds("batch-shape", OF, max=2, batches=3)


@rows.expect(Verdict.FAIL)
def a_batch_above_the_size_fails(story: Story) -> Finding:
    batches(story, 2, 3)
    return story.finds("batch-shape", OF, max=2)


@rows.expect(Verdict.FAIL)
def a_batch_below_the_least_size_fails(story: Story) -> Finding:
    batches(story, 2, 1)
    return story.finds("batch-shape", OF, max=2, min=2)


@rows.expect(Verdict.FAIL)
def another_number_of_batches_fails(story: Story) -> Finding:
    batches(story, 2, 1)
    return story.finds("batch-shape", OF, max=2, batches=3)


@rows.expect(Verdict.PASS)
def only_batches_with_the_named_messages_count(story: Story) -> Finding:
    batches(story, 2, 3)
    return story.finds("batch-shape", {**OF, "kids": "m1"}, max=2, batches=1)


@rows.expect(Verdict.FAIL)
def a_callback_without_a_message_is_an_empty_batch(story: Story) -> Finding:
    batches(story, 2, 0, 1)
    return story.finds("batch-shape", OF, max=2)


@rows.expect(Verdict.FAIL)
def an_empty_batch_that_bears_the_number_of_another_is_one_still(story: Story) -> Finding:
    batches(story, 2)
    story.tell(Callback, actor="receiver", link="receiver/1", batch=0, ended="returned")
    return story.finds("batch-shape", OF, max=2)


@rows.expect(Verdict.PASS)
def a_batch_whose_callback_never_ended_is_not_empty(story: Story) -> Finding:
    batches(story, 2)
    story.seen("m0", batch=1)
    return story.finds("batch-shape", OF, max=2, batches=2)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def without_a_batch_nothing_is_shown(story: Story) -> Finding:
    story.seen()
    story.seen(actor="other", batch=0)
    return story.finds("batch-shape", OF, max=2)


@rows.expect(Verdict.PASS, "filled to 75 % (3 of 4)")
def the_fill_rate_is_disclosed_where_asked_for(story: Story) -> Finding:
    batches(story, 2, 1)
    return story.finds("batch-shape", OF, max=2, fill=1)


@rows.expect(Verdict.ERROR)
def a_missing_size_is_an_error(story: Story) -> Finding:
    batches(story, 2)
    return story.finds("batch-shape", OF)


def deferred(story: Story, handed_ms: int, handed_ns: int = 0) -> Finding:
    """Return the finding on a batch of messages sent at 10 and 50 ms, with a deferral of 100 ms and a limit of 5 ms."""
    story.watch()
    story.at(10).send("a")
    story.at(50).send("b")
    story.at(handed_ms, handed_ns).seen("a", batch=0)
    story.seen("b", batch=0)
    return story.finds("batch-shape", OF, max=3, defer_ms=100, limit_ms=5)


@rows.expect(Verdict.PASS)
def a_batch_at_its_deadline_passes(story: Story) -> Finding:
    return deferred(story, 115)


@rows.expect(Verdict.FAIL)
def a_batch_one_nanosecond_past_its_deadline_fails(story: Story) -> Finding:
    return deferred(story, 115, 1)


@rows.expect(Verdict.INCONCLUSIVE)
def a_batch_past_its_deadline_within_the_uncertainty_cannot_be_told(story: Story) -> Finding:
    story.unc_ns = 10
    return deferred(story, 115, 20)


@rows.expect(Verdict.FAIL)
def a_batch_past_its_deadline_beyond_the_uncertainty_fails(story: Story) -> Finding:
    story.unc_ns = 10
    return deferred(story, 115, 21)


@rows.expect(Verdict.PASS)
def the_deadline_counts_from_the_end_of_the_callback_before(story: Story) -> Finding:
    batches(story, 2, 2, 2)
    return story.finds("batch-shape", OF, max=2, defer_ms=5, limit_ms=5)


@rows.expect(Verdict.FAIL)
def without_the_callback_before_the_same_batch_is_late(story: Story) -> Finding:
    batches(story, 2)
    story.send("n")
    story.at(30).seen("n", batch=1)
    return story.finds("batch-shape", OF, max=2, defer_ms=5, limit_ms=5)


@rows.expect(Verdict.PASS)
def the_deadline_counts_from_the_begin_of_the_watch(story: Story) -> Finding:
    story.send("a")
    story.at(100).watch()
    story.at(110).seen("a", batch=0)
    return story.finds("batch-shape", OF, max=2, defer_ms=10)


@rows.expect(Verdict.PASS)
def the_deadline_counts_from_the_end_of_the_delivery_delay(story: Story) -> Finding:
    story.watch()
    story.send("a", delay_ms=100)
    story.at(110).seen("a", batch=0)
    return story.finds("batch-shape", OF, max=2, defer_ms=10)


@rows.expect(Verdict.PASS)
def the_deadline_counts_from_the_commit_of_the_send(story: Story) -> Finding:
    story.watch()
    story.send("a", unit="u")
    story.at(100).tell(Unit, actor="sender", unit="u", op="commit")
    story.at(110).seen("a", batch=0)
    return story.finds("batch-shape", OF, max=2, defer_ms=10)


@rows.expect(Verdict.PASS)
def the_deadline_counts_from_the_end_of_a_fault(story: Story) -> Finding:
    story.watch()
    story.send("a")
    story.at(50).fault("begin")
    story.at(100).fault("end")
    story.at(110).seen("a", batch=0)
    return story.finds("batch-shape", OF, max=2, defer_ms=10)


def filled(story: Story, handed_ms: int) -> Finding:
    story.watch()
    story.send("a")
    story.at(20).send("b")
    story.at(handed_ms).seen("a", batch=0)
    story.seen("b", batch=0)
    return story.finds("batch-shape", OF, max=2, defer_ms=1_000, full_ms=5)


@rows.expect(Verdict.PASS)
def a_full_batch_at_once_passes(story: Story) -> Finding:
    return filled(story, 25)


@rows.expect(Verdict.FAIL)
def a_full_batch_that_waits_fails(story: Story) -> Finding:
    return filled(story, 26)


def like_an_unbatched_message(story: Story, took_ms: int | None) -> Finding:
    """Return the finding on a full batch that is 20 ms late, after an unbatched message that took `took_ms`."""
    story.watch()
    story.send("plain")
    if took_ms is not None:
        story.at(took_ms).seen("plain")
    story.at(100).send("a")
    story.at(120).seen("a", batch=0)
    return story.finds("batch-shape", {**OF, "like": "plain"}, max=1, defer_ms=5, full_ms=5)


@rows.expect(Verdict.PASS)
def a_batch_may_take_what_an_unbatched_message_took(story: Story) -> Finding:
    return like_an_unbatched_message(story, 15)


@rows.expect(Verdict.FAIL)
def a_batch_may_not_take_more_than_an_unbatched_message_took(story: Story) -> Finding:
    return like_an_unbatched_message(story, 14)


@rows.expect(Verdict.FAIL)
def an_unbatched_message_that_never_came_allows_nothing(story: Story) -> Finding:
    return like_an_unbatched_message(story, None)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def batches_of_messages_from_nowhere_show_nothing_of_a_deadline(story: Story) -> Finding:
    story.at(500).seen("x", batch=0)
    return story.finds("batch-shape", OF, max=2, defer_ms=10)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def without_a_full_batch_nothing_is_shown_of_full_ones(story: Story) -> Finding:
    batches(story, 1)
    return story.finds("batch-shape", OF, max=2, full_ms=10)


@rows.parametrize()
def test_batches(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
