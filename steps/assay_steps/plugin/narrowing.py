"""A run of certain rules binds only the feature files that have scenarios of these rules.

Binding all feature files takes several seconds, which is longer than the scenarios of most rules take to run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import pytest
from pytest_bdd.feature import get_features

from assay_features import feature_root
from assay_steps.plugin.feature_files import bind_all
from assay_steps.plugin.suite import SUITE


class NarrowedModule(pytest.Module):
    """One of the kit's test modules with a part of its feature files.

    Pytest imports a module once per process, so a later run of other rules needs a module object of its own.
    """

    features: tuple[Path, ...] = ()
    """The feature files that the module binds."""

    def _getobj(self) -> ModuleType:
        module = ModuleType(self.path.stem)
        bind_all(get_features([str(path) for path in self.features]), module)
        return module


def narrowed(parent: pytest.Collector, path: Path, rules: Iterable[str]) -> NarrowedModule | None:
    """Make the collector of one of the kit's test modules; it binds only features with scenarios of the run's rules.

    Args:
        parent: The collector of the module's folder.
        path: The test module.
        rules: The ids of the run's rules.

    Returns:
        The collector; None for a module that binds no profile's features, such as a user's own or the probes.
    """
    profile = path.stem.removeprefix("test_")
    if path.parent != SUITE or profile == "probes":
        return None
    made: NarrowedModule = NarrowedModule.from_parent(parent, path=path)
    made.features = features_of(feature_root() / profile, rules)
    return made


def features_of(folder: Path, rules: Iterable[str]) -> tuple[Path, ...]:
    """Return the feature files in a folder that mention the tag of one of the rules, sorted."""
    tags = re.compile(rf"@(?:{'|'.join(rules)})\b")
    return tuple(path for path in sorted(folder.rglob("*.feature")) if tags.search(path.read_text(encoding="utf-8")))
