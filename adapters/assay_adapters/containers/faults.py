"""Faults of a broker in a container: kill or restart, at once or at an instant of the protocol."""

from __future__ import annotations

from collections.abc import Callable

from assay_adapters.containers.container import Container
from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.faults.taps import Hooks
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Source
from assay_adapters.ports.faults import (
    NOW,
    AfterAnswer,
    At,
    BeforeAnswer,
    FaultRequest,
    FirstSight,
    Kill,
    Now,
    Restart,
    Trigger,
)
from assay_sdk.time import Runner


class ContainerFaults:
    """Faults of one container.

    Args:
        container: The broker.
        runner: Waits for triggers.
        hooks: The hooks of its clients' drivers.
    """

    def __init__(self, container: Container, runner: Runner, hooks: Hooks) -> None:
        self._container = container
        self._runner = runner
        self._hooks = hooks
        self._sights: dict[str, Callable[[], None]] = {}

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The supported faults."""
        return frozenset({Kill, Restart})

    def inject(
        self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None
    ) -> HalvesInjection | Unsupported:
        """Arm a fault.

        Raises:
            LookupError: A member is named: a broker in a container is the only one of its instance.
        """
        if member is not None:
            raise LookupError(f"A broker in a container has no queue manager {member!r} besides itself.")
        match fault:
            case Kill():
                down = self._container.kill
            case Restart(level=None, opmode=None):
                down = self._container.stop
            case _:
                return Unsupported("fault", Source(f"A broker in a container cannot do {fault}."))
        injection = HalvesInjection(self._runner, down, self._container.resume)
        match when:
            case Now():
                injection.fire()
            case At(mono_ns=mono_ns):
                self._runner.call_at(mono_ns, injection.fire)
            case AfterAnswer(key=key):
                self._hooks.answered[key] = lambda _key: injection.fire()
            case FirstSight(key=key):
                self._at_sight(key, injection)
            case BeforeAnswer():
                text = "Nobody sees the answer of a broker in a container before the client does."
                return Unsupported("kill-before-answer", Source(text))
        return injection

    def seen(self, key: str) -> None:
        """Note that a client received this message; every client of the instance calls it."""
        strike = self._sights.pop(key, None)
        if strike is not None:
            strike()

    def _at_sight(self, key: str, injection: HalvesInjection) -> None:
        def strike() -> None:
            # As a job, so that every observer notes the sighting first; an earlier settlement causes the fault itself.
            self._hooks.settling[key] = settling
            self._runner.call_soon(injection.fire)

        def settling(settled: str) -> None:
            self._hooks.settling[settled] = _nothing
            injection.fire()

        self._hooks.settling[key] = _nothing  # set from its arrival on, so that the tap knows the delivery by its key
        self._sights[key] = strike


def _nothing(_key: str) -> None:
    """Do nothing at the settlement of a message that has not been seen."""
