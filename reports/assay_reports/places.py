"""Lines of feature files, so that a reader of the report finds the scenario that a verdict speaks of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from assay_features import feature_root

_HEADING = re.compile(r"^\s*Scenario(?: Outline)?: (.*?)\s*$")


def place_of(feature: str, scenario: str) -> str:
    """Name a scenario's place: ``delay/early.feature:12``.

    Args:
        feature: The feature's file, relative to the kit's folder of features.
        scenario: The scenario's name; an outline's with its row in brackets.

    Returns:
        The file alone where the installed kit has no such file or scenario: a team's own feature, or another version.
    """
    lines = _lines(feature)
    name = scenario if scenario in lines else scenario.rpartition("[")[0]
    return f"{feature}:{lines[name]}" if name in lines else feature


@lru_cache(maxsize=256)
def _lines(feature: str) -> Mapping[str, int]:
    path = feature_root() / feature
    if not feature.endswith(".feature") or not path.resolve().is_relative_to(feature_root()) or not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    found = ((_HEADING.match(line), number) for number, line in enumerate(lines, start=1))
    return {match[1]: number for match, number in found if match is not None}
