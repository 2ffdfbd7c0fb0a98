"""The events of the broker under test: administrators' commands, faults, and operations of its storage."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from assay_evidence.events._event import Event, Phase, Scalar


class Admin(Event, frozen=True, kw_only=True, tag="admin"):
    """An administrator's command and its answer.

    Args:
        call: The id of the command's call.
        command: The command as text.
        answer: The values in the answer, by name.
        took_ns: The time from the command to its answer, in nanoseconds; None if the event has no such time.
    """

    call: str
    command: str
    answer: dict[str, Scalar] = {}
    took_ns: int | None = None


SUDDEN = ("kill", "powerloss")
"""The faults that end the broker's process without a normal stop.  Docstrings of invariants and of their tables call
each of them a *kill*."""
FATAL = (*SUDDEN, "restart")
"""The faults that end the broker's process; the broker then starts again with only what was on its disk."""
LOSING = (*FATAL, "cut")
"""The faults that end the connections of clients."""


class Fault(Event, frozen=True, kw_only=True, tag="fault"):
    """The begin or end of a fault; during the fault, silence proves nothing.

    Args:
        id: The fault's id, unique in its writer, and the same at begin and end.
        what: The kind of fault, such as ``kill``.
        target: The queue manager or component that has the fault.
        phase: The begin or the end.
        moment: At the begin, the event after which the kit caused the fault, in words; empty without such an event.
    """

    id: str
    what: str
    target: str
    phase: Phase
    moment: str = ""


class Disk(Event, frozen=True, kw_only=True, tag="disk"):
    """An operation of the broker's storage that the kit has observed.

    Args:
        source: The observed disk (``simulated disk`` ...).
        op: ``write`` gives records to the storage, ``flush`` makes all written records durable, and ``drop`` loses the
            records that are not flushed.
        keys: The keys of the messages whose bodies are in these records. The field in the journal is ``kids``.
    """

    source: str
    op: Literal["write", "flush", "drop"]
    keys: tuple[str, ...] = field(default=(), name="kids")


class Log(Event, frozen=True, kw_only=True, tag="log"):
    """A line of the broker's log from the time of a scenario that did not pass; no claim is decided from it.

    Args:
        source: The broker's container or process.
        text: The line, without passwords, at most 500 characters of it.
        untimed: Whether the log gives no time for the line. The event then has the time of the previous line or, for
            the first line, of the scenario's begin.
        omitted: The number of lines before this one that are left out.
    """

    source: str
    text: str
    untimed: bool = False
    omitted: int = 0


class Inspected(Event, frozen=True, kw_only=True, tag="inspected"):
    """An object, as the broker's administration shows it after a scenario that did not pass; no claim uses it.

    Args:
        object: The queue, topic or subscription, as a command names it, such as ``queue orders``.
        fields: The object's attributes; for a topic, the number of its subscriptions.
        refusal: The broker's refusal of the command; empty if the broker answered it.
    """

    object: str
    fields: dict[str, Scalar] = {}
    refusal: str = ""


class Past(Event, frozen=True, kw_only=True, tag="past"):
    """A start or fault of the broker before the begin of a scenario that did not pass; no claim is decided from it.

    `happened_ns` is the time of the start or fault. The event's other times (`Event.mono_ns`, `Event.wall_ns`) are the
    times at which the kit wrote the event. So no event of a scenario is earlier than the scenario's begin.

    Args:
        source: The broker's container or process, with the image.
        what: The event in a few words, such as ``started`` or ``killed``.
        happened_ns: The time of the start or fault, in nanoseconds since the epoch.
        during: The scenario that ran at that time; None if it is unknown.
        omitted: The number of earlier starts and faults that are left out.
    """

    source: str
    what: str
    happened_ns: int
    during: str | None = None
    omitted: int = 0
