"""The triage of survivors: `triage.toml` says which of them are no mistakes that a scenario could convict.

An entry names a mutant as the tool prints it, without line numbers, so it stays valid when lines move.  An entry that
ends in `*` stands for all mutants whose name begins like it.
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
    """What became of a survivor."""

    EQUIVALENT = "equivalent"
    """No client can observe a difference."""
    OUTSIDE = "outside"
    """No line of the four documents, and no rule of the kit, is about the difference."""
    TO_DO = "to do"
    """A scenario could convict it, and none does: it counts as survived."""


class Group(Struct, frozen=True, rename={"kind": "class"}):
    """Mutants with one reason.

    Args:
        kind: What became of them.
        reason: Why.
        mutants: Their names.
    """

    kind: Kind
    reason: str
    mutants: tuple[str, ...]


class Triage(Struct, frozen=True):
    """All entries."""

    group: tuple[Group, ...] = ()

    def of(self, name: str) -> Group | None:
        """The group of a mutant; one that names it exactly before one that ends in `*`."""
        exact = (group for group in self.group if name in group.mutants)
        like = (group for group in self.group if any(_covers(entry, name) for entry in group.mutants))
        return next(exact, None) or next(like, None)

    def stale(self, names: Iterable[str]) -> list[str]:
        """The entries that fit none of these names."""
        known = set(names)
        return [
            entry
            for group in self.group
            for entry in group.mutants
            if entry not in known and not any(_covers(entry, name) for name in known)
        ]


def load_triage(file: Path = FILE) -> Triage:
    """Read the table.

    Raises:
        msgspec.ValidationError: It has another form.
    """
    return msgspec.toml.decode(file.read_bytes(), type=Triage)


def _covers(entry: str, name: str) -> bool:
    return entry.endswith(ALL) and name.startswith(entry.removesuffix(ALL))
