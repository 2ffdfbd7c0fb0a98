"""A client that acquires deliveries in a unit of work (OASIS AMQP 1.0, 4.4.3), and servers with either store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.broker.amqp.links.test_transactions import Working
from tests.broker.amqp.serving import (
    DETACH,
    FLOW,
    RECEIVER,
    TRANSACTIONAL,
    TRANSFER,
    Raw,
    Seen,
    Serving,
    raw,
    source,
)
from tests.broker.amqp.serving import put as serving_put

from assay_broker.stores import Store
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk.amqp import types

STATE = 7
"""The position of the state in a transfer."""
LOOKED_AT = (b"", b"", b"", b"", b"", types.symbol("copy"))
BOTH = pytest.mark.parametrize("settled", [True, False], ids=["settled", "unsettled"])
EITHER = pytest.mark.parametrize("fail", [True, False], ids=["rollback", "commit"])


class Acquiring:
    """A client that receives on handle 1 of its first session, with a link to the coordinator on its second session."""

    def __init__(self, server: Serving, client: Raw) -> None:
        self.server = server
        self.client = client
        client.begin(1)
        self.working = Working(client, channel=1)

    def receiver(self, queue: str, *texts: str, settled: bool = False, wait: bool = True, **more: bool) -> None:
        if texts:
            put(self.server, queue, *texts)
        self.client.attach("r", RECEIVER, 1, source=source(queue), settled=settled, wait=wait, **more)

    def flow(
        self, credit: int, properties: dict[str, bytes] | None = None, *, count: int = 0, drain: bool = False
    ) -> None:
        here = (types.uint(0), types.uint(1000), types.uint(0), types.uint(1000))
        link = (types.uint(1), types.uint(count), types.uint(credit), b"", types.boolean(drain), b"")
        told = {types.symbol(name): value for name, value in (properties or {}).items()}
        self.client.say(FLOW, *here, *link, types.mapping(told) if told else b"")

    def acquire(self, unit: bytes, credit: int, *, count: int = 0, drain: bool = False) -> None:
        self.flow(credit, {"txn-id": types.binary(unit)}, count=count, drain=drain)

    def received(self) -> Seen:
        return self.client.wait(TRANSFER)

    def sync(self) -> None:
        """Wait until the server has handled all earlier frames; it answers the frames of a session in order."""
        self.working.discharge(self.working.declare())

    def over(self) -> None:
        self.client.say(DETACH, types.uint(1), types.boolean(value=True))
        self.client.wait(DETACH)


STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(folder, "ASSAY"),  # it answers a commit after its thread has stored the commit
}


def put(server: Serving, queue: str, *texts: str) -> None:
    """Send persistent messages to a queue."""
    with raw(server, container="puts") as client:
        serving_put(client, queue, *texts)


def unit_of(seen: Seen) -> bytes | None:
    """Return the unit of work that a transfer names."""
    state = seen.at(STATE)
    if state is None:
        return None
    assert state.descriptor == TRANSACTIONAL
    return bytes(state.value[0])
