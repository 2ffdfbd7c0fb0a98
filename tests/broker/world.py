"""A test world of one queue manager, with clients in this process."""

from __future__ import annotations

from assay_broker.core.settings import Settings
from assay_broker.inprocess import InProcessDriver, InProcessWire
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_broker.stores.sqlite import SqliteStore
from assay_sdk import driver
from assay_sdk.driver import DriverCommand, DriverEvent, Target
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import Refused
from assay_sdk.runners.virtual import VirtualRunner

QUEUE = Address(AddressKind.QUEUE, "Q")
MS = 1_000_000


class World:
    """A queue manager, a driver, and the events of its wires."""

    def __init__(self, store: MemoryStore | SqliteStore | None = None, settings: Settings | None = None) -> None:
        self.runner = VirtualRunner()
        self.store = store or MemoryStore()
        self.queue_manager = QueueManager(self.runner, self.store, settings)
        self.driver = InProcessDriver(self.queue_manager)

    def connect(self, client_id: str | None = None, *, trace: bool = False) -> Line:
        return Line(self, Target(url="in-process://ASSAY", client_id=client_id, trace=trace))

    def run(self, span_ms: int = 10) -> None:
        deadline = self.runner.clock.monotonic_ns() + span_ms * MS
        self.runner.run_until(lambda: False, deadline)


class Line:
    """A client's wire, and the events that the client has received."""

    def __init__(self, world: World, target: Target, events: list[DriverEvent] | None = None) -> None:
        self.world = world
        self.events: list[DriverEvent] = [] if events is None else events
        self.wire: InProcessWire = world.driver.connect(target, self.events.append, world.runner)
        self.tokens = 0
        world.run()

    def token(self) -> int:
        self.tokens += 1
        return self.tokens

    def submit(self, *commands: DriverCommand) -> None:
        for command in commands:
            self.wire.submit(command)
        self.world.run()

    def ready(self, *, credit: int = 10) -> Line:
        """Open a session, a sender 1 and a receiver 2."""
        self.submit(
            driver.OpenSession(self.token(), 1),
            driver.OpenSender(self.token(), 1, 1, QUEUE),
            driver.OpenReceiver(token=self.token(), session=1, link=2, address=QUEUE),
            driver.Credit(self.token(), 2, credit),
        )
        return self

    def send(self, body: str = "m", *, durable: bool = True, settled: bool = False, unit: int | None = None) -> int:
        token = self.token()
        message = Message(message_id=body, body=body, durable=durable)
        self.submit(driver.Send(token, 1, message, settled=settled, unit=unit))
        return token

    def arrived(self) -> list[driver.Arrived]:
        return [event for event in self.events if isinstance(event, driver.Arrived)]

    def outcome(self, token: int) -> driver.Done | driver.Failed:
        answers = [
            event for event in self.events if isinstance(event, driver.Done | driver.Failed) and event.token == token
        ]
        assert len(answers) == 1, f"token {token} was answered {len(answers)} times"
        return answers[0]

    def refused(self, token: int) -> Refused:
        outcome = self.outcome(token)
        assert isinstance(outcome, driver.Failed)
        return outcome.refused
