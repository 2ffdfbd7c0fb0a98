"""Tests of `comes-back` and `queue-kept`, the predicates about the broker after a fault."""

from __future__ import annotations

from collections.abc import Callable

from tests.evidence.histories import QUEUE, Memory, Story, message, refusal
from tests.evidence.predicates.rows import Rows, check_row

from assay_evidence.events import Admin, Call, Fault, RefusedInfo, Scalar
from assay_evidence.judge import judge_claim
from assay_evidence.verdicts import Finding, Verdict

UNKNOWN = refusal("invalid-destination", mqrc=2085, text="no such queue")
rows = Rows()


def test_a_fault_with_an_end_is_one_from_which_the_broker_came_back() -> None:
    story = Story()
    story.fault("begin")
    story.fault("end")
    assert story.finds("comes-back", {"fault": "kill", "said": "late"}).verdict is Verdict.PASS


def test_a_fault_without_an_end_breaks_the_rule_and_the_fail_names_the_brokers_error() -> None:
    story = Story()
    begin = story.fault("begin")
    found = story.finds("comes-back", {"fault": "kill", "said": "KeyError: 7"})
    assert (found.verdict, found.offenders) == (Verdict.FAIL, (begin.ref,))
    assert found.reason == "The broker did not come back: KeyError: 7"


def test_a_fault_of_another_writer_with_the_same_id_is_another_fault() -> None:
    story, other = Story(), Story(Memory("other"))
    for phase in ("begin", "end"):
        other.fault(phase)
    story.fault("begin")
    claim = story.claim("comes-back", {"fault": "kill", "said": ""})
    assert judge_claim(claim, [*other.events, *story.events]).verdict is Verdict.FAIL


def test_a_fault_that_the_journal_lacks_is_an_error() -> None:
    assert Story().finds("comes-back", {"fault": "kill", "said": ""}).verdict is Verdict.ERROR


def sent(story: Story, to: str = QUEUE, *, unit: str | None = None, **args: Scalar) -> Call:
    """Send a persistent message that the broker accepts."""
    made = {"mode": "persistent", "ttl_ms": 0, "delay_ms": 0} | args
    call = story.call("send", destination=to, msg=message("m"), args=made, unit=unit)
    story.answer(call)
    return call


def fault(story: Story, what: str = "kill") -> None:
    """Let a fault of the broker begin at 10 ms and end at 20 ms."""
    for at_ms, phase in ((10, "begin"), (20, "end")):
        story.at(at_ms).tell(Fault, id="f", what=what, target="broker", phase=phase)


def looks(story: Story, refused: RefusedInfo | None = UNKNOWN, of: str = QUEUE) -> Finding:
    """Attach to the queue at 30 ms, and claim that the queue is there."""
    call = story.at(30).call("consumer", "receiver", destination=of)
    story.answer(call, refused)
    return story.finds("queue-kept", {"call": call.ref})


@rows.expect(Verdict.FAIL)
def a_queue_with_a_persistent_message_is_lost_in_a_kill(story: Story) -> Finding:
    sent(story)
    fault(story)
    return looks(story)


@rows.expect(Verdict.FAIL)
def a_queue_is_lost_in_a_restart_and_the_broker_gives_no_reason_code(story: Story) -> Finding:
    sent(story)
    fault(story, "restart")
    return looks(story, refusal("invalid-destination"))


@rows.expect(Verdict.FAIL)
def a_queue_with_a_message_of_a_committed_unit_is_lost(story: Story) -> Finding:
    sent(story, unit="u")
    story.answer(story.call("commit", unit="u"))
    fault(story)
    return looks(story)


@rows.expect(Verdict.FAIL)
def a_queue_that_was_defined_before_the_send_is_lost(story: Story) -> Finding:
    story.tell(Admin, call="a", command="DEFINE QLOCAL(Q)")
    sent(story)
    fault(story)
    return looks(story)


@rows.expect(Verdict.PASS)
def the_queue_is_there(story: Story) -> Finding:
    sent(story)
    fault(story)
    return looks(story, None)


@rows.expect(Verdict.INCONCLUSIVE)
def a_command_of_an_administrator_named_the_queue_after_the_send(story: Story) -> Finding:
    sent(story)
    story.at(1).tell(Admin, call="a", command="DELETE QLOCAL(Q) PURGE")
    fault(story)
    return looks(story)


@rows.expect(Verdict.INCONCLUSIVE)
def the_attach_has_no_answer(story: Story) -> Finding:
    sent(story)
    fault(story)
    call = story.at(30).call("consumer", "receiver", destination=QUEUE)
    return story.finds("queue-kept", {"call": call.ref})


def undecided(name: str, tell: Callable[[Story], Finding]) -> None:
    tell.__name__ = name
    rows.expect(Verdict.NOT_DEMONSTRATED)(tell)


def story_of(**given: Scalar) -> Callable[[Story], Finding]:
    def tell(story: Story) -> Finding:
        sent(story, **given)  # type: ignore[arg-type]  # only arguments of the send
        fault(story)
        return looks(story)

    return tell


undecided("a non-persistent message may be lost", story_of(mode="non-persistent"))
undecided("the destination chose the mode", story_of(mode="as-destination"))
undecided("a message with a time to live may have expired", story_of(ttl_ms=5))
undecided("a delayed message waits elsewhere", story_of(delay_ms=5))


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_broker_may_delete_a_queue_whose_message_was_received(story: Story) -> Finding:
    sent(story)
    story.at(1).seen("m")
    fault(story)
    return looks(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def the_message_was_sent_to_another_queue(story: Story) -> Finding:
    sent(story, "queue://OTHER")
    fault(story)
    return looks(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def the_unit_of_work_was_not_committed(story: Story) -> Finding:
    sent(story, unit="u")
    fault(story)
    return looks(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def the_send_was_refused(story: Story) -> Finding:
    call = story.call("send", destination=QUEUE, msg=message("m"), args={"mode": "persistent"})
    story.answer(call, UNKNOWN)
    fault(story)
    return looks(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def the_message_was_sent_after_the_fault(story: Story) -> Finding:
    fault(story)
    sent(story.at(25))
    return looks(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def the_order_of_send_and_fault_is_within_the_uncertainty(story: Story) -> Finding:
    story.unc_ns = 6_000_000
    sent(story)
    fault(story)
    return looks(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_cut_of_the_connections_is_no_fault_of_the_brokers_process(story: Story) -> Finding:
    sent(story)
    fault(story, "cut")
    return looks(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_fault_without_an_end_is_not_over(story: Story) -> Finding:
    sent(story)
    story.at(10).fault("begin")
    return looks(story)


@rows.expect(Verdict.NOT_DEMONSTRATED)
def the_broker_refuses_the_attach_for_another_reason(story: Story) -> Finding:
    sent(story)
    fault(story)
    return looks(story, refusal("security", mqrc=2035))


@rows.expect(Verdict.NOT_DEMONSTRATED)
def the_broker_says_that_another_kind_of_name_is_unknown(story: Story) -> Finding:
    sent(story)
    fault(story)
    return looks(story, refusal("invalid-destination", mqrc=2058))


@rows.expect(Verdict.NOT_DEMONSTRATED)
def a_temporary_queue_ends_with_its_connection(story: Story) -> Finding:
    sent(story, "temporary-queue://T")
    fault(story)
    return looks(story, of="temporary-queue://T")


@rows.parametrize()
def test_a_queue_must_be_kept_with_its_persistent_message(
    tell: Callable[[Story], Finding], verdict: Verdict, disclosed: str
) -> None:
    check_row(tell, verdict, disclosed)


def test_the_fail_names_the_message_the_fault_and_the_refusal() -> None:
    found = a_queue_with_a_persistent_message_is_lost_in_a_kill(Story())
    assert found.reason == "The broker lost the queue with the persistent message m in the kill."
    assert "no such queue" in found.observed
    assert (len(found.offenders), found.certain) == (1, True)
