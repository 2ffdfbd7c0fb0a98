"""The end of a soak, and its state while it runs."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from assay.soak.plan import LeftOut


class How(Enum):
    """How a soak ended."""

    WHOLE = "whole"
    STOPPED = "stopped"
    """Ctrl-C, SIGTERM or SIGHUP ended the soak early."""
    LOST = "lost"
    """The broker failed to shut down properly or to start again, or became unreachable without a planned fault."""
    BROKEN = "broken"
    """The kit or the machine failed."""


class Ending(Struct, frozen=True, kw_only=True):
    """The end of a soak.

    Args:
        how: How the soak ended.
        why: The reason in one sentence; empty if the soak ran to its end.
        sent: The number of messages that were sent without a refusal.
        refused: The number of messages whose send was refused, or whose unit of work was lost.
        skipped: The number of planned messages that were too late to be sent.
        seen: The number of received messages, redeliveries included.
        faults: The number of faults.
        unfinished: The number of consumers that were not silent at the end of the drain.
        missed: The number of planned faults that did not happen.
        cut_off: The clients that did not close their journals.
        sent_to: `sent` by workload.
        seen_from: `seen` by workload.
        left_out: The kinds of faults that turned out to be impossible once the broker was started.
    """

    how: How
    why: str
    sent: int
    refused: int
    skipped: int
    seen: int
    faults: int
    unfinished: int
    missed: int = 0
    cut_off: tuple[str, ...] = ()
    sent_to: dict[str, int] = {}
    seen_from: dict[str, int] = {}
    left_out: tuple[LeftOut, ...] = ()


class State(Struct, frozen=True, kw_only=True):
    """The state of a running soak, for the display of its progress.

    Args:
        elapsed_s: The seconds since the start of the load; negative before that start.
        sent: The number of messages sent.
        seen: The number of messages received.
        faults: The number of faults so far.
        fault: The kind of the present fault; empty if no fault is in progress.
        open_slices: The number of slices with consumers.
        waiting: The number of messages on queues that no consumer has received yet, including delayed and lost
            messages.
    """

    elapsed_s: float
    sent: int
    seen: int
    faults: int
    fault: str
    open_slices: int
    waiting: int = 0
