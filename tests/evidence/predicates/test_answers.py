from __future__ import annotations

from tests.evidence.histories import Story, refusal
from tests.evidence.predicates.rows import Rows, Tell, check_row

from assay_evidence.verdicts import Finding, Verdict

rows = Rows()


@rows.expect(Verdict.PASS)
def accepted_passes_a_call_that_was_accepted(story: Story) -> Finding:
    return story.finds("accepted", {"call": story.asks().ref})


@rows.expect(Verdict.FAIL)
def accepted_fails_a_call_that_was_refused(story: Story) -> Finding:
    return story.finds("accepted", {"call": story.asks(refused=refusal(mqrc=2013)).ref})


@rows.expect(Verdict.INCONCLUSIVE)
def accepted_cannot_tell_when_the_connection_was_lost(story: Story) -> Finding:
    return story.finds("accepted", {"call": story.asks(refused=refusal("connection-lost")).ref})


@rows.expect(Verdict.ERROR)
def accepted_blames_the_kit_when_a_declared_capability_is_missing(story: Story) -> Finding:
    return story.finds("accepted", {"call": story.asks(refused=refusal("unsupported")).ref})


@rows.expect(Verdict.INCONCLUSIVE)
def accepted_cannot_tell_without_an_answer(story: Story) -> Finding:
    return story.finds("accepted", {"call": story.call().ref})


@rows.expect(Verdict.ERROR)
def accepted_blames_the_kit_for_a_call_that_is_not_there(story: Story) -> Finding:
    return story.finds("accepted", {"call": "w:99"})


@rows.expect(Verdict.ERROR)
def accepted_blames_the_kit_for_a_reference_to_something_else(story: Story) -> Finding:
    return story.finds("accepted", {"call": story.seen().ref})


@rows.expect(Verdict.ERROR)
def accepted_blames_the_kit_for_a_missing_reference(story: Story) -> Finding:
    return story.finds("accepted", {})


@rows.expect(Verdict.ERROR)
def accepted_blames_the_kit_for_two_answers_to_one_call(story: Story) -> Finding:
    call = story.asks()
    story.answer(call, refusal())
    return story.finds("accepted", {"call": call.ref})


@rows.expect(Verdict.PASS)
def refused_with_passes_a_refusal_of_any_kind(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal()).ref})


@rows.expect(Verdict.PASS)
def refused_with_passes_when_all_parts_are_as_named(story: Story) -> Finding:
    call = story.asks(refused=refusal("illegal-state", mqrc=2013, checked=True))
    return story.finds("refused-with", {"call": call.ref, "kind": "illegal-state"}, mqrc=2013, checked=1)


@rows.expect(Verdict.PASS)
def refused_with_passes_a_runtime_exception_where_one_is_asked_for(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal()).ref}, checked=0)


@rows.expect(Verdict.FAIL)
def refused_with_fails_a_call_that_was_accepted(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks().ref}, mqrc=2013)


@rows.expect(Verdict.FAIL)
def refused_with_fails_another_reason(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal(mqrc=2046)).ref}, mqrc=2013)


@rows.expect(Verdict.FAIL)
def refused_with_fails_a_missing_reason(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal()).ref}, mqrc=2013)


@rows.expect(Verdict.FAIL)
def refused_with_fails_another_kind(story: Story) -> Finding:
    call = story.asks(refused=refusal("resource-allocation"))
    return story.finds("refused-with", {"call": call.ref, "kind": "illegal-state"})


@rows.expect(Verdict.FAIL)
def refused_with_fails_a_call_that_raised_an_unexpected_exception(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal(mqrc=2195, failure="raised")).ref})


@rows.expect(Verdict.FAIL)
def refused_with_fails_a_call_that_nothing_could_end(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal(failure="stalled")).ref})


@rows.expect(Verdict.INCONCLUSIVE)
def refused_with_cannot_tell_when_the_broker_did_not_answer_in_time(story: Story) -> Finding:
    call = story.asks(refused=refusal("messaging", mqrc=2549))
    return story.finds("refused-with", {"call": call.ref, "kind": "messaging"})


@rows.expect(Verdict.FAIL)
def accepted_fails_a_call_that_the_broker_did_not_answer_in_time(story: Story) -> Finding:
    return story.finds("accepted", {"call": story.asks(refused=refusal(mqrc=2549)).ref})


@rows.expect(Verdict.FAIL)
def one_of_takes_no_failure_of_the_client_for_a_refusal(story: Story) -> Finding:
    call = story.asks(refused=refusal(failure="raised"))
    return story.finds("one-of", {"option.refused": f"refused {call.ref}"})


@rows.expect(Verdict.INCONCLUSIVE)
def refused_with_does_not_take_want_of_authority_for_the_refusal(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal("security", mqrc=2035)).ref})


@rows.expect(Verdict.PASS)
def refused_with_takes_want_of_authority_where_the_claim_is_about_it(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal("security")).ref}, authority=1)


@rows.expect(Verdict.PASS)
def refused_with_takes_want_of_authority_where_the_claim_names_its_reason(story: Story) -> Finding:
    call = story.asks(refused=refusal("security", mqrc=2035))
    return story.finds("refused-with", {"call": call.ref}, mqrc=2035)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def one_of_does_not_take_want_of_authority_for_the_refusal(story: Story) -> Finding:
    return story.finds("one-of", {"option.refused": f"refused {story.asks(refused=refusal('security')).ref}"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def one_of_does_not_take_a_missing_ability_for_the_refusal(story: Story) -> Finding:
    return story.finds("one-of", {"option.refused": f"refused {story.asks(refused=refusal('unsupported')).ref}"})


@rows.expect(Verdict.PASS, disclosed="undelayed")
def one_of_takes_what_was_seen_within_the_time(story: Story) -> Finding:
    story.send()
    story.at(100).seen()
    return story.finds("one-of", {"option.undelayed": "seen m"}, within_ms=100)


@rows.expect(Verdict.FAIL)
def one_of_does_not_take_what_was_seen_later(story: Story) -> Finding:
    story.send()
    story.at(101).seen()
    return story.finds("one-of", {"option.undelayed": "seen m"}, within_ms=100)


@rows.expect(Verdict.FAIL)
def refused_with_fails_the_wrong_exception(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal(checked=False)).ref}, checked=1)


@rows.expect(Verdict.INCONCLUSIVE)
def refused_with_cannot_tell_when_the_connection_was_lost(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal("connection-lost")).ref}, mqrc=2013)


@rows.expect(Verdict.PASS)
def refused_with_passes_a_lost_connection_that_was_asked_for(story: Story) -> Finding:
    call = story.asks(refused=refusal("connection-lost"))
    return story.finds("refused-with", {"call": call.ref, "kind": "connection-lost"})


@rows.expect(Verdict.ERROR)
def refused_with_blames_the_kit_when_a_declared_capability_is_missing(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal("unsupported")).ref}, mqrc=2013)


@rows.expect(Verdict.INCONCLUSIVE)
def refused_with_cannot_tell_without_an_answer(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.call().ref})


@rows.expect(Verdict.ERROR)
def a_claim_with_a_bound_that_nobody_reads_is_an_error(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal()).ref}, mrqc=2013)


@rows.expect(Verdict.ERROR)
def a_claim_with_a_negative_bound_is_an_error(story: Story) -> Finding:
    return story.finds("refused-with", {"call": story.asks(refused=refusal()).ref}, mqrc=-1)


@rows.expect(Verdict.PASS, "early refusal")
def one_of_discloses_the_first_option_that_holds(story: Story) -> Finding:
    call = story.asks(refused=refusal(mqrc=2013))
    options = {"option.kept": f"accepted {call.ref}", "option.early refusal": f"refused {call.ref}"}
    return story.finds("one-of", options, mqrc=2013)


@rows.expect(Verdict.PASS, "kept")
def one_of_discloses_an_accepted_call(story: Story) -> Finding:
    call = story.asks()
    return story.finds("one-of", {"option.no": f"refused {call.ref}", "option.kept": f"accepted {call.ref}"})


@rows.expect(Verdict.PASS, "there")
def one_of_discloses_that_a_message_was_seen(story: Story) -> Finding:
    story.send("a b")
    story.seen("a b")
    return story.finds("one-of", {"option.gone": "unseen a b", "option.there": "seen a b"})


@rows.expect(Verdict.PASS, "gone")
def one_of_discloses_that_a_message_was_not_seen(story: Story) -> Finding:
    story.send()
    with story.watching():
        story.at(5)
    return story.finds("one-of", {"option.there": "seen m", "option.gone": "unseen m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def one_of_does_not_take_a_missing_watch_for_silence(story: Story) -> Finding:
    story.send()
    return story.finds("one-of", {"option.there": "seen m", "option.gone": "unseen m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def one_of_does_not_take_a_watch_before_the_message_is_due_for_silence(story: Story) -> Finding:
    story.send(delay_ms=100)
    with story.watching():
        story.at(50)
    return story.finds("one-of", {"option.gone": "unseen m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def one_of_knows_nothing_of_a_message_that_was_never_sent(story: Story) -> Finding:
    with story.watching():
        story.at(50)
    return story.finds("one-of", {"option.gone": "unseen m"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def one_of_does_not_take_a_lost_connection_for_a_refusal(story: Story) -> Finding:
    call = story.asks(refused=refusal("connection-lost"))
    return story.finds("one-of", {"option.a": f"refused {call.ref}", "option.b": f"accepted {call.ref}"})


@rows.expect(Verdict.NOT_DEMONSTRATED)
def one_of_does_not_take_a_missing_answer_for_either(story: Story) -> Finding:
    call = story.call()
    return story.finds("one-of", {"option.a": f"refused {call.ref}", "option.b": f"accepted {call.ref}"})


@rows.expect(Verdict.FAIL)
def one_of_fails_when_every_option_is_ruled_out(story: Story) -> Finding:
    call = story.asks(refused=refusal(mqrc=2046))
    story.send()
    story.seen()
    options = {"option.a": f"accepted {call.ref}", "option.b": f"refused {call.ref}", "option.c": "unseen m"}
    return story.finds("one-of", options, mqrc=2013)


@rows.expect(Verdict.FAIL)
def one_of_fails_when_a_message_did_not_come_though_watched_for(story: Story) -> Finding:
    story.send()
    with story.watching():
        story.at(5)
    return story.finds("one-of", {"option.there": "seen m"})


@rows.expect(Verdict.PASS, "waited")
def one_of_discloses_that_nobody_answered_until_the_caller_gave_up(story: Story) -> Finding:
    return _connects(story, answered_ms=5_000)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def one_of_does_not_take_a_line_that_drops_at_once_for_waiting(story: Story) -> Finding:
    return _connects(story, answered_ms=4_999)


@rows.expect(Verdict.FAIL)
def one_of_fails_a_call_that_was_accepted_and_not_given_up(story: Story) -> Finding:
    return _connects(story, answered_ms=5_000, kind=None)


def _connects(story: Story, *, answered_ms: int, kind: str | None = "connection-lost") -> Finding:
    call = story.call("connect")
    story.at(answered_ms).answer(call, None if kind is None else refusal(kind))
    options = {"option.refused": f"refused {call.ref}", "option.waited": f"given-up {call.ref}"}
    return story.finds("one-of", options, given_up_ms=5_000)


@rows.expect(Verdict.ERROR)
def one_of_blames_the_kit_for_no_options(story: Story) -> Finding:
    return story.finds("one-of", {})


@rows.expect(Verdict.ERROR)
def one_of_blames_the_kit_for_an_option_of_no_kind(story: Story) -> Finding:
    return story.finds("one-of", {"option.a": "eaten m"})


@rows.expect(Verdict.PASS)
def own_check_passes_what_the_step_says_that_it_found(story: Story) -> Finding:
    return story.finds("own-check", {}, held=1)


@rows.expect(Verdict.FAIL)
def own_check_fails_what_the_step_says_that_it_did_not_find(story: Story) -> Finding:
    return story.finds("own-check", {"said": "it holds 1 of 2"}, held=0)


@rows.expect(Verdict.ERROR)
def own_check_blames_the_kit_for_no_word_of_the_step(story: Story) -> Finding:
    return story.finds("own-check", {})


@rows.parametrize()
def test_answers(tell: Tell, verdict: Verdict, disclosed: str) -> None:
    check_row(tell, verdict, disclosed)
