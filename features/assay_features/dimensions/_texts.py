"""The names, tags and steps of all scenarios; each row of an outline is a scenario with the row's values."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from assay_features.folder import feature_root
from assay_features.gherkin import document_of


class ScenarioText(Struct, frozen=True):
    """One scenario, or one row of an outline.

    Args:
        name: The name of the scenario.
        tags: The tags without the @, including those of the feature, rule and outline.
        steps: The texts of the steps; steps of backgrounds come first.
    """

    name: str
    tags: frozenset[str]
    steps: tuple[str, ...]


@cache
def scenario_texts(root: Path | None = None) -> tuple[ScenarioText, ...]:
    """Read all scenarios below a folder; without a folder, the scenarios of this package."""
    files = sorted((root or feature_root()).rglob("*.feature"))
    return tuple(scenario for file in files for scenario in _read(file))


def _read(file: Path) -> Iterator[ScenarioText]:
    from gherkin.pickles.compiler import Compiler  # not needed if the cache file has the counts of traits

    document: Any = {**document_of(file.read_text(encoding="utf-8")), "uri": file.name}
    for pickle in Compiler().compile(document):
        yield ScenarioText(
            pickle["name"],
            frozenset(tag["name"].removeprefix("@") for tag in pickle["tags"]),
            tuple(step["text"] for step in pickle["steps"]),
        )
