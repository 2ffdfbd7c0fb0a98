"""Faults of a broker behind the kit's proxy: of its process and of its connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Source
from assay_adapters.ports.faults import (
    NOW,
    AfterAnswer,
    At,
    BeforeAnswer,
    Cut,
    FaultRequest,
    FirstSight,
    Kill,
    Now,
    Restart,
    Trigger,
    Unreachable,
)
from assay_sdk.time import Runner


class Stoppable(Protocol):
    """A broker that can be ended and started again on the same data."""

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


class ProxiedFaults:
    """Faults of one broker, the only member of its instance.

    Args:
        broker: The broker.
        proxy: The proxy to which its clients connect.
        runner: Waits for triggers.
    """

    def __init__(self, broker: Stoppable, proxy: Proxy, runner: Runner) -> None:
        self._broker = broker
        self._proxy = proxy
        self._runner = runner
        self._sights: set[str] = set()

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The supported faults."""
        return frozenset({Kill, Restart, Cut, Unreachable})

    def inject(
        self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None
    ) -> HalvesInjection | Unsupported:
        """Arm a fault.

        Raises:
            LookupError: A member is named, although there is only one.
        """
        if member is not None:
            raise LookupError(f"A single broker has no queue manager {member!r} besides itself.")
        injection = self.injection(fault)
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

    def injection(self, fault: FaultRequest) -> HalvesInjection | Unsupported:
        """Prepare a fault; a subclass adds more kinds."""
        match fault:
            case Kill():
                return HalvesInjection(self._runner, self._kill, self.start)
            case Restart(level=None, opmode=None):
                return HalvesInjection(self._runner, self.stop, self.start)
            case Cut():
                return HalvesInjection(self._runner, self._proxy.cut, _nothing)
            case Unreachable():
                return HalvesInjection(self._runner, self._isolate, self._proxy.open, lasts=True)
            case _:
                return Unsupported(
                    "fault", Source(f"This broker is not controlled from inside, so nothing brings about {fault}.")
                )

    def _isolate(self) -> None:
        self._proxy.shut()
        self._proxy.cut()

    def _kill(self) -> None:
        self._proxy.shut()
        self._broker.kill()
        self._proxy.cut()


def _nothing() -> None:
    """Do nothing: the fault is over at once."""
