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
    """

    call: str
    command: str
    answer: dict[str, Scalar] = {}


class Fault(Event, frozen=True, kw_only=True, tag="fault"):
    """The begin or end of a fault; during the fault, silence proves nothing.

    Args:
        id: The fault's id, which is the same at begin and end.
        what: The kind of fault, such as ``kill``.
        target: The queue manager or component that has the fault.
        phase: The begin or the end.
    """

    id: str
    what: str
    target: str
    phase: Phase


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
