"""The contract of drivers: tests that every driver passes with a broker behind it.

The test file of a driver subclasses `DriverContract`, and `CancelContract` (`tests.contract.cancel`) if its broker can
cancel delayed messages, and `TemporaryContract` (`tests.contract.temporaries`) if its broker creates temporary
destinations on request only.  It defines the fixture `world`.  The tests use the simplified face, as applications do.
Names of destinations and client ids contain the world's token, so several tests can share a
broker, if each world has its own token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import timedelta

import pytest
from tests.contract.arguments import ArgumentContract
from tests.contract.interruptions import InterruptionContract
from tests.contract.poison import PoisonContract
from tests.contract.requests import RequestContract
from tests.contract.world import MS, QUIET_MS, SOON_MS, World, bodies

from assay_sdk import (
    AS_DESTINATION,
    AckMode,
    ConnectionLostRuntimeError,
    DeliveryMode,
    IllegalStateRuntimeError,
    InvalidClientIdRuntimeError,
    InvalidSelectorRuntimeError,
    Message,
    MessagingRuntimeError,
    Queue,
    TransactionRolledBackRuntimeError,
)


class DriverContract(ArgumentContract, InterruptionContract, PoisonContract, RequestContract, ABC):
    """Tests of all features that the faces need of a driver."""

    @pytest.fixture
    @abstractmethod
    def world(self) -> World:
        """Provide a broker and a driver that connects to it, without messages of an earlier test."""

    def test_a_message_comes_as_it_was_sent(self, world: World) -> None:
        with world.connect() as ctx:
            message = Message(
                "grüße", properties={"colour": "red", "n": 7, "ok": True}, correlation_id="c-1", jms_type="greeting"
            )
            receipt = ctx.create_producer(world.queue()).send(
                message, priority=7, delivery_mode=DeliveryMode.NON_PERSISTENT, time_to_live=timedelta(minutes=1)
            )
            came = ctx.create_consumer(world.queue()).receive(SOON_MS)
            assert came is not None
            assert came.body == "grüße"
            assert dict(came.properties) == {"colour": "red", "n": 7, "ok": True}
            assert (came.correlation_id, came.jms_type) == ("c-1", "greeting")
            assert (came.message_id, came.priority) == (receipt.message_id, 7)
            assert (came.delivery_mode, came.expiration) == (DeliveryMode.NON_PERSISTENT, receipt.expiration)
            assert (came.delivery_count, came.redelivered) == (1, False)
            assert came.destination == world.queue()

    def test_reply_to_group_and_properties_of_ibm_mq_come_as_they_were_sent(self, world: World) -> None:
        properties = {
            "JMS_IBM_Report_Exception": 50331648,
            "JMS_IBM_MQMD_Report": 134217728,
            "JMS_IBM_Last_Msg_In_Group": True,
        }
        group = {"JMSXGroupID": "g", "JMSXGroupSeq": 1}
        with world.connect() as ctx:
            message = Message("a", properties=properties | group, reply_to=world.queue("r"))
            ctx.create_producer(world.queue()).send(message)
            came = ctx.create_consumer(world.queue()).receive(SOON_MS)
            assert came is not None
            assert came.reply_to == world.queue("r")
            assert {name: came.properties[name] for name in (*properties, *group)} == properties | group

    def test_a_message_whose_destination_defines_mode_and_priority_comes(self, world: World) -> None:
        with world.connect() as ctx:
            producer = ctx.create_producer(
                world.queue(), delivery_mode=DeliveryMode.AS_DESTINATION, priority=AS_DESTINATION
            )
            receipt = producer.send("a")
            assert (receipt.delivery_mode, receipt.priority) == (DeliveryMode.AS_DESTINATION, AS_DESTINATION)
            came = ctx.create_consumer(world.queue()).receive(SOON_MS)
            assert came is not None
            assert came.delivery_mode in {DeliveryMode.PERSISTENT, DeliveryMode.NON_PERSISTENT}
            assert came.priority in range(10)

    def test_a_large_body_and_an_empty_one_come_whole(self, world: World) -> None:
        with world.connect() as ctx:
            producer, consumer = ctx.create_producer(world.queue()), ctx.create_consumer(world.queue())
            for body in ("", "x" * 300_000):
                producer.send(body)
                assert consumer.receive_body(SOON_MS) == body

    def test_bytes_come_as_bytes(self, world: World) -> None:
        raw = Queue(world.queue().name, bytes)
        with world.connect() as ctx:
            ctx.create_producer(raw).send(b"\x00\xff")
            assert ctx.create_consumer(raw).receive_body(SOON_MS) == b"\x00\xff"

    def test_an_empty_queue_gives_nothing_and_strands_nothing(self, world: World) -> None:
        with world.connect() as ctx, world.connect() as other:
            waiting = ctx.create_consumer(world.queue())
            assert waiting.receive(50) is None
            assert waiting.receive_no_wait() is None
            ctx.create_producer(world.queue()).send("a")
            assert other.create_consumer(world.queue()).receive_body(SOON_MS) == "a"

    def test_order_is_kept(self, world: World) -> None:
        texts = [str(number) for number in range(20)]
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue())
            for text in texts:
                producer.send(text)
            consumer = ctx.create_consumer(world.queue())
            assert bodies([consumer.receive(SOON_MS) for _ in texts]) == texts

    def test_a_delayed_message_is_not_early_and_comes(self, world: World) -> None:
        with world.connect() as ctx:
            consumer = ctx.create_consumer(world.queue())
            start_ms = world.now_ms()
            ctx.create_producer(world.queue(), delivery_delay=400).send("later")
            assert consumer.receive_body(SOON_MS) == "later"
            assert world.now_ms() - start_ms >= 400

    def test_an_expired_message_is_not_delivered(self, world: World) -> None:
        with world.connect() as ctx:
            ctx.create_producer(world.queue(), time_to_live=100).send("gone")
            world.let(600)
            assert ctx.create_consumer(world.queue()).receive(QUIET_MS) is None

    def test_a_selector_selects(self, world: World) -> None:
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue())
            for colour in ("red", "blue"):
                producer.send(Message(colour, properties={"colour": colour}))
            assert ctx.create_consumer(world.queue(), "colour = 'blue'").receive_body(SOON_MS) == "blue"
            with pytest.raises(InvalidSelectorRuntimeError):
                ctx.create_consumer(world.queue(), "colour = = 'blue'")

    def test_a_browser_shows_and_leaves(self, world: World) -> None:
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue())
            for text in "ab":
                producer.send(text)
            browser = ctx.create_browser(world.queue())
            for _ in range(2):
                assert [message.body for message in browser] == ["a", "b"]
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "a"

    def test_what_is_not_acknowledged_comes_again_after_the_connection_was_lost(self, world: World) -> None:
        with world.connect() as sender:
            sender.create_producer(world.queue()).send("a")
        ctx = world.connect(mode=AckMode.CLIENT)
        assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "a"
        ctx.abort()
        with world.connect() as later:
            # Only the broker knows whether to mark the message as redelivered; the kit's rules judge that.
            assert later.create_consumer(world.queue()).receive_body(SOON_MS) == "a"

    def test_recover_brings_messages_again_counted_and_in_order(self, world: World) -> None:
        with world.connect(mode=AckMode.CLIENT) as ctx:
            producer, consumer = ctx.create_producer(world.queue()), ctx.create_consumer(world.queue())
            for text in "abc":
                producer.send(text)
            bodies([consumer.receive(SOON_MS) for _ in range(2)])
            ctx.recover()
            again = [consumer.receive(SOON_MS) for _ in range(3)]
            assert bodies(again) == ["a", "b", "c"]
            assert [(m.delivery_count, m.redelivered) for m in again if m] == [(2, True), (2, True), (1, False)]
            ctx.acknowledge()
            assert consumer.receive(QUIET_MS) is None

    def test_closing_gives_back_what_was_prefetched_as_if_it_had_never_come(self, world: World) -> None:
        with world.connect() as sender:
            producer = sender.create_producer(world.queue())
            for text in "abc":
                producer.send(text)
        with world.connect(prefetch=10) as ctx:
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "a"
        with world.connect() as ctx:
            consumer = ctx.create_consumer(world.queue())
            rest = [consumer.receive(SOON_MS) for _ in range(2)]
            assert bodies(rest) == ["b", "c"]
            assert [(m.delivery_count, m.redelivered) for m in rest if m] == [(1, False)] * 2

    def test_a_unit_of_work_is_all_or_nothing(self, world: World) -> None:
        with world.connect(mode=AckMode.TRANSACTED) as ctx, world.connect() as outside:
            onlooker = outside.create_consumer(world.queue("out"))
            outside.create_producer(world.queue("in")).send("a")
            producer, consumer = ctx.create_producer(world.queue("out")), ctx.create_consumer(world.queue("in"))
            assert consumer.receive_body(SOON_MS) == "a"
            producer.send("x")
            assert onlooker.receive(QUIET_MS) is None
            ctx.rollback()
            assert onlooker.receive(QUIET_MS) is None
            again = consumer.receive(SOON_MS)
            assert again is not None
            assert (again.body, again.redelivered) == ("a", True)
            assert again.delivery_count >= 2, "a broker may count the rollback and our settlement after it"
            producer.send("y")
            ctx.commit()
            assert onlooker.receive_body(SOON_MS) == "y"
            assert consumer.receive(QUIET_MS) is None

    def test_a_durable_subscription_keeps_what_comes_while_it_is_away(self, world: World) -> None:
        topic = world.topic()
        with world.connect("c") as ctx:
            ctx.create_durable_consumer(topic, "S").close()
            ctx.create_producer(topic).send("missed")
        with world.connect("c") as ctx:
            consumer = ctx.create_durable_consumer(topic, "S")
            assert consumer.receive_body(SOON_MS) == "missed"
            consumer.close()
            ctx.unsubscribe("S")
            ctx.create_producer(topic).send("nobody's")
            assert ctx.create_durable_consumer(topic, "S").receive(QUIET_MS) is None

    def test_a_non_durable_subscription_gets_what_comes_while_it_is_open(self, world: World) -> None:
        topic = world.topic()
        with world.connect() as ctx:
            producer = ctx.create_producer(topic)
            producer.send("before")
            consumer = ctx.create_consumer(topic)
            producer.send("during")
            assert consumer.receive_body(SOON_MS) == "during"
            consumer.close()
            producer.send("after")
            assert ctx.create_consumer(topic).receive(QUIET_MS) is None

    def test_a_shared_subscription_gives_each_message_to_one_of_its_consumers(self, world: World) -> None:
        topic = world.topic()
        with world.connect() as first, world.connect() as second:
            consumers = [context.create_shared_consumer(topic, "S") for context in (first, second)]
            producer = first.create_producer(topic)
            for text in "ab":
                producer.send(text)
            got = [consumer.receive_body(SOON_MS) for consumer in consumers]
            assert sorted(filter(None, got)) == ["a", "b"]

    def test_a_connections_own_messages_can_be_left_out(self, world: World) -> None:
        topic = world.topic()
        with world.connect() as ctx, world.connect() as other:
            consumer = ctx.create_consumer(topic, no_local=True)
            ctx.create_producer(topic).send("own")
            other.create_producer(topic).send("other's")
            assert consumer.receive_body(SOON_MS) == "other's"
            assert consumer.receive(QUIET_MS) is None

    def test_a_client_id_belongs_to_one_connection_at_a_time(self, world: World) -> None:
        with world.connect("c"), pytest.raises(InvalidClientIdRuntimeError):
            world.connect("c")
        with world.connect("c"):
            pass

    def test_a_durable_subscription_in_use_cannot_be_removed(self, world: World) -> None:
        with world.connect("c") as ctx:
            consumer = ctx.create_durable_consumer(world.topic(), "S")
            with pytest.raises(MessagingRuntimeError):
                ctx.unsubscribe("S")
            consumer.close()
            ctx.unsubscribe("S")

    def test_a_listener_that_raises_has_its_message_again(self, world: World) -> None:
        counts: list[int] = []

        def listener(message: Message[str]) -> None:
            counts.append(message.delivery_count)
            if len(counts) == 1:
                raise ValueError("once")

        with world.connect() as ctx:
            ctx.set_exception_listener(lambda _: None)
            ctx.create_consumer(world.queue()).set_message_listener(listener)
            ctx.create_producer(world.queue()).send("a")
            assert world.until(lambda: len(counts) == 2)
            assert counts == [1, 2]

    def test_a_listener_may_end_the_program(self, world: World) -> None:
        def stop(_message: Message[str]) -> None:
            raise SystemExit("the day is over")

        def work() -> None:
            with world.connect() as ctx:
                ctx.create_consumer(world.queue()).set_message_listener(stop)
                ctx.create_producer(world.queue()).send("a")
                world.until(lambda: False)

        with pytest.raises(SystemExit, match="the day is over"):
            work()
        with world.connect() as ctx:
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "a"

    def test_a_listener_may_raise_what_has_no_text(self, world: World) -> None:
        class MuteError(Exception):
            def __str__(self) -> str:
                raise ValueError("no text")

        def listener(message: Message[str]) -> None:
            if message.delivery_count == 1:
                raise MuteError

        told: list[object] = []
        with world.connect() as ctx:
            ctx.set_exception_listener(told.append)
            ctx.create_consumer(world.queue()).set_message_listener(listener)
            ctx.create_producer(world.queue()).send("a")
            assert world.until(lambda: bool(told))
            assert "MuteError: its text cannot be read" in str(told[0])

    def test_a_listener_may_commit_and_roll_back(self, world: World) -> None:
        counts: list[int] = []
        with world.connect(mode=AckMode.TRANSACTED) as ctx, world.connect() as sender:

            def listener(message: Message[str]) -> None:
                counts.append(message.delivery_count)
                if message.delivery_count == 1:
                    ctx.rollback()
                else:
                    ctx.commit()

            ctx.create_consumer(world.queue()).set_message_listener(listener)
            sender.create_producer(world.queue()).send("a")
            assert world.until(lambda: len(counts) == 2)
            world.let(QUIET_MS)
        assert counts[0] == 1
        assert counts[1:] in ([2], [3]), "a broker may count the rollback and our settlement after it"

    def test_batches_fill_and_come_in_time(self, world: World) -> None:
        batches: list[list[str]] = []
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue())
            for number in range(25):
                producer.send(str(number))
            ctx.create_consumer(world.queue()).set_batch_listener(
                lambda messages: batches.append([message.body for message in messages]),
                batch_size=10,
                batch_timeout=1_000,
            )
            begun_ns = world.runner.clock.monotonic_ns()
            assert world.until(lambda: sum(map(len, batches)) == 25)
            assert world.runner.clock.monotonic_ns() - begun_ns < 10_000 * MS
        assert [text for batch in batches for text in batch] == [str(number) for number in range(25)]
        assert [len(batch) for batch in batches] == [10, 10, 5]

    def test_a_batch_that_fails_comes_again_whole_and_one_that_did_not_never_does(self, world: World) -> None:
        batches: list[list[str]] = []

        def listener(messages: list[Message[str]]) -> None:
            batches.append([message.body for message in messages])
            if len(batches) == 2:
                raise ValueError("once")

        with world.connect() as ctx:
            ctx.set_exception_listener(lambda _: None)
            producer = ctx.create_producer(world.queue())
            for text in "abcd":
                producer.send(text)
            ctx.create_consumer(world.queue()).set_batch_listener(listener, batch_size=2, batch_timeout=SOON_MS)
            assert world.until(lambda: len(batches) == 3)
            world.let(QUIET_MS)
        assert batches == [["a", "b"], ["c", "d"], ["c", "d"]]

    def test_after_an_abort_everything_says_that_the_connection_is_lost(self, world: World) -> None:
        ctx = world.connect()
        producer, consumer = ctx.create_producer(world.queue()), ctx.create_consumer(world.queue())
        ctx.abort()
        with pytest.raises(ConnectionLostRuntimeError):
            producer.send("a")
        with pytest.raises(ConnectionLostRuntimeError):
            consumer.receive(10)
        ctx.close()

    def test_a_loop_over_a_consumer_receives_in_order_until_the_timeout(self, world: World) -> None:
        with world.connect() as ctx:
            producer, consumer = ctx.create_producer(world.queue()), ctx.create_consumer(world.queue())
            for body in "abc":
                producer.send(body)
            assert [message.body for message in consumer.messages(timeout=1_000)] == ["a", "b", "c"]
            assert not list(consumer.messages(timeout=0)), "each message was acknowledged"

    def test_a_loop_over_a_consumer_waits_for_a_delayed_message(self, world: World) -> None:
        with world.connect() as ctx:
            ctx.create_producer(world.queue(), delivery_delay=QUIET_MS).send("late")
            for message in ctx.create_consumer(world.queue()):
                assert message.body == "late"
                break

    def test_a_loop_over_a_consumer_ends_when_its_body_closes_the_context(self, world: World) -> None:
        with world.connect() as ctx:
            producer, consumer = ctx.create_producer(world.queue()), ctx.create_consumer(world.queue())
            producer.send("a")
            producer.send("b")
            got = []
            for message in consumer:
                got.append(message.body)
                ctx.close()
            assert got == ["a"]
        with world.connect() as ctx:
            assert [message.body for message in ctx.create_consumer(world.queue()).messages(1_000)] == ["b"]

    def test_a_loop_over_a_consumer_raises_when_the_connection_is_lost(self, world: World) -> None:
        with world.connect() as ctx:
            ctx.create_producer(world.queue()).send("a")
            loop = iter(ctx.create_consumer(world.queue()))
            assert next(loop).body == "a"
            ctx.abort()
            with pytest.raises(ConnectionLostRuntimeError):
                next(loop)

    def test_a_closed_context_is_an_illegal_state(self, world: World) -> None:
        ctx = world.connect(mode=AckMode.TRANSACTED)
        ctx.close()
        with pytest.raises(IllegalStateRuntimeError) as caught:
            ctx.commit()
        assert not isinstance(caught.value, TransactionRolledBackRuntimeError)
