"""The triage of survivors: `triage.toml` gives mutants that no scenario convicts a class and a reason.

An entry is a mutant's name as the tool prints it, without line numbers, so the entry stays valid when lines move.  An
entry that ends in `*` stands for all mutants whose names begin with the text before the `*`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

FILE = Path(__file__).with_name("triage.toml")
ALL = "*"


class Kind(StrEnum):
    """The class of a survivor."""

    EQUIVALENT = "equivalent"
    """No client can observe a difference."""
    OUTSIDE = "outside"
    """Neither a line of the four documents nor a rule of the kit is about the difference."""
    TO_DO = "to do"
    """A scenario could convict the mutant, but none does yet, so the mutant counts as survived."""


class Group(Struct, frozen=True, rename={"kind": "class"}):
    """A group of mutants with the same class and reason.

    Args:
        kind: The class of the mutants.
        reason: The reason of the class, in one sentence.
        mutants: The entries: names of mutants, or beginnings of names with `*`.
    """

    kind: Kind
    reason: str
    mutants: tuple[str, ...]


class Triage(Struct, frozen=True):
    """All groups of the file."""

    group: tuple[Group, ...] = ()

    def of(self, name: str) -> Group | None:
        """Return the group that lists a mutant by its whole name, or else by an entry with `*`; None without one."""
        exact = (group for group in self.group if name in group.mutants)
        like = (group for group in self.group if any(_covers(entry, name) for entry in group.mutants))
        return next(exact, None) or next(like, None)

    def stale(self, names: Iterable[str]) -> list[str]:
        """Return the entries that match no mutant of a campaign.

        Args:
            names: The names of the campaign's mutants.
        """
        known = set(names)
        return [
            entry
            for group in self.group
            for entry in group.mutants
            if entry not in known and not any(_covers(entry, name) for name in known)
        ]


def load_triage(file: Path = FILE) -> Triage:
    """Read a triage file.

    Raises:
        msgspec.ValidationError: The file is not a triage.
    """
    return msgspec.toml.decode(file.read_bytes(), type=Triage)


def _covers(entry: str, name: str) -> bool:
    return entry.endswith(ALL) and name.startswith(entry.removesuffix(ALL))
