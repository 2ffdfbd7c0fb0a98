"""The contract of drivers whose broker creates temporary destinations on request only.

Other brokers, such as Artemis, create each address that a client names, so a client can use a deleted address again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import pytest
from tests.contract.world import QUIET_MS, SOON_MS, World

from assay_sdk import InvalidDestinationRuntimeError


class TemporaryContract(ABC):
    """Tests of the use of temporary destinations that were deleted."""

    @pytest.fixture
    @abstractmethod
    def world(self) -> World:
        """Provide a broker and a driver that connects to it."""

    def test_a_late_answer_is_refused_however_it_is_sent(self, world: World) -> None:
        with world.connect() as asking, world.connect() as answering:
            assert asking.request(world.queue(), "how many?", timeout=QUIET_MS) is None
            late = answering.create_consumer(world.queue()).receive(SOON_MS)
            assert late is not None
            assert late.reply_to is not None
            with pytest.raises(InvalidDestinationRuntimeError):
                answering.create_producer().send_to(late.reply_to, "42")
            with pytest.raises(InvalidDestinationRuntimeError):
                answering.create_producer(late.reply_to).send("42")
            with pytest.raises(InvalidDestinationRuntimeError):
                answering.create_consumer(late.reply_to)

    def test_a_deleted_temporary_destination_is_not_made_again(self, world: World) -> None:
        with world.connect() as ctx:
            replies = ctx.create_temporary_queue()
            ctx.delete_temporary(replies)
            with pytest.raises(InvalidDestinationRuntimeError):
                ctx.create_producer(replies).send("42")
            with pytest.raises(InvalidDestinationRuntimeError):
                ctx.create_consumer(replies)
