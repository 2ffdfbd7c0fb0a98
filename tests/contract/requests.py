"""Tests of requests and replies, which every driver must pass; a part of `DriverContract`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.contract.world import QUIET_MS, SOON_MS, World, bodies

from assay_sdk import (
    AckMode,
    IllegalStateRuntimeError,
    InvalidDestinationRuntimeError,
    Message,
    MessagingRuntimeError,
    Queue,
    Topic,
)


class RequestContract(ABC):  # noqa: B024  a part of `DriverContract`, which defines its fixture
    """Tests of reply-to and `request`."""

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
            assert world.until(lambda: bool(late))
            with suppress(MessagingRuntimeError):  # refused, or lost if the broker creates queues on use
                answers.send_to(late[0], "too late")
            for text in ("one", "two"):
                got = asking.request(world.queue(), text, timeout=SOON_MS)
                assert got is not None
                assert got.body == f"{text}!"

    def test_a_reply_that_the_application_acknowledges_itself_is_returned(self, world: World) -> None:
        with world.connect(mode=AckMode.CLIENT) as asking, world.connect() as answering:
            answers = answering.create_producer()

            def answer(ask: Message[str]) -> None:
                assert ask.reply_to is not None
                answers.send_to(ask.reply_to, f"{ask.body}!")

            answering.create_consumer(world.queue()).set_message_listener(answer)
            for text in ("one", "two"):
                got = asking.request(world.queue(), text, timeout=SOON_MS)
                assert got is not None
                assert got.body == f"{text}!"
                got.acknowledge()

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
