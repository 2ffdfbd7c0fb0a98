from __future__ import annotations

from tests.evidence.histories import Story, message
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence import events as ev
from assay_evidence.verdicts import Finding, Verdict

rows = Rows()


def after(story: Story, *flags: int, **bounds: int) -> Finding:
    """Return a finding on a message with these transfers, settled or not."""
    story.tell(ev.Frame, actor="sender", direction="out", text="open")
    for settled in flags:
        story.tell(ev.Frame, actor="sender", direction="out", text="transfer", key="m", settled=bool(settled))
    story.tell(ev.Frame, actor="sender", direction="in", text="transfer", key="m", settled=True)
    story.tell(ev.Frame, actor="sender", direction="out", text="transfer", key="other", settled=True)
    return story.finds("transferred", {"kids": "m"}, **bounds)


@rows.expect(Verdict.PASS)
def a_settled_transfer_is_settled(story: Story) -> Finding:
    return after(story, 1, settled=1, times=1)


@rows.expect(Verdict.PASS)
def an_unsettled_transfer_is_not_settled(story: Story) -> Finding:
    return after(story, 0, settled=0, times=1)


@rows.expect(Verdict.PASS)
def once_or_more_is_enough_where_nothing_is_said(story: Story) -> Finding:
    return after(story, 0, 1)


@rows.expect(Verdict.PASS)
def as_often_as_given_or_more_passes(story: Story) -> Finding:
    return after(story, 0, 0, 0, least=2)


@rows.expect(Verdict.FAIL)
def an_unsettled_transfer_fails_where_it_must_be_settled(story: Story) -> Finding:
    return after(story, 1, 0, settled=1)


@rows.expect(Verdict.FAIL)
def a_settled_transfer_fails_where_it_must_not_be(story: Story) -> Finding:
    return after(story, 1, settled=0)


@rows.expect(Verdict.FAIL)
def a_transfer_too_many_fails(story: Story) -> Finding:
    return after(story, 0, 0, times=1)


@rows.expect(Verdict.FAIL)
def a_transfer_too_few_fails(story: Story) -> Finding:
    return after(story, 0, least=2)


@rows.expect(Verdict.FAIL)
def no_transfer_of_the_message_fails_where_the_wire_was_looked_at(story: Story) -> Finding:
    return after(story)


@rows.expect(Verdict.PASS)
def no_transfer_passes_where_none_is_wanted(story: Story) -> Finding:
    return after(story, times=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_wire_that_nobody_looked_at_shows_nothing(story: Story) -> Finding:
    story.send("m")
    return story.finds("transferred", {"kids": "m"}, times=1)


def come(story: Story, *flags: int, **bounds: int) -> Finding:
    """Return a finding on a message with these transfers to a subscriber, a transfer to another, and a disposition."""
    story.tell(ev.Frame, actor="sender", direction="out", text="transfer", key="m", settled=False)
    said = {"key": "m", "disposition": "accepted", "role": "sender"}
    for settled in flags:
        story.tell(ev.Frame, actor="s", direction="in", text="transfer", key="m", settled=bool(settled))
        story.tell(ev.Frame, actor="s", direction="in", text="disposition", settled=False, **said)
    story.tell(ev.Frame, actor="other", direction="in", text="transfer", key="m", settled=False)
    return story.finds("transferred", {"kids": "m", "actor": "s"}, **bounds)


@rows.expect(Verdict.PASS)
def what_came_to_one_subscriber_is_counted_for_it_alone(story: Story) -> Finding:
    return come(story, 1, times=1, settled=1)


@rows.expect(Verdict.FAIL)
def what_came_unsettled_fails_where_it_must_be_settled(story: Story) -> Finding:
    return come(story, 0, times=1, settled=1)


@rows.expect(Verdict.FAIL)
def what_came_twice_fails_where_once_is_meant(story: Story) -> Finding:
    return come(story, 1, 1, times=1, settled=1)


@rows.expect(Verdict.FAIL)
def what_did_not_come_to_the_subscriber_fails(story: Story) -> Finding:
    return come(story, times=1)


@rows.expect(Verdict.PASS)
def dispositions_of_what_the_client_sent_are_no_transfers(story: Story) -> Finding:
    said = {"key": "m", "disposition": "accepted"}
    story.tell(ev.Frame, actor="sender", direction="out", text="disposition", settled=True, role="sender", **said)
    return after(story, 0, times=1, settled=0)


def carried(story: Story, *messages: ev.MessageRef | None, **of: str) -> Finding:
    """Return a finding on a sent message whose transfers carried these messages, or something that nobody shows."""
    story.send("m")
    for one in messages:
        story.tell(ev.Frame, actor="sender", direction="out", text="transfer", key="m", msg=one, settled=False)
    return story.finds("transferred", {"kids": "m"} | {f"field.{name}": value for name, value in of.items()})


def refer(body: str = "m", **fields: str) -> ev.MessageRef:
    """Return a reference to the message with a body and fields."""
    return message("m", body, dict(fields))


@rows.expect(Verdict.PASS)
def the_same_message_each_time_passes(story: Story) -> Finding:
    same = refer(target="news", JMSMessageID="ID:1")
    return carried(story, same, same, sha256="sent", target="first", JMSMessageID="ID:1")


@rows.expect(Verdict.FAIL)
def another_body_the_second_time_fails(story: Story) -> Finding:
    return carried(story, refer(), refer("other"), sha256="sent")


@rows.expect(Verdict.FAIL)
def another_target_the_second_time_fails(story: Story) -> Finding:
    return carried(story, refer(target="news"), refer(target="olds"), target="first")


@rows.expect(Verdict.FAIL)
def another_id_the_first_time_fails(story: Story) -> Finding:
    return carried(story, refer(JMSMessageID="ID:2"), refer(JMSMessageID="ID:1"), JMSMessageID="ID:1")


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_transfer_whose_message_nobody_shows_decides_nothing(story: Story) -> Finding:
    return carried(story, refer(), None, sha256="sent")


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_target_that_nobody_shows_decides_nothing(story: Story) -> Finding:
    return carried(story, refer(), refer(), target="first")


@rows.parametrize()
def test_transferred(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
