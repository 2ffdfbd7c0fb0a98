"""The subjects of invariants and their limits: the terms in which the pipeline and the oracle answer."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

DEFINE = "DEFINE"
"""Beginning of the administrators' commands that keep no message back, if they come before its send."""


class Outcome(StrEnum):
    """The outcome of examining one subject."""

    KEPT = "kept"
    """The rule could have been broken there and was not."""
    BROKEN = "broken"
    """The rule was broken there."""
    UNDECIDED = "undecided"
    """The clocks are too uncertain to tell which."""


class Subject(Struct, frozen=True, order=True):
    """One thing that an invariant examined; what it could not examine is no subject.

    Args:
        rule: The rule's id.
        run: The run's id.
        scenario: The scenario's id; empty outside of any.
        subject: What was examined: a message's key, with its holder for a copy; or a batch.
        outcome: Whether the rule was kept there.
        figure: The number that decides: nanoseconds, or a count of messages, as the invariant says.
        ref: The event that represents it, ``writer:seq``.
    """

    rule: str
    run: str
    scenario: str
    subject: str
    outcome: Outcome
    figure: int
    ref: str


class Limit(Struct, frozen=True):
    """A number that the documents leave open.

    Args:
        name: Its name in manifests; ends with the unit.
        default: Its value if a run states no other.
        meaning: What it limits, in one sentence.
    """

    name: str
    default: int
    meaning: str


class Limits(Struct, frozen=True):
    """The limits in force.

    Args:
        stated: The limits that do not have their default.
    """

    stated: Mapping[Limit, int] = {}

    def __getitem__(self, limit: Limit) -> int:
        return self.stated.get(limit, limit.default)


LIMITS = Limits()
"""All limits at their defaults."""
