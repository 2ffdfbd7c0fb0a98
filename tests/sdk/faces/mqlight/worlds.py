"""A test world: the MQ Light face with the reference broker in the same process, in virtual time."""

from __future__ import annotations

import random
from collections.abc import Callable

from assay_broker.inprocess import InProcessBroker
from assay_sdk import Backoff, Client, Delivery, MessagingError, connect_mqlight
from assay_sdk.observer import FrameSeen, SdkEvent

MS = 1_000_000
SECOND = 1_000


class World:
    """A broker and its clients."""

    def __init__(self, broker: InProcessBroker) -> None:
        self.broker = broker
        self.events: list[SdkEvent] = []
        self.states: list[tuple[str, str | None]] = []
        self.complaints: list[str] = []

    def client(
        self,
        client_id: str | None = "desk",
        backoff: Backoff | None = None,
        on_error: Callable[[MessagingError], None] | None = None,
    ) -> Client:
        return connect_mqlight(
            self.broker.url,
            client_id=client_id,
            driver=self.broker.driver,
            runner=self.broker.runner,
            chance=random.Random(7),  # noqa: S311  repeatable ids for virtual time; they protect nothing
            observer=self.events.append,
            trace=True,
            backoff=backoff,
            on_state_changed=lambda state, why: self.states.append((state, None if why is None else why.kind.value)),
            on_error=on_error or (lambda error: self.complaints.append(error.text)),
        )

    def let(self, span_ms: int) -> None:
        clock = self.broker.runner.clock
        self.broker.runner.run_until(lambda: False, clock.monotonic_ns() + span_ms * MS)

    def cut(self) -> None:
        self.broker.queue_manager.cut()

    def transfers(self) -> list[tuple[str | None, bool]]:
        """Return the bodies of the transfers, each with whether it was settled."""
        seen = [event.frame for event in self.events if isinstance(event, FrameSeen)]
        frames = [frame for frame in seen if frame.direction == "out"]
        return [(frame.transfer.message.message_id, frame.transfer.settled) for frame in frames if frame.transfer]


def bodies(got: list[Delivery]) -> list[object]:
    return [delivery.data for delivery in got]
