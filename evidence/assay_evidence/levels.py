"""Levels of evidence: how closely a scenario examined the broker, from the clients' view to the flush of the disk."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from assay_evidence.events import Admin, AnyEvent, Claim, Fault, Unsupported


class Level(StrEnum):
    """A level of evidence; the members are in the order from the weakest to the strongest."""

    BLACK_BOX = "black-box"
    """Only the clients observed the broker."""
    ADMINISTRATION = "administration"
    """An administrator inspected the broker."""
    RESTART = "restart"
    """The kit stopped the broker normally and started it again."""
    KILL = "kill"
    """The kit killed the broker's process and started the broker again."""
    POWER_LOSS = "power-loss"
    """The kit ended the broker, discarded the data that was not flushed to disk, and started the broker again."""
    FLUSH = "flush"
    """The kit observed the flush of the broker's storage."""

    @property
    def words(self) -> str:
        """The level as a noun for a sentence."""
        return _WORDS[self]


_WORDS = {
    Level.BLACK_BOX: "clients alone",
    Level.ADMINISTRATION: "administrator's inspection",
    Level.RESTART: "restart",
    Level.KILL: "kill",
    Level.POWER_LOSS: "power loss",
    Level.FLUSH: "flush",
}
_OF_FAULT: Mapping[str, Level] = {
    "restart": Level.RESTART,
    "kill": Level.KILL,
    "powerloss": Level.POWER_LOSS,
}
_OF_CAPABILITY: Mapping[str, Level] = {
    "admin": Level.ADMINISTRATION,
    "staging-queue": Level.ADMINISTRATION,
    "restart": Level.RESTART,
    "restart-at-level": Level.RESTART,
    "kill": Level.KILL,
    "kill-at-answer": Level.KILL,
    "kill-at-first-sight": Level.KILL,
    "power-loss": Level.POWER_LOSS,
    "flush-trace": Level.FLUSH,
    "data-folder": Level.FLUSH,
}
"""By capability, the level that a pair cannot reach without this capability."""
_FLUSHED = "flushed-before"


def levels_of(events: Iterable[AnyEvent]) -> tuple[Level, ...]:
    """Return the levels that a scenario's events show, weakest first; black box is always among them."""
    found = {Level.BLACK_BOX}
    inspections: set[str] = set()
    for event in events:
        if isinstance(event, Fault) and event.what in _OF_FAULT:
            found.add(_OF_FAULT[event.what])
        elif isinstance(event, Admin):
            inspections.add(event.ref)
        elif isinstance(event, Claim):
            if event.predicate == _FLUSHED:
                found.add(Level.FLUSH)
            if not inspections.isdisjoint(event.of.values()):
                found.add(Level.ADMINISTRATION)
    return _ordered(found)


def unreached(events: Iterable[AnyEvent]) -> tuple[Level, ...]:
    """Return the levels that a scenario could not reach because the pair lacks a capability, the weakest first."""
    lacking = (event.capability for event in events if isinstance(event, Unsupported))
    return _ordered({_OF_CAPABILITY[capability] for capability in lacking if capability in _OF_CAPABILITY})


def listed(levels: Collection[Level]) -> str:
    """Return the levels of one scenario as text: ``administrator's inspection, kill``.

    The clients' view is left out if the scenario also examined the broker more closely.
    """
    closer = [level for level in _ordered(levels) if level is not Level.BLACK_BOX]
    return ", ".join(level.words for level in closer or (Level.BLACK_BOX,))


def in_words(levels: Collection[Level], unseen: Collection[Level]) -> str:
    """Return the strongest level reached and the levels not reached as text: ``by kill; flush not seen``.

    Args:
        levels: The levels of the scenarios that passed; empty if none passed.
        unseen: The levels that scenarios could not reach, because the pair lacks a capability.
    """
    reached = _ordered(set(levels))
    parts = [f"by {reached[-1].words}"] if reached else []
    lacking = _ordered(set(unseen) - set(reached))
    parts += [f"{' and '.join(level.words for level in lacking)} not seen"] if lacking else []
    return "; ".join(parts)


def _ordered(levels: Collection[Level]) -> tuple[Level, ...]:
    return tuple(level for level in Level if level in levels)
