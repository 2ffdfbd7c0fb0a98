"""Faults of a reference broker behind the kit's proxy: of its process, its connections, and from inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from assay_adapters.brokers.reference.server.fork_server.messages import (
    BlockWrites,
    Control,
    EndWorker,
    FailStore,
    UnblockWrites,
)
from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Source
from assay_adapters.ports.faults import (
    NOW,
    AfterAnswer,
    At,
    BeforeAnswer,
    BlockWrite,
    Cut,
    FaultRequest,
    FirstSight,
    Kill,
    Now,
    Restart,
    StoreError,
    Trigger,
    WorkerDies,
)
from assay_sdk.time import Runner


class FaultTarget(Protocol):
    """A broker that can be ended and started again on the same data."""

    @property
    def control(self) -> Callable[[Control], None] | None:
        """Controls the broker from inside; None if that is not possible."""
        ...

    @property
    def amqp_port(self) -> int:
        """Its AMQP port since its last start."""
        ...

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start it again; returns when it is ready.

        Args:
            changed: Options that replace earlier ones (``level``, ``opmode``).
        """
        ...

    def kill(self) -> None:
        """End it at once; returns when it has ended."""
        ...

    def stop(self) -> None:
        """Stop it in order; returns when it has ended."""
        ...


class ServerFaults:
    """Faults of one broker, the only member of its instance.

    Args:
        broker: The broker.
        proxy: The proxy to which its clients connect.
        runner: Waits for triggers.
    """

    def __init__(self, broker: FaultTarget, proxy: Proxy, runner: Runner) -> None:
        self._broker = broker
        self._proxy = proxy
        self._runner = runner
        self._sights: set[str] = set()

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The supported faults."""
        outside: frozenset[type[FaultRequest]] = frozenset({Kill, Restart, Cut})
        return outside if self._broker.control is None else outside | {StoreError, WorkerDies, BlockWrite}

    def inject(
        self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None
    ) -> HalvesInjection | Unsupported:
        """Arm a fault.

        Raises:
            LookupError: A member is named, although there is only one.
        """
        if member is not None:
            raise LookupError(f"A single broker has no queue manager {member!r} besides itself.")
        injection = self._injection(fault)
        if isinstance(injection, Unsupported):
            return injection
        match when:
            case Now():
                injection.fire()
            case At(mono_ns=mono_ns):
                self._runner.call_at(mono_ns, injection.fire)
            case BeforeAnswer() | AfterAnswer():
                self._proxy.arm(when, injection.fire)
            case FirstSight(key=key):
                self._sights.add(key)
                self._proxy.arm(when, injection.fire)
        return injection

    def seen(self, key: str) -> None:
        """Note that a client received this message; every client of the instance calls it."""
        if key in self._sights:
            self._sights.discard(key)
            self._proxy.sighted(key)
            # As a job, so that every observer notes the sighting first; an earlier settlement causes the fault itself.
            self._runner.call_soon(lambda: self._proxy.seen(key))

    def stop(self) -> None:
        """Stop the broker in order until `start`; connections are refused meanwhile."""
        self._proxy.shut()
        self._broker.stop()
        self._proxy.cut()

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the broker again, and accept clients."""
        self._broker.start(changed)
        self._proxy.broker = self._broker.amqp_port
        self._proxy.open()

    # inside ----------------------------------------------------------------------------------------------------------

    def _injection(self, fault: FaultRequest) -> HalvesInjection | Unsupported:
        match fault:
            case Kill():
                return HalvesInjection(self._runner, self._kill, self.start)
            case Restart(level=level, opmode=opmode):
                asked = {"level": level, "opmode": opmode}
                changed = {name: value for name, value in asked.items() if value is not None}
                return HalvesInjection(self._runner, self.stop, lambda: self.start(changed))
            case Cut():
                return HalvesInjection(self._runner, self._proxy.cut, _nothing)
            case StoreError() | WorkerDies() | BlockWrite():
                return self._inside(fault)

    def _inside(self, fault: StoreError | WorkerDies | BlockWrite) -> HalvesInjection | Unsupported:
        control = self._broker.control
        if control is None:
            return Unsupported("fault", Source(f"Nobody is inside this broker to bring about {fault}."))
        match fault:
            case StoreError(times=times):
                return HalvesInjection(self._runner, lambda: control(FailStore(times)), _nothing)
            case WorkerDies():
                return HalvesInjection(self._runner, lambda: control(EndWorker()), _nothing)
            case BlockWrite(queue=queue):
                return HalvesInjection(
                    self._runner, lambda: control(BlockWrites(queue)), lambda: control(UnblockWrites(queue)), lasts=True
                )

    def _kill(self) -> None:
        self._proxy.shut()
        self._broker.kill()
        self._proxy.cut()


def _nothing() -> None:
    """Do nothing: the fault is over at once."""
