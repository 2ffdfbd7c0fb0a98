"""The `Faults` port: faults of a broker with their triggers, and events of its disk."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from assay_adapters.ports.capabilities import Opmode, Unsupported


class Kill(Struct, frozen=True, tag=True):
    """Fault: end the broker's process at once (SIGKILL) and start it again."""


class PowerLoss(Struct, frozen=True, tag=True):
    """Fault: end the broker at once, discard what it has not flushed to its disk, and start it again."""


class Restart(Struct, frozen=True, tag=True):
    """Fault: shut the broker down normally and start it again.

    Args:
        level: The command level at which the broker starts again, on the same data (DD-43); None to keep the level.
        opmode: The OPMODE with which the broker starts again, on z/OS (DD-44); None to keep the OPMODE.
    """

    level: str | None = None
    opmode: Opmode | None = None


class Cut(Struct, frozen=True, tag=True):
    """Fault: cut all client connections, while the broker continues to run."""


class Unreachable(Struct, frozen=True, tag=True):
    """Fault: cut all client connections and accept none until `Injection.heal`, while the broker continues to run."""


class Pause(Struct, frozen=True, tag=True):
    """Fault: suspend the broker's processes until `Injection.heal`; its connections stay open."""


class Slow(Struct, frozen=True, tag=True):
    """Fault: delay all data between clients and broker, until `Injection.heal`.

    Args:
        latency_ms: The delay of each piece of data, in milliseconds.
    """

    latency_ms: int = 200


class StoreError(Struct, frozen=True, tag=True):
    """Fault: make the store's next flushes fail.

    Args:
        times: The number of flushes that fail.
    """

    times: int = 1


class WorkerDies(Struct, frozen=True, tag=True):
    """Fault: end the worker of a component; the broker decides whether it starts a new worker.

    Args:
        what: The component.
    """

    what: str = "delivery delay processor"


class BlockWrite(Struct, frozen=True, tag=True):
    """Fault: hold back the next write with a message for a queue, and all later writes, until `Injection.heal`.

    Args:
        queue: The queue's name in an administrator's commands.
    """

    queue: str


FaultRequest = Kill | PowerLoss | Restart | Cut | Unreachable | Pause | Slow | StoreError | WorkerDies | BlockWrite


def fault_name(fault: FaultRequest) -> str:
    """Return the name of a fault in the journal, such as ``kill`` or ``powerloss``."""
    return type(fault).__name__.lower()


class Now(Struct, frozen=True, tag=True):
    """The trigger of a fault that happens at once."""


class Arrival(Struct, frozen=True, tag=True):
    """The trigger right after the message with this key was passed on to the broker, answered or not."""

    key: str


class BeforeAnswer(Struct, frozen=True, tag=True):
    """The trigger just before the broker answers the send of the message with this key."""

    key: str


class AfterAnswer(Struct, frozen=True, tag=True):
    """The trigger just after the broker has answered the send of the message with this key."""

    key: str


class FirstSight(Struct, frozen=True, tag=True):
    """The trigger after a consumer has received the message with this key, and before the consumer settles it."""

    key: str


class At(Struct, frozen=True, tag=True):
    """The trigger at a time of the instance's monotonic clock, in nanoseconds."""

    mono_ns: int


Trigger = Now | Arrival | BeforeAnswer | AfterAnswer | FirstSight | At
NOW = Now()


def moment_of(trigger: Trigger) -> str:
    """Return the moment of a trigger in words, for the journal; empty for a fault at once or at a time."""
    match trigger:
        case Arrival(key=key):
            return f"just after {key} was passed on to the broker"
        case BeforeAnswer(key=key):
            return f"when the broker's answer to {key} was on its way, so that the client does not get the answer"
        case AfterAnswer(key=key):
            return f"just after the broker's answer to {key} was passed on to the client"
        case FirstSight(key=key):
            return f"just after {key} was passed on to the client"
        case Now() | At():
            return ""


class Injection(Protocol):
    """A fault that a scenario has prepared; it happens at its trigger."""

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the fault is over.

        Returns:
            The fault's begin and end, in nanoseconds of the instance's monotonic clock; `Unsupported` if the trigger
            did not occur.

        Raises:
            BackendError: The broker did not end or did not start again, and the kit or the machine may be the cause.
            NoReturnError: The broker itself failed to shut down normally or to start again.
        """
        ...

    def heal(self) -> None:
        """End a fault that lasts until this call; do nothing for a fault that ends by itself."""
        ...


class Faults(Protocol):
    """The faults of an instance."""

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The types of the supported faults."""
        ...

    def inject(self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None) -> Injection | Unsupported:
        """Prepare a fault that happens at its trigger.

        Args:
            fault: The fault.
            when: The trigger.
            member: The queue manager that has the fault; None for the first.

        Returns:
            The prepared fault; `Unsupported` if the kit cannot cause it.

        Raises:
            LookupError: The instance has no such member.
        """
        ...


@runtime_checkable
class SharedFaults(Protocol):
    """Faults that may end a broker for several scenarios at once.

    A class of faults may have the method `meet` in addition to the methods of `Faults`.
    """

    def meet(self) -> None:
        """Wait until all scenarios that use the broker are ready for its end; the scenario's next fault ends it.

        If the fault must follow an action at once, the scenario calls this method before that action.

        Raises:
            BackendError: Another scenario takes too long, or the broker has failed.
        """
        ...


@runtime_checkable
class SlowDisk(Protocol):
    """Faults of a broker whose disk the kit can make slow.

    A class of faults may have the method `slow_disk` in addition to the methods of `Faults`.
    """

    def slow_disk(self) -> None:
        """Make the broker's disk slow until the next kill, loss of power or scenario; do nothing if the kit cannot.

        A slow disk exposes a broker that answers before it has written or flushed.
        """
        ...


class DiskEvent(Struct, frozen=True):
    """An event of a disk, for the journal's ``disk`` event: a write, flush or loss of the kit's messages.

    Args:
        source: The disk's name.
        op: The operation: ``drop`` is the loss of messages that were not flushed.
        keys: The keys of the messages.
        mono_ns: The time on the instance's monotonic clock, in nanoseconds; None for the present time.
    """

    source: str
    op: Literal["write", "flush", "drop"]
    keys: tuple[str, ...]
    mono_ns: int | None = None
