"""The attempts at a scenario: if a busy machine delayed the harness, the suite tries the scenario again.

Each attempt has an id of its own in the journal, so no later event changes what an earlier attempt showed.  This table
decides from the first attempt on:

============================================================  ===============================================
verdict of the attempt                                        the scenario's verdict
============================================================  ===============================================
inconclusive, and a delay of the harness left the deciding    the verdict of the next attempt; without a next
finding open, or all delays together exceed `HELD_UP_NS`      attempt, the verdict of this attempt
any other, such as pass, fail, error, or inconclusive on a    the verdict of this attempt
machine that was not that busy
============================================================  ===============================================

So a later attempt never replaces a pass or a fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from assay_evidence.events import ScenarioBegin
from assay_evidence.verdicts import ScenarioVerdict


def attempt_id(scenario: str, attempt: int) -> str:
    """Return the id of an attempt in the journal.

    Args:
        scenario: The scenario's id.
        attempt: The number of the attempt, from 1; the first has the scenario's id.
    """
    return scenario if attempt == 1 else f"{scenario} (attempt {attempt})"


def grouped(names: Iterable[str], begins: Iterable[ScenarioBegin]) -> list[list[str]]:
    """Group the ids in a journal by scenario: the scenario's id first, then its later attempts in their order.

    Args:
        names: The ids that were planned or have events.
        begins: The starts of all attempts.  An attempt whose scenario is not in `names` counts as a scenario itself.
    """
    groups = {name: [name] for name in sorted(names)}
    repeats = sorted((begin.repeats, begin.attempt, begin.scenario or "") for begin in begins if begin.repeats)
    for scenario, _, name in repeats:
        if scenario in groups and scenario != name and groups.get(name) == [name]:
            groups[scenario].append(name)
            del groups[name]
    return list(groups.values())


def decided(attempts: Sequence[ScenarioVerdict]) -> ScenarioVerdict:
    """Return the verdict on a scenario, from the verdicts on its attempts, by the table of this module.

    Args:
        attempts: The verdicts on the attempts in their order; at least one.
    """
    first = attempts[0]
    number, chosen = next(
        ((number, one) for number, one in enumerate(attempts, 1) if not one.delayed), (len(attempts), attempts[-1])
    )
    if number == 1:
        return first
    # Only the plan has the tags of a foreign scenario, and it does not list the later attempts.
    return structs.replace(chosen, scenario=first.scenario, tags=first.tags, attempt=number, ran_as=chosen.scenario)
