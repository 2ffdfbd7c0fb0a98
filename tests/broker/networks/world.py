"""A test world of several queue managers, with administrators and clients."""

from __future__ import annotations

from collections.abc import Callable

from assay_broker.core.administration import changes
from assay_broker.core.administration.changes import Change
from assay_broker.core.commands import Administer
from assay_broker.core.effects import Answer, CloseLink, Deliver
from assay_broker.core.objects.model import Definition, Kind
from assay_broker.core.settings import Platform
from assay_broker.inprocess import InProcessDriver, InProcessWire
from assay_broker.mqsc.defaults import default_settings
from assay_broker.network import Member, Topology, network
from assay_broker.shell import QueueManager
from assay_broker.stores.memory import MemoryStore
from assay_sdk import driver
from assay_sdk.driver import DriverCommand, DriverEvent, Target
from assay_sdk.model.message import Address, Message, Property
from assay_sdk.model.reasons import Refused
from assay_sdk.runners.virtual import VirtualRunner

MS = 1_000_000


class Administrator:
    """A peer of a queue manager that only administers."""

    def __init__(self, world: World, manager: QueueManager) -> None:
        self.world = world
        self.manager = manager
        self.answers: list[Answer] = []
        self.number = manager.connect(self, 0, None)
        world.run()

    def ask(self, change: Change) -> Answer:
        """Ask for a change, and return the queue manager's answer."""
        self.manager.handle(Administer(self.number, len(self.answers), change))
        self.world.run()
        return self.answers[-1]

    def answer(self, answer: Answer, sent: Callable[[], None] | None) -> None:
        """Keep the answer."""
        self.answers.append(answer)
        if sent is not None:
            sent()

    def deliver(self, delivery: Deliver) -> None:
        """Do nothing: an administrator has no links."""
        raise AssertionError(delivery)

    def close_link(self, closed: CloseLink) -> None:
        """Do nothing: an administrator has no links."""
        raise AssertionError(closed)

    def lost(self, why: Refused) -> None:
        """Note that the queue manager has gone."""


class World:
    """The queue managers of one network, with a clock."""

    def __init__(
        self, topology: Topology, names: tuple[str, ...] = ("QM1", "QM2"), platform: Platform = "distributed"
    ) -> None:
        self.runner = VirtualRunner()
        self.stores = {name: MemoryStore() for name in names}
        members = tuple(Member(default_settings(name, platform=platform), store) for name, store in self.stores.items())
        self.members = network(self.runner, topology, members)
        self.run()

    def run(self, span_ms: int = 10) -> None:
        """Let virtual time pass."""
        self.runner.run_until(lambda: False, self.runner.clock.monotonic_ns() + span_ms * MS)

    def now_ms(self) -> int:
        """Return the time in milliseconds since the epoch."""
        return self.runner.clock.wall_ns() // MS

    def ask(self, member: str, change: Change) -> Answer:
        """Ask a queue manager for a change, and return its answer."""
        return Administrator(self, self.members[member]).ask(change)

    def define(self, member: str, name: str, **attributes: str | int) -> None:
        """Define a local queue on a member."""
        answer = self.ask(member, changes.DefineObject(kind=Kind.QLOCAL, name=name, attributes=attributes))
        assert answer.refused is None, answer.refused

    def depth(self, member: str, name: str) -> int:
        """Return the CURDEPTH of a queue."""
        (shown,) = self.ask(member, changes.DisplayObjects(kinds=(Kind.QLOCAL,), name=name)).value or ()
        assert isinstance(shown, Definition)
        return shown.number("CURDEPTH")

    def line(self, member: str, *, receives: Address | None = None, sends: Address | None = None) -> Line:
        """Return a client of a queue manager, with a sender 1 or a receiver 2."""
        return Line(self, member, receives, sends)


class Line:
    """A wire to one queue manager, and its events."""

    def __init__(self, world: World, member: str, receives: Address | None, sends: Address | None) -> None:
        self.world = world
        self.events: list[DriverEvent] = []
        self.wire: InProcessWire = InProcessDriver(world.members[member]).connect(
            Target(url=f"in-process://{member}"), self.events.append, world.runner
        )
        self.tokens = 0
        world.run()
        self.submit(driver.OpenSession(self.token(), 1))
        if sends is not None:
            self.submit(driver.OpenSender(self.token(), 1, 1, sends))
        if receives is not None:
            self.receive(receives)

    def receive(self, of: Address, durable: str | None = None) -> None:
        """Open a receiver on link 2 with credit."""
        kind = driver.Durability.NON_DURABLE if durable is None else driver.Durability.DURABLE
        opened = driver.OpenReceiver(
            token=self.token(), session=1, link=2, address=of, durability=kind, name=durable, shared=durable is not None
        )
        self.submit(opened, driver.Credit(self.token(), 2, 10))

    def token(self) -> int:
        """Return a new token."""
        self.tokens += 1
        return self.tokens

    def submit(self, *commands: DriverCommand) -> None:
        """Submit commands, and let a little virtual time pass."""
        for command in commands:
            self.wire.submit(command)
        self.world.run()

    def send(
        self,
        body: str,
        *,
        delay_ms: int = 0,
        durable: bool = True,
        unit: int | None = None,
        properties: dict[str, Property] | None = None,
    ) -> Refused | None:
        """Send a message, and return the refusal, or None."""
        due_ms = self.world.now_ms() + delay_ms if delay_ms else None
        token = self.token()
        message = Message(
            message_id=body, body=body, durable=durable, delivery_time_ms=due_ms, properties=properties or {}
        )
        self.submit(driver.Send(token, 1, message, unit=unit))
        (outcome,) = [
            event for event in self.events if isinstance(event, driver.Done | driver.Failed) and event.token == token
        ]
        return outcome.refused if isinstance(outcome, driver.Failed) else None

    def sender_refused(self, to: Address) -> Refused | None:
        """Try to open a sender, and return the refusal, or None."""
        token = self.token()
        self.submit(driver.OpenSender(token, 1, 7, to))
        (outcome,) = [
            event for event in self.events if isinstance(event, driver.Done | driver.Failed) and event.token == token
        ]
        return outcome.refused if isinstance(outcome, driver.Failed) else None

    def arrived(self) -> list[driver.Arrived]:
        """The received messages so far."""
        return [event for event in self.events if isinstance(event, driver.Arrived)]

    def bodies(self) -> list[str]:
        """The bodies of the received messages."""
        return [str(one.message.body) for one in self.arrived()]

    def accept(self) -> None:
        """Accept all received messages."""
        for one in self.arrived():
            self.submit(driver.Settle(self.token(), 2, (one.delivery,), driver.Outcome.ACCEPTED))
