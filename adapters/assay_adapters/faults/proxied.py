"""Faults of the process and of the connections of a broker behind the kit's proxy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Protocol, runtime_checkable

from assay_adapters.faults.injections import HalvesInjection
from assay_adapters.faults.proxy import Proxy
from assay_adapters.ports.capabilities import Unsupported
from assay_adapters.ports.client import Source
from assay_adapters.ports.faults import (
    NOW,
    AfterAnswer,
    Arrival,
    At,
    BeforeAnswer,
    Cut,
    FaultRequest,
    FirstSight,
    Kill,
    Now,
    Pause,
    PowerLoss,
    Restart,
    Slow,
    Trigger,
    Unreachable,
)
from assay_adapters.traces.history import History
from assay_sdk.time import Runner

_ENDING = (Kill, PowerLoss, Restart)
"""The faults that end the broker."""

_REST_MS = 200
"""How long a disk must have rested before it becomes slow, in milliseconds."""
_REST_LIMIT_NS = 2 * 10**9
"""The longest wait for a disk to rest, in nanoseconds; some brokers write all the time."""
_POLL_NS = 20_000_000
"""The pause between two questions whether the disk rests, in nanoseconds."""


class Stoppable(Protocol):
    """A broker that the kit can end and start again on the same data."""

    @property
    def client_port(self) -> int:
        """The broker's port for clients, which may change with each start."""
        ...

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the broker again, and wait until it is ready.

        Args:
            changed: Options that replace earlier ones (``level``, ``opmode``).
        """
        ...

    def kill(self) -> int | None:
        """End the broker's process at once, and wait until the process has ended.

        Returns:
            The time of the kill on the monotonic clock, in nanoseconds, if it was later than the call; else None.
        """
        ...

    def stop(self) -> int | None:
        """Stop the broker normally, and wait until its process has ended.

        Returns:
            The time of the stop on the monotonic clock, in nanoseconds, if it was later than the call; else None.
        """
        ...


@runtime_checkable
class Pausable(Protocol):
    """A broker whose processes the kit can suspend."""

    def pause(self) -> None:
        """Suspend the broker's processes."""
        ...

    def unpause(self) -> None:
        """Let the broker's processes continue after `pause`."""
        ...


@runtime_checkable
class Powered(Protocol):
    """A broker whose disk can be slow and lose its power."""

    def disk_rest_ms(self) -> float:
        """Return the time since the last change or flush of the disk, in milliseconds."""
        ...

    def slow_disk(self) -> None:
        """Make the broker's disk slow until the next kill or loss of power."""
        ...

    def lose_power(self) -> int | None:
        """End the broker's process at once, and discard what it has not flushed to its disk.

        Returns:
            The time of the loss on the monotonic clock, in nanoseconds, if it was later than the call; else None.
        """
        ...


class ProxiedFaults:
    """Faults of one broker behind the kit's proxy; the broker is the only member of its instance.

    Args:
        broker: The broker.
        proxy: The proxy to which the broker's clients connect.
        runner: The runner that waits for triggers.
        history: Gets a note of each fault; None for no notes.
        gather: Waits until all scenarios that use the broker ask for the fault. `inject` calls it before a fault that
            ends the broker, unless `meet` has called it already. None if only one scenario uses the broker.
    """

    def __init__(
        self,
        broker: Stoppable,
        proxy: Proxy,
        runner: Runner,
        history: History | None = None,
        *,
        gather: Callable[[], None] | None = None,
    ) -> None:
        self._broker = broker
        self._proxy = proxy
        self._runner = runner
        self._history = history or History()
        self._gather = gather
        self._has_met = False
        self._sights: set[str] = set()

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The types of the supported faults."""
        kinds: set[type[FaultRequest]] = {Kill, Restart, Cut, Unreachable, Slow}
        if isinstance(self._broker, Pausable):
            kinds.add(Pause)
        if isinstance(self._broker, Powered):
            kinds.add(PowerLoss)
        return frozenset(kinds)

    def inject(
        self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None
    ) -> HalvesInjection | Unsupported:
        """Prepare a fault that happens at its trigger.

        Args:
            fault: The fault.
            when: The trigger.
            member: None, because the instance has only one queue manager.

        Raises:
            LookupError: `member` names a queue manager.
        """
        if member is not None:
            raise LookupError(f"This instance is a single broker, and has no queue manager {member!r}.")
        injection = self.injection(fault)
        if isinstance(injection, Unsupported):
            return injection
        if self._gather is not None and isinstance(fault, _ENDING):
            if not isinstance(when, Now):
                why = f"Other scenarios use this broker, so {fault} cannot wait for {when}."
                return Unsupported("fault", Source(why))
            if not self._has_met:
                self._gather()
            self._has_met = False
        match when:
            case Now():
                injection.fire()
            case At(mono_ns=mono_ns):
                self._runner.call_at(mono_ns, injection.fire)
            case Arrival() | BeforeAnswer() | AfterAnswer():
                self._proxy.arm(when, injection.fire)
            case FirstSight(key=key):
                self._sights.add(key)
                self._proxy.arm(when, injection.fire)
        return injection

    def meet(self) -> None:
        """Wait for the other scenarios that use the broker (`SharedFaults`); return at once if there are none."""
        if self._gather is not None:
            self._gather()
            self._has_met = True

    def slow_disk(self) -> None:
        """Make the broker's disk slow until the next kill or loss of power (`SlowDisk`).

        The method first waits until the disk rests, so that the slow disk delays only what the broker does from now
        on. Otherwise a broker that stores a new subscription late would lose the messages of all scenarios.
        """
        broker, clock = self._broker, self._runner.clock
        if not isinstance(broker, Powered):
            return
        begun_ns = now_ns = clock.monotonic_ns()
        # The rest before this call does not count, because a busy broker may not have begun to write yet.
        while min(broker.disk_rest_ms(), (now_ns - begun_ns) / 1e6) < _REST_MS and now_ns < begun_ns + _REST_LIMIT_NS:
            self._runner.run_until(lambda: False, now_ns + _POLL_NS)
            now_ns = clock.monotonic_ns()
        broker.slow_disk()

    def seen(self, key: str) -> None:
        """Cause the faults that wait for the first reception of the message with this key."""
        if key in self._sights:
            self._sights.discard(key)
            self._proxy.sighted(key)
            # A job of its own, so that all observers note the sighting before the fault. If the client settles the
            # message before this job runs, the proxy causes the fault at the settlement.
            self._runner.call_soon(lambda: self._proxy.seen(key))

    def stop(self) -> int | None:
        """Stop the broker normally; the proxy refuses connections until `start`.

        Returns:
            The time at which the stop began, if it was later than the call; else None.
        """
        self._history.note("stopped normally")
        self._proxy.shut()
        struck_ns = self._broker.stop()
        self._proxy.cut()
        return struck_ns

    def start(self, changed: Mapping[str, object] | None = None) -> None:
        """Start the broker again, and accept connections.

        Args:
            changed: Options that replace earlier ones (``level``, ``opmode``).
        """
        self._history.note("started again")
        self._broker.start(changed)
        self._history.note("answers again")
        self._proxy.broker = self._broker.client_port
        self._proxy.open()

    def injection(self, fault: FaultRequest) -> HalvesInjection | Unsupported:
        """Prepare a fault, which happens when its `fire` is called; return `Unsupported` if the kit cannot cause it."""
        match fault:
            case Kill():
                return HalvesInjection(self._runner, partial(self._end, "killed", self._broker.kill), self.start)
            case PowerLoss() if isinstance(self._broker, Powered):
                return HalvesInjection(
                    self._runner, partial(self._end, "lost its power", self._broker.lose_power), self.start
                )
            case Restart(level=None, opmode=None):
                return HalvesInjection(self._runner, self.stop, self.start)
            case Cut():
                return HalvesInjection(self._runner, self._cut, _nothing)
            case Unreachable() | Slow() | Pause() if type(fault) in self.kinds:
                return self._lasting(fault)
            case _:
                return Unsupported(
                    "fault", Source(f"The kit does not control this broker from inside, so it cannot cause {fault}.")
                )

    def _lasting(self, fault: Unreachable | Slow | Pause) -> HalvesInjection:
        """Prepare a fault that lasts until its `heal`."""
        broker = self._broker
        down, heal = self._isolate, self._proxy.open
        if isinstance(fault, Slow):
            down, heal = partial(self._slow, fault.latency_ms), partial(self._proxy.slow, 0)
        elif isinstance(fault, Pause) and isinstance(broker, Pausable):
            down, heal = partial(self._pause, broker), partial(self._unpause, broker)
        return HalvesInjection(self._runner, down, heal, lasts=True)

    def _cut(self) -> None:
        self._history.note("all connections cut")
        self._proxy.cut()

    def _isolate(self) -> None:
        self._history.note("made unreachable")
        self._proxy.shut()
        self._proxy.cut()

    def _slow(self, latency_ms: int) -> None:
        self._history.note(f"all data held back for {latency_ms} ms")
        self._proxy.slow(latency_ms)

    def _pause(self, broker: Pausable) -> None:
        self._history.note("paused")
        broker.pause()

    def _unpause(self, broker: Pausable) -> None:
        broker.unpause()
        self._history.note("continued after the pause")

    def _end(self, noted: str, end: Callable[[], int | None]) -> int | None:
        """End the broker at once, and note how; return the time of the end, if it was later than the call."""
        self._history.note(noted)
        self._proxy.shut()
        struck_ns = end()
        self._proxy.cut()
        return struck_ns


def _nothing() -> None:
    """Do nothing: the fault ended when it happened."""
