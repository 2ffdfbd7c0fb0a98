"""Filters between the SDK's engine and its driver, by which a defect of the client changes commands and events.

Each connection has a filter of its own.  If a filter drops a command, the engine gets the answer `Done`, because the
engine waits for an answer to every command.  An answer names its command's token.  A command that the filter itself
sends has a negative token, and the engine never sees the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from assay_sdk.driver import Done, Driver, DriverCommand, DriverEvent, Failed, Target, Wire
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Runner


class WireFilter:
    """A filter that changes nothing; a defect is a subclass that overrides `command`, `event` or `abort`.

    Args:
        line: The wire whose commands and events the filter changes.
    """

    def __init__(self, line: FilteredWire) -> None:
        self.line = line

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        """Return the commands that the driver gets in place of a command of the engine."""
        return (command,)

    def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
        """Return the events that the engine gets in place of an event of the driver."""
        return (event,)

    def abort(self) -> None:
        """Drop the connection."""
        self.line.wire.abort()


MakeFilter = Callable[["FilteredWire"], WireFilter]


class FilteredWire:
    """A wire whose commands and events go through a filter.

    Args:
        sink: Receives the events for the engine.
        runner: Runs the engine.
        make: Makes the filter.
    """

    def __init__(self, sink: Callable[[DriverEvent], None], runner: Runner, make: MakeFilter) -> None:
        self.runner = runner
        self._sink = sink
        self._wire: Wire | None = None
        self._own = count(-2, -1)  # an in-process wire uses the token -1 itself
        self._filter = make(self)

    def attach(self, wire: Wire) -> None:
        """Set the driver's wire, to which this wire sends commands."""
        self._wire = wire

    @property
    def wire(self) -> Wire:
        """The driver's wire.

        Raises:
            LookupError: The driver has not attached a wire yet.
        """
        if self._wire is None:
            raise LookupError("The driver's wire is used before it is there.")
        return self._wire

    @property
    def epoch(self) -> int:
        """The number of the connection attempt."""
        return self.wire.epoch

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The wire's capabilities."""
        return self.wire.capabilities

    def submit(self, command: DriverCommand) -> None:
        """Pass a command through the filter to the driver."""
        passed = self._filter.command(command)
        for one in passed:
            self.wire.submit(one)
        if all(one.token != command.token for one in passed):
            self.runner.call_soon(lambda: self._sink(Done(command.token)))

    def abort(self) -> None:
        """Drop the connection through the filter."""
        self._filter.abort()

    def own_token(self) -> int:
        """Return a new token for a command that the filter itself sends."""
        return next(self._own)

    def receive(self, event: DriverEvent) -> None:
        """Pass an event through the filter to the engine."""
        if isinstance(event, Done | Failed) and event.token < 0:
            return
        for one in self._filter.event(event):
            self._sink(one)

    def emit(self, event: DriverEvent) -> None:
        """Give the engine an event that the filter itself makes."""
        self._sink(event)


class FilteredDriver:
    """A driver whose wires have a filter.

    Args:
        driver: The driver.
        make: Makes the filter of one wire.
    """

    def __init__(self, driver: Driver, make: MakeFilter) -> None:
        self._driver = driver
        self._make = make

    @property
    def name(self) -> str:
        """The driver's name."""
        return self._driver.name

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> FilteredWire:
        """Start a connection attempt."""
        filtered = FilteredWire(sink, runner, self._make)
        filtered.attach(self._driver.connect(target, filtered.receive, runner))
        return filtered


def drivers(wrong: Callable[[Driver], Driver]) -> Callable[[Driver], Driver]:
    """Return a function unchanged: it makes a misbehaving driver, so it already fits `Defect.wire`."""
    return wrong


def wires(make: MakeFilter) -> Callable[[Driver], Driver]:
    """Make a function for `Defect.wire` that puts a filter in each wire of a driver."""
    return lambda driver: FilteredDriver(driver, make)


def commands(rewrite: Callable[[DriverCommand], tuple[DriverCommand, ...] | None]) -> Callable[[Driver], Driver]:
    """Make a function for `Defect.wire` that rewrites some commands.

    Args:
        rewrite: Returns the commands in place of a command; None leaves the command as it is.
    """

    class Commands(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            passed = rewrite(command)
            return (command,) if passed is None else passed

    return wires(Commands)


def events(rewrite: Callable[[DriverEvent], DriverEvent]) -> Callable[[Driver], Driver]:
    """Make a function for `Defect.wire` that rewrites each event."""

    class Events(WireFilter):
        def event(self, event: DriverEvent) -> tuple[DriverEvent, ...]:
            return (rewrite(event),)

    return wires(Events)
