"""Defects of an MQ Light client in the time to live of subscriptions (QS-20 to QS-22)."""

from __future__ import annotations

from msgspec.structs import replace

from assay_sdk.driver import Driver, DriverCommand, Durability, OpenReceiver, Unsubscribe
from assay_steps.defects.model import on_wire
from assay_steps.defects.qos.light_clients import subscribes
from assay_steps.defects.wires import WireFilter, drivers, wires


def _asks_for_less(driver: Driver) -> Driver:
    """After a reconnection, the client asks for a time to live of one second."""
    attached: set[tuple[str | None, str]] = set()

    class Less(WireFilter):
        def command(self, command: DriverCommand) -> tuple[DriverCommand, ...]:
            if not isinstance(command, OpenReceiver) or not subscribes(command) or not command.timeout_ms:
                return (command,)
            key = command.name, str(command.address)
            again = key in attached
            attached.add(key)
            return (replace(command, timeout_ms=1_000),) if again else (command,)

    return wires(Less)(driver)


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


QOS_SUBSCRIPTION_LIFETIME_DEFECTS = (
    on_wire(drivers, _asks_for_less, "comes-back-for-a-second", "QS-21"),
    on_wire(wires, _WholeSeconds, "time-to-live-in-whole-seconds", "QS-21"),
    on_wire(wires, _KeepsShares, "shares-not-removed", "QS-20"),
    on_wire(wires, _EndlessNotDurable, "endless-subscription-not-durable", "QS-20"),
)
