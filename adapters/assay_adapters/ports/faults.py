"""Faults (I-4) of a broker with their triggers, and events of its disk."""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from assay_adapters.ports.capabilities import Opmode, Unsupported


class Kill(Struct, frozen=True, tag=True):
    """End the broker's process at once (SIGKILL) and start it again."""


class Restart(Struct, frozen=True, tag=True):
    """Shut the broker down in order and start it again.

    Args:
        level: The command level at which it starts, on the same data (DD-43); None for the same as before.
        opmode: OPMODE with which it starts, on z/OS (DD-44); None for the same as before.
    """

    level: str | None = None
    opmode: Opmode | None = None


class Cut(Struct, frozen=True, tag=True):
    """Cut every client connection; the broker goes on."""


class Unreachable(Struct, frozen=True, tag=True):
    """Cut every client connection and accept none before the fault is healed; the broker goes on."""


class StoreError(Struct, frozen=True, tag=True):
    """The store fails a number of times and then works again.

    Args:
        times: The number of failures.
    """

    times: int = 1


class WorkerDies(Struct, frozen=True, tag=True):
    """A component's worker dies; the broker decides what the component does then.

    Args:
        what: The component.
    """

    what: str = "delivery delay processor"


class BlockWrite(Struct, frozen=True, tag=True):
    """Records for a queue are not written before the fault is healed.

    Args:
        queue: The queue, by its name for administrators.
    """

    queue: str


FaultRequest = Kill | Restart | Cut | Unreachable | StoreError | WorkerDies | BlockWrite


class Now(Struct, frozen=True, tag=True):
    """At once."""


class BeforeAnswer(Struct, frozen=True, tag=True):
    """Before the broker answers the send of this message."""

    key: str


class AfterAnswer(Struct, frozen=True, tag=True):
    """After the send of this message has been answered."""

    key: str


class FirstSight(Struct, frozen=True, tag=True):
    """After a consumer has received this message, before it settles it."""

    key: str


class At(Struct, frozen=True, tag=True):
    """At a monotonic time of the instance's clock, in nanoseconds."""

    mono_ns: int


Trigger = Now | BeforeAnswer | AfterAnswer | FirstSight | At
NOW = Now()


class Injection(Protocol):
    """A fault that waits for its trigger, or has happened."""

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the fault is over; return its begin and end in monotonic nanoseconds."""
        ...

    def heal(self) -> None:
        """End a fault that lasts until this call; without effect on others, which end by themselves."""
        ...


class Faults(Protocol):
    """Faults of an instance."""

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The supported faults."""
        ...

    def inject(self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None) -> Injection | Unsupported:
        """Arm a fault.

        Args:
            fault: The fault.
            when: Its trigger.
            member: The queue manager; None for the first.

        Raises:
            LookupError: There is no such member.
        """
        ...


class DiskEvent(Struct, frozen=True):
    """An event of the instance's storage, with the fields of the journal's ``disk`` event.

    Args:
        mono_ns: When, on the monotonic clock of the instance; None for now.
    """

    source: str
    op: Literal["write", "flush", "drop"]
    keys: tuple[str, ...]
    mono_ns: int | None = None
