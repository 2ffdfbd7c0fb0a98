"""The contract of drivers: tests that every driver passes with a broker behind it.

The test file of a driver subclasses `DriverContract`, and `CancelContract` if its broker can cancel delayed messages.
It defines the fixture `world`.  The tests use the simplified face, as applications do.  Names of destinations and
client ids contain the world's token, so tests share a broker if each of them has another token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from tests.contract.arguments import ArgumentContract
from tests.contract.world import QUIET_MS, SOON_MS, World

from assay_sdk import (
    AS_DESTINATION,
    AckMode,
    ConnectionLostRuntimeError,
    DeliveryMode,
    IllegalStateRuntimeError,
    InvalidClientIdRuntimeError,
    InvalidDestinationRuntimeError,
    InvalidSelectorRuntimeError,
    Message,
    MessageFormatError,
    MessagingRuntimeError,
    Queue,
    Topic,
    TransactionRolledBackRuntimeError,
)


def bodies(messages: list[Message[str] | None]) -> list[str]:
    """The bodies of received messages; fails if one of them did not arrive."""
    assert None not in messages
    return [message.body for message in messages if message is not None]


class DriverContract(ArgumentContract, ABC):
    """Tests of all that the faces need of a driver."""

    @pytest.fixture
    @abstractmethod
    def world(self) -> World:
        """A broker and a driver that connects to it, without messages of an earlier test."""

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

    def test_a_request_is_answered_at_its_reply_to(self, world: World) -> None:
        with world.connect() as asking, world.connect() as answering:
            replies = asking.create_temporary_queue(dict)
            asking.create_producer(world.queue()).send(Message("how many?", reply_to=replies))
            ask = answering.create_consumer(world.queue()).receive(SOON_MS)
            assert ask is not None
            assert ask.reply_to == replies
            answering.create_producer().send_to(ask.reply_to, Message({"nails": 3}, correlation_id=ask.message_id))
            answer = asking.create_consumer(replies).receive(SOON_MS)
            assert answer is not None
            assert (answer.body, answer.correlation_id) == ({"nails": 3}, ask.message_id)
            assert ask.destination == world.queue()

    def test_an_answer_to_the_name_alone_of_a_temporary_queue_comes(self, world: World) -> None:
        with world.connect() as asking, world.connect() as answering:
            replies = asking.create_temporary_queue()
            answering.create_producer(Queue(replies.name)).send("by name")
            answering.create_producer().send_to(Queue(replies.name), "by name, unbound")
            consumer = asking.create_consumer(replies)
            assert bodies([consumer.receive(SOON_MS), consumer.receive(SOON_MS)]) == ["by name", "by name, unbound"]

    @pytest.mark.parametrize("topic", [False, True], ids=["queue", "topic"])
    def test_a_lasting_destination_as_reply_to_is_answered_too(self, world: World, topic: bool) -> None:
        replies = world.topic("answers") if topic else world.queue("answers")
        with world.connect() as asking, world.connect() as answering:
            consumer = asking.create_consumer(replies)
            asking.create_producer(world.queue()).send(Message("?", reply_to=replies))
            ask = answering.create_consumer(world.queue()).receive(SOON_MS)
            assert ask is not None
            assert ask.reply_to == replies
            answering.create_producer(ask.reply_to).send("!")
            assert consumer.receive_body(SOON_MS) == "!"

    def test_request_waits_for_its_own_answer(self, world: World) -> None:
        with world.connect() as asking, world.connect() as answering:
            answers = answering.create_producer()
            late: list[Queue[Any] | Topic[Any]] = []

            def answer(ask: Message[str]) -> None:
                assert ask.reply_to is not None
                if ask.body == "late":
                    late.append(ask.reply_to)
                else:
                    answers.send_to(ask.reply_to, f"{ask.body}!")

            answering.create_consumer(world.queue()).set_message_listener(answer)
            message = Message("late", correlation_id="c")
            assert asking.request(world.queue(), message, timeout=QUIET_MS) is None
            assert message.reply_to is None
            with suppress(MessagingRuntimeError):  # refused, or lost if the broker creates queues on use
                answers.send_to(late[0], "too late")
            for text in ("one", "two"):
                got = asking.request(world.queue(), text, timeout=SOON_MS)
                assert got is not None
                assert got.body == f"{text}!"

    def test_request_is_refused_where_it_cannot_work(self, world: World) -> None:
        with world.connect(mode=AckMode.TRANSACTED) as ctx:
            with pytest.raises(IllegalStateRuntimeError, match="sends only at its commit"):
                ctx.request(world.queue(), "x", timeout=0)
            with ctx.create_context(AckMode.AUTO) as auto:
                message = Message("x", reply_to=world.queue("r"))
                with pytest.raises(InvalidDestinationRuntimeError, match="has a reply-to"):
                    auto.request(world.queue(), message, timeout=0)

    @pytest.mark.parametrize("wrong", ["ORDERS", 7, b"ORDERS"])
    def test_a_reply_to_that_is_no_destination_is_refused_by_send(self, world: World, wrong: Any) -> None:
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue())
            with pytest.raises(InvalidDestinationRuntimeError, match=r"reply_to is a .*: give a destination"):
                producer.send(Message("x", reply_to=wrong))
            producer.send("after that")
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "after that"

    @pytest.mark.parametrize("wrong", ["ORDERS", 7, None])
    def test_what_is_no_destination_is_refused_by_every_call(self, world: World, wrong: Any) -> None:
        with world.connect(client_id="wrong") as ctx:
            calls: list[Callable[[], object]] = [
                lambda: ctx.create_consumer(wrong),
                lambda: ctx.create_browser(wrong),
                lambda: ctx.create_durable_consumer(wrong, "name"),
                lambda: ctx.create_producer().send_to(wrong, "x"),
            ]
            for call in calls:
                with pytest.raises(
                    InvalidDestinationRuntimeError, match=r"the destination is a .*: give a destination"
                ):
                    call()

    @pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
    def test_a_message_that_always_fails_is_moved_and_the_others_go_on(self, world: World, mode: AckMode) -> None:
        calls: list[tuple[str, int]] = []

        def listener(message: Message[str]) -> None:
            calls.append((message.body, message.delivery_count))
            if message.body == "poison":
                raise ValueError("as told")

        with world.connect(mode=mode) as ctx:
            ctx.set_exception_listener(lambda _error: None)
            parked = world.queue("parked")
            producer = ctx.create_producer(world.queue())
            sent = Message("poison", properties={"n": 1}, correlation_id="c", reply_to=world.queue("r"))
            receipt = producer.send(sent, priority=7)
            producer.send("after")
            consumer = ctx.create_consumer(world.queue(), max_delivery_count=3, on_poison=parked)
            consumer.set_message_listener(listener)
            assert world.until(lambda: ("after", 1) in calls, 2 * SOON_MS)
            assert [call for call in calls if call[0] == "poison"] == [("poison", 1), ("poison", 2), ("poison", 3)]
            moved = ctx.create_consumer(parked).receive(SOON_MS)
            assert moved is not None
            assert (moved.body, dict(moved.properties), moved.priority) == ("poison", {"n": 1}, 7)
            assert (moved.message_id, moved.correlation_id) == (receipt.message_id, "c")
            assert (moved.delivery_mode, moved.reply_to) == (DeliveryMode.PERSISTENT, world.queue("r"))

    def test_a_batch_that_always_fails_is_moved_message_by_message(self, world: World) -> None:
        batches: list[list[str]] = []

        def listener(batch: Sequence[Message[str]]) -> None:
            batches.append([message.body for message in batch])
            raise ValueError("as told")

        with world.connect() as ctx:
            ctx.set_exception_listener(lambda _error: None)
            producer = ctx.create_producer(world.queue())
            for text in "ab":
                producer.send(text)
            parked = world.queue("parked")
            consumer = ctx.create_consumer(world.queue(), max_delivery_count=2, on_poison=parked)
            consumer.set_batch_listener(listener, batch_size=2, batch_timeout=SOON_MS)
            with ctx.create_context(AckMode.AUTO) as other:
                beside = other.create_consumer(parked)
                assert sorted(bodies([beside.receive(2 * SOON_MS), beside.receive(SOON_MS)])) == ["a", "b"]
            assert batches == [["a", "b"], ["a", "b"]]

    def test_a_message_that_is_rolled_back_too_often_is_moved_before_it_is_received(self, world: World) -> None:
        with world.connect(mode=AckMode.TRANSACTED) as ctx:
            ctx.create_producer(world.queue()).send("x")
            ctx.commit()
            parked = world.queue("parked")
            consumer = ctx.create_consumer(world.queue(), max_delivery_count=2, on_poison=parked)
            for count in (1, 2):
                message = consumer.receive(SOON_MS)
                assert message is not None
                assert message.delivery_count == count
                ctx.rollback()
            assert consumer.receive(QUIET_MS) is None
            consumer.close()
            assert ctx.create_consumer(parked).receive_body(SOON_MS) == "x"
            ctx.commit()

    def test_a_body_that_cannot_be_read_goes_the_same_way_and_can_be_had_raw(self, world: World) -> None:
        with world.connect() as ctx:
            ctx.set_exception_listener(lambda _error: None)
            ctx.create_producer(world.queue()).send("no JSON")
            orders = Queue(world.queue().name, dict)
            read: list[object] = []
            consumer = ctx.create_consumer(orders, max_delivery_count=2, on_poison=world.queue("parked"))
            consumer.set_message_listener(lambda message: read.append(message.body))
            parked = ctx.create_consumer(Queue(world.queue("parked").name, dict)).receive(SOON_MS)
            assert parked is not None
            with pytest.raises(MessageFormatError):
                _ = parked.body
            assert (parked.raw_body, read) == ("no JSON", [])

    def test_a_listener_that_always_raises_rests_longer_each_time(self, world: World) -> None:
        calls: list[float] = []

        def listener(_message: Message[str]) -> None:
            calls.append(world.now_ms())
            raise ValueError("as told")

        with world.connect() as ctx:
            ctx.set_exception_listener(lambda _error: None)
            consumer = ctx.create_consumer(world.queue())
            consumer.set_message_listener(listener)
            ctx.create_producer(world.queue()).send("x")
            world.until(lambda: len(calls) == 5, SOON_MS)
            pauses = [later - earlier for earlier, later in pairwise(calls)]
            assert all(pause >= least for pause, least in zip(pauses[1:], (100, 200, 400), strict=True))
            consumer.close()  # at once, in the middle of a pause
            left = ctx.create_consumer(world.queue()).receive(SOON_MS)
            assert left is not None
            assert left.body == "x"

    @pytest.mark.parametrize("wrong", [-1, True, "3", 1.5])
    def test_a_limit_of_deliveries_that_is_no_count_is_refused(self, world: World, wrong: Any) -> None:
        with world.connect() as ctx, pytest.raises(MessagingRuntimeError, match="give a number from 0"):
            ctx.create_consumer(world.queue(), max_delivery_count=wrong)

    def test_an_unknown_keyword_of_a_consumer_is_a_type_error(self, world: World) -> None:
        with world.connect() as ctx, pytest.raises(TypeError, match="max_delivery_count, on_poison"):
            ctx.create_consumer(world.queue(), max_deliveries=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

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
            # Only the broker knows whether to mark it as redelivered; the rules of the kit judge that.
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
                batch_timeout=200,
            )
            assert world.until(lambda: sum(map(len, batches)) == 25)
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
            assert [message.body for message in consumer.messages(timeout=QUIET_MS)] == ["a", "b", "c"]
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
            assert [message.body for message in ctx.create_consumer(world.queue()).messages(QUIET_MS)] == ["b"]

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


class CancelContract(ABC):
    """Tests of drivers whose broker can cancel delayed messages."""

    @pytest.fixture
    @abstractmethod
    def world(self) -> World:
        """A broker and a driver that connects to it."""

    def test_a_delayed_message_is_taken_back(self, world: World) -> None:
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue(), delivery_delay=QUIET_MS)
            first, second, third = (producer.send(text) for text in ("first", "second", "third"))
            assert first.cancel() is True
            assert first.cancel() is False
            assert ctx.cancel(second.message_id) is True
            consumer = ctx.create_consumer(world.queue())
            assert consumer.receive_body(SOON_MS) == "third"
            assert third.cancel() is False
            assert consumer.receive(QUIET_MS) is None

    def test_a_handle_outlives_its_connection(self, world: World) -> None:
        with world.connect() as ctx:
            handle = ctx.create_producer(world.queue(), delivery_delay=SOON_MS).send("x").message_id
        with world.connect() as other:
            assert other.cancel(handle) is True
            assert other.cancel(handle) is False

    def test_every_copy_of_a_delayed_publication_is_taken_back(self, world: World) -> None:
        with world.connect() as ctx:
            consumers = [ctx.create_consumer(world.topic()) for _ in range(3)]
            receipt = ctx.create_producer(world.topic(), delivery_delay=QUIET_MS).send("x")
            assert receipt.cancel() is True
            assert [consumer.receive(QUIET_MS) for consumer in consumers] == [None, None, None]

    def test_what_is_not_staged_cannot_be_taken_back(self, world: World) -> None:
        with world.connect(mode=AckMode.TRANSACTED) as ctx, ctx.create_context(AckMode.AUTO) as auto:
            assert auto.create_producer(world.queue()).send("at once").cancel() is False
            assert auto.cancel("ID:nobody-knows") is False
            receipt = ctx.create_producer(world.queue("unit"), delivery_delay=SOON_MS).send("uncommitted")
            assert auto.cancel(receipt.message_id) is False
            ctx.commit()
            assert receipt.cancel() is True

    @pytest.mark.parametrize("wrong", ["", 7, None])
    def test_a_handle_that_is_no_message_id_is_refused(self, world: World, wrong: Any) -> None:
        with world.connect() as ctx, pytest.raises(MessagingRuntimeError, match="give the message id of a receipt"):
            ctx.cancel(wrong)
