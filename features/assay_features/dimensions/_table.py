"""The table of a rule: each trait is tried by some of its scenarios, or there is a reason why it is not."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from assay_features.dimensions._reasons import Reasons, load_reasons
from assay_features.dimensions._texts import ScenarioText, scenario_texts
from assay_features.dimensions._traits import DIMENSIONS
from assay_features.rule import Rule


class State(StrEnum):
    """What a cell says."""

    TRIED = "tried"
    APART = "apart"
    """Not tried, for a reason that lies in the rule."""
    OPEN = "open"
    """Not tried, although a scenario could."""
    UNEXPLAINED = "unexplained"
    """Not tried, and without a reason."""


class Cell(Struct, frozen=True):
    """One trait of one rule.

    Args:
        dimension: The dimension of the trait.
        trait: The trait.
        state: What the cell says.
        scenarios: How many scenarios of the rule try it; each row of an outline counts.
        why: The reason, if none does.
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
    """Make the table of a rule; empty for one that cannot be observed.

    Args:
        rule: The rule.
        scenarios: All scenarios; None for those of this package.
        reasons: The reasons; None for those of this package.
    """
    if not rule.observable:
        return ()
    own = [one for one in (scenario_texts() if scenarios is None else scenarios) if rule.id in one.tags]
    known = load_reasons() if reasons is None else reasons
    cells: list[Cell] = []
    for dimension in DIMENSIONS:
        for trait in dimension.traits:
            tried = sum(trait.is_tried_by(scenario) for scenario in own)
            reason = known.of(rule, dimension.name, trait.name)
            if tried:
                cells.append(Cell(dimension.name, trait.name, State.TRIED, tried))
            elif reason is None:
                cells.append(Cell(dimension.name, trait.name, State.UNEXPLAINED))
            else:
                state = State.OPEN if reason.open else State.APART
                cells.append(Cell(dimension.name, trait.name, state, 0, reason.why))
    return tuple(cells)
