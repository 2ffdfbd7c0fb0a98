"""Taps between the SDK's engine and its driver, with hooks for a message's answer, sighting and settlement.

Faults at an instant of the protocol use these hooks: a hook runs on the loop, before anything that follows it there.
"""

from __future__ import annotations

from collections.abc import Callable

from assay_adapters.clients.events import key_of
from assay_sdk.driver import (
    Arrived,
    Done,
    Driver,
    DriverCommand,
    DriverEvent,
    Enlist,
    Send,
    Settle,
    Target,
    Wire,
)
from assay_sdk.model.capabilities import Capability
from assay_sdk.time import Runner

KidHook = Callable[[str], None]


class Hooks:
    """Hooks by the kit's ids of messages."""

    def __init__(self) -> None:
        self.answered: dict[str, KidHook] = {}
        """Called once, when the broker's answer to a send has come, before the engine gets it."""
        self.settling: dict[str, KidHook] = {}
        """Called before each settlement of the message is sent."""


class TappedWire:
    """A wire with hooks; commands and events pass unchanged.

    Args:
        hooks: The hooks.
        sink: The engine's sink.
    """

    def __init__(self, hooks: Hooks, sink: Callable[[DriverEvent], None]) -> None:
        self._hooks = hooks
        self._sink = sink
        self._sends: dict[int, str] = {}
        self._deliveries: dict[int, str] = {}
        self._wire: Wire | None = None

    def attach(self, wire: Wire) -> TappedWire:
        """Set the wire behind."""
        self._wire = wire
        return self

    @property
    def epoch(self) -> int:
        """The wire's epoch."""
        return self._behind.epoch

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The wire's capabilities."""
        return self._behind.capabilities

    def submit(self, command: DriverCommand) -> None:
        """Call the hooks for a command, then pass it on."""
        match command:
            case Send(token=token, message=message):
                key = key_of(message)
                if key in self._hooks.answered:
                    self._sends[token] = key
            case Settle(deliveries=deliveries) | Enlist(deliveries=deliveries):
                for number in deliveries:
                    key = self._deliveries.pop(number, None)
                    if key in self._hooks.settling:
                        self._hooks.settling[key](key)
            case _:
                pass
        self._behind.submit(command)

    def abort(self) -> None:
        """Drop the connection."""
        self._behind.abort()

    def hear(self, event: DriverEvent) -> None:
        """Call the hooks for an event, then pass it on."""
        match event:
            case Done(token=token) if token in self._sends:
                answered = self._sends.pop(token)
                hook = self._hooks.answered.pop(answered, None)
                if hook is not None:
                    hook(answered)
            case Arrived(delivery=number, message=message):
                key = key_of(message)
                if key in self._hooks.settling:
                    self._deliveries[number] = key
            case _:
                pass
        self._sink(event)

    @property
    def _behind(self) -> Wire:
        if self._wire is None:
            raise RuntimeError("a tap was used before its wire")
        return self._wire


class TappedDriver:
    """A driver with hooks.

    Args:
        driver: The driver behind.
        hooks: The hooks.
    """

    def __init__(self, driver: Driver, hooks: Hooks) -> None:
        self._driver = driver
        self._hooks = hooks

    @property
    def name(self) -> str:
        """The URL scheme it serves."""
        return self._driver.name

    def connect(self, target: Target, sink: Callable[[DriverEvent], None], runner: Runner) -> TappedWire:
        """Start a connection attempt."""
        tap = TappedWire(self._hooks, sink)
        return tap.attach(self._driver.connect(target, tap.hear, runner))
