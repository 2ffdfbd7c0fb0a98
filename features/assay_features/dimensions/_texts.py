"""The scenarios of the features as Gherkin makes them: tags and steps of each row, with its values filled in."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from gherkin.parser import Parser
from gherkin.pickles.compiler import Compiler
from msgspec import Struct

from assay_features.folder import feature_root


class ScenarioText(Struct, frozen=True):
    """One scenario, or one row of an outline.

    Args:
        name: Its name.
        tags: Its tags, inherited ones too, without the @.
        steps: Its steps, those of backgrounds first.
    """

    name: str
    tags: frozenset[str]
    steps: tuple[str, ...]


@cache
def scenario_texts(root: Path | None = None) -> tuple[ScenarioText, ...]:
    """Read all scenarios below a folder; those of this package if none is given."""
    files = sorted((root or feature_root()).rglob("*.feature"))
    return tuple(scenario for file in files for scenario in _read(file))


def _read(file: Path) -> Iterator[ScenarioText]:
    document: Any = Parser().parse(file.read_text(encoding="utf-8"))
    document["uri"] = file.name
    for pickle in Compiler().compile(document):
        yield ScenarioText(
            pickle["name"],
            frozenset(tag["name"].removeprefix("@") for tag in pickle["tags"]),
            tuple(step["text"] for step in pickle["steps"]),
        )
