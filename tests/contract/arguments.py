"""The part of the contract about wrong arguments: all drivers refuse them alike, and go on working."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.contract.world import SOON_MS, World

from assay_sdk import Message, MessageFormatRuntimeError, MessagingRuntimeError


class ArgumentContract(ABC):  # noqa: B024  a part of `DriverContract`, which defines its fixture
    """Tests of wrong arguments and of callbacks that raise."""

    @pytest.mark.parametrize(
        ("message", "said"),
        [
            (Message("a\ud800"), "the body has no character at 1 that UTF-8 can write"),
            (Message("a", properties={"p": 2**63}), "the property p is 9223372036854775808: an integer has 64 bits"),
            (Message("a", properties={"p": cast("str", [1])}), "the property p is [1], of list"),
            (Message("a", properties={cast("str", 1): "x"}), "the property 1 has no name"),
            (Message("a", properties={"p": "\udfff"}), "the property p has no character at 0"),
            (Message("a", correlation_id=cast("str", 5)), "correlation_id is 5: give text"),
            (Message("a", jms_type=cast("str", 5)), "jms_type is 5: give text"),
        ],
        ids=["surrogate", "long", "list", "name", "surrogate-property", "correlation-id", "type"],
    )
    def test_what_no_wire_carries_is_refused_before_it_is_sent(
        self, world: World, message: Message[str], said: str
    ) -> None:
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue())
            with pytest.raises(MessageFormatRuntimeError) as refusal:
                producer.send(message)
            assert said in str(refusal.value)
            producer.send("good")
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "good"

    def test_an_exception_listener_that_raises_disturbs_no_call(
        self, world: World, caplog: pytest.LogCaptureFixture
    ) -> None:
        with world.connect() as ctx:
            told: list[str] = []

            def listen(error: Exception) -> None:
                told.append(str(error))
                raise KeyError("the listener's own mistake")

            ctx.set_exception_listener(listen)
            producer = ctx.create_producer(world.queue())
            ctx.create_consumer(world.queue()).set_message_listener(lambda _message: 1 // 0)
            producer.send("a")
            world.until(lambda: bool(told))
            producer.send("b")
            assert "the exception listener raised" in caplog.text

    def test_a_batch_listener_with_a_huge_batch_size_works_and_can_be_removed(self, world: World) -> None:
        with world.connect() as ctx:
            consumer = ctx.create_consumer(world.queue())
            taken: list[str] = []
            consumer.set_batch_listener(
                lambda batch: taken.extend(message.body for message in batch), batch_size=10**9, batch_timeout=50
            )
            ctx.create_producer(world.queue()).send("a")
            assert world.until(lambda: taken == ["a"])
            consumer.set_batch_listener(None)

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (lambda ctx, queue: ctx.create_consumer(queue, 5), "the selector is 5"),
            (lambda ctx, queue: ctx.create_browser(queue, 5).__iter__(), "the selector is 5"),
            (lambda ctx, queue: ctx.create_consumer(queue, on_poison=queue), "from which this consumer receives"),
            (lambda ctx, queue: ctx.create_consumer(queue).set_message_listener(5), "the message listener is 5"),
            (lambda ctx, queue: ctx.create_consumer(queue).set_batch_listener(5), "the batch listener is 5"),
            (lambda ctx, _queue: ctx.set_exception_listener(5), "the exception listener is 5"),
            (lambda ctx, _queue: ctx.create_context("TRANSACTED"), "the session mode is 'TRANSACTED'"),
            (lambda ctx, _queue: ctx.delete_temporary("x"), "the destination is a str"),
        ],
        ids=["selector", "browser", "own-poison", "listener", "batch-listener", "exceptions", "mode", "temporary"],
    )
    def test_a_wrong_argument_is_refused_with_a_sentence(
        self, world: World, wrong: Callable[[Any, Any], object], said: str
    ) -> None:
        with world.connect() as ctx, pytest.raises(MessagingRuntimeError) as refusal:
            wrong(ctx, world.queue())
        assert said in str(refusal.value)
