"""Tests of the reference broker's administration through the adapter's port."""

from __future__ import annotations

import pytest

from assay_adapters.brokers.reference.inprocess.administration import command
from assay_adapters.brokers.reference.inprocess.backend import ReferenceBackend, ReferenceInstance
from assay_adapters.ports.administration import Define, ObjectKind, RawMessage, Resolve, Start, Stop
from assay_adapters.ports.capabilities import Needs
from assay_adapters.ports.client import AckMode, Draft, Origin, Seen, Setting
from assay_adapters.ports.outcome import Mqrc, Ok, Outcome, Refused
from assay_broker.core.administration.changes import DefineObject
from assay_broker.core.objects.model import Kind
from assay_sdk.driver import Durability
from assay_sdk.model.message import Address, AddressKind

STAGING = "SYSTEM.DDELAY.LOCAL.QUEUE"


def value(outcome: Outcome[object]) -> object:
    assert isinstance(outcome, Ok), outcome
    return outcome.value


@pytest.fixture
def of() -> ReferenceInstance:
    made = ReferenceBackend(store="memory").provision(Needs())
    assert isinstance(made, ReferenceInstance)
    return made


def session(of: ReferenceInstance) -> object:
    connection = value(of.clients()["classic"].connect(of.endpoint("amqp")))
    return value(connection.session(AckMode.AUTO))  # type: ignore[attr-defined]  # value() knows no type


def sent(of: ReferenceInstance, key: str, delay_ms: int = 0) -> str:
    """Send to the queue Q, and return the message id that the sender sees."""
    producer = value(session(of).producer(Address(AddressKind.QUEUE, "Q")))  # type: ignore[attr-defined]  # value() knows no type
    value(producer.set(Setting.DELAY, delay_ms))  # type: ignore[attr-defined]  # value() knows no type
    answer = value(producer.send(Draft(key=key, body=f"{key} body", properties={"n": 1})))  # type: ignore[attr-defined]  # value() knows no type
    return str(answer.message_id)  # type: ignore[attr-defined]  # value() knows no type


def received(of: ReferenceInstance) -> Seen | None:
    origin = Origin(address=Address(AddressKind.QUEUE, "Q"))
    consumer = value(session(of).consumer(origin, actor="reader"))  # type: ignore[attr-defined]  # value() knows no type
    return value(consumer.receive(1_000))  # type: ignore[attr-defined,no-any-return]  # value() knows no type


def browsed(of: ReferenceInstance, queue: str) -> tuple[RawMessage, ...]:
    outcome = of.admin.browse(queue)
    assert isinstance(outcome, Ok), outcome
    return outcome.value


def test_a_bug_of_the_broker_refuses_the_command(of: ReferenceInstance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_broker.core.handlers.administer", None)
    outcome = of.admin.browse("Q")
    assert isinstance(outcome, Refused)
    assert outcome.mqrc == Mqrc.UNEXPECTED_ERROR
    todo = "find the stack trace in the broker's log, and report it to the broker's authors"
    assert outcome.text == f"The broker has a bug: {todo}."


def test_a_browse_shows_descriptor_headers_properties_and_body(of: ReferenceInstance) -> None:
    message_id = sent(of, "t/m1", delay_ms=5_000)
    (staged,) = browsed(of, STAGING)
    assert staged.descriptor["CorrelId"] == of.admin.identify(message_id).hex()
    assert [header["StrucId"] for header in staged.headers] == ["DDH"]
    assert staged.properties["n"] == 1
    assert staged.body == b"t/m1 body"


def test_a_browse_of_nothing_that_there_is_is_refused() -> None:
    made = ReferenceBackend(store="memory").provision(Needs(platform="zos"))
    assert isinstance(made, ReferenceInstance)
    outcome = made.admin.browse(STAGING)
    assert isinstance(outcome, Refused)
    assert outcome.mqrc == Mqrc.UNKNOWN_OBJECT_NAME


def test_what_is_taken_by_its_correlation_id_is_gone(of: ReferenceInstance) -> None:
    first, second = sent(of, "t/m1", 5_000), sent(of, "t/m2", 5_000)
    taken = of.admin.take(STAGING, correlation_id=of.admin.identify(first))
    assert isinstance(taken, Ok)
    assert taken.value is not None
    assert taken.value.body == b"t/m1 body"
    assert of.admin.take(STAGING, correlation_id=of.admin.identify(first)) == Ok(None)
    (left,) = browsed(of, STAGING)
    assert left.descriptor["CorrelId"] == of.admin.identify(second).hex()


def test_a_native_put_arrives_with_what_its_descriptor_says(of: ReferenceInstance) -> None:
    sent(of, "t/m0")
    received(of)
    descriptor = {"Persistence": 1, "Priority": 7, "CorrelId": "41" * 24, "ReplyToQ": "R"}
    message = RawMessage(descriptor=descriptor, properties={"assay_kid": "t/m1"}, body=b"t/m1 body")
    value(of.admin.put_native("Q", message))
    (found,) = browsed(of, "Q")
    assert {name: found.descriptor[name] for name in descriptor} == descriptor
    seen = received(of)
    assert seen is not None
    assert seen.key == "t/m1"


def test_a_native_put_that_asks_for_a_delay_is_refused(of: ReferenceInstance) -> None:
    outcome = of.admin.put_native("Q", RawMessage(descriptor={}, body=b"x"), delay_ms=1)
    assert isinstance(outcome, Refused)
    assert outcome.mqrc == Mqrc.OPTIONS_ERROR


def test_a_field_that_no_native_put_can_be_given_is_said(of: ReferenceInstance) -> None:
    with pytest.raises(LookupError, match="cannot set the descriptor's BackoutCount"):
        of.admin.put_native("Q", RawMessage(descriptor={"BackoutCount": 1}))


def test_a_native_put_can_say_that_its_message_does_not_expire(of: ReferenceInstance) -> None:
    sent(of, "t/m0")
    received(of)
    value(of.admin.put_native("Q", RawMessage(descriptor={"Expiry": -1}, body=b"x")))
    (found,) = browsed(of, "Q")
    assert found.descriptor["Expiry"] == -1


def test_a_native_put_of_octets_that_are_no_text_is_not_possible(of: ReferenceInstance) -> None:
    with pytest.raises(LookupError, match="not UTF-8"):
        of.admin.put_native("Q", RawMessage(descriptor={}, body=b"\xff"))


def test_the_subscriptions_of_a_topic_are_shown_with_their_queues(of: ReferenceInstance) -> None:
    topic = Address(AddressKind.TOPIC, "T")
    connection = value(of.clients()["classic"].connect(of.endpoint("amqp"), client_id="c"))
    reader = value(connection.session(AckMode.AUTO))  # type: ignore[attr-defined]  # value() knows no type
    for name in (None, "kept"):
        kind = Durability.NON_DURABLE if name is None else Durability.DURABLE
        value(reader.consumer(Origin(address=topic, durability=kind, name=name), actor="reader"))  # type: ignore[attr-defined]  # value() knows no type
    rows = value(of.admin.subscriptions("T"))
    assert isinstance(rows, tuple)
    assert [row["DURABLE"] for row in rows] == ["NO", "YES"]
    assert str(rows[1]["SUB"]).endswith(":c:kept")
    for row in rows:
        assert browsed(of, str(row["DEST"])) == ()
    assert value(of.admin.subscriptions("OTHER")) == ()


def test_a_queue_manager_stops_and_starts_and_the_administrator_with_it(of: ReferenceInstance) -> None:
    sent(of, "t/m1", 5_000)
    value(of.admin.execute(Stop("queue manager"), of.members[0]))
    assert isinstance(of.clients()["classic"].connect(of.endpoint("amqp")), Refused)
    assert isinstance(of.admin.browse(STAGING), Refused)
    value(of.admin.execute(Start("queue manager")))
    assert len(browsed(of, STAGING)) == 1


def test_what_cannot_be_stopped_alone_is_said(of: ReferenceInstance) -> None:
    outcome = of.admin.execute(Stop("channel"))
    assert isinstance(outcome, Refused)
    assert "'channel'" in outcome.text


@pytest.mark.parametrize("commit", [True, False])
def test_a_branch_whose_manager_does_not_come_back_is_shown_and_resolved(
    of: ReferenceInstance, *, commit: bool
) -> None:
    connection = value(of.clients()["classic"].connect(of.endpoint("amqp")))
    worker = value(connection.session(AckMode.XA))  # type: ignore[attr-defined]  # value() knows no type
    resource = value(worker.xa())  # type: ignore[attr-defined]  # value() knows no type
    value(resource.start(b"branch"))  # type: ignore[attr-defined]  # value() knows no type
    producer = value(worker.producer(Address(AddressKind.QUEUE, "Q")))  # type: ignore[attr-defined]  # value() knows no type
    value(producer.send(Draft(key="t/m1", body="t/m1 body")))  # type: ignore[attr-defined]  # value() knows no type
    value(resource.end(b"branch"))  # type: ignore[attr-defined]  # value() knows no type
    assert of.admin.units() == Ok(())
    assert value(resource.prepare(b"branch")) is True  # type: ignore[attr-defined]  # value() knows no type
    units = of.admin.units()
    assert isinstance(units, Ok)
    (unit,) = units.value
    assert (unit["STATE"], unit["OUTCOME"], unit["PUTS"], unit["GETS"]) == ("PREPARED", "", 1, 0)
    value(of.admin.execute(Resolve(str(unit["THREAD"]), commit)))
    assert (received(of) is not None) == commit
    late = resource.commit(b"branch")  # type: ignore[attr-defined]  # value() knows no type
    assert isinstance(late, Refused)
    assert late.text.startswith("XA_HEURCOM" if commit else "XA_HEURRB")
    assert value(resource.recover()) == (b"branch",)  # type: ignore[attr-defined]  # value() knows no type
    assert isinstance(of.admin.execute(Resolve(str(unit["THREAD"]), commit)), Refused)


def test_a_definition_is_handed_on_under_the_cores_kinds() -> None:
    wanted = DefineObject(kind=Kind.QALIAS, name="A", attributes={"TARGET": "Q"})
    assert command(Define(ObjectKind.ALIAS, "A", {"TARGET": "Q"})) == wanted
