"""The type of a plant: a breach that a real broker or client could make, with the rules that it breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random

from msgspec import Struct
from tests.pipeline.planting.raw import Edit
from tests.pipeline.planting.scene import Scene

Find = Callable[[Scene, Random], Edit | None]
"""Finds a subject at random in a scenario and returns its change; None if the scenario has no fitting subject."""
Candidates = Callable[[Scene], Iterator[Callable[[], Edit | None]]]
"""Yields the subjects of a scenario, each with a function that makes its change."""


class Plant(Struct, frozen=True):
    """A breach to plant.

    Args:
        name: The breach in a few words, unique among the plants of the rule.
        rule: The rule that the breach breaks.
        also: Further rules that the same fact may break, each with the reason.
        find: Finds a subject and returns its change.
    """

    name: str
    rule: str
    also: Mapping[str, str]
    find: Find

    @property
    def id(self) -> str:
        return f"{self.rule}: {self.name}"


def at_random(candidates: Candidates, *, administered: bool = False) -> Find:
    """Return a function that changes a random subject of those that `candidates` yields.

    Args:
        candidates: The subjects.
        administered: Whether the breach shows although an administrator gave commands, because nothing is missing.
    """

    def find(scene: Scene, dice: Random) -> Edit | None:
        if len(scene.boots) != 1 or (scene.administered and not administered):
            return None
        found = list(candidates(scene))
        dice.shuffle(found)
        return next((edit for make in found if (edit := make()) is not None), None)

    return find


def also(reason: str, *rules: str) -> dict[str, str]:
    """Return further rules that a plant may break, all for one reason."""
    return dict.fromkeys(rules, reason)
