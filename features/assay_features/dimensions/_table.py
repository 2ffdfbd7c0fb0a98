"""The table of a rule: for each trait, the number of scenarios that have it, or the reason why none has it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from msgspec import Struct

from assay_features.cache import beside, cached, package_features
from assay_features.dimensions import _texts, _traits
from assay_features.dimensions._reasons import Reasons, load_reasons
from assay_features.dimensions._texts import ScenarioText, scenario_texts
from assay_features.dimensions._traits import DIMENSIONS, traits_of
from assay_features.rule import Rule


class State(StrEnum):
    """Whether scenarios test a rule under a trait."""

    TRIED = "tried"
    APART = "apart"
    """Not tested, because the rule makes such a test impossible or pointless."""
    OPEN = "open"
    """Not tested, although a scenario could test it."""
    UNEXPLAINED = "unexplained"
    """Not tested, and no reason is given."""


class Cell(Struct, frozen=True):
    """A cell of the table: one trait of one rule.

    Args:
        dimension: The name of the trait's dimension.
        trait: The name of the trait.
        state: Whether scenarios test the rule under the trait.
        scenarios: The number of the rule's scenarios that have the trait; each row of an outline counts as one.
        why: The reason if no scenario has the trait.
    """

    dimension: str
    trait: str
    state: State
    scenarios: int = 0
    why: str = ""


def table_of(
    rule: Rule,
    scenarios: Sequence[ScenarioText] | None = None,
    reasons: Reasons | None = None,
) -> tuple[Cell, ...]:
    """Make the table of a rule; it is empty for a rule that cannot be observed.

    Args:
        rule: The rule.
        scenarios: All scenarios; None for the scenarios of this package.
        reasons: The reasons; None for the reasons of this package.
    """
    if not rule.observable:
        return ()
    counts = (_of_this_package() if scenarios is None else counts_of(scenarios)).get(rule.id, {})
    known = load_reasons() if reasons is None else reasons
    cells: list[Cell] = []
    for dimension in DIMENSIONS:
        for trait in dimension.traits:
            tried = counts.get(trait.name, 0)
            reason = known.of(rule, dimension.name, trait.name)
            if tried:
                cells.append(Cell(dimension.name, trait.name, State.TRIED, tried))
            elif reason is None:
                cells.append(Cell(dimension.name, trait.name, State.UNEXPLAINED))
            else:
                state = State.OPEN if reason.open else State.APART
                cells.append(Cell(dimension.name, trait.name, state, 0, reason.why))
    return tuple(cells)


def counts_of(scenarios: Iterable[ScenarioText]) -> dict[str, dict[str, int]]:
    """Count the scenarios with each trait, by tag (such as a rule's id) and by the trait's name."""
    counts: dict[str, Counter[str]] = {}
    for scenario in scenarios:
        names = [trait.name for trait in traits_of(scenario)]
        for tag in scenario.tags:
            counts.setdefault(tag, Counter()).update(names)
    return {tag: dict(count) for tag, count in counts.items()}


@cache
def _of_this_package() -> Mapping[str, Mapping[str, int]]:
    """Return the counts of this package's scenarios, from a file if it is up to date (`cached`)."""
    modules = [Path(module) for module in (__file__, _texts.__file__, _traits.__file__)]
    sources = [*modules, *package_features()]
    return cached(
        dict[str, dict[str, int]], lambda: counts_of(scenario_texts()), sources, beside(__file__, "traits.json")
    )
