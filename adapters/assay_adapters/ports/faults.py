"""Faults (I-4): what can be done to a broker, and when; and what is seen of its disk."""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct

from assay_adapters.ports.capabilities import Opmode, Unsupported


class Kill(Struct, frozen=True, tag=True):
    """End the broker's process at once (SIGKILL) and start it again."""


class Restart(Struct, frozen=True, tag=True):
    """Shut the broker down in order and start it again.

    Args:
        level: The level at which it starts, on the same data (DD-43); None for the one that it had.
        opmode: OPMODE with which it starts, on z/OS (DD-44); None for the one that it had.
    """

    level: str | None = None
    opmode: Opmode | None = None


class Cut(Struct, frozen=True, tag=True):
    """Cut every client connection; the broker goes on."""


class StoreError(Struct, frozen=True, tag=True):
    """The store cannot keep what it is handed next, and is well again.

    Args:
        times: How often.
    """

    times: int = 1


class WorkerDies(Struct, frozen=True, tag=True):
    """What does a component's work dies; what the component does then is the broker's own business.

    Args:
        what: The component.
    """

    what: str = "delivery delay processor"


class BlockWrite(Struct, frozen=True, tag=True):
    """What is to be kept for a queue is not written before the fault is healed.

    Args:
        queue: The queue, by the name that the administrator knows.
    """

    queue: str


FaultRequest = Kill | Restart | Cut | StoreError | WorkerDies | BlockWrite


class Now(Struct, frozen=True, tag=True):
    """At once."""


class BeforeAnswer(Struct, frozen=True, tag=True):
    """When the broker is about to answer the send of this message."""

    kid: str


class AfterAnswer(Struct, frozen=True, tag=True):
    """As soon as the send of this message has been answered."""

    kid: str


class FirstSight(Struct, frozen=True, tag=True):
    """As soon as a consumer has been handed this message, before it is settled."""

    kid: str


class At(Struct, frozen=True, tag=True):
    """At a monotonic time of the instance's clock, in nanoseconds."""

    mono_ns: int


Trigger = Now | BeforeAnswer | AfterAnswer | FirstSight | At
NOW = Now()


class Injection(Protocol):
    """A fault on its way."""

    def wait(self) -> tuple[int, int] | Unsupported:
        """Wait until the broker is hurt and well again; monotonic nanoseconds of begin and end."""
        ...

    def heal(self) -> None:
        """End a fault that lasts until then; the others end by themselves, and are left alone."""
        ...


class Faults(Protocol):
    """What can be done to an instance."""

    @property
    def kinds(self) -> frozenset[type[FaultRequest]]:
        """The faults it knows."""
        ...

    def inject(self, fault: FaultRequest, when: Trigger = NOW, member: str | None = None) -> Injection | Unsupported:
        """Arm a fault.

        Args:
            fault: What happens.
            when: What it waits for.
            member: The queue manager that is hurt; None for the first.

        Raises:
            LookupError: There is no such member.
        """
        ...


class DiskEvent(Struct, frozen=True):
    """What the instance's storage did, where that can be seen: the same fields as the journal's ``disk`` event.

    Args:
        mono_ns: When, on the monotonic clock of the instance; None for now.
    """

    source: str
    op: Literal["write", "flush", "drop"]
    kids: tuple[str, ...]
    mono_ns: int | None = None
