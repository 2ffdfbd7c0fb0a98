"""The subjects (results) and limits (inputs) of invariants, for the pipeline and for the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

DEFINE = "DEFINE"
"""The first word of commands that define an object.  Such a command cannot withhold a message that is sent after it."""
SPECIAL = ("MAX", "ALIAS", "REMOTE", "CLUS", "GET(", "PUT(", "CMDLEVEL", "OPMODE")
"""Parts of administrators' commands after which a message might miss its queue or go to another queue."""


class Outcome(StrEnum):
    """The outcome of the examination of one subject."""

    KEPT = "kept"
    """The pair could have broken the rule with this subject, and kept it."""
    BROKEN = "broken"
    """The pair broke the rule with this subject."""
    UNDECIDED = "undecided"
    """The clocks are too uncertain to tell whether the pair kept the rule."""


class Subject(Struct, frozen=True, order=True):
    """A message, a copy or a batch that an invariant could examine, with the result.

    Args:
        rule: The rule's id.
        run: The run's id.
        scenario: The scenario's id; empty outside scenarios.
        subject: The name of the message, copy or batch. A message has its key as the name; the name of a copy also has
            the subscription or consumer that holds the copy.
        outcome: Whether the pair kept the rule with this subject.
        figure: The number that decides: nanoseconds or a count of messages, as the invariant defines it.
        ref: The reference (``writer:seq``) of one event of the subject, such as a send; the invariant chooses it.
    """

    rule: str
    run: str
    scenario: str
    subject: str
    outcome: Outcome
    figure: int
    ref: str


class Limit(Struct, frozen=True):
    """A limit that the documents leave open, such as the longest permitted delay.

    Args:
        name: The limit's name in manifests, which ends with the unit.
        default: The limit's value if a run states no other value.
        meaning: The meaning of the limit, in one sentence.
    """

    name: str
    default: int
    meaning: str


class Limits(Struct, frozen=True):
    """The limits of a run.

    Args:
        stated: The values of the limits that the run changes; the other limits have their defaults.
    """

    stated: Mapping[Limit, int] = {}

    def __getitem__(self, limit: Limit) -> int:
        return self.stated.get(limit, limit.default)


LIMITS = Limits()
"""All limits at their defaults."""
