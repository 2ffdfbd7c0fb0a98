"""Faults of a reference server: its process ends, its connections break, or the kit makes a part of it fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from assay_adapters.brokers.reference.server.fork_server.messages import (
    BlockWrites,
    Control,
    EndWorker,
    FailStore,
    UnblockWrites,
)
from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.faults.proxied import ProxiedFaults, Stoppable
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.faults import BlockWrite, FaultRequest, PowerLoss, Restart, StoreError, WorkerDies
from assay_adapters.traces.history import History
from assay_sdk.time import Runner


class FaultTarget(Stoppable, Protocol):
    """A broker that the kit can end and restart on the same data; the kit may also control it from inside."""

    @property
    def control(self) -> Callable[[Control], None] | None:
        """A function that controls the broker from inside its process; None if the kit has no such control."""
        ...

    @property
    def cut_power(self) -> Callable[[], None] | None:
        """A function that ends the broker and discards what it has not flushed; None if the kit cannot do this."""
        ...


class ServerFaults(ProxiedFaults):
    """Faults of one reference server; the server is the only member of its instance.

    Args:
        broker: The broker.
        proxy: The proxy to which the broker's clients connect.
        runner: The runner that waits for triggers.
        history: Gets a note of each fault.
    """

    def __init__(self, broker: FaultTarget, proxy: Proxy, runner: Runner, history: History) -> None:
        super().__init__(broker, proxy, runner, history)
        self._control = broker.control
        self._cut_power = broker.cut_power

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The types of the supported faults."""
        inside = frozenset[type[FaultRequest]]({StoreError, WorkerDies, BlockWrite})
        kinds = super().kinds | (frozenset() if self._control is None else inside)
        return kinds if self._cut_power is None else kinds | {PowerLoss}

    def injection(self, fault: FaultRequest) -> HalvesInjection | Unsupported:
        """Prepare a fault; return `Unsupported` if this broker cannot have the fault."""
        match fault:
            case Restart(level=level, opmode=opmode):
                asked = {"level": level, "opmode": opmode}
                changed = {name: value for name, value in asked.items() if value is not None}
                return HalvesInjection(self._runner, self.stop, lambda: self.start(changed))
            case StoreError() | WorkerDies() | BlockWrite() if self._control is not None:
                return self._inside(self._control, fault)
            case PowerLoss() if self._cut_power is not None:
                return HalvesInjection(self._runner, partial(self._lose_power, self._cut_power), self.start)
            case _:
                return super().injection(fault)

    def _lose_power(self, cut_power: Callable[[], None]) -> None:
        self._history.note("lost its power")
        self._proxy.shut()
        cut_power()
        self._proxy.cut()

    def _inside(
        self, control: Callable[[Control], None], fault: StoreError | WorkerDies | BlockWrite
    ) -> HalvesInjection:
        self._history.note(f"{type(fault).__name__} prepared")
        match fault:
            case StoreError(times=times):
                return HalvesInjection(self._runner, lambda: control(FailStore(times)), _nothing)
            case WorkerDies():
                return HalvesInjection(self._runner, lambda: control(EndWorker()), _nothing)
            case BlockWrite(queue=queue):
                return HalvesInjection(
                    self._runner, lambda: control(BlockWrites(queue)), lambda: control(UnblockWrites(queue)), lasts=True
                )


def _nothing() -> None:
    """Do nothing: this fault leaves nothing that the kit must undo."""
