"""What is done to the broker of a scenario: faults that are armed, suffered, and over."""

from __future__ import annotations

from collections.abc import Callable

from assay_adapters.ports.backend import Instance
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.faults import NOW, FaultRequest, Injection, Trigger
from assay_evidence import events
from assay_steps.journal import ScenarioJournal


class Troubles:
    """The faults of one scenario.

    Args:
        instance: Whom they hurt.
        journal: The scenario's journal.
        suffered: Told that a fault is over.
    """

    def __init__(self, instance: Instance, journal: ScenarioJournal, suffered: Callable[[FaultRequest], None]) -> None:
        self._instance = instance
        self._journal = journal
        self._suffered = suffered
        self._count = 0
        self._awaited: tuple[FaultRequest, Injection] | None = None
        self._promised = False

    def arm(self, fault: FaultRequest, when: Trigger = NOW) -> Injection:
        """Arm a fault.

        Raises:
            LookupError: The backend cannot do that, although the scenario's needs were met.
        """
        faults = self._instance.faults
        if faults is None:
            raise LookupError("This backend injects no faults, although the scenario's tags ask for one.")
        injection = faults.inject(fault, when)
        if isinstance(injection, Unsupported):
            raise LookupError(f"This backend cannot do that: {injection.source.text}")
        return injection

    def await_later(self, fault: FaultRequest, when: Trigger) -> None:
        """Arm a fault that a later step waits for."""
        self._awaited = (fault, self.arm(fault, when))
        self._promised = False

    def promise(self) -> None:
        """A fault is going to be armed, once something else has happened (`await_later`)."""
        self._promised = True

    @property
    def promised(self) -> bool:
        """Whether a fault that a later step waits for is still to be armed."""
        return self._promised

    def hurt(self, fault: FaultRequest) -> str:
        """Bring a fault about at once, and wait until the broker is well again.

        Returns:
            Reference of the event that ends the fault.
        """
        return self.suffer(fault, self.arm(fault))

    def suffer(self, fault: FaultRequest, injection: Injection) -> str:
        """Wait until the broker is well again; the fault's times go into the journal.

        Returns:
            Reference of the event that ends the fault.

        Raises:
            LookupError: What the fault waited for did not happen.
        """
        span = injection.wait()
        if isinstance(span, Unsupported):
            raise LookupError(f"The fault never came about: {span.source.text}")
        self._count += 1
        name = f"{self._journal.scenario}#fault{self._count}"
        what = type(fault).__name__.lower()
        target = self._instance.members[0]
        begin, end = (self._journal.at(mono_ns) for mono_ns in span)
        self._journal.write(events.Fault, at=begin, id=name, what=what, target=target, phase="begin")
        over = self._journal.write(events.Fault, at=end, id=name, what=what, target=target, phase="end")
        self._suffered(fault)
        return over.ref

    def suffer_awaited(self) -> str:
        """Wait for the fault that was armed to come later.

        Returns:
            Reference of the event that ends the fault.

        Raises:
            LookupError: None was armed.
        """
        if self._awaited is None:
            raise LookupError("No step before this one has said what is to happen.")
        (fault, injection), self._awaited = self._awaited, None
        return self.suffer(fault, injection)
