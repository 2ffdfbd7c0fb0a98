from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from assay_sdk.driver import Arrived, Done, Driver, DriverCommand, DriverEvent, Outcome, Settle, Target
from assay_sdk.model.capabilities import Capability
from assay_sdk.model.message import Message
from assay_sdk.runners.virtual import VirtualRunner
from assay_sdk.time import Runner
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, commands, events, wires

ACCEPT = Settle(1, 7, (3, 4), Outcome.ACCEPTED)
CAME = Arrived(link=7, delivery=3, epoch=1, message=Message(body="m"), count=1, redelivered=True)


class Line:
    """A driver's wire that notes its commands."""

    def __init__(self, sink: Callable[[DriverEvent], None]) -> None:
        self.sink = sink
        self.submitted: list[DriverCommand] = []
        self.aborted = False

    @property
    def epoch(self) -> int:
        return 1

    @property
    def capabilities(self) -> frozenset[Capability]:
        return frozenset()

    def submit(self, command: DriverCommand) -> None:
        self.submitted.append(command)

    def abort(self) -> None:
        self.aborted = True


class Dial:
    """A driver that notes its wires."""

    name = "noted"

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> Line:
        del target, runner
        self.lines.append(Line(sink))
        return self.lines[-1]


class End:
    """The engine's end of a filtered wire, and the driver's wire behind it."""

    def __init__(self, filtered: Callable[[Driver], Driver]) -> None:
        self.runner = VirtualRunner()
        self.events: list[DriverEvent] = []
        dial = Dial()
        self.wire = filtered(dial).connect(Target(url="noted:"), self.events.append, self.runner)
        self.line = dial.lines[0]

    def settled(self) -> list[DriverCommand]:
        """Submit a settlement, run the pending jobs, and return the commands that the driver got."""
        self.wire.submit(ACCEPT)
        self.runner.run_until(lambda: False, 0)
        return self.line.submitted


class Adds(WireFilter):
    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        return (Settle(self.line.own_token(), 7, (9,), Outcome.RELEASED), command)


class Doubles(WireFilter):
    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self.seen = 0

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        self.seen += 1
        return (event, event)


def test_a_filter_that_does_nothing_lets_everything_pass() -> None:
    end = End(wires(WireFilter))
    assert end.settled() == [ACCEPT]
    end.line.sink(CAME)
    assert end.events == [CAME]


def test_a_rewritten_command_reaches_the_driver_under_its_own_token() -> None:
    def first(command: DriverCommand) -> tuple[DriverCommand, ...] | None:
        return (replace(command, deliveries=command.deliveries[:1]),) if isinstance(command, Settle) else None

    end = End(commands(first))
    assert end.settled() == [Settle(1, 7, (3,), Outcome.ACCEPTED)]
    assert end.events == []


def test_a_command_that_is_kept_back_is_answered_as_done() -> None:
    end = End(commands(lambda _: ()))
    assert end.settled() == []
    assert end.events == [Done(1)]


def test_the_answer_to_a_command_of_the_filters_own_is_kept_from_the_engine() -> None:
    end = End(wires(Adds))
    added, passed = end.settled()
    end.line.sink(Done(added.token))
    end.line.sink(Done(passed.token))
    assert end.events == [Done(1)]


def test_an_event_can_be_rewritten() -> None:
    end = End(events(lambda event: replace(event, count=0) if isinstance(event, Arrived) else event))
    end.line.sink(CAME)
    assert end.events == [replace(CAME, count=0)]


def test_an_event_can_be_told_twice() -> None:
    end = End(wires(Doubles))
    end.line.sink(CAME)
    assert end.events == [CAME, CAME]


def test_each_wire_has_a_filter_of_its_own() -> None:
    made: list[Doubles] = []

    def make(line: FilteredWire) -> WireFilter:
        made.append(Doubles(line))
        return made[-1]

    driver = wires(make)(Dial())
    for _ in range(2):
        driver.connect(Target(url="noted:"), lambda _: None, VirtualRunner())
    assert len(made) == 2


def test_a_lost_line_is_lost_behind_the_filter_too() -> None:
    end = End(wires(WireFilter))
    end.wire.abort()
    assert end.line.aborted
