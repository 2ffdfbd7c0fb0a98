"""The table of a rule: for each trait, the number of scenarios that have it, or the reason why none has it."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

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
        dimension: The dimension of the trait.
        trait: The trait.
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
    own = [one for one in (scenario_texts() if scenarios is None else scenarios) if rule.id in one.tags]
    known = load_reasons() if reasons is None else reasons
    counts = Counter(trait for scenario in own for trait in traits_of(scenario))
    cells: list[Cell] = []
    for dimension in DIMENSIONS:
        for trait in dimension.traits:
            tried = counts[trait]
            reason = known.of(rule, dimension.name, trait.name)
            if tried:
                cells.append(Cell(dimension.name, trait.name, State.TRIED, tried))
            elif reason is None:
                cells.append(Cell(dimension.name, trait.name, State.UNEXPLAINED))
            else:
                state = State.OPEN if reason.open else State.APART
                cells.append(Cell(dimension.name, trait.name, state, 0, reason.why))
    return tuple(cells)
