"""Give each plant a scenario of its own, and write the planted journals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from msgspec import Struct
from tests.pipeline.planting.plant import Plant
from tests.pipeline.planting.raw import Edit, Journals
from tests.pipeline.planting.scene import Scene

Where = tuple[int, str]
"""The number of a run among the given ones, and the id of a scenario in it."""
HELD_UP_NS = 1_500_000_000
"""From this total delay of the harness on, a scenario shows too little; no plant goes there."""
OTHERS = 40
"""How many scenarios that do not name the plant's rule are tried in each run."""


class Planted(Struct, frozen=True):
    """A plant in its scenario."""

    plant: Plant
    where: Where
    edit: Edit


class Planter:
    """Finds scenarios for plants.

    Args:
        runs: The clean runs; a plant goes into the first of them that has a scenario for it.
        seed: The seed of all random choices.
    """

    def __init__(self, runs: Sequence[Journals], seed: int) -> None:
        self._runs = runs
        self._seed = seed
        self._scenes: dict[Where, Scene] = {}
        self._rules: dict[Where, frozenset[str]] = {}
        self._found: dict[tuple[str, Where], Edit | None] = {}
        self._owners: dict[Where, Plant] = {}
        for number, run in enumerate(runs):
            for name in run.scenarios:
                self._rules[number, name] = run.rules.get(name, frozenset())
        self._usable = [where for where in self._rules if runs[where[0]].late_ns.get(where[1], 0) < HELD_UP_NS]

    def scene(self, where: Where) -> Scene:
        """Return a scenario."""
        if where not in self._scenes:
            run = self._runs[where[0]]
            self._scenes[where] = Scene(where[1], run.lines(where[1]), run.position_at)
        return self._scenes[where]

    def find(self, plant: Plant, where: Where) -> Edit | None:
        """Return a plant's change of a scenario; None if the scenario has no fitting subject."""
        if (plant.id, where) not in self._found:
            dice = Random(f"{self._seed} {plant.id} {where}")  # noqa: S311 - repeatable, not secret
            self._found[plant.id, where] = plant.find(self.scene(where), dice)
        return self._found[plant.id, where]

    def order(self, plant: Plant) -> list[Where]:
        """Return the scenarios that are tried for a plant: first those that name its rule."""
        dice = Random(f"{self._seed} {plant.id}")  # noqa: S311 - repeatable, not secret
        ordered: list[Where] = []
        for number in range(len(self._runs)):
            here = [where for where in self._usable if where[0] == number]
            dice.shuffle(here)
            named = [where for where in here if plant.rule in self._rules[where]]
            ordered += [*named, *[where for where in here if plant.rule not in self._rules[where]][:OTHERS]]
        return ordered

    def all(self, plant: Plant) -> list[Where]:
        """Return all scenarios; first those of the first run, and in each run those that name the plant's rule."""
        return sorted(self._usable, key=lambda where: (where[0], plant.rule not in self._rules[where]))

    def plant(self, plants: Sequence[Plant]) -> tuple[Planted, ...]:
        """Give each plant a scenario of its own; plants without a scenario are left out."""
        ordered = list(plants)
        Random(self._seed).shuffle(ordered)  # noqa: S311 - repeatable, not secret
        for plant in ordered:
            self._place(plant, set())
        return tuple(
            Planted(plant, where, edit)
            for where, plant in self._owners.items()
            if (edit := self.find(plant, where)) is not None
        )

    def _place(self, plant: Plant, tried: set[Where]) -> bool:
        """Give a plant a scenario; a plant that is there already moves to another scenario if it can."""
        fitting: list[Where] = []
        for where in self.order(plant):
            if where in tried or self.find(plant, where) is None:
                continue
            if where not in self._owners:
                self._owners[where] = plant
                return True
            fitting.append(where)
        for where in fitting:
            if where not in tried:
                tried.add(where)
                if self._place(self._owners[where], tried):
                    self._owners[where] = plant
                    return True
        return False


def write(runs: Sequence[Journals], folders: Sequence[Path], planted: Sequence[Planted]) -> None:
    """Write runs with their plants, each into its folder."""
    for number, (run, folder) in enumerate(zip(runs, folders, strict=True)):
        run.write(folder, [one.edit for one in planted if one.where[0] == number])


def by_scenario(runs: Sequence[Journals], planted: Sequence[Planted]) -> Mapping[tuple[str, str], Planted]:
    """Return the plants by the ids of their runs and scenarios."""
    return {(runs[one.where[0]].run, one.where[1]): one for one in planted}
