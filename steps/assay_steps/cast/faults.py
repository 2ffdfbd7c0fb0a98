"""Arms the faults of a scenario, and waits until the broker has recovered from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from assay_adapters.ports.backend import Instance, NoReturnError
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.faults import (
    NOW,
    BlockWrite,
    Cut,
    FaultRequest,
    Injection,
    Kill,
    Pause,
    PowerLoss,
    Restart,
    SharedFaults,
    Slow,
    SlowDisk,
    StoreError,
    Trigger,
    Unreachable,
    WorkerDies,
    fault_name,
    moment_of,
)
from assay_evidence import events
from assay_sdk.model.capabilities import Capability
from assay_steps.cast.journal import ScenarioJournal
from assay_steps.words.mistakes import MistakeError

_NEEDED: Mapping[type[FaultRequest], Capability] = {
    Kill: Capability.KILL,
    PowerLoss: Capability.POWER_LOSS,
    Restart: Capability.RESTART,
    Cut: Capability.CUT,
    Unreachable: Capability.CUT,
    Pause: Capability.KILL,
    Slow: Capability.CUT,
    StoreError: Capability.STORE_ERROR,
    WorkerDies: Capability.WORKER_DIES,
    BlockWrite: Capability.BLOCK_WRITE,
}
"""For each type of fault, the capability that a scenario with the fault needs."""


class LostBrokerError(RuntimeError):
    """A step injected a fault, and the broker then failed to stop normally or to start again (`NoReturnError`).

    Args:
        fault: The fault's id in the journal.
        said: The broker's error.
    """

    def __init__(self, fault: str, said: str) -> None:
        super().__init__(f"the broker did not come back: {said}")
        self.fault = fault
        self.said = said


class ScenarioFaults:
    """Arms the faults of one scenario, and waits for their end.

    Args:
        instance: The broker instance that the faults strike.
        journal: The scenario's journal.
        armed: Called with each fault before it is armed.
        recovered: Called with each fault from which the broker has recovered.
    """

    def __init__(
        self,
        instance: Instance,
        journal: ScenarioJournal,
        armed: Callable[[FaultRequest], None],
        recovered: Callable[[FaultRequest], None],
    ) -> None:
        self._instance = instance
        self._journal = journal
        self._about_to_arm = armed
        self._recovered = recovered
        self._count = 0
        self._moments: dict[int, str] = {}
        """The moments of armed faults in words, by the identity of their injections."""
        self._armed: tuple[FaultRequest, Injection] | None = None
        self._announced: FaultRequest | None = None

    def arm(self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None) -> Injection:
        """Arm a fault, so that it happens when its trigger occurs.

        Args:
            fault: The fault.
            when: The trigger.
            member: The queue manager that has the fault; None for the first.

        Raises:
            MistakeError: The scenario has no tag for a fault, and so shares its broker with other scenarios.
            LookupError: The backend cannot inject the fault, although it declares the needed capability.
        """
        faults = self._instance.faults
        if faults is None:
            tag = f"@needs-{_NEEDED[type(fault)].value}"
            raise MistakeError(
                f"other scenarios use this broker too, so no fault may strike it; tag the scenario {tag}"
            )
        self._about_to_arm(fault)
        injection = faults.inject(fault, when, member)
        if isinstance(injection, Unsupported):
            raise LookupError(f"This backend cannot do that: {injection.source.text}")
        self._moments[id(injection)] = moment_of(when)
        return injection

    def meet(self) -> None:
        """Wait for the scenarios that share the next fault; return at once if this scenario does not share its broker.

        Raises:
            BackendError: Another scenario takes too long, or the broker has failed.
        """
        if isinstance(self._instance.faults, SharedFaults):
            self._instance.faults.meet()

    def slow_disk(self) -> None:
        """Make the broker's disk slow until the next kill or loss of power, if the kit can."""
        if isinstance(self._instance.faults, SlowDisk):
            self._instance.faults.slow_disk()

    def arm_for_later(self, fault: FaultRequest, when: Trigger) -> None:
        """Arm a fault; a later step waits until it has happened."""
        self._armed = (fault, self.arm(fault, when))
        self._announced = None

    def announce(self, fault: FaultRequest) -> None:
        """Note that a later event will arm this fault by `arm_for_later`."""
        self._announced = fault

    @property
    def announced(self) -> bool:
        """Whether `announce` has noted a fault that is not armed yet."""
        return self._announced is not None

    def inject(self, fault: FaultRequest, member: str | None = None) -> str:
        """Inject a fault at once, and wait until the broker has recovered.

        Args:
            fault: The fault.
            member: The queue manager that has the fault; None for the first.

        Returns:
            Reference of the journal's event that ends the fault.
        """
        return self.wait_for(fault, self.arm(fault, member=member), member)

    def wait_for(self, fault: FaultRequest, injection: Injection, member: str | None = None) -> str:
        """Wait until the broker has recovered from a fault, and write the fault's begin and end to the journal.

        If the fault's trigger did not occur, for example because the broker never answered, the fault happens now. The
        scenario's claims then show which event is missing.

        Args:
            fault: The fault.
            injection: The armed fault.
            member: The queue manager that has the fault; None for the first.

        Returns:
            Reference of the journal's event that ends the fault.

        Raises:
            LostBrokerError: The broker itself failed to stop normally or to start again.  The journal then has no end
                of the fault.
        """
        what = fault_name(fault)
        target = member or self._instance.members[0]
        try:
            span = injection.wait()
        except NoReturnError as failure:
            name = self._name()
            self._journal.write(events.Fault, id=name, what=what, target=target, phase="begin")
            raise LostBrokerError(name, str(failure)) from failure
        if isinstance(span, Unsupported):
            return self.inject(fault, member)
        name = self._name()
        begin, end = (self._journal.at(mono_ns) for mono_ns in span)
        moment = self._moments.pop(id(injection), "")
        self._journal.write(events.Fault, at=begin, id=name, what=what, target=target, phase="begin", moment=moment)
        over = self._journal.write(events.Fault, at=end, id=name, what=what, target=target, phase="end")
        self._recovered(fault)
        return over.ref

    def _name(self) -> str:
        self._count += 1
        return f"{self._journal.scenario}#fault{self._count}"

    def wait_for_armed(self) -> str:
        """Wait for the fault that an earlier step has armed; inject a fault that was announced but not armed.

        Returns:
            Reference of the journal's event that ends the fault.

        Raises:
            LookupError: No step has armed or announced a fault.
        """
        announced, self._announced = self._announced, None
        if announced is not None:
            return self.inject(announced)
        if self._armed is None:
            raise LookupError("No earlier step has armed a fault.")
        (fault, injection), self._armed = self._armed, None
        return self.wait_for(fault, injection)
