"""Faults of the reference broker in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from assay_adapters.brokers.reference.inprocess.stores import ScenarioStore
from assay_adapters.clients.keys import key_of
from assay_adapters.ports.backend import NoReturnError
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Source
from assay_adapters.ports.faults import (
    NOW,
    AfterAnswer,
    Arrival,
    At,
    BeforeAnswer,
    BlockWrite,
    Cut,
    FaultRequest,
    FirstSight,
    Kill,
    Now,
    PowerLoss,
    Restart,
    StoreError,
    Trigger,
    Unreachable,
    WorkerDies,
)
from assay_adapters.suggestions import unknown
from assay_broker.effect_executor import AnswerHook
from assay_broker.shell import QueueManager
from assay_broker.stores.errors import DiskError, FullError, GoneError, InUseError, ReadOnlyError
from assay_sdk.model.message import Message
from assay_sdk.runners.virtual import VirtualRunner

_FAULT_LIMIT_NS = 3_600 * 10**9
"""The longest wait for a fault's trigger, on the virtual clock: longer than any scenario lasts."""


_OF_THE_MACHINE = (OSError, MemoryError, FullError, DiskError, ReadOnlyError, InUseError, GoneError)
"""The exceptions of a restart that the machine or another program has caused, and not the broker."""


class ReferenceInjection:
    """A fault of an in-process broker, which happens when `fire` is called.

    Args:
        runner: The runner that runs all jobs and has the clock.
        act: Causes the fault; returns the function that ends the fault, or None if the fault ends by itself.
    """

    def __init__(self, runner: VirtualRunner, act: Callable[[], Callable[[], None] | None]) -> None:
        self._runner = runner
        self._act = act
        self._begin: int | None = None
        self._span: tuple[int, int] | None = None
        self._end: Callable[[], None] | None = None
        self._failure: NoReturnError | None = None

    def fire(self) -> None:
        """Cause the fault; further calls, such as those from hooks during the fault, have no effect."""
        if self._begin is None:
            self._begin = self._runner.clock.monotonic_ns()
            try:
                self._end = self._act()
            except NoReturnError as failure:  # `wait` raises it again
                self._failure = failure
                return
            if self._end is None:
                self._span = (self._begin, self._runner.clock.monotonic_ns())

    def heal(self) -> None:
        """End a fault that lasts until this call; do nothing for a fault that ends by itself."""
        if self._begin is not None and self._end is not None:
            end, self._end = self._end, None
            end()
            self._span = (self._begin, self._runner.clock.monotonic_ns())

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the fault is over.

        Returns:
            The fault's begin and end, in nanoseconds of the runner's monotonic clock; `Unsupported` if the trigger did
            not occur.

        Raises:
            NoReturnError: The broker failed to shut down normally or to start again.
        """
        deadline_ns = self._runner.clock.monotonic_ns() + _FAULT_LIMIT_NS
        self._runner.run_until(lambda: self._span is not None or self._failure is not None, deadline_ns)
        if self._failure is not None:
            raise self._failure
        if self._span is None:
            return Unsupported("fault", Source("The fault's trigger did not occur."))
        return self._span


class MemberUnderFault(Struct, frozen=True, eq=False):
    """A queue manager with its store.

    Args:
        queue_manager: The queue manager.
        kept: The queue manager's store.
    """

    queue_manager: QueueManager
    kept: ScenarioStore


class ReferenceFaults:
    """The faults of one instance.

    Args:
        runner: The runner that runs all jobs and has the clock.
        members: The instance's queue managers by name; the first is the default.
    """

    def __init__(self, runner: VirtualRunner, members: Mapping[str, MemberUnderFault]) -> None:
        self._runner = runner
        self._members = members
        self._sights: list[Callable[[str], None]] = []

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The types of the supported faults."""
        return frozenset({Kill, PowerLoss, Restart, Cut, Unreachable, StoreError, WorkerDies, BlockWrite})

    def inject(
        self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None
    ) -> ReferenceInjection | Unsupported:
        """Prepare a fault that happens at its trigger.

        Args:
            fault: The fault.
            when: The trigger.
            member: The queue manager that has the fault; None for the first.

        Raises:
            LookupError: The instance has no such member.
        """
        if member not in {None, *self._members}:
            raise LookupError(unknown("queue manager", str(member), self._members))
        if type(fault) not in self.kinds:
            return Unsupported("fault", Source(f"A broker in this process cannot have {fault}."))
        target = self._members[member or next(iter(self._members))]
        injection = ReferenceInjection(self._runner, _act(fault, target))
        match when:
            case Now():
                self._runner.call_soon(injection.fire)
            case At(mono_ns=mono_ns):
                self._runner.call_at(mono_ns, injection.fire)
            case Arrival(key=key):
                self._at_send([one.queue_manager.after_put for one in self._members.values()], key, injection)
            case BeforeAnswer(key=key):
                self._at_send([one.queue_manager.before_answer for one in self._members.values()], key, injection)
            case AfterAnswer(key=key):
                self._at_send([one.queue_manager.after_answer for one in self._members.values()], key, injection)
            case FirstSight(key=key):
                self._at_sight(key, injection)
        return injection

    def seen(self, key: str) -> None:
        """Cause the faults that wait for the first reception of the message with this key."""
        for hook in tuple(self._sights):
            hook(key)

    def _at_send(self, places: list[list[AnswerHook]], key: str, injection: ReferenceInjection) -> None:
        """Cause the fault once, as soon as any queue manager runs these hooks with the message that has this key."""

        def hook(message: Message) -> None:
            if key_of(message) == key:
                for hooks in places:
                    hooks.remove(hook)
                injection.fire()

        for hooks in places:
            hooks.append(hook)

    def _at_sight(self, key: str, injection: ReferenceInjection) -> None:
        def hook(seen: str) -> None:
            if seen == key:
                self._sights.remove(hook)
                # A job of its own, so that all observers note the sighting before the fault. The fault still comes
                # before the client's settlement reaches the broker.
                self._runner.call_soon(injection.fire)

        self._sights.append(hook)


def _act(fault: FaultRequest, target: MemberUnderFault) -> Callable[[], Callable[[], None] | None]:
    """Return the function that causes a fault.

    That function returns the function that ends the fault, or None if the fault ends by itself.
    """
    manager = target.queue_manager
    match fault:
        case Restart(level=level, opmode=opmode):
            return partial(_through, manager, partial(manager.restart, level=level, opmode=opmode))
        case Kill() | PowerLoss():  # at a kill, too, the store in this process loses what it has not flushed
            return partial(_through, manager, manager.kill)
        case StoreError(times=times):
            return partial(target.kept.fail, times)
        case BlockWrite(queue=queue):
            return partial(manager.block_writes, queue)
        case _:
            acts: Mapping[type[FaultRequest], Callable[[], Callable[[], None] | None]] = {
                Cut: manager.cut,
                Unreachable: manager.isolate,
                WorkerDies: manager.worker_dies,
            }
            return acts[type(fault)]


def _through(manager: QueueManager, restart: Callable[[], None]) -> None:
    """End the broker and start it again on its files.

    Raises:
        NoReturnError: The broker raised an exception that the machine did not cause, or does not run afterwards.
    """
    try:
        restart()
    except _OF_THE_MACHINE:
        raise
    except Exception as error:  # a broker with a defect may raise anything
        raise NoReturnError(f"{type(error).__name__}: {error}") from error
    if not manager.up:
        raise NoReturnError(f"the queue manager {manager.name} does not run after its start")
