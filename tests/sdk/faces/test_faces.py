"""Both faces over a fake wire: the same acts, each in its own words, with its own errors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from tests.sdk.scripted import MS, FakeDriver, FakeWire

import assay_sdk
from assay_sdk import (
    AS_DESTINATION,
    AckMode,
    ConnectionFactory,
    Context,
    DeliveryMode,
    JmsError,
    JmsErrorKind,
    Message,
    MessageFormatError,
    MessageFormatRuntimeError,
    MessagingError,
    MessagingRuntimeError,
    Mqrc,
    Queue,
    Session,
    Topic,
    connect,
)
from assay_sdk import driver as port
from assay_sdk.runners.virtual import VirtualRunner

FACES = ["classic", "simplified"]
ROOTS: dict[str, type[JmsError]] = {"classic": MessagingError, "simplified": MessagingRuntimeError}
Q = Queue("Q")
T = Topic("T")


class Order(msgspec.Struct):
    id: str
    number: int


ORDERS: Queue[Order] = Queue("ORDERS", Order)


class World:
    """One face over a fake wire."""

    def __init__(self, face: str, mode: AckMode = AckMode.AUTO, **options: Any) -> None:
        self.runner = VirtualRunner()
        self.driver = FakeDriver()
        self.face = face
        self.session: Session | Context
        if face == "classic":
            factory = ConnectionFactory("fake://", runner=self.runner, driver=self.driver, **options)
            self.connection = factory.create_connection()
            self.connection.start()
            self.session = self.connection.create_session(mode)
        else:
            self.session = connect("fake://", runner=self.runner, driver=self.driver, session_mode=mode, **options)

    @property
    def wire(self) -> FakeWire:
        return self.driver.wires[0]

    def let(self, span_ms: int) -> None:
        self.runner.run_until(lambda: False, self.runner.clock.monotonic_ns() + span_ms * MS)


@pytest.fixture(params=FACES)
def world(request: pytest.FixtureRequest) -> World:
    return World(request.param)


def test_a_typed_body_goes_and_comes(world: World) -> None:
    receipt = world.session.create_producer(ORDERS).send(Order("1", 2), priority=7, time_to_live=timedelta(minutes=1))
    message = world.session.create_consumer(ORDERS).receive(0)
    assert message is not None
    assert message.body == Order("1", 2)
    assert message.message_id == receipt.message_id
    assert (message.priority, message.expiration) == (7, receipt.expiration)
    assert message.delivery_mode is DeliveryMode.PERSISTENT
    assert (message.delivery_count, message.redelivered) == (1, False)


def test_a_message_shows_after_the_send_what_was_used(world: World) -> None:
    message = Message("hello", properties={"colour": "red"}, correlation_id="c", jms_type="t")
    message.delivery_mode = DeliveryMode.NON_PERSISTENT
    message.priority = 9
    world.session.create_producer(Q).send(message)
    assert message.delivery_mode is DeliveryMode.PERSISTENT, "the message object decides nothing (PD-04)"
    assert message.priority == 4
    assert message.timestamp == world.runner.clock.wall_ns() // MS
    assert message.destination == Q.address
    sent = world.wire.all(port.Send)[0].message
    assert (sent.durable, sent.correlation_id, sent.subject) == (True, "c", "t")
    assert sent.properties == {"colour": "red"}


def test_what_was_received_has_read_only_properties(world: World) -> None:
    world.session.create_producer(Q).send(Message("hello", properties={"colour": "red"}))
    message = world.session.create_consumer(Q).receive(0)
    assert message is not None
    assert message.properties == {"colour": "red"}
    with pytest.raises(TypeError):
        message.properties["colour"] = "blue"  # type: ignore[index]  # what is tried


def test_a_delayed_send_has_its_delivery_time_on_the_receipt(world: World) -> None:
    producer = world.session.create_producer(Q)
    assert producer.send("now").delivery_time is None
    producer.delivery_delay = timedelta(seconds=5)  # type: ignore[assignment,unused-ignore]  # setters take spans
    assert producer.delivery_delay == 5000
    assert producer.send("later").delivery_time == world.runner.clock.wall_ns() // MS + 5000


@pytest.mark.parametrize("value", [-1, 1.5, True, "5", timedelta(microseconds=1), timedelta(milliseconds=-1), 2**63])
@pytest.mark.parametrize("setting", ["delivery_delay", "time_to_live"])
def test_a_span_that_is_none_is_refused_and_the_earlier_value_stays(world: World, setting: str, value: object) -> None:
    producer = world.session.create_producer(Q)
    setattr(producer, setting, 5)
    with pytest.raises(ROOTS[world.face]) as caught:
        setattr(producer, setting, value)
    assert caught.value.kind is JmsErrorKind.MESSAGING
    assert getattr(producer, setting) == 5


def test_the_defaults_of_a_producer_are_those_of_jms(world: World) -> None:
    producer = world.session.create_producer(Q)
    assert (producer.delivery_delay, producer.time_to_live) == (0, 0)
    assert (producer.delivery_mode, producer.priority) == (DeliveryMode.PERSISTENT, 4)
    producer.delivery_mode = DeliveryMode.NON_PERSISTENT
    producer.priority = 0
    receipt = producer.send("x")
    assert (receipt.delivery_mode, receipt.priority) == (DeliveryMode.NON_PERSISTENT, 0)


def _old(world: World) -> None:
    world.wire.peer["x-opt-mq-level"] = "7.5"
    world.session.create_producer(T).delivery_delay = 1


def _clustered(world: World) -> None:
    world.wire.destinations["T"] = {"x-opt-mq-defbind": "OPEN", "x-opt-mq-clustered": True}
    _delayed(world, Message("a"))


def _delayed(world: World, message: Message[str]) -> None:
    producer = world.session.create_producer(T)
    producer.delivery_delay = 100
    producer.send(message)


def _expiring(world: World) -> None:
    producer = world.session.create_producer(T)
    producer.delivery_delay = 100
    producer.time_to_live = 99


def _expiring_first(world: World) -> None:
    producer = world.session.create_producer(T)
    producer.time_to_live = 99
    producer.delivery_delay = 100


def _expiring_at_the_send(world: World) -> None:
    producer = world.session.create_producer(T)
    producer.delivery_delay = 100
    producer.send("a", time_to_live=99)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        pytest.param(_old, Mqrc.FUNCTION_NOT_SUPPORTED, id="DD-10"),
        pytest.param(_clustered, Mqrc.OPTIONS_ERROR, id="DD-11"),
        pytest.param(_expiring, Mqrc.EXPIRY_ERROR, id="DD-12"),
        pytest.param(_expiring_first, Mqrc.EXPIRY_ERROR, id="DD-13"),
        pytest.param(_expiring_at_the_send, Mqrc.EXPIRY_ERROR, id="DD-14"),
        pytest.param(
            lambda world: _delayed(world, Message("a", properties={"JMS_IBM_Retain": 1})),
            Mqrc.OPTIONS_ERROR,
            id="DD-16",
        ),
        pytest.param(lambda world: _delayed(world, Message("a", group_id="g")), Mqrc.OPTIONS_ERROR, id="DD-17"),
    ],
)
def test_dd18_a_refusal_is_the_same_in_both_faces_but_for_its_branch(
    broken: Callable[[World], None], reason: Mqrc
) -> None:
    refusals: list[JmsError] = []
    for face in FACES:
        with pytest.raises(ROOTS[face]) as caught:
            broken(World(face))
        refusals.append(caught.value)
    checked, runtime = refusals
    assert checked.refused == runtime.refused
    assert checked.objects == ("T",)
    assert checked.reason is runtime.reason is reason
    assert str(checked) == str(runtime)
    assert str(checked).startswith(f"{reason.label}: ")


def test_a_group_is_given_and_shown_as_properties(world: World) -> None:
    producer, consumer = world.session.create_producer(Q), world.session.create_consumer(Q)
    shown = {"JMSXGroupID": "g", "JMSXGroupSeq": 2, "colour": "red"}
    for message in (
        Message("a", properties=shown),
        Message("a", properties={"colour": "red"}, group_id="g", group_sequence=2),
    ):
        producer.send(message)
        sent = world.wire.all(port.Send)[-1].message
        assert (sent.group_id, sent.group_sequence, sent.properties) == ("g", 2, {"colour": "red"})
        came = consumer.receive(0)
        assert came is not None
        for side in (message, came):
            assert side.properties == shown
            assert (side.group_id, side.group_sequence) == ("g", 2)


def test_a_message_without_a_group_shows_none(world: World) -> None:
    world.session.create_producer(Q).send(Message("a", properties={"JMSXGroupID": None}))
    sent = world.wire.all(port.Send)[-1].message
    assert (sent.group_id, sent.group_sequence, sent.properties) == (None, None, {})
    came = world.session.create_consumer(Q).receive(0)
    assert came is not None
    assert (came.group_id, came.group_sequence, dict(came.properties)) == (None, None, {})


@pytest.mark.parametrize(
    ("name", "value"), [("JMSXGroupID", 7), ("JMSXGroupSeq", "2"), ("JMSXGroupSeq", True), ("JMSXGroupSeq", -1)]
)
def test_a_group_that_is_none_is_refused_before_it_is_sent(world: World, name: str, value: str | int) -> None:
    with pytest.raises(ROOTS[world.face], match=name) as caught:
        world.session.create_producer(Q).send(Message("a", properties={name: value}))
    assert caught.value.kind is JmsErrorKind.MESSAGE_FORMAT
    assert not world.wire.all(port.Send)


def test_properties_of_ibm_mq_pass_through_as_they_are(world: World) -> None:
    given = {
        "JMS_IBM_Retain": 1,
        "JMS_IBM_Last_Msg_In_Group": True,
        "JMS_IBM_Report_Exception": 50331648,
        "JMS_IBM_MQMD_Report": 134217728,
    }
    world.session.create_producer(Q).send(Message("a", properties=given))
    assert world.wire.all(port.Send)[-1].message.properties == given
    came = world.session.create_consumer(Q).receive(0)
    assert came is not None
    assert came.properties == given


def test_what_the_destination_defines_is_shown_as_such_until_it_is_received(world: World) -> None:
    producer = world.session.create_producer(Q)
    producer.delivery_mode = DeliveryMode.AS_DESTINATION
    producer.priority = AS_DESTINATION
    message = Message("a")
    receipt = producer.send(message)
    assert producer.delivery_mode is message.delivery_mode is receipt.delivery_mode is DeliveryMode.AS_DESTINATION
    assert producer.priority == message.priority == receipt.priority == AS_DESTINATION
    sent = world.wire.all(port.Send)[-1].message
    assert (sent.durable, sent.priority) == (None, None)
    came = world.session.create_consumer(Q).receive(0)
    assert came is not None
    assert (came.delivery_mode, came.priority) == (DeliveryMode.NON_PERSISTENT, 4), "as an absent header is read"


def test_a_body_of_the_wrong_type_is_refused_before_it_is_sent(world: World) -> None:
    with pytest.raises(ROOTS[world.face]) as caught:
        world.session.create_producer(ORDERS).send("no order")  # type: ignore[arg-type]  # what is tried
    assert caught.value.kind is JmsErrorKind.MESSAGE_FORMAT
    assert caught.value.objects == ("ORDERS",)
    assert not world.wire.all(port.Send)


def test_a_body_that_does_not_decode_is_an_error_when_it_is_looked_at() -> None:
    world = World("simplified")
    assert isinstance(world.session, Context)
    world.wire.put("no json", to="ORDERS")
    consumer = world.session.create_consumer(ORDERS)
    message = consumer.receive(0)
    assert message is not None, "the message itself can be had, and is acknowledged"
    with pytest.raises(MessageFormatError):
        _ = message.body
    world.wire.put("no json", to="ORDERS")
    with pytest.raises(MessageFormatRuntimeError):
        consumer.receive_body(0)


def test_receive_body_gives_bodies_and_none() -> None:
    world = World("simplified")
    assert isinstance(world.session, Context)
    world.session.create_producer(ORDERS).send(Order("1", 2))
    consumer = world.session.create_consumer(ORDERS)
    assert consumer.receive_body(0) == Order("1", 2)
    assert consumer.receive_body(10) is None


def test_nothing_there_is_none(world: World) -> None:
    consumer = world.session.create_consumer(Q)
    assert consumer.receive_no_wait() is None
    assert consumer.receive(timedelta(milliseconds=20)) is None
    assert world.runner.clock.monotonic_ns() == 20 * MS


def test_a_message_listener_is_handed_messages(world: World) -> None:
    bodies: list[str] = []
    consumer = world.session.create_consumer(Q)
    consumer.set_message_listener(lambda message: bodies.append(message.body))
    world.session.create_producer(Q).send("a")
    world.let(1)
    assert bodies == ["a"]
    consumer.set_message_listener(None)


def test_a_batch_listener_is_handed_lists(world: World) -> None:
    batches: list[list[Order]] = []
    consumer = world.session.create_consumer(ORDERS)
    consumer.set_batch_listener(
        lambda messages: batches.append([message.body for message in messages]),
        batch_size=2,
        batch_timeout=timedelta(milliseconds=50),
    )
    producer = world.session.create_producer(ORDERS)
    for number in range(3):
        producer.send(Order("x", number))
    world.let(100)
    assert batches == [[Order("x", 0), Order("x", 1)], [Order("x", 2)]]
    consumer.set_batch_listener(None)
    assert consumer.receive(0) is None


@pytest.mark.parametrize(("size", "timeout"), [(0, 1), (-1, 1), (1, -1), (1.5, 1), ("2", 1), (True, 1)])
def test_a_batch_that_is_none_is_refused(world: World, size: Any, timeout: int) -> None:
    consumer = world.session.create_consumer(Q)
    with pytest.raises(ROOTS[world.face]):
        consumer.set_batch_listener(lambda _: None, batch_size=size, batch_timeout=timeout)
    assert consumer.receive(0) is None, "the consumer is as it was"


def test_messages_acknowledge_for_the_session() -> None:
    for face in FACES:
        world = World(face, AckMode.CLIENT)
        world.wire.put("a", "b")
        consumer = world.session.create_consumer(Q)
        first, _ = consumer.receive(0), consumer.receive(0)
        assert first is not None
        first.acknowledge()
        assert [len(numbers) for numbers, _ in world.wire.settled()] == [2]
        world.session.recover()
        assert consumer.receive(0) is None


def test_units_of_work_in_both_faces() -> None:
    for face in FACES:
        world = World(face, AckMode.TRANSACTED)
        producer = world.session.create_producer(Q)
        producer.send("a")
        world.session.rollback()
        producer.send("b")
        world.session.commit()
        assert [message.body for message in world.session.create_browser(Q)] == ["b"]


def test_subscriptions_of_every_kind_ask_for_what_they_are() -> None:
    topic = Topic("T")
    for face in FACES:
        session = (world := World(face, client_id="c")).session
        session.create_consumer(topic, "a = 1", no_local=True)
        session.create_durable_consumer(topic, "D").close()
        session.create_shared_consumer(topic, "S")
        session.create_shared_durable_consumer(topic, "SD")
        session.unsubscribe("D")
        asked = [(c.durability, c.name, c.shared, c.selector, c.no_local) for c in world.wire.all(port.OpenReceiver)]
        non_durable, durable = port.Durability.NON_DURABLE, port.Durability.DURABLE
        assert asked == [
            (non_durable, None, False, "a = 1", True),
            (durable, "D", False, None, False),
            (non_durable, "S", True, None, False),
            (durable, "SD", True, None, False),
        ]
        for make in (session.create_durable_consumer, session.create_shared_consumer):
            with pytest.raises(ROOTS[face]) as caught:
                make(topic, "")
            assert caught.value.reason is Mqrc.SUB_NAME_ERROR


def test_a_producer_without_a_destination_names_it_with_each_send(world: World) -> None:
    producer = world.session.create_producer()
    producer.send_to(ORDERS, Order("1", 1))
    producer.send_to(Q, "text")
    assert world.wire.bodies() == ["text"]
    with pytest.raises(ROOTS[world.face], match="send_to"):
        producer.send("nowhere")
    with pytest.raises(ROOTS[world.face]):
        world.session.create_producer(Q).send_to(ORDERS, Order("1", 1))


def test_leaving_a_context_manager_closes() -> None:
    runner, driver = VirtualRunner(), FakeDriver()
    with (
        connect("fake://", runner=runner, driver=driver) as context,
        context.create_producer(Q) as producer,
        context.create_consumer(Q),
    ):
        producer.send("a")
    kinds = [type(command) for command in driver.wires[0].commands]
    assert kinds[-4:] == [port.CloseLink, port.CloseLink, port.CloseSession, port.Close]

    factory = ConnectionFactory("fake://", runner=runner, driver=driver)
    with factory.create_connection() as connection, connection.create_session():
        pass
    kinds = [type(command) for command in driver.wires[1].commands]
    assert kinds[-2:] == [port.CloseSession, port.Close]


def test_a_context_starts_its_connection_with_its_first_consumer_and_not_before() -> None:
    world = World("simplified")
    assert isinstance(world.session, Context)
    world.session.auto_start = False
    world.wire.put("a")
    consumer = world.session.create_consumer(Q)
    assert consumer.receive(10) is None
    world.session.start()
    assert consumer.receive(10) is not None


def test_the_last_context_closes_the_connection() -> None:
    world = World("simplified")
    first = world.session
    assert isinstance(first, Context)
    second = first.create_context(AckMode.TRANSACTED)
    first.close()
    first.close()
    assert not world.wire.all(port.Close)
    second.create_producer(Q).send("a")
    second.commit()
    second.close()
    assert len(world.wire.all(port.Close)) == 1


def test_settings_can_be_chained_and_given_to_the_maker() -> None:
    world = World("simplified")
    assert isinstance(world.session, Context)
    producer = world.session.create_producer(
        ORDERS, delivery_delay=timedelta(seconds=5), time_to_live=timedelta(minutes=1), priority=2
    )
    receipt = producer.set_priority(7).set_delivery_mode(DeliveryMode.NON_PERSISTENT).send(Order("1", 2))
    assert (receipt.priority, receipt.delivery_mode) == (7, DeliveryMode.NON_PERSISTENT)
    producer.set_delivery_delay(0).set_time_to_live(0)
    assert producer.send(Order("1", 2)).expiration is None


def test_a_maker_whose_settings_are_refused_leaves_no_producer() -> None:
    world = World("simplified")
    assert isinstance(world.session, Context)
    with pytest.raises(MessagingRuntimeError):
        world.session.create_producer(Q, time_to_live=1, delivery_delay=2)
    assert len(world.wire.all(port.CloseLink)) == 1


def test_an_exception_listener_is_told_in_the_faces_words() -> None:
    for face in FACES:
        world = World(face)
        told: list[JmsError] = []
        target = world.connection if face == "classic" else world.session
        assert isinstance(target, Context | assay_sdk.Connection)
        target.set_exception_listener(told.append)
        world.wire.break_line()
        world.let(1)
        assert [type(error) for error in told] == [
            assay_sdk.ConnectionLostError if face == "classic" else assay_sdk.ConnectionLostRuntimeError
        ]


def test_a_lost_connection_is_named_as_that(world: World) -> None:
    producer = world.session.create_producer(Q)
    if isinstance(world.session, Context):
        world.session.abort()
    else:
        world.connection.abort()
    with pytest.raises(ROOTS[world.face]) as caught:
        producer.send("a")
    assert caught.value.kind is JmsErrorKind.CONNECTION_LOST


def test_a_context_whose_session_is_refused_leaves_no_connection() -> None:
    runner = VirtualRunner()
    driver = FakeDriver(frozenset())
    with pytest.raises(MessagingRuntimeError) as caught:
        connect("fake://", runner=runner, driver=driver, session_mode=AckMode.TRANSACTED)
    assert caught.value.kind is JmsErrorKind.UNSUPPORTED
    assert len(driver.wires[0].all(port.Close)) == 1


def test_a_url_that_no_driver_serves_is_refused_in_the_faces_words() -> None:
    runner = VirtualRunner()
    with pytest.raises(MessagingRuntimeError, match="no driver serves"):
        connect("carrier-pigeon://roof", runner=runner)
    with pytest.raises(MessagingError, match="no driver serves"):
        ConnectionFactory("carrier-pigeon://roof", runner=runner).create_connection()


@pytest.mark.parametrize("prefetch", [-1])
def test_a_negative_prefetch_is_refused(prefetch: int) -> None:
    with pytest.raises(MessagingRuntimeError, match="prefetch"):
        connect("fake://", runner=VirtualRunner(), driver=FakeDriver(), prefetch=prefetch)


def test_client_id_and_mode_are_shown() -> None:
    context = World("simplified", AckMode.DUPS_OK, client_id="c").session
    assert isinstance(context, Context)
    assert (context.client_id, context.session_mode) == ("c", AckMode.DUPS_OK)
    world = World("classic", client_id="c")
    assert world.connection.client_id == "c"


def test_stop_and_start_in_both_faces(world: World) -> None:
    consumer = world.session.create_consumer(Q)
    target = world.session if isinstance(world.session, Context) else world.connection
    target.stop()
    world.wire.put("a")
    assert consumer.receive(10) is None
    target.start()
    assert consumer.receive(10) is not None


def test_a_classic_session_makes_messages_and_names_its_selector() -> None:
    session = World("classic").session
    assert isinstance(session, Session)
    message = session.create_message("hello", colour="red")
    assert (message.body, message.properties) == ("hello", {"colour": "red"})
    assert repr(message) == "Message(not sent)"
    assert session.create_consumer(Q, "a = 1").message_selector == "a = 1"
    browser = session.create_browser(Q, "a = 1")
    assert (browser.queue, browser.message_selector) == (Q, "a = 1")
