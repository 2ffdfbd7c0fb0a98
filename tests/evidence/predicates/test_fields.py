from __future__ import annotations

from tests.evidence.histories import Story, message, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence.events import Admin
from assay_evidence.verdicts import Finding, Verdict

rows = Rows()


@rows.expect(Verdict.PASS)
def fields_of_a_sighting_are_compared_as_text(story: Story) -> Finding:
    seen = story.seen(fields={"JMSPriority": 7, "flag": True, "JMSType": None, "name": "x"})
    wanted = {"field.JMSPriority": "7", "field.flag": "true", "field.JMSType": "none", "field.name": "x"}
    return story.finds("equal-fields", {"at": seen.ref, **wanted, "field.count": "1", "field.redelivered": "false"})


@rows.expect(Verdict.FAIL)
def fields_that_differ_fail(story: Story) -> Finding:
    seen = story.seen(fields={"JMSPriority": 4})
    return story.finds("equal-fields", {"at": seen.ref, "field.JMSPriority": "7"})


@rows.expect(Verdict.FAIL)
def fields_that_are_absent_fail(story: Story) -> Finding:
    return story.finds("equal-fields", {"at": story.seen().ref, "field.JMSPriority": "none"})


@rows.expect(Verdict.PASS)
def fields_of_the_first_sighting_are_taken_unless_the_last_is_asked_for(story: Story) -> Finding:
    story.seen(fields={"n": 1})
    story.seen(fields={"n": 2})
    return story.finds("equal-fields", {"kid": "m", "actor": "receiver", "field.n": "1"})


@rows.expect(Verdict.PASS)
def fields_of_the_last_sighting_are_taken_where_asked_for(story: Story) -> Finding:
    story.seen(fields={"n": 1})
    story.seen(fields={"n": 2})
    return story.finds("equal-fields", {"kid": "m", "which": "last", "field.n": "2"})


@rows.expect(Verdict.ERROR)
def fields_of_neither_first_nor_last_are_an_error(story: Story) -> Finding:
    return story.finds("equal-fields", {"kid": "m", "which": "middle", "field.n": "2"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def fields_of_a_message_not_seen_show_nothing(story: Story) -> Finding:
    story.seen(actor="other")
    return story.finds("equal-fields", {"kid": "m", "actor": "receiver", "field.n": "1"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def fields_of_an_event_that_is_not_there_show_nothing(story: Story) -> Finding:
    return story.finds("equal-fields", {"at": "w:99", "field.n": "1"})


@rows.expect(Verdict.PASS)
def fields_of_a_call_are_those_of_its_answer_first(story: Story) -> Finding:
    call = story.call("send", msg=message("m", fields={"JMSDeliveryMode": "NON_PERSISTENT"}), args={"priority": 7})
    story.answer(call, msg=message("m", fields={"JMSDeliveryMode": "PERSISTENT"}), value={"n": 3})
    wanted = {"field.JMSDeliveryMode": "PERSISTENT", "field.priority": "7", "field.n": "3"}
    return story.finds("equal-fields", {"at": call.ref, **wanted})


@rows.expect(Verdict.INCONCLUSIVE)
def fields_of_a_refused_call_show_nothing(story: Story) -> Finding:
    call = story.asks("send", refusal())
    return story.finds("equal-fields", {"at": call.ref, "field.JMSPriority": "4"})


@rows.expect(Verdict.PASS)
def fields_of_a_refusal_can_be_compared(story: Story) -> Finding:
    call = story.asks("send", refusal("messaging", mqrc=2013, checked=True, text="why"))
    wanted = {"field.kind": "messaging", "field.mqrc": "2013", "field.checked": "true", "field.text": "why"}
    return story.finds("equal-fields", {"at": call.ref, **wanted, "field.objects": ""})


@rows.expect(Verdict.INCONCLUSIVE)
def fields_of_a_call_that_did_not_come_back_show_nothing(story: Story) -> Finding:
    return story.finds("equal-fields", {"at": story.call().ref, "field.n": "4"})


@rows.expect(Verdict.PASS)
def fields_of_an_answer_are_its_values(story: Story) -> Finding:
    call = story.call("receive")
    return story.finds("equal-fields", {"at": story.answer(call, value={"kid": None}).ref, "field.kid": "none"})


@rows.expect(Verdict.FAIL)
def fields_of_an_administrative_answer_can_fail(story: Story) -> Finding:
    admin = story.tell(Admin, call="c", command="DISPLAY QLOCAL(Q)", answer={"CURDEPTH": 1})
    return story.finds("equal-fields", {"at": admin.ref, "field.CURDEPTH": "0"})


@rows.expect(Verdict.ERROR)
def fields_of_an_event_without_any_are_an_error(story: Story) -> Finding:
    return story.finds("equal-fields", {"at": story.watch().ref, "field.n": "0"})


@rows.expect(Verdict.PASS)
def the_body_that_was_sent_is_the_body_that_came(story: Story) -> Finding:
    story.send()
    return story.finds("equal-fields", {"at": story.seen().ref, "field.sha256": "sent"})


@rows.expect(Verdict.FAIL)
def another_body_than_the_one_sent_fails(story: Story) -> Finding:
    story.send()
    return story.finds("equal-fields", {"at": story.seen(body="altered").ref, "field.sha256": "sent"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_body_that_was_never_sent_shows_nothing(story: Story) -> Finding:
    return story.finds("equal-fields", {"at": story.seen().ref, "field.sha256": "sent"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def an_answer_without_a_message_has_no_body_to_compare(story: Story) -> Finding:
    return story.finds("equal-fields", {"at": story.asks().ref, "field.sha256": "sent"})


@rows.expect(Verdict.ERROR)
def no_fields_are_an_error(story: Story) -> Finding:
    return story.finds("equal-fields", {"at": story.seen().ref})


@rows.expect(Verdict.PASS)
def a_browse_that_lists_each_message_once_passes(story: Story) -> Finding:
    return story.finds("found-by-browse", {"call": story.browse("m", "n", "x").ref, "kids": "m|n"})


@rows.expect(Verdict.FAIL)
def a_browse_that_lacks_a_message_fails(story: Story) -> Finding:
    return story.finds("found-by-browse", {"call": story.browse("m").ref, "kids": "m|n"})


@rows.expect(Verdict.FAIL)
def a_browse_that_lists_a_message_twice_fails(story: Story) -> Finding:
    return story.finds("found-by-browse", {"call": story.browse("m", "m").ref, "kids": "m"})


@rows.expect(Verdict.PASS)
def a_browse_that_does_not_list_what_must_be_absent_passes(story: Story) -> Finding:
    return story.finds("found-by-browse", {"call": story.browse("x").ref, "kids": "m"}, count=0)


@rows.expect(Verdict.FAIL)
def a_browse_that_lists_what_must_be_absent_fails(story: Story) -> Finding:
    return story.finds("found-by-browse", {"call": story.browse("m").ref, "kids": "m"}, count=0)


@rows.expect(Verdict.INCONCLUSIVE)
def a_browse_that_was_refused_shows_nothing(story: Story) -> Finding:
    return story.finds("found-by-browse", {"call": story.asks("browse", refusal()).ref, "kids": "m"})


@rows.expect(Verdict.INCONCLUSIVE)
def a_browse_that_did_not_come_back_shows_nothing(story: Story) -> Finding:
    return story.finds("found-by-browse", {"call": story.call("browse").ref, "kids": "m"}, count=0)


@rows.parametrize()
def test_fields(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
