from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.broker.world import World

from assay_broker.core.objects.factory import LOCAL_DEFAULT
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.settings import Settings
from assay_broker.mqsc.defaults import default_settings
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk import driver
from assay_sdk.model.message import Message
from assay_sdk.model.reasons import Mqrc

MIB = 1 << 20
LARGEST = 100 * MIB


def settings(*, manager: int = LARGEST, queue: int = LARGEST) -> Settings:
    """Return the settings of a queue manager with these limits of a message's length, for itself and its queues."""
    given = default_settings("ASSAY")

    def limit(one: Definition) -> int | None:
        if one.kind is Kind.QMGR:
            return manager
        return queue if one.name == LOCAL_DEFAULT else None

    objects = tuple(
        one if limit(one) is None else Definition(one.kind, one.name, one.attributes | {"MAXMSGL": limit(one)})
        for one in given.fresh_objects()
    )
    return replace(given, objects=objects)


def test_a_message_of_100_mib_outlives_a_kill_in_its_folder(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, "ASSAY")
    world = World(store, settings())
    line = world.connect().ready(credit=0)
    body = bytes(LARGEST - 2) + b"!!"
    line.wire.submit(driver.Send(token := line.token(), 1, Message(body=body, durable=True)))
    world.run()
    assert isinstance(line.outcome(token), driver.Done)
    world.queue_manager.kill()
    world.run()
    [arrived] = world.connect().ready().arrived()
    assert arrived.message.body == body
    store.abandon()


@pytest.mark.parametrize(
    ("limits", "mqrc", "text"),
    [
        (settings(), Mqrc.MSG_TOO_BIG_FOR_Q_MGR, "more than 104857600 bytes"),
        (settings(manager=LARGEST, queue=4 * MIB), Mqrc.MSG_TOO_BIG_FOR_Q_MGR, "more than 104857600 bytes"),
        (
            settings(manager=4 * MIB),
            Mqrc.MSG_TOO_BIG_FOR_Q_MGR,
            "more than 4194304 bytes, the MAXMSGL of the queue manager",
        ),
    ],
    ids=["both at their most", "queue lower", "queue manager lower"],
)
@pytest.mark.parametrize("unit", [b"x", "x"], ids=["bytes", "text"])
def test_a_message_of_101_mib_is_refused_and_touches_no_disk(
    tmp_path: Path, limits: Settings, mqrc: Mqrc, text: str, unit: str | bytes
) -> None:
    store = SqliteStore(tmp_path, "ASSAY")
    world = World(store, limits)
    line = world.connect().ready()
    line.wire.submit(driver.Send(token := line.token(), 1, Message(body=unit * (101 * MIB), durable=True)))
    line.send("next")
    world.run()
    refused = line.refused(token)
    assert refused.mqrc == mqrc
    assert text in refused.text
    assert [one.message.body for one in line.arrived()] == ["next"]
    assert not store.holds(b"x" * 100)
    store.abandon()


def test_a_queue_that_takes_less_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path, "ASSAY")
    world = World(store, settings(queue=4 * MIB))
    line = world.connect().ready()
    line.wire.submit(driver.Send(token := line.token(), 1, Message(body=bytes(5 * MIB), durable=True)))
    world.run()
    refused = line.refused(token)
    assert refused.mqrc == Mqrc.MSG_TOO_BIG_FOR_Q
    assert "takes messages of 4194304 bytes (MAXMSGL), and this one has 5242880" in refused.text
    store.abandon()
