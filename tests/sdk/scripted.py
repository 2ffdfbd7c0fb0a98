"""A driver for tests: it has queues in memory, records every command, and can hold back or refuse answers."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, TypeVar

from assay_sdk import driver as port
from assay_sdk.driver import DriverCommand, DriverEvent, Outcome, Target
from assay_sdk.engine.connection import EngineConnection
from assay_sdk.engine.deliveries.acknowledgement import AckMode
from assay_sdk.engine.operations import Operation, perform
from assay_sdk.engine.sessions.session import EngineSession
from assay_sdk.engine.settings import ConnectionOptions
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Address, AddressKind, Message
from assay_sdk.model.reasons import JmsErrorKind, Refused
from assay_sdk.observer import SdkEvent
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import Runner

QUEUE = Address(AddressKind.QUEUE, "Q")
OTHER = Address(AddressKind.QUEUE, "OTHER")
TOPIC = Address(AddressKind.TOPIC, "T")
MS = 1_000_000
THREAD = 0  # the id of a caller that is never the callback's own thread

CommandT = TypeVar("CommandT")
T = TypeVar("T")


class Stored:
    """A message in a queue, sorted by its place."""

    def __init__(self, place: int, message: Message) -> None:
        self.place = place
        self.message = message
        self.failed = 0
        self.redelivered = False

    def __lt__(self, other: Stored) -> bool:
        return self.place < other.place


class FakeWire:
    """A connection of the fake driver, with a fake broker that has its queues in memory."""

    epoch = 1

    def __init__(
        self, sink: Callable[[DriverEvent], None], runner: Runner, capabilities: frozenset[Capability], *, opens: bool
    ) -> None:
        self.sink = sink
        self.runner = runner
        self.capabilities = capabilities
        self.commands: list[DriverCommand] = []
        self.held: list[DriverCommand] = []
        self.hold: set[type] = set()
        self.refuse: dict[type, Refused] = {}
        self.peer: dict[str, str | int | bool] = {}
        self.destinations: dict[str, dict[str, str | int | bool]] = {}
        self.stock: dict[str, list[Stored]] = {}
        self.aborted = False
        self._links: dict[int, str] = {}
        self._credit: dict[int, int] = {}
        self._out: dict[int, tuple[str, Stored]] = {}
        self._enlisted: dict[int, list[int]] = {}
        self._staged: dict[int, list[tuple[str, Message]]] = {}
        self._places = count()
        self._deliveries = count(1)
        if opens:
            keeps_ids = Capability.MESSAGE_ID in capabilities
            runner.call_soon(lambda: sink(port.Opened(self.epoch, capabilities, self.peer, message_ids=keeps_ids)))

    # methods for tests ------------------------------------------------------------------------------------------------

    def put(self, *texts: str, to: str = "Q", **fields: Any) -> None:
        """Add messages to a queue."""
        for text in texts:
            self._add(to, Message(message_id=text, body=text, **fields))

    def bodies(self, name: str = "Q") -> list[Any]:
        """Return the bodies in a queue that are not delivered to a receiver."""
        return [stored.message.body for stored in self.stock.get(name, [])]

    def all(self, kind: type[CommandT]) -> list[CommandT]:
        """Return the commands of a kind, in order."""
        return [command for command in self.commands if isinstance(command, kind)]

    def settled(self) -> list[tuple[tuple[int, ...], Outcome]]:
        """Return the settled deliveries with their outcomes, in order."""
        return [(command.deliveries, command.outcome) for command in self.all(port.Settle)]

    def answer_held(self) -> None:
        """Send the answers that were held back."""
        held, self.held = self.held, []
        for command in held:
            self._do(command)

    def break_line(self) -> None:
        """Drop the connection: open commands fail, then the wire closes."""
        refused = Refused(JmsErrorKind.CONNECTION_LOST, "the line broke")
        held, self.held = self.held, []
        for command in held:
            self.sink(port.Failed(command.token, refused))
        self.sink(port.Closed(self.epoch, refused))

    # the port --------------------------------------------------------------------------------------------------------

    def submit(self, command: DriverCommand) -> None:
        """Record a command, and answer it in a job of its own."""
        self.commands.append(command)
        if type(command) in self.hold:
            self.held.append(command)
        else:
            self.runner.call_soon(partial(self._do, command))

    def abort(self) -> None:
        """Stop all further events."""
        self.aborted = True

    # the broker ------------------------------------------------------------------------------------------------------

    def _do(self, command: DriverCommand) -> None:
        refused = self.refuse.get(type(command))
        if refused is not None:
            self.sink(port.Failed(command.token, refused))
            return
        self._attach(command)
        self._flow(command)
        self._finish(command)
        value: Any = None
        if isinstance(command, port.Browse):
            value = tuple(stored.message for stored in self.stock.get(command.address.name, []))
        told = (
            self.destinations.get(command.address.name if command.address else "", {})
            if isinstance(command, port.OpenSender)
            else {}
        )
        self.sink(port.Done(command.token, value, told))
        if isinstance(command, port.Close):
            self.sink(port.Closed(self.epoch, None))

    def _attach(self, command: DriverCommand) -> None:
        match command:
            case port.OpenReceiver(link=link, address=address):
                self._links[link] = address.name
                self._credit[link] = 0
            case port.OpenSender(link=link, address=address):
                self._links[link] = address.name if address else ""
            case port.CloseLink(link=link):
                self._credit.pop(link, None)
            case _:
                pass

    def _flow(self, command: DriverCommand) -> None:
        match command:
            case port.Send(link=link, message=message, unit=unit):
                name = self._links[link] or (message.to.name if message.to else "")
                if unit is None:
                    self._add(name, message)
                else:
                    self._staged.setdefault(unit, []).append((name, message))
            case port.Credit(link=link, credit=credit):
                self._credit[link] += credit
                self._push()
            case port.Drain(link=link):
                self._credit[link] = 0
                self.sink(port.Drained(link))
            case _:
                pass

    def _finish(self, command: DriverCommand) -> None:
        match command:
            case port.Settle(deliveries=deliveries, outcome=outcome):
                self._settle(deliveries, outcome)
            case port.Enlist(deliveries=deliveries, unit=unit):
                self._enlisted.setdefault(unit, []).extend(deliveries)
            case port.Commit(unit=unit):
                for delivery in self._enlisted.pop(unit, ()):
                    self._out.pop(delivery)
                for name, message in self._staged.pop(unit, ()):
                    self._add(name, message)
            case port.Rollback(unit=unit):
                self._enlisted.pop(unit, None)
                self._staged.pop(unit, None)
            case _:
                pass

    def _add(self, name: str, message: Message) -> None:
        self.stock.setdefault(name, []).append(Stored(next(self._places), message))
        self._push()

    def _settle(self, deliveries: tuple[int, ...], outcome: Outcome) -> None:
        for delivery in deliveries:
            name, stored = self._out.pop(delivery)
            if outcome is Outcome.MODIFIED:
                stored.failed += 1
            if outcome in {Outcome.MODIFIED, Outcome.RELEASED}:
                stored.redelivered = outcome is Outcome.MODIFIED or stored.redelivered
                insort(self.stock[name], stored)
        self._push()

    def _push(self) -> None:
        for link in tuple(self._credit):
            name = self._links[link]
            while self._credit[link] and self.stock.get(name):
                stored = self.stock[name].pop(0)
                self._credit[link] -= 1
                delivery = next(self._deliveries)
                self._out[delivery] = name, stored
                self.sink(port.Arrived(link, delivery, self.epoch, stored.message, stored.failed, stored.redelivered))


class FakeDriver:
    """A driver that gives a new `FakeWire` for each connection."""

    name = "fake"

    def __init__(self, capabilities: frozenset[Capability] = frozenset(Capability), *, opens: bool = True) -> None:
        self.capabilities = capabilities
        self.opens = opens
        self.wires: list[FakeWire] = []
        self.targets: list[Target] = []

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> FakeWire:
        """Return a new wire."""
        wire = FakeWire(sink, runner, self.capabilities, opens=self.opens)
        self.wires.append(wire)
        self.targets.append(target)
        return wire


class Bench:
    """A bench for tests: an engine connection with one session, over a fake driver in virtual time."""

    def __init__(
        self,
        mode: AckMode = AckMode.AUTO,
        *,
        client_id: str | None = None,
        capabilities: frozenset[Capability] = frozenset(Capability),
        start: bool = True,
        **options: Any,
    ) -> None:
        self.runner = VirtualRunner()
        self.driver = FakeDriver(capabilities)
        self.events: list[SdkEvent] = []
        self.complaints: list[Refused] = []
        self.connection = EngineConnection(
            self.driver,
            Target(url="fake://", client_id=client_id),
            self.runner,
            ConnectionOptions(id_prefix="t", **options),
            self.events.append,
        )
        self.do(self.connection.open())
        self.connection.on_exception = lambda refused, _cause: self.complaints.append(refused)
        if start:
            self.do(self.connection.start())
        self.session: EngineSession = self.do(self.connection.session(mode))

    @property
    def wire(self) -> FakeWire:
        """The fake driver's side of the connection."""
        return self.driver.wires[0]

    def do(self, operation: Operation[T]) -> T:
        """Run an operation to its end, and return its result."""
        return perform(self.runner, operation)

    def let(self, span_ms: int) -> None:
        """Let virtual time pass.

        Args:
            span_ms: Virtual milliseconds.
        """
        self.runner.run_until(lambda: False, self.runner.clock.monotonic_ns() + span_ms * MS)

    @property
    def now_ms(self) -> float:
        """Virtual time in milliseconds, from 0."""
        return self.runner.clock.monotonic_ns() / MS
