"""Tests of report options and reports (DD-57, DD-72, DD-85, DD-86)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.broker.core.harness import QUEUE, T0, Bench, alias, message, queue

from assay_broker.core.effects import Trace
from assay_broker.core.messages.reports import FEEDBACK, check_options, options, report, wants
from assay_broker.core.objects.factory import DEAD_LETTER_QUEUE
from assay_broker.core.refusals import RefusalError
from assay_sdk.driver import Outcome
from assay_sdk.model.message import Address, AddressKind, Body, Message
from assay_sdk.model.reasons import Mqrc
from assay_sdk.model.report_options import REPORT_PROPERTIES, WHOLE_REPORT, Mqro

REPLY = Address(AddressKind.QUEUE, "REPLY")
KINDS = {
    Mqro.EXCEPTION: (Mqro.EXCEPTION_WITH_DATA, Mqro.EXCEPTION_WITH_FULL_DATA),
    Mqro.EXPIRATION: (Mqro.EXPIRATION_WITH_DATA, Mqro.EXPIRATION_WITH_FULL_DATA),
    Mqro.COA: (Mqro.COA_WITH_DATA, Mqro.COA_WITH_FULL_DATA),
    Mqro.COD: (Mqro.COD_WITH_DATA, Mqro.COD_WITH_FULL_DATA),
}
IGNORED = Mqro.COA_WITH_FULL_DATA | Mqro.COD_WITH_FULL_DATA | Mqro.PAN | Mqro.NAN | Mqro.ACTIVITY


def original(asked: int, *, body: Body = "x" * 150, **fields: object) -> Message:
    return Message(
        message_id="ID:sent",
        correlation_id="ID:other",
        body=body,
        reply_to=REPLY,
        properties={WHOLE_REPORT: int(asked)},
        **fields,  # type: ignore[arg-type]  # fields by name
    )


def reported(asked: int, kind: Mqro = Mqro.EXCEPTION, *, expires_ms: int | None = None, **fields: object) -> Message:
    return report(original(asked, **fields), kind, 2053, "ID:new", now_ms=T0, expires_ms=expires_ms)


def test_options_are_added_up_over_all_properties() -> None:
    bits = {name: 1 << number for number, name in enumerate((*REPORT_PROPERTIES, WHOLE_REPORT))}
    assert options(Message(properties={**bits, "JMS_IBM_Report_Other": 1 << 20})) == sum(bits.values())


def test_an_option_that_is_no_number_asks_for_nothing() -> None:
    assert options(Message(properties={"JMS_IBM_Report_COA": "256", WHOLE_REPORT: 1.5})) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_with_data_is_a_report(kind: Mqro) -> None:
    for bits in (kind, *KINDS[kind]):
        assert wants(original(int(bits)), kind)
        assert not any(wants(original(int(bits)), other) for other in KINDS if other != kind)


@pytest.mark.parametrize("body", ["x" * 150, b"y" * 150, "short", b"", None])
@pytest.mark.parametrize("kind", KINDS)
def test_a_report_brings_nothing_a_hundred_bytes_or_everything(kind: Mqro, body: Body) -> None:
    some, everything = KINDS[kind]
    assert reported(int(kind), kind, body=body).body is None
    assert reported(int(some), kind, body=body).body == (None if body is None else body[:100])
    assert reported(int(everything), kind, body=body).body == body


def test_a_hundred_bytes_never_end_within_a_character() -> None:
    assert reported(int(Mqro.EXCEPTION_WITH_DATA), body="ä" * 99).body == "ä" * 50
    assert reported(int(Mqro.EXCEPTION_WITH_DATA), body="x" + "ä" * 99).body == "x" + "ä" * 49


@pytest.mark.parametrize(("pass_message", "pass_correlation"), tuple(product((True, False), repeat=2)))
def test_the_ids_follow_the_id_options(*, pass_message: bool, pass_correlation: bool) -> None:
    asked = Mqro.EXCEPTION
    asked |= Mqro.PASS_MSG_ID if pass_message else 0
    asked |= Mqro.PASS_CORREL_ID if pass_correlation else 0
    made = reported(int(asked))
    assert made.message_id == ("ID:sent" if pass_message else "ID:new")
    assert made.correlation_id == ("ID:other" if pass_correlation else "ID:sent")


@pytest.mark.parametrize(("durable", "priority"), tuple(product((True, False), (0, 9))))
def test_persistence_and_priority_are_the_originals(*, durable: bool, priority: int) -> None:
    made = reported(int(Mqro.EXCEPTION), durable=durable, priority=priority)
    assert (made.durable, made.priority) == (durable, priority)


@pytest.mark.parametrize("discard", [True, False])
@pytest.mark.parametrize("inherits", [True, False])
def test_discard_and_expiry_are_inherited_if_asked_for(*, discard: bool, inherits: bool) -> None:
    asked = Mqro.EXCEPTION | (Mqro.DISCARD_MSG if discard else 0) | (Mqro.PASS_DISCARD_AND_EXPIRY if inherits else 0)
    made = reported(int(asked), expires_ms=T0 + 70)
    assert made.expiry_ms == (T0 + 70 if inherits else None)
    assert options(made) == (Mqro.DISCARD_MSG if discard and inherits else 0)


def test_a_report_on_what_has_expired_lives() -> None:
    asked = int(Mqro.EXPIRATION | Mqro.PASS_DISCARD_AND_EXPIRY)
    assert reported(asked, Mqro.EXPIRATION, expires_ms=T0).expiry_ms is None


def test_a_report_asks_for_no_report_and_for_no_answer() -> None:
    made = reported(int(IGNORED | Mqro.EXCEPTION_WITH_FULL_DATA | Mqro.EXPIRATION_WITH_FULL_DATA))
    assert (options(made), made.reply_to, made.to) == (0, None, REPLY)
    assert (made.properties["JMS_IBM_MsgType"], made.properties["JMS_IBM_Feedback"]) == (4, 2053)


@pytest.mark.parametrize("bit", [1 << number for number in range(32)])
def test_a_bit_is_known_alone_or_stands_for_nothing_alone(bit: int) -> None:
    alone = {0x1, 0x2, 0x4, 0x40, 0x80, 0x100, 0x800, 0x4000, 0x200000, 0x1000000, 0x8000000}
    if bit in alone:
        check_options(original(bit))
        return
    with pytest.raises(RefusalError) as caught:
        check_options(original(bit))
    assert caught.value.refused.mqrc == Mqrc.REPORT_OPTIONS_ERROR


@given(st.lists(st.sampled_from(tuple(Mqro)), max_size=6))
def test_any_options_go_together(several: list[Mqro]) -> None:
    asked = Mqro(0)
    for one in several:
        asked |= one
    check_options(original(int(asked)))


def test_a_report_needs_somebody_to_go_to() -> None:
    for kind in (*KINDS, Mqro.PAN, Mqro.NAN, Mqro.ACTIVITY):
        with pytest.raises(RefusalError) as caught:
            check_options(Message(properties={WHOLE_REPORT: int(kind)}))
        assert caught.value.refused.mqrc == Mqrc.MISSING_REPLY_TO_Q
    check_options(Message(properties={WHOLE_REPORT: int(Mqro.DISCARD_MSG | Mqro.PASS_MSG_ID)}))


# by behaviour --------------------------------------------------------------------------------------------------------


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.define(queue("Q"), queue("REPLY"))
    made.connect(1)
    made.sender(1, 1)
    return made


def asking(asked: int, **fields: object) -> Message:
    return message("a", reply_to=REPLY, properties={WHOLE_REPORT: int(asked)}, **fields)


@pytest.mark.parametrize("delay_ms", [None, 10])
def test_a_message_is_refused_for_its_report_options_before_anything_happens(
    bench: Bench, delay_ms: int | None
) -> None:
    due = None if delay_ms is None else T0 + delay_ms
    refused = bench.answers[bench.put(1, 1, asking(0x400000, delivery_time_ms=due))].refused
    assert refused is not None
    assert refused.mqrc == Mqrc.REPORT_OPTIONS_ERROR
    assert bench.disk == bench.disk[:2]  # the records of the two objects


@pytest.mark.parametrize("durable", [True, False])
def test_confirmations_and_notifications_pass_the_processor_untouched(bench: Bench, *, durable: bool) -> None:
    sent = asking(int(IGNORED), durable=durable, delivery_time_ms=T0 + 10)
    bench.put(1, 1, sent)
    bench.tick(T0 + 5)
    assert bench.shown("REPLY") == []
    bench.tick(T0 + 10)
    assert [one.message.properties for one in bench.shown("Q")] == [sent.properties]
    assert [one.descriptor["Report"] for one in bench.shown("Q")] == [int(IGNORED)]


def test_a_delivery_is_confirmed_once_the_message_is_consumed(bench: Bench) -> None:
    bench.put(1, 1, asking(int(Mqro.COD), delivery_time_ms=T0 + 10))
    bench.receiver(1, 2)
    bench.tick(T0 + 10)
    assert bench.shown("REPLY") == []
    bench.settle(1, 2, 1, outcome=Outcome.MODIFIED)
    assert bench.shown("REPLY") == []
    bench.settle(1, 2, 2)
    (shown,) = bench.shown("REPLY")
    assert shown.descriptor["Feedback"] == FEEDBACK[Mqro.COD]


def test_an_expiry_on_the_target_is_reported_too(bench: Bench) -> None:
    bench.put(1, 1, asking(int(Mqro.EXPIRATION), delivery_time_ms=T0 + 10, ttl_ms=50))
    bench.tick(T0 + 49)
    assert (bench.browse(QUEUE), bench.shown("REPLY")) == (["a"], [])
    bench.tick(T0 + 50)
    (shown,) = bench.shown("REPLY")
    assert (shown.descriptor["Feedback"], shown.message.correlation_id) == (258, "a")
    bench.at_rest()


def test_a_report_on_a_staged_message_is_on_the_original_whatever_the_processor_does(bench: Bench) -> None:
    """The message also expires while the processor is down (DD-57)."""
    bench.alter("SYSTEM.DDELAY.LOCAL.QUEUE", GET="DISABLED")
    asked = int(Mqro.EXPIRATION_WITH_FULL_DATA | Mqro.PASS_DISCARD_AND_EXPIRY)
    bench.put(1, 1, asking(asked, delivery_time_ms=T0 + 10, ttl_ms=50))
    bench.tick(T0 + 50)
    (shown,) = bench.shown("REPLY")
    assert (shown.headers, shown.message.body, shown.descriptor["Feedback"]) == ((), "a", 258)
    bench.at_rest()


@pytest.mark.parametrize("kept", [True, False], ids=["dead-lettered", "lost"])
@pytest.mark.parametrize("delayed", [True, False])
def test_a_report_whose_reply_to_leads_nowhere_is_logged(bench: Bench, *, delayed: bool, kept: bool) -> None:
    if not kept:
        bench.alter("ASSAY", DEADQ="")
    bench.define(alias("NOWHERE", "NOTHING"))
    asked = {WHOLE_REPORT: int(Mqro.EXPIRATION)}
    to = Address(AddressKind.QUEUE, "NOWHERE")
    due = T0 + 10 if delayed else None
    bench.put(1, 1, message("a", durable=False, reply_to=to, properties=asked, ttl_ms=50, delivery_time_ms=due))
    if delayed:
        bench.alter("SYSTEM.DDELAY.LOCAL.QUEUE", GET="DISABLED")
    bench.tick(T0 + 60)
    (trace,) = [effect for effect in bench.effects if isinstance(effect, Trace)]
    assert trace.objects == ("NOWHERE",)
    assert "(MQRC 2082)" in trace.text
    assert ("it is on the dead-letter queue" in trace.text, "it is lost" in trace.text) == (kept, not kept)
    assert len(bench.shown(DEAD_LETTER_QUEUE)) == int(kept)


def test_a_report_for_a_temporary_queue_comes(bench: Bench) -> None:
    temporary = Address(AddressKind.TEMPORARY_QUEUE, "TMP")
    bench.receiver(1, 2, temporary)
    asked = {WHOLE_REPORT: int(Mqro.EXCEPTION)}
    bench.put(1, 1, message("a", reply_to=temporary, properties=asked, delivery_time_ms=T0 + 10))
    bench.alter("Q", MAXDEPTH=0)
    bench.tick(T0 + 10)
    (report_,) = bench.delivered
    assert (report_.message.correlation_id, report_.message.properties["JMS_IBM_Feedback"]) == ("a", int(Mqrc.Q_FULL))
