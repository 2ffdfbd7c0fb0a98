"""Tests of a receiver's error when the disk refuses the outcome of a delivery."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.broker.amqp.serving import (
    ACCEPTED,
    DETACH,
    RECEIVER,
    TRANSFER,
    Serving,
    performative,
    put,
    raw,
    serving,
    source,
)

from assay_broker.stores.sqlite import SqliteStore
from assay_broker.stores.watched import WatchedDisk


@pytest.fixture
def disk() -> Iterator[WatchedDisk]:
    watched = WatchedDisk(through=False)
    yield watched
    watched.close()


@pytest.fixture
def server(disk: WatchedDisk, tmp_path: Path) -> Iterator[Serving]:
    with serving(store=lambda _: SqliteStore(tmp_path / "QM", "ASSAY", disk)) as found:
        yield found


@pytest.mark.parametrize("settled", [True, False], ids=["settled", "to-be-settled"])
def test_the_link_ends_with_the_reason_and_the_message_waits_for_another(
    server: Serving, disk: WatchedDisk, settled: bool
) -> None:
    with raw(server) as client:
        put(client, "Q", "one")
        client.attach("r", RECEIVER, source=source("Q"), second=not settled)
        client.credit(0, 10)
        number = client.wait(TRANSFER).at(1)
        disk.fail_syncs()
        client.settle(number, performative(ACCEPTED), settled=settled)
        while (seen := client.read()) is not None and seen.code != DETACH:
            assert seen.code != TRANSFER, "the message comes again and again"
        assert seen is not None
        condition, text = seen.error(2)
        assert condition == "amqp:resource-limit-exceeded"
        assert "could not flush" in text
        client.attach("other", RECEIVER, 1, source=source("Q"), second=True)
        client.credit(1, 10, next_in=1)
        again = client.wait(TRANSFER)
        assert b"one" in again.payload
        client.settle(again.at(1), performative(ACCEPTED))
