"""Tests of the consumers of a scenario."""

from __future__ import annotations

from typing import Any

from assay_adapters.ports.client import Origin
from assay_evidence import events
from assay_sdk.model.message import Address, AddressKind
from assay_steps.cast.actors import Consumer
from assay_steps.cast.sessions import Connection


class Observing:
    """A recorder and its journal: notes at each event whether the consumer has a listener."""

    def __init__(self) -> None:
        self.journal = self
        self.consumer: Consumer | None = None
        self.seen: list[tuple[str, bool]] = []

    def number(self, kind: str) -> str:
        """Return the same id for all watches."""
        return kind

    def write(self, _kind: type[events.Watch], *, phase: str, **_: object) -> None:
        """Note the phase of a watch."""
        assert self.consumer is not None
        self.seen.append((phase, self.consumer.listening))


def test_a_lost_connection_leaves_the_listener_at_each_moment() -> None:
    recorder: Any = Observing()
    unused: Any = None
    connection = Connection(recorder, "sure", unused, reconnects=True)
    origin = Origin(address=Address(AddressKind.QUEUE, "Q"))
    consumer = recorder.consumer = Consumer(recorder, "sure", unused, unused, origin)
    connection.consumers.append(consumer)
    consumer.listening = True
    consumer.start_watching()
    connection.interrupted()
    connection.resumed()
    assert recorder.seen == [("begin", True), ("end", True), ("begin", True)]
