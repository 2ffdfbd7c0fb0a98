"""The contract of drivers whose broker can cancel delayed messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pytest
from tests.contract.world import QUIET_MS, SOON_MS, World

from assay_sdk import (
    AckMode,
    MessagingRuntimeError,
)

DELAY_MS = 2_000
"""A delay in which two messages can be cancelled, also on a busy machine."""


class CancelContract(ABC):
    """Tests of drivers whose broker can cancel delayed messages."""

    @pytest.fixture
    @abstractmethod
    def world(self) -> World:
        """Provide a broker and a driver that connects to it."""

    def test_a_delayed_message_is_taken_back(self, world: World) -> None:
        with world.connect() as ctx:
            producer = ctx.create_producer(world.queue(), delivery_delay=DELAY_MS)
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
            receipt = ctx.create_producer(world.topic(), delivery_delay=DELAY_MS).send("x")
            assert receipt.cancel() is True
            assert [consumer.receive(DELAY_MS) for consumer in consumers] == [None, None, None]

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
        with world.connect() as ctx, pytest.raises(MessagingRuntimeError, match="give the message id that a send"):
            ctx.cancel(wrong)
