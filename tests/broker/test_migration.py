"""Tests of migration: the same data at another level, or with another OPMODE (DD-43, DD-44)."""

from __future__ import annotations

from typing import Literal

import pytest
from tests.broker.networks.world import World

from assay_broker.core.administration import changes
from assay_broker.core.messages.descriptor import Described, native_id
from assay_broker.core.objects.factory import STAGING_QUEUE
from assay_sdk.model.message import Address, AddressKind
from assay_sdk.model.reasons import Mqrc

QUEUE = Address(AddressKind.QUEUE, "Q")
NAME = "QM1"


@pytest.fixture(name="world")
def _world() -> World:
    """Provide a queue manager on z/OS with two delayed messages."""
    world = World("single", (NAME,), "zos")
    world.define(NAME, STAGING_QUEUE, MSGDLVSQ="FIFO")
    sender = world.line(NAME, sends=QUEUE)
    for body in ("taken", "kept"):
        assert sender.send(body, delay_ms=1_000) is None
    return world


def test_staged_messages_stay_below_level_8_until_the_queue_manager_is_back(world: World) -> None:
    manager = world.members[NAME]
    manager.restart(level="7.5")
    world.run(5_000)
    assert world.line(NAME, receives=QUEUE).bodies() == []
    assert world.depth(NAME, STAGING_QUEUE) == 2
    refused = world.line(NAME, sends=QUEUE).send("new", delay_ms=1_000)
    assert refused is not None
    assert refused.mqrc == Mqrc.FUNCTION_NOT_SUPPORTED
    (taken,) = world.ask(NAME, changes.NativeTake(STAGING_QUEUE, native_id("taken"))).value or ()
    assert isinstance(taken, Described)
    assert world.depth(NAME, STAGING_QUEUE) == 1
    manager.restart(level="8.0")
    world.run()
    assert world.line(NAME, receives=QUEUE).bodies() == ["kept"]
    assert world.depth(NAME, STAGING_QUEUE) == 0


@pytest.mark.parametrize("opmode", ["COMPAT", "NEWFUNC"])
def test_opmode_does_not_matter_to_delayed_messages(world: World, opmode: Literal["COMPAT", "NEWFUNC"]) -> None:
    world.members[NAME].restart(opmode=opmode)
    assert world.line(NAME, sends=QUEUE).send("late", delay_ms=2_000) is None
    world.run(3_000)
    assert world.line(NAME, receives=QUEUE).bodies() == ["taken", "kept", "late"]
