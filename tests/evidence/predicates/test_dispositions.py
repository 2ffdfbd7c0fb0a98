"""Tests of the states of a delivery, each with the verdict of a claim on it."""

from __future__ import annotations

from typing import Literal

from tests.evidence.histories import Story, message, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence import events as ev
from assay_evidence.verdicts import Finding, Verdict

rows = Rows()
Said = Literal["accepted", "rejected", "released", "modified", "none"]


class Delivery:
    """A message to subscriber ``s``; or a message from a client, if `of` names the client's connection."""

    def __init__(
        self, story: Story, key: str = "m", *, of: str = "s", settled: bool = False, incoming: bool = True
    ) -> None:
        self.story, self.key, self.of, self.incoming = story, key, of, incoming
        self.frame(inward=incoming, settled=settled)

    def frame(self, *, inward: bool, settled: bool, **said: object) -> None:
        direction = "in" if inward else "out"
        self.story.tell(ev.Frame, actor=self.of, direction=direction, text="f", key=self.key, settled=settled, **said)

    def receiver(self, outcome: Said = "accepted", *, settled: bool = False) -> Delivery:
        """Return the delivery with a disposition of the receiver."""
        self.frame(inward=not self.incoming, settled=settled, disposition=outcome, role="receiver")
        return self

    def sender(self, outcome: Said = "accepted") -> Delivery:
        """Return the delivery with a disposition of the sender."""
        self.frame(inward=self.incoming, settled=True, disposition=outcome, role="sender")
        return self


def acknowledge(story: Story, key: str = "m", refused: ev.RefusedInfo | None = None) -> None:
    story.answer(story.call("acknowledge", "s", msg=message(key)), refused)


def finds(story: Story, keys: str = "m", *, after_ms: int = 100, **bounds: int) -> Finding:
    story.at(after_ms)
    return story.finds("disposed", {"kids": keys, "actor": "s"}, quiet_ms=50, **bounds)


@rows.expect(Verdict.PASS, "settled with the outcome")
def accepted_and_settled_after_the_acknowledgement(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.receiver(settled=True)
    return finds(story)


@rows.expect(Verdict.PASS, "settled by the sender after the outcome")
def accepted_and_then_settled_by_the_broker(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.receiver().sender()
    return finds(story)


@rows.expect(Verdict.PASS, "settled by the receiver after the outcome")
def accepted_and_then_settled_by_the_client_without_an_outcome(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.receiver().receiver("none", settled=True)
    return finds(story)


@rows.expect(Verdict.PASS, "settled by the sender after the outcome, settled with the outcome")
def several_messages_each_in_its_own_way(story: Story) -> Finding:
    first, second = Delivery(story), Delivery(story, "n")
    for key in ("n", "m"):
        acknowledge(story, key)
    second.receiver().sender()
    first.receiver(settled=True)
    return finds(story, "m|n")


@rows.expect(Verdict.FAIL)
def accepted_before_the_acknowledgement(story: Story) -> Finding:
    Delivery(story).receiver(settled=True)
    acknowledge(story)
    return finds(story)


@rows.expect(Verdict.FAIL)
def settled_without_an_outcome_before_the_acknowledgement(story: Story) -> Finding:
    one = Delivery(story).receiver("none", settled=True)
    acknowledge(story)
    one.receiver()
    return finds(story)


@rows.expect(Verdict.FAIL)
def accepted_though_the_acknowledgement_was_refused(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story, refused=refusal())
    one.receiver(settled=True)
    return finds(story)


@rows.expect(Verdict.FAIL)
def released_though_acknowledged(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.receiver("released", settled=True)
    return finds(story)


@rows.expect(Verdict.FAIL)
def released_first_and_accepted_later(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.receiver("released").receiver(settled=True)
    return finds(story)


@rows.expect(Verdict.FAIL)
def the_outcome_names_the_wrong_message_of_two(story: Story) -> Finding:
    Delivery(story)
    other = Delivery(story, "n")
    acknowledge(story)
    other.receiver(settled=True)
    return finds(story, "m|n")


@rows.expect(Verdict.FAIL)
def no_outcome_though_acknowledged(story: Story) -> Finding:
    Delivery(story)
    acknowledge(story)
    return finds(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def no_outcome_and_nobody_waited_for_it(story: Story) -> Finding:
    Delivery(story)
    acknowledge(story)
    return finds(story, after_ms=49)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def no_outcome_because_the_connection_was_lost(story: Story) -> Finding:
    Delivery(story)
    acknowledge(story)
    story.fault("begin")
    return finds(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def dropped_by_the_broker_before_the_client_said_anything(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.sender("none")
    return finds(story)


@rows.expect(Verdict.FAIL)
def dropped_by_the_broker_before_anything_was_accepted(story: Story) -> Finding:
    Delivery(story).sender("none")
    Delivery(story, "n").receiver(settled=True)
    return finds(story, "m|n", accepted=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def settled_without_an_outcome_after_the_acknowledgement(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.receiver("none", settled=True)
    return finds(story)


@rows.expect(Verdict.FAIL)
def accepted_and_settled_by_neither_end(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.receiver()
    return finds(story)


@rows.expect(Verdict.PASS, "not settled")
def accepted_is_enough_where_the_claim_is_not_about_the_end(story: Story) -> Finding:
    one = Delivery(story)
    acknowledge(story)
    one.receiver()
    return finds(story, settled=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def nothing_was_acknowledged(story: Story) -> Finding:
    Delivery(story)
    return finds(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def what_came_settled_needs_no_outcome(story: Story) -> Finding:
    Delivery(story, settled=True)
    acknowledge(story)
    return finds(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def nobody_looked_at_the_wire(story: Story) -> Finding:
    acknowledge(story)
    return finds(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def what_came_to_another_subscriber_is_not_looked_at(story: Story) -> Finding:
    Delivery(story, of="other").receiver(settled=True)
    return finds(story)


@rows.expect(Verdict.PASS, "settled with the outcome")
def each_delivery_of_a_message_that_comes_again_is_its_own(story: Story) -> Finding:
    Delivery(story)
    story.fault("begin")
    story.fault("end")
    again = Delivery(story)
    acknowledge(story)
    again.receiver(settled=True)
    return finds(story)


@rows.expect(Verdict.FAIL)
def an_earlier_delivery_was_accepted_and_only_the_later_one_acknowledged(story: Story) -> Finding:
    Delivery(story).receiver(settled=True)
    again = Delivery(story)
    acknowledge(story)
    again.receiver(settled=True)
    return finds(story)


@rows.expect(Verdict.PASS, "settled with the outcome")
def a_client_that_acknowledges_automatically_accepts_by_itself(story: Story) -> Finding:
    Delivery(story).receiver(settled=True)
    return finds(story, acknowledged=0)


@rows.expect(Verdict.FAIL)
def a_client_that_acknowledges_automatically_does_not_accept(story: Story) -> Finding:
    Delivery(story)
    return finds(story, acknowledged=0)


@rows.expect(Verdict.FAIL)
def a_callback_that_raises_excuses_no_missing_outcome(story: Story) -> Finding:
    Delivery(story)
    story.tell(ev.Callback, actor="s", link="s/1", batch=None, ended="raised")
    return finds(story, acknowledged=0)


@rows.expect(Verdict.PASS, "settled by the sender after the outcome")
def what_was_accepted_was_settled_whoever_allowed_it(story: Story) -> Finding:
    Delivery(story).receiver().sender()
    Delivery(story)
    return finds(story, accepted=0)


@rows.expect(Verdict.FAIL)
def what_was_accepted_was_not_settled(story: Story) -> Finding:
    Delivery(story).receiver()
    return finds(story, accepted=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def nothing_was_accepted_so_nothing_was_settled(story: Story) -> Finding:
    Delivery(story)
    return finds(story, accepted=0)


@rows.expect(Verdict.PASS)
def nothing_is_accepted_where_nothing_must_be(story: Story) -> Finding:
    Delivery(story)
    return finds(story, times=0)


@rows.expect(Verdict.PASS)
def what_is_given_back_is_not_accepted(story: Story) -> Finding:
    Delivery(story).receiver("modified", settled=True)
    return finds(story, times=0)


@rows.expect(Verdict.FAIL)
def accepted_where_nothing_must_be(story: Story) -> Finding:
    Delivery(story).receiver()
    return finds(story, times=0)


@rows.expect(Verdict.FAIL)
def settled_without_an_outcome_where_nothing_must_be(story: Story) -> Finding:
    Delivery(story).receiver("none", settled=True)
    return finds(story, times=0)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def nobody_waited_for_what_must_not_come(story: Story) -> Finding:
    Delivery(story)
    return finds(story, after_ms=49, times=0)


# sends of the client


def sends(
    story: Story,
    *said: tuple[Literal["receiver", "sender"], Said, bool],
    late: bool = False,
    refused: ev.RefusedInfo | None = None,
    settled: bool = False,
) -> Finding:
    """Return a finding on a send with dispositions of its receiver and sender, before or after the answer."""
    call = story.call("send", msg=message("m"))
    sent = Delivery(story, of="c", incoming=False, settled=settled)
    if late:
        story.answer(call, refused)
    for role, outcome, done in said:
        if role == "receiver":
            sent.receiver(outcome, settled=done)
        else:
            sent.sender(outcome)
    if not late:
        story.answer(call, refused)
    return story.at(100).finds("disposed", {"kids": "m"}, quiet_ms=50)


@rows.expect(Verdict.PASS, "settled with the outcome")
def the_broker_accepts_before_the_send_is_answered(story: Story) -> Finding:
    return sends(story, ("receiver", "accepted", True))


@rows.expect(Verdict.PASS, "settled by the sender after the outcome")
def the_client_settles_what_the_broker_accepted(story: Story) -> Finding:
    return sends(story, ("receiver", "accepted", False), ("sender", "none", True))


@rows.expect(Verdict.FAIL)
def the_send_is_answered_before_the_broker_accepts(story: Story) -> Finding:
    return sends(story, ("receiver", "accepted", True), late=True)


@rows.expect(Verdict.FAIL)
def the_send_is_answered_before_the_message_is_transferred(story: Story) -> Finding:
    story.answer(story.call("send", msg=message("m")))
    Delivery(story, of="c", incoming=False).receiver(settled=True)
    return story.at(100).finds("disposed", {"kids": "m"}, quiet_ms=50)


@rows.expect(Verdict.FAIL)
def the_send_is_answered_and_the_broker_says_nothing(story: Story) -> Finding:
    return sends(story)


@rows.expect(Verdict.FAIL)
def the_send_is_answered_though_the_broker_rejects(story: Story) -> Finding:
    return sends(story, ("receiver", "rejected", True))


@rows.expect(Verdict.FAIL)
def nobody_settles_what_the_client_sent(story: Story) -> Finding:
    return sends(story, ("receiver", "accepted", False))


@rows.expect(Verdict.INCONCLUSIVE)
def a_refused_send_decides_nothing(story: Story) -> Finding:
    return sends(story, ("receiver", "rejected", True), refused=refusal())


@rows.expect(Verdict.NOT_DEMONSTRATED)
def what_is_sent_settled_has_no_outcome(story: Story) -> Finding:
    return sends(story, settled=True)


@rows.expect(Verdict.PASS, "settled with the outcome")
def a_message_that_is_sent_again_is_accepted_once(story: Story) -> Finding:
    call = story.call("send", msg=message("m"))
    Delivery(story, of="c", incoming=False)
    story.fault("begin")
    story.fault("end")
    Delivery(story, of="c", incoming=False).receiver(settled=True)
    story.answer(call)
    return story.at(100).finds("disposed", {"kids": "m"}, quiet_ms=50)


@rows.parametrize()
def test_disposed(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
