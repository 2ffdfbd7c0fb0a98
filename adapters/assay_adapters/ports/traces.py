"""The log of a broker, and its past: the starts, ends and faults of the broker so far.

A run reads the log and the past only after a scenario that failed, had an error or was inconclusive. No verdict
depends on them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from msgspec import Struct


class LogLine(Struct, frozen=True):
    """A line of a broker's log.

    Args:
        text: The line, without passwords.
        wall_ns: The time of the line in nanoseconds since the epoch; None if the line has no time.
        omitted: The number of lines before this one that are left out.
    """

    text: str
    wall_ns: int | None = None
    omitted: int = 0


class Deed(Struct, frozen=True):
    """An event in a broker's past.

    Args:
        what: The event in a few words, such as ``killed``.
        wall_ns: The time of the event in nanoseconds since the epoch.
    """

    what: str
    wall_ns: int


class Trace(Protocol):
    """The log and the past of one broker."""

    @property
    def name(self) -> str:
        """The name of the container or process, such as ``container 3f2a of assay/artemis:2.56.0``."""
        ...

    def past(self) -> tuple[Deed, ...]:
        """Return the broker's starts, ends and faults so far, in order of time."""
        ...

    def log_from_now(self) -> Callable[[], tuple[LogLine, ...]]:
        """Return a function that returns the lines that the broker has written since this call."""
        ...


@runtime_checkable
class Traced(Protocol):
    """An instance that can show the log or the past of its broker.

    A class of instances may have the property `trace` in addition to the members of `Instance`.
    """

    @property
    def trace(self) -> Trace | None:
        """The log and the past of the broker; None if the kit can read neither."""
        ...
