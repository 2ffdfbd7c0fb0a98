from __future__ import annotations

import pytest
from tests.evidence.histories import Story, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence.events import Admin, Late
from assay_evidence.verdicts import Finding, Verdict

rows = Rows()


def refused_send(story: Story, text: str = "queue A is full", *objects: str) -> str:
    return story.asks("send", refusal("resource-allocation", text=text, objects=objects)).ref


def looked_at(story: Story, **answer: str | int) -> str:
    return story.tell(Admin, call="c", command="browse Q", answer=dict(answer)).ref


@rows.expect(Verdict.PASS)
def a_text_that_contains_every_entry_passes(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story), "field.text": "A|full"})


@rows.expect(Verdict.FAIL)
def a_text_that_lacks_an_entry_fails(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story), "field.text": "A|B"})


@rows.expect(Verdict.PASS)
def a_list_of_just_these_entries_passes_in_any_order(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story, "", "B", "A"), "field.objects": "A|B"}, exactly=1)


@rows.expect(Verdict.PASS)
def a_refusal_that_says_any_of_the_entries_passes(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story, "Q is FULL"), "field.says": "full|2053"}, any=1)


@rows.expect(Verdict.FAIL)
def a_refusal_that_says_none_of_the_entries_fails(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story, "no"), "field.says": "full|2053"}, any=1)


@rows.expect(Verdict.FAIL)
def a_list_with_one_entry_more_fails(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story, "", "A", "B"), "field.objects": "A"}, exactly=1)


@rows.expect(Verdict.PASS)
def a_field_without_what_must_be_absent_passes(story: Story) -> Finding:
    return story.finds("mentions", {"at": looked_at(story, MsgId="ab"), "field.MsgId": "cd"}, absent=1)


@rows.expect(Verdict.FAIL)
def a_field_with_what_must_be_absent_fails(story: Story) -> Finding:
    return story.finds("mentions", {"at": looked_at(story, MsgId="ab"), "field.MsgId": "ab"}, absent=1)


@rows.expect(Verdict.FAIL)
def a_field_that_is_not_there_says_nothing_even_of_what_must_be_absent(story: Story) -> Finding:
    return story.finds("mentions", {"at": looked_at(story), "field.MsgId": "ab"}, absent=1)


@rows.expect(Verdict.FAIL)
def an_accepted_call_gives_no_reason(story: Story) -> Finding:
    return story.finds("mentions", {"at": story.asks("send").ref, "field.text": "A"})


@rows.expect(Verdict.INCONCLUSIVE)
def a_call_that_did_not_come_back_gives_no_reason(story: Story) -> Finding:
    return story.finds("mentions", {"at": story.call("send").ref, "field.text": "A"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_message_that_nobody_saw_says_nothing(story: Story) -> Finding:
    return story.finds("mentions", {"kid": "m", "field.text": "A"})


@rows.expect(Verdict.PASS, disclosed="A")
def what_a_recorded_text_contains_is_disclosed(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story), "field.text": "A|B"}, recorded=1)


@rows.expect(Verdict.PASS, disclosed="none")
def a_recorded_text_may_contain_nothing_of_it(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story), "field.text": "B"}, recorded=1)


@rows.expect(Verdict.FAIL)
def a_text_that_is_not_there_is_not_recorded(story: Story) -> Finding:
    return story.finds("mentions", {"at": story.asks("send").ref, "field.text": "A"}, recorded=1)


@rows.expect(Verdict.ERROR)
def just_these_and_none_of_them_contradict_each_other(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story), "field.text": "A"}, exactly=1, absent=1)


@rows.expect(Verdict.ERROR)
def no_field_is_an_error(story: Story) -> Finding:
    return story.finds("mentions", {"at": refused_send(story)})


@rows.expect(Verdict.PASS, disclosed="50")
def a_number_at_its_bounds_is_in_range_and_disclosed(story: Story) -> Finding:
    return story.finds("in-range", {"at": looked_at(story, Expiry=50), "field": "Expiry"}, least=50, most=50)


@rows.expect(Verdict.FAIL)
def a_number_below_its_least_is_out_of_range(story: Story) -> Finding:
    return story.finds("in-range", {"at": looked_at(story, Expiry=49), "field": "Expiry"}, least=50)


@rows.expect(Verdict.FAIL)
def a_number_above_its_most_is_out_of_range(story: Story) -> Finding:
    return story.finds("in-range", {"at": looked_at(story, Expiry=51), "field": "Expiry"}, most=50)


@rows.expect(Verdict.FAIL)
def what_is_no_number_is_out_of_range(story: Story) -> Finding:
    return story.finds("in-range", {"at": looked_at(story, Expiry="soon"), "field": "Expiry"})


@rows.expect(Verdict.FAIL)
def a_number_that_is_absent_is_out_of_range(story: Story) -> Finding:
    return story.finds("in-range", {"at": looked_at(story), "field": "Expiry"})


def missed(story: Story, after_ms: int, **answer: int) -> Finding:
    """Return a finding on an inspection, some time after the send of a message that may expire after 19 s."""
    sent = story.send("m")
    at = looked_at(story.at(after_ms), **answer)
    return story.finds("in-range", {"at": at, "field": "Expiry", "call": sent.ref}, least=0, most=10, lasts_ms=19_000)


@rows.expect(Verdict.FAIL)
def a_message_that_must_still_exist_is_missed(story: Story) -> Finding:
    return missed(story, 18_999)


@rows.expect(Verdict.INCONCLUSIVE)
def a_message_that_may_have_expired_is_not_missed(story: Story) -> Finding:
    return missed(story, 19_000)


@rows.expect(Verdict.FAIL)
def what_an_expired_message_shows_is_looked_at(story: Story) -> Finding:
    return missed(story, 30_000, Expiry=50)


@pytest.mark.parametrize("measured", [0, 1])
def test_a_delay_of_the_harness_does_not_matter_for_bounds_from_recorded_times(measured: int) -> None:
    story = Story()
    story.send()
    story.now_ns += 5_000_000_000
    story.tell(Late, held_ns=5_000_000_000, late_ns=5_000_000_000)
    shown = {"at": looked_at(story, Expiry=50), "field": "Expiry"}
    finding = story.finds("in-range", shown, least=40, most=60, measured=measured)
    assert (finding.verdict, finding.certain) == (Verdict.PASS, bool(measured))


@rows.expect(Verdict.INCONCLUSIVE)
def a_refused_call_shows_no_number(story: Story) -> Finding:
    return story.finds("in-range", {"at": refused_send(story), "field": "JMSPriority"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_number_of_a_message_that_nobody_saw_is_not_there(story: Story) -> Finding:
    return story.finds("in-range", {"kid": "m", "field": "JMSPriority"})


@rows.parametrize()
def test_mentions(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
