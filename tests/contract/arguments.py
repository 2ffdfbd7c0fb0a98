"""The part of the contract about wrong arguments: every driver refuses them with the same error, and keeps working."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.contract.world import QUIET_MS, SOON_MS, World

from assay_sdk import (
    IllegalStateRuntimeError,
    InvalidClientIdRuntimeError,
    InvalidSelectorRuntimeError,
    Message,
    MessageFormatRuntimeError,
    MessagingRuntimeError,
    Mqrc,
    Queue,
    Topic,
    connect,
)

FLAWED = [
    pytest.param("x" * 70_000, "it has 70000 bytes of UTF-8, and 10240 are allowed", id="long"),
    pytest.param("n\0A", "character 2 is U+0000; leave it out", id="nul"),
    pytest.param("\ud800", "character 1 is U+D800; leave it out", id="surrogate"),
]
"""Names that an AMQP frame or a C string would not carry unchanged."""


async def later(_given: object) -> None:
    """Do nothing until awaited: a listener that an asyncio program passes by mistake."""


class Later:
    """An object whose call does nothing until it is awaited."""

    async def __call__(self, _message: object) -> None:
        """Do nothing."""


class ArgumentContract(ABC):  # noqa: B024  a part of `DriverContract`, which defines its fixture
    """Tests of wrong arguments and of callbacks that raise."""

    @pytest.mark.parametrize(
        ("message", "said"),
        [
            (Message("a\ud800"), "the body has no character at 1 that UTF-8 can write"),
            (Message("a", properties={"p": 2**63}), "the property p is 9223372036854775808: an integer has 64 bits"),
            (Message("a", properties={"p": cast("str", [1])}), "the property p is [1], of list"),
            (Message("a", properties={cast("str", 1): "x"}), "the property 1 has no name"),
            (
                Message("a", properties={"shop name": "x"}),
                "the property 'shop name' has no valid name: a name cannot have ' '",
            ),
            (Message("a", properties={"9p": "x"}), "the property '9p' has no valid name: a name cannot begin with '9'"),
            (
                Message("a", properties={"JMSPriority": 1}),
                "the property 'JMSPriority' has no valid name: JMS is reserved",
            ),
            (Message("a", properties={"Like": "x"}), "the property 'Like' has no valid name: the word is reserved"),
            (Message("a", properties={"p": "\udfff"}), "the property p has no character at 0"),
            (Message("a", correlation_id=cast("str", 5)), "correlation_id is 5: give text"),
            (Message("a", jms_type=cast("str", 5)), "jms_type is 5: give text"),
        ],
        ids=[
            "surrogate",
            "long",
            "list",
            "name",
            "blank",
            "digit",
            "header",
            "reserved",
            "surrogate-property",
            "correlation-id",
            "type",
        ],
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

    def test_a_listener_cannot_close_its_own_context_and_takes_its_message(self, world: World) -> None:
        with world.connect() as ctx:
            told: list[str] = []

            def listen(message: Message[str]) -> None:
                try:
                    ctx.close()
                except IllegalStateRuntimeError as refusal:
                    told.append(f"{message.body}: {refusal}")

            ctx.create_consumer(world.queue()).set_message_listener(listen)
            ctx.create_producer(world.queue()).send("a")
            assert world.until(lambda: bool(told))
            assert told == ["a: a listener cannot close the session it belongs to: let it return first"]
        with world.connect() as ctx:
            assert ctx.create_consumer(world.queue()).receive(QUIET_MS) is None

    def test_a_listener_may_close_its_own_consumer_which_leaves_later_messages(self, world: World) -> None:
        with world.connect() as ctx:
            consumer = ctx.create_consumer(world.queue())
            told: list[str] = []

            def listen(message: Message[str]) -> None:
                consumer.close()
                told.append(message.body)

            consumer.set_message_listener(listen)
            producer = ctx.create_producer(world.queue())
            producer.send("a")
            producer.send("b")
            assert world.until(lambda: bool(told))
            assert [found.body for found in ctx.create_consumer(world.queue()).messages(1_000)] == ["b"]
            assert told == ["a"]

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
            (lambda ctx, queue: ctx.create_consumer(queue).set_message_listener(later), "is a coroutine function"),
            (lambda ctx, queue: ctx.create_consumer(queue).set_message_listener(Later()), "is a coroutine function"),
            (lambda ctx, queue: ctx.create_consumer(queue).set_batch_listener(later), "is a coroutine function"),
            (lambda ctx, _queue: ctx.set_exception_listener(later), "is a coroutine function"),
            (lambda ctx, _queue: ctx.create_context("TRANSACTED"), "the session mode is 'TRANSACTED'"),
            (lambda ctx, _queue: ctx.delete_temporary("x"), "the destination is a str"),
            (lambda ctx, _queue: ctx.create_shared_consumer(Topic("t"), 5), "the subscription name is 5: give text"),
            (lambda ctx, _queue: ctx.create_durable_consumer(Topic("t"), 5), "the subscription name is 5: give text"),
            (lambda ctx, _queue: ctx.unsubscribe(5), "the subscription name is 5: give text"),
            (lambda ctx, _queue: ctx.unsubscribe(""), "the subscription name is empty"),
        ],
        ids=[
            "selector",
            "browser",
            "own-poison",
            "listener",
            "batch-listener",
            "exceptions",
            "awaited-listener",
            "awaited-object",
            "awaited-batch-listener",
            "awaited-exceptions",
            "mode",
            "temporary",
            "shared-name",
            "durable-name",
            "unsubscribed-name",
            "no-name",
        ],
    )
    def test_a_wrong_argument_is_refused_with_a_sentence(
        self, world: World, wrong: Callable[[Any, Any], object], said: str
    ) -> None:
        with world.connect() as ctx, pytest.raises(MessagingRuntimeError) as refusal:
            wrong(ctx, world.queue())
        assert said in str(refusal.value)

    @pytest.mark.parametrize(
        ("flawed", "said"),
        [("a = '" + "x" * 70_000 + "'", "70006 bytes"), ("a = '\ud800'", "character 6 is U+D800; leave it out")],
        ids=["long", "surrogate"],
    )
    @pytest.mark.parametrize(
        "call",
        [
            lambda ctx, queue, selector: ctx.create_consumer(queue, selector),
            lambda ctx, queue, selector: list(ctx.create_browser(queue, selector)),
        ],
        ids=["consumer", "browser"],
    )
    def test_a_selector_that_no_frame_carries_is_refused_and_the_connection_stays(
        self, world: World, call: Callable[[Any, Any, str], object], flawed: str, said: str
    ) -> None:
        with world.connect() as ctx:
            with pytest.raises(InvalidSelectorRuntimeError) as refusal:
                call(ctx, world.queue(), flawed)
            assert said in str(refusal.value)
            ctx.create_producer(world.queue()).send("good")
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "good"

    @pytest.mark.parametrize("setting", ["delivery_delay", "time_to_live"])
    def test_a_duration_that_ends_after_the_last_time_is_refused(self, world: World, setting: str) -> None:
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue())
            setattr(producer, setting, 2**63 - 1)
            with pytest.raises(MessagingRuntimeError) as refusal:
                producer.send("a")
            said = (
                f"a {setting.replace('_', ' ')} of 9223372036854775807 ms is too long for a message sent now: give at"
            )
            assert said in str(refusal.value)
            setattr(producer, setting, 0)
            producer.send("good")
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "good"

    @pytest.mark.parametrize("number", [float("nan"), float("inf")])
    def test_a_number_that_json_lacks_is_refused(self, world: World, number: float) -> None:
        queue = Queue(world.queue().name, dict[str, Any])
        with world.connect() as ctx:
            producer = ctx.create_producer(queue)
            with pytest.raises(MessageFormatRuntimeError, match=rf"\['a'\]\[1\] is {number}, which is no JSON number"):
                producer.send({"b": None, "a": [1.5, number]})
            producer.send({"a": None})
            assert ctx.create_consumer(queue).receive_body(SOON_MS) == {"a": None}

    @pytest.mark.parametrize("name", ["kept|b", "kept|2", "kept|global", "kept|volatile1"])
    @pytest.mark.parametrize(
        "call", ["create_durable_consumer", "create_shared_consumer", "create_shared_durable_consumer", "unsubscribe"]
    )
    def test_a_subscription_name_with_the_delimiter_of_links_is_refused_and_touches_no_other(
        self, world: World, call: str, name: str
    ) -> None:
        topic = world.topic()
        with world.connect("c") as ctx:
            ctx.create_durable_consumer(topic, "kept").close()
            ctx.create_producer(topic).send("precious")
            with pytest.raises(MessagingRuntimeError, match=r"contains '\|': leave it out") as refusal:
                getattr(ctx, call)(*(() if call == "unsubscribe" else (topic,)), name)
            assert refusal.value.reason is Mqrc.SUB_NAME_ERROR
            assert ctx.create_durable_consumer(topic, "kept").receive_body(SOON_MS) == "precious"

    @pytest.mark.parametrize(("flawed", "said"), FLAWED)
    @pytest.mark.parametrize(
        "call", ["create_durable_consumer", "create_shared_consumer", "create_shared_durable_consumer", "unsubscribe"]
    )
    def test_a_subscription_name_that_no_frame_carries_is_refused_and_the_connection_stays(
        self, world: World, call: str, flawed: str, said: str
    ) -> None:
        with world.connect("c") as ctx:
            with pytest.raises(MessagingRuntimeError) as refusal:
                getattr(ctx, call)(*(() if call == "unsubscribe" else (world.topic(),)), flawed)
            assert said in str(refusal.value)
            assert refusal.value.reason is Mqrc.SUB_NAME_ERROR
            ctx.create_producer(world.queue()).send("good")
            assert ctx.create_consumer(world.queue()).receive_body(SOON_MS) == "good"

    @pytest.mark.parametrize(
        ("client_id", "said"), [*FLAWED, ("", "client_id is empty"), (5, "client_id is 5: give text")]
    )
    def test_a_client_id_that_no_frame_carries_is_refused(self, world: World, client_id: Any, said: str) -> None:
        with pytest.raises(InvalidClientIdRuntimeError) as refusal:
            connect(world.url, client_id=client_id, login=world.login, runner=world.runner, driver=world.driver())
        assert said in str(refusal.value)
