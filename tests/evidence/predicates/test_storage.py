from __future__ import annotations

from tests.evidence.histories import Memory, Story, message, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence.verdicts import Finding, Verdict

rows = Rows()
SOURCE = "simulated disk"


def sent_with(story: Story, *operations: str, copies: int = 1) -> Finding:
    """Return a finding on a send during which the disk does these operations."""
    send = story.call("send", destination="queue://Q", msg=message("m"))
    for operation in operations:
        if operation == "write":
            story.disk("write", "x", "m")
        elif operation == "flush":
            story.disk("flush")
        else:
            story.disk("drop")
    story.answer(send)
    return story.finds("flushed-before", {"kid": "m", "call": send.ref}, copies=copies)


@rows.expect(Verdict.PASS, SOURCE)
def a_message_flushed_before_the_answer_passes(story: Story) -> Finding:
    return sent_with(story, "write", "flush")


@rows.expect(Verdict.PASS, SOURCE)
def every_copy_flushed_before_the_answer_passes(story: Story) -> Finding:
    return sent_with(story, "write", "flush", "write", "flush", copies=2)


@rows.expect(Verdict.FAIL, SOURCE)
def a_missing_copy_fails(story: Story) -> Finding:
    return sent_with(story, "write", "flush", copies=2)


@rows.expect(Verdict.FAIL, SOURCE)
def a_message_written_and_not_flushed_fails(story: Story) -> Finding:
    return sent_with(story, "write")


@rows.expect(Verdict.FAIL, SOURCE)
def a_flush_before_the_write_fails(story: Story) -> Finding:
    return sent_with(story, "flush", "write")


@rows.expect(Verdict.FAIL, SOURCE)
def a_dropped_write_fails(story: Story) -> Finding:
    return sent_with(story, "write", "drop", "flush")


@rows.expect(Verdict.FAIL, SOURCE)
def a_flush_after_the_answer_fails(story: Story) -> Finding:
    send = story.send()
    story.disk("write", "m")
    story.disk("flush")
    return story.finds("flushed-before", {"kid": "m", "call": send.ref})


@rows.expect(Verdict.FAIL, SOURCE)
def a_write_of_another_message_fails(story: Story) -> Finding:
    story.disk("write", "other")
    story.disk("flush")
    return story.finds("flushed-before", {"kid": "m", "call": story.send().ref})


@rows.expect(Verdict.PASS, SOURCE)
def a_message_flushed_before_its_first_sighting_passes(story: Story) -> Finding:
    story.send()
    story.disk("write", "m")
    story.disk("flush")
    story.seen()
    return story.finds("flushed-before", {"kid": "m", "actor": "receiver"})


@rows.expect(Verdict.FAIL, SOURCE)
def a_message_flushed_after_its_first_sighting_fails(story: Story) -> Finding:
    story.send()
    story.disk("write", "m")
    story.seen()
    story.disk("flush")
    story.seen()
    return story.finds("flushed-before", {"kid": "m", "actor": "receiver"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_message_never_seen_shows_nothing(story: Story) -> Finding:
    story.send()
    story.disk("flush")
    return story.finds("flushed-before", {"kid": "m", "actor": "receiver"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def without_a_disk_event_nothing_is_shown(story: Story) -> Finding:
    return story.finds("flushed-before", {"kid": "m", "call": story.send().ref})


def told_after_the_answer(story: Story, flushed_ms: int) -> Finding:
    send = story.send(took_ms=10)
    story.at(1).disk("write", "m")
    story.at(flushed_ms).disk("flush")
    return story.finds("flushed-before", {"kid": "m", "call": send.ref})


@rows.expect(Verdict.PASS, SOURCE)
def a_flush_that_is_told_after_the_answer_and_was_before_it_counts(story: Story) -> Finding:
    return told_after_the_answer(story, 5)


@rows.expect(Verdict.FAIL, SOURCE)
def a_flush_at_the_instant_of_the_answer_that_is_told_after_it_is_later(story: Story) -> Finding:
    return told_after_the_answer(story, 10)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_message_never_sent_shows_nothing(story: Story) -> Finding:
    story.disk("flush")
    return story.finds("flushed-before", {"kid": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def a_refused_send_shows_nothing(story: Story) -> Finding:
    return story.finds("flushed-before", {"kid": "m", "call": story.send(refused=refusal()).ref})


def by_another_writer(story: Story, flush_ns: int, operation: str = "flush") -> Finding:
    disk = Story(Memory("disk"), unc_ns=story.unc_ns)
    disk.disk("write", "m")
    if operation == "drop":
        disk.at(1).disk("flush")
        disk.at(10, flush_ns).disk("drop")
    else:
        disk.at(10, flush_ns).disk("flush")
    send = story.send(took_ms=10)
    story.at(20)
    return story.finds("flushed-before", {"kid": "m", "call": send.ref}, disk)


@rows.expect(Verdict.PASS, SOURCE)
def a_flush_of_another_writer_is_placed_by_time(story: Story) -> Finding:
    return by_another_writer(story, -1)


@rows.expect(Verdict.FAIL, SOURCE)
def a_late_flush_of_another_writer_fails(story: Story) -> Finding:
    return by_another_writer(story, 1)


@rows.expect(Verdict.INCONCLUSIVE)
def a_flush_of_another_writer_at_the_same_instant_cannot_be_placed(story: Story) -> Finding:
    return by_another_writer(story, 0)


@rows.expect(Verdict.INCONCLUSIVE)
def a_flush_of_another_writer_within_the_uncertainty_cannot_be_placed(story: Story) -> Finding:
    story.unc_ns = 1
    return by_another_writer(story, -2)


@rows.expect(Verdict.PASS, SOURCE)
def a_drop_after_the_flush_takes_nothing_away(story: Story) -> Finding:
    return by_another_writer(story, 0, "drop")


@rows.parametrize()
def test_storage(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
