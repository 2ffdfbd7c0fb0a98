"""What an invariant says: subjects, each kept, broken or undecided; and the limits that a run states."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Outcome(StrEnum):
    """What the history says of one subject of an invariant."""

    KEPT = "kept"
    """The rule could have been broken there and was not."""
    BROKEN = "broken"
    """The subject offends."""
    UNDECIDED = "undecided"
    """The clocks' uncertainty hides which of the two."""


class Subject(Struct, frozen=True, order=True):
    """One thing that an invariant examined; what it could not examine is no subject.

    Args:
        rule: The rule's id.
        run: The run's id.
        scenario: The scenario's id; empty outside of any.
        subject: What was examined: a message's kid, with its holder for a copy; or a batch.
        outcome: What the history says of it.
        figure: The number that decides: nanoseconds, or a count of messages; the rule says which.
        ref: The event that stands for it, ``writer:seq``.
    """

    rule: str
    run: str
    scenario: str
    subject: str
    outcome: Outcome
    figure: int
    ref: str


class Limits(Struct, frozen=True):
    """What the documents leave to the run, stated in every verdict that rests on it.

    Args:
        expiry_ms: How long after its expiry a message may still be handed over (DD-56).  The suite's receivers come
            500 ms too late and must get nothing, so the limit stays well below that.
        quiet_ms: How long a watching consumer must have been handed nothing before silence counts (PD-11, PD-20).
        watched_percent: How much of a delay somebody must have watched, or the delay was not tried (DD-02).
    """

    expiry_ms: int = 250
    quiet_ms: int = 1_000
    watched_percent: int = 50


LIMITS = Limits()
"""The limits in force where none are given."""
