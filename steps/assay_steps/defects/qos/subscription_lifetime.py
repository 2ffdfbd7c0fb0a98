"""Defects of an MQ Light client in the time to live of subscriptions (QS-20 to QS-22)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import CloseLink, Driver, DriverCommand, Durability, OpenReceiver, Unsubscribe
from assay_steps.defects.model import on_wire
from assay_steps.defects.qos.light_clients import subscribes
from assay_steps.defects.wire_filters import FilteredWire, WireFilter, drivers, wires


def _asks_for_a_second(driver: Driver) -> Driver:
    """After a reconnection, the client asks for a time to live of one second."""
    return _asks_again_for(driver, 1_000)


def _asks_for_no_end(driver: Driver) -> Driver:
    """After a reconnection, the client asks for no time to live, so its subscriptions never end."""
    return _asks_again_for(driver, None)


def _asks_again_for(driver: Driver, timeout_ms: int | None) -> Driver:
    """Change the time to live with which the client opens a subscription that it has opened before."""
    opened: set[tuple[str | None, str]] = set()

    class Changed(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, OpenReceiver) or not subscribes(command) or not command.timeout_ms:
                return (command,)
            key = command.name, str(command.address)
            again = key in opened
            opened.add(key)
            return (replace(command, timeout_ms=timeout_ms),) if again else (command,)

    return wires(Changed)(driver)


class _WholeSeconds(WireFilter):
    """The client rounds the time to live of a subscription down to whole seconds."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if not isinstance(command, OpenReceiver) or not command.timeout_ms:
            return (command,)
        return (replace(command, timeout_ms=command.timeout_ms // 1_000 * 1_000),)


class _KeepsShares(WireFilter):
    """The client does not send the unsubscribing of a shared subscription to the broker."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        return () if isinstance(command, Unsubscribe) and command.is_global else (command,)


class _EndlessNotDurable(WireFilter):
    """The client asks for a non-durable subscription if the subscription's time to live has no limit."""

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver) and subscribes(command) and command.timeout_ms is None:
            return (replace(command, durability=Durability.NON_DURABLE),)
        return (command,)


class _ClosedForGood(WireFilter):
    """When the application stops receiving from a subscription that would remain, the client ends the subscription."""

    def __init__(self, line: FilteredWire) -> None:
        super().__init__(line)
        self._opened: dict[int, OpenReceiver] = {}

    def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
        if isinstance(command, OpenReceiver) and subscribes(command):
            self._opened[command.link] = command
        opened = self._opened.pop(command.link, None) if isinstance(command, CloseLink) else None
        if opened is None or opened.name is None or opened.durability is not Durability.DURABLE:
            return (command,)
        ended = Unsubscribe(self.line.own_token(), opened.session, opened.name, opened.shared, opened.is_global)
        return (command, ended)


QOS_SUBSCRIPTION_LIFETIME_DEFECTS = (
    on_wire(drivers, _asks_for_a_second, "comes-back-for-a-second", "QS-21"),
    on_wire(drivers, _asks_for_no_end, "comes-back-without-end", "QS-22"),
    on_wire(wires, _WholeSeconds, "time-to-live-in-whole-seconds", "QS-21"),
    on_wire(wires, _KeepsShares, "shares-not-removed", "QS-20"),
    on_wire(wires, _ClosedForGood, "closed-consumer-ends-its-subscription", "QS-21"),
    on_wire(wires, _EndlessNotDurable, "endless-subscription-not-durable", "QS-20"),
)
