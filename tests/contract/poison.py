"""Tests of messages that fail repeatedly, which every driver must pass; a part of `DriverContract`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from itertools import pairwise
from traceback import extract_tb
from typing import Any

import pytest
from tests.contract.world import QUIET_MS, SOON_MS, World, bodies

from assay_sdk import (
    AckMode,
    DeliveryMode,
    Message,
    MessageFormatError,
    MessageFormatRuntimeError,
    MessagingRuntimeError,
    Queue,
)


class PoisonContract(ABC):  # noqa: B024  a part of `DriverContract`, which defines its fixture
    """Tests of back-out thresholds, and of the handling of messages that exceed a threshold."""

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

    def test_the_exception_of_a_listener_comes_with_its_traceback(self, world: World) -> None:
        told: list[Exception] = []
        raised = ValueError("as told")

        def listener(_message: Message[str]) -> None:
            raise raised

        with world.connect() as ctx:
            ctx.set_exception_listener(told.append)
            ctx.create_producer(world.queue()).send("x")
            ctx.create_consumer(world.queue(), max_delivery_count=1).set_message_listener(listener)
            assert world.until(lambda: bool(told), SOON_MS)
        assert told[0].__cause__ is raised
        assert [frame.name for frame in extract_tb(raised.__traceback__)][-1] == "listener"

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

    @pytest.mark.parametrize("prefetch", [0, 10])
    @pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
    def test_a_body_that_receive_body_cannot_read_stays_the_next_one(
        self, world: World, mode: AckMode, prefetch: int
    ) -> None:
        with world.connect(mode=mode, prefetch=prefetch) as ctx:
            producer = ctx.create_producer(world.queue())
            for text in ("no JSON", '{"n": 1}', '{"n": 2}'):
                producer.send(text)
            consumer = ctx.create_consumer(Queue(world.queue().name, dict))
            for _ in range(2):
                with pytest.raises(MessageFormatRuntimeError):
                    consumer.receive_body(SOON_MS)
            message = consumer.receive(SOON_MS)
            assert message is not None
            assert (message.raw_body, message.redelivered, message.delivery_count) == ("no JSON", False, 1)
            assert [consumer.receive_body(SOON_MS) for _ in range(2)] == [{"n": 1}, {"n": 2}]
            assert consumer.receive_body(QUIET_MS) is None

    @pytest.mark.parametrize("mode", [AckMode.AUTO, AckMode.DUPS_OK])
    def test_a_body_that_receive_body_cannot_read_is_on_the_queue_after_the_close(
        self, world: World, mode: AckMode
    ) -> None:
        with world.connect(mode=mode) as ctx:
            ctx.create_producer(world.queue()).send("no JSON")
            consumer = ctx.create_consumer(Queue(world.queue().name, dict))
            with pytest.raises(MessageFormatRuntimeError):
                consumer.receive_body(SOON_MS)
            consumer.close()
            message = ctx.create_consumer(world.queue()).receive(SOON_MS)
            assert message is not None
            assert (message.body, message.redelivered, message.delivery_count) == ("no JSON", False, 1)

    def test_a_body_that_receive_body_cannot_read_goes_to_the_listener_and_its_limit(self, world: World) -> None:
        with world.connect() as ctx:
            ctx.set_exception_listener(lambda _error: None)
            ctx.create_producer(world.queue()).send("no JSON")
            orders, parked = Queue(world.queue().name, dict), world.queue("parked")
            consumer = ctx.create_consumer(orders, max_delivery_count=2, on_poison=parked)
            with pytest.raises(MessageFormatRuntimeError):
                consumer.receive_body(SOON_MS)
            counts: list[int] = []

            def listener(message: Message[Any]) -> None:
                counts.append(message.delivery_count)
                _ = message.body

            consumer.set_message_listener(listener)
            assert ctx.create_consumer(parked).receive_body(SOON_MS) == "no JSON"
            assert counts == [1, 2]

    def test_a_body_that_receive_body_cannot_read_counts_as_received_where_the_application_settles(
        self, world: World
    ) -> None:
        with world.connect(mode=AckMode.TRANSACTED) as ctx:
            ctx.create_producer(world.queue()).send("no JSON")
            ctx.commit()
            consumer = ctx.create_consumer(Queue(world.queue().name, dict))
            for settle in (ctx.rollback, ctx.commit):
                with pytest.raises(MessageFormatRuntimeError):
                    consumer.receive_body(SOON_MS)
                settle()
            assert consumer.receive(QUIET_MS) is None

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
            ctx.create_consumer(world.queue(), max_deliveries=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]  # the test gives a wrong name
