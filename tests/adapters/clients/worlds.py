"""A client of the SDK behind the `Client` port, with a scripted wire."""

from __future__ import annotations

from typing import TypeVar

from tests.sdk.scripted import MS, FakeDriver, FakeWire

from assay_adapters.clients.sdk import SdkClient, SdkFace
from assay_adapters.ports.client import (
    AckMode,
    Client,
    ClientConnection,
    ClientEvent,
    ClientSession,
    Endpoint,
)
from assay_adapters.ports.outcome import Ok, Outcome, Refused
from assay_sdk.runners.virtual import VirtualRunner

T = TypeVar("T")
FACES: list[SdkFace] = ["classic", "simplified"]


def ok(outcome: Outcome[T]) -> T:
    assert isinstance(outcome, Ok), outcome
    return outcome.value


def refused(outcome: Outcome[T]) -> Refused:
    assert isinstance(outcome, Refused), outcome
    return outcome


class World:
    """A client of one face, with one connection."""

    def __init__(self, face: SdkFace) -> None:
        self.face = face
        self.checked = face == "classic"
        self.runner = VirtualRunner()
        self.driver = FakeDriver()
        self.client: Client = SdkClient(face, self.driver, self.runner, "t")
        self.events: list[ClientEvent] = []
        self.client.observe(self._note)
        self.connection: ClientConnection = ok(self.client.connect(Endpoint("fake://"), client_id="c"))

    def _note(self, event: ClientEvent) -> None:
        """Keep an event, except the news that a connection keeps its frames (`test_frames`)."""
        if event.what != "frames":
            self.events.append(event)

    @property
    def wire(self) -> FakeWire:
        return self.driver.wires[0]

    def session(self, mode: AckMode = AckMode.AUTO) -> ClientSession:
        return ok(self.connection.session(mode))

    def let(self, span_ms: int) -> None:
        self.runner.run_until(lambda: False, self.runner.clock.monotonic_ns() + span_ms * MS)

    def story(self) -> list[tuple[str, str, str]]:
        return [(event.what, event.seen.key if event.seen else "", event.outcome) for event in self.events]

    def put(self, *keys: str) -> None:
        for key in keys:
            self.wire.put(f"{key} body", properties={"assay_kid": key})
