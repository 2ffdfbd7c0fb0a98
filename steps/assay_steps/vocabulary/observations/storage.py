"""Claims about the files of the broker's data folder, for backends that let the kit read it."""

from __future__ import annotations

from pytest_bdd import then

from assay_steps.cast.claims import Evidence
from assay_steps.cast.world import World
from assay_steps.words.parsing import phrase


def _holds(world: World, evidence: Evidence, label: str, *, expected: bool) -> None:
    searched = world.search_storage(label)
    evidence.claim("equal-fields", {"at": searched, "field.found": "true" if expected else "false"})


@then(phrase("the data folder holds the body of {label:Name}"))
def _(world: World, evidence: Evidence, label: str) -> None:
    _holds(world, evidence, label, expected=True)


@then(phrase("the broker's data folder does not hold the body of {label:Name}"))
def _(world: World, evidence: Evidence, label: str) -> None:
    _holds(world, evidence, label, expected=False)
