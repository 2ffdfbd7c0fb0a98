"""Tests of the administrator's commands and journal events."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.steps.cast.fake_admin import Office, is_refusal, office

from assay_adapters.ports.administration import Alter, Authorise, Define, ObjectKind, RawMessage, Start, Stop
from assay_adapters.ports.client import Draft
from assay_adapters.ports.outcome import Ok
from assay_evidence import events
from assay_steps.cast.messages import BODY
from assay_steps.cast.queue_inspections import Found, fields_of, ids_of
from assay_steps.cast.recording import SetupRefusedError
from assay_steps.words.names import Place, read_place

QUEUE = Place("queue", "orders")
STAGING = read_place("the staging queue")
DEAD = read_place("the dead-letter queue")


@pytest.fixture
def desk(tmp_path: Path) -> Office:
    return office(tmp_path)


def raw(body: str, **descriptor: str | int) -> RawMessage:
    return RawMessage(descriptor=descriptor, body=body.encode())


def test_a_queue_is_defined_under_the_scenarios_own_name(desk: Office) -> None:
    desk.administrator.define(QUEUE, {"MAXDEPTH": 1}).needed()
    assert desk.admin.told == [(Define(ObjectKind.QUEUE, desk.names.own("orders"), {"MAXDEPTH": 1}), None)]
    assert desk.commands == [f"DEFINE QLOCAL('{desk.names.own('orders')}') MAXDEPTH(1)"]


def test_a_topic_is_defined_for_its_own_topic_string(desk: Office) -> None:
    desk.administrator.define(Place("topic", "news"), {"PMSGDLV": "ALL"}).needed()
    change, _ = desk.admin.told[0]
    assert isinstance(change, Define)
    assert change.attributes == {"TOPICSTR": desk.names.own("news"), "PMSGDLV": "ALL"}


def test_what_was_defined_as_an_alias_is_altered_as_one(desk: Office) -> None:
    front = Place("queue", "front")
    desk.administrator.define(front, {"TARGET": "A"}, ObjectKind.ALIAS).needed()
    desk.administrator.alter(front, {"TARGET": "B"}).needed()
    assert desk.admin.told[-1] == (Alter(ObjectKind.ALIAS, desk.names.own("front"), {"TARGET": "B"}), None)


def test_a_place_at_another_queue_manager_is_administered_there(desk: Office) -> None:
    desk.administrator.alter(read_place('the staging queue at queue manager "B"'), {"PUT": "DISABLED"}).needed()
    assert [member for _, member in desk.admin.told] == ["QM2"]
    assert desk.commands == ["ALTER QLOCAL('SYSTEM.DDELAY.LOCAL.QUEUE') PUT(DISABLED) at QM2"]


def test_the_queue_of_a_subscription_is_looked_up_each_time(desk: Office) -> None:
    desk.admin.shown = {"SUB": "s", "DEST": "SYSTEM.MANAGED.DURABLE.7"}
    assert desk.administrator.name_of(read_place("the queue of the subscription to the topic")) == (
        "SYSTEM.MANAGED.DURABLE.7"
    )
    assert desk.commands == [f"read the subscriptions to '{desk.names.own('topic')}'"]
    assert desk.answers[0].answer["subscriptions"] == 1


def test_a_subscription_that_is_not_there_ends_the_scenario_undecided(desk: Office) -> None:
    desk.admin.shown = {"SUB": "s", "DEST": "Q"}
    with pytest.raises(SetupRefusedError, match="'topic' has only 1 subscriptions; the step needs number 3"):
        desk.administrator.name_of(read_place("the queue of the third subscription to the topic"))


def test_a_queue_manager_that_is_not_there_is_said(desk: Office) -> None:
    with pytest.raises(LookupError, match=r"Queue manager 'C' is unknown; A, B ... stand for QM1, QM2"):
        desk.administrator.stop("C")


def test_one_queue_manager_stops_and_starts(desk: Office) -> None:
    desk.administrator.stop("B").needed()
    start = desk.administrator.start("B")
    assert desk.admin.told == [(Stop("queue manager"), "QM2"), (Start("queue manager"), "QM2")]
    assert desk.administrator.commands == {"start B": start.ref}


def test_the_dead_letter_queue_is_the_one_that_the_queue_manager_names(desk: Office) -> None:
    assert desk.administrator.name_of(DEAD) == "DLQ"
    assert desk.administrator.name_of(DEAD) == "DLQ"
    assert desk.commands == ["read qmgr('QM1')"]


def test_a_queue_becomes_the_dead_letter_queue(desk: Office) -> None:
    desk.administrator.make_dead_letter_queue(QUEUE).needed()
    assert desk.administrator.name_of(DEAD) == desk.names.own("orders")
    assert desk.admin.told == [(Alter(ObjectKind.QMGR, "QM1", {"DEADQ": desk.names.own("orders")}), None)]


def test_what_is_withheld_is_withheld_from_the_group_of_everybody(desk: Office) -> None:
    desk.administrator.withhold(QUEUE).needed()
    desk.administrator.grant(QUEUE, "alice", "PUT").needed()
    desk.administrator.revoke(QUEUE, "alice", "PUT").needed()
    name = desk.names.own("orders")
    withheld = Authorise("nobody", ObjectKind.QUEUE, name, grant=("NONE",), revoke=("ALL",), group=True)
    assert [change for change, _ in desk.admin.told] == [
        withheld,
        Authorise("alice", ObjectKind.QUEUE, name, grant=("PUT",)),
        Authorise("alice", ObjectKind.QUEUE, name, revoke=("PUT",)),
    ]
    assert "GROUP('nobody') AUTHADD(NONE) AUTHRMV(ALL)" in desk.commands[0]


def test_a_refused_command_stands_in_the_journal_with_its_reason(desk: Office) -> None:
    desk.admin.refuses = True
    answer = desk.administrator.delete(QUEUE)
    assert is_refusal(answer.outcome)
    shown = desk.answers[0].answer
    assert (shown["refused"], shown["mqrc"], shown["objects"]) == (True, 2053, "Q")
    assert desk.answers[0].ref == answer.ref


def test_a_look_leaves_one_event_for_each_message_and_one_for_all(desk: Office) -> None:
    first, second = desk.names.key("m1"), desk.names.key("m2")
    desk.admin.messages = (raw(BODY.format(key=first), Priority=7), raw(BODY.format(key=first)), raw("", MsgType=4))
    seen = desk.administrator.browse(STAGING, (first, second))
    assert [found.key for found in seen.found] == [first, first, ""]
    assert [event.answer.get("index") for event in desk.answers] == [0, 1, 2, None]
    assert desk.answers[0].answer["Priority"] == 7
    together = desk.answers[-1]
    assert together.ref == seen.ref
    assert together.answer["messages"] == 3
    assert together.answer["reports"] == 1
    assert together.answer[f"copies of {first}"] == 2
    assert together.answer[f"copies of {second}"] == 0


def test_a_look_that_is_refused_ends_the_scenario_as_inconclusive(desk: Office) -> None:
    desk.admin.refuses = True
    with pytest.raises(SetupRefusedError, match="queue Q is full"):
        desk.administrator.browse(STAGING, ())


def test_a_message_is_one_flat_row() -> None:
    headers = ({"StrucId": "DLH", "Reason": 2053}, {"StrucId": "DDH", "DeliveryDelay": 5})
    message = RawMessage(
        descriptor={"MsgId": "ab"}, headers=headers, properties={"assay_kid": "t/m1", "colour": "red"}, body=b"abc"
    )
    fields = fields_of(message)
    assert fields["headers"] == "DLH|DDH"
    assert (fields["DLH.Reason"], fields["DDH.DeliveryDelay"]) == (2053, 5)
    assert (fields["MsgId"], fields["colour"], fields["kid"], fields["bytes"]) == ("ab", "red", "t/m1", 3)


def test_an_id_in_capital_digits_is_the_same_id() -> None:
    headers = ({"StrucId": "DDH", "MsgId": "CD"},)
    message = RawMessage(
        descriptor={"MsgId": "AB", "CorrelId": "EF", "Format": "MQDDH"}, headers=headers, properties={}, body=b""
    )
    fields = fields_of(message)
    assert (fields["MsgId"], fields["DDH.MsgId"], fields["Format"]) == ("ab", "cd", "MQDDH")
    assert ids_of(Found("e1", "", message)) == {"ab", "ef"}


def test_what_is_taken_stands_in_the_journal(desk: Office) -> None:
    desk.admin.messages = (raw(BODY.format(key=desk.names.key("m1"))),)
    desk.administrator.take(STAGING, b"\1" * 24).needed()
    desk.admin.messages = ()
    desk.administrator.take(STAGING, b"\1" * 24).needed()
    assert [event.answer["found"] for event in desk.answers] == [True, False]
    assert desk.answers[0].answer["kid"] == desk.names.key("m1")


@pytest.mark.parametrize("refuses", [False, True])
def test_a_native_put_is_a_send_in_the_journal(desk: Office, *, refuses: bool) -> None:
    desk.admin.refuses = refuses
    draft = Draft(key="t/m1", body="t/m1 body")
    answer = desk.administrator.put(QUEUE, draft, 5_000)
    call, back = desk.journal.events
    assert isinstance(call, events.Call)
    assert isinstance(back, events.Return)
    assert (call.op, call.ref, call.args["native_delay_ms"]) == ("send", answer.ref, 5_000)
    assert "delay_ms" not in call.args
    assert (back.refused is not None) is refuses
    assert isinstance(answer.outcome, Ok) is not refuses
    assert desk.admin.put[0][1].properties == {"assay_kid": "t/m1"}
