"""A feature file as an argument of pytest: its scenarios are collected without a module that names them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import pytest
from gherkin.errors import CompositeParserException
from gherkin.parser import Parser
from pytest_bdd import scenario
from pytest_bdd.feature import get_features


class FeatureFile(pytest.Module):
    """The scenarios of one feature file, as if a module of its folder had called ``scenarios``."""

    def _getobj(self) -> ModuleType:
        mistake = mistake_in(self.path)
        if mistake is not None:
            raise self.CollectError(mistake)
        module = ModuleType(self.path.stem)
        for feature in get_features([str(self.path)]):
            for number, name in enumerate(feature.scenarios):
                bind = scenario(feature.filename, name, features_base_dir=str(self.path.parent))
                setattr(module, f"test_{number}_{re.sub(r'[^0-9A-Za-z]+', '_', name)}", bind(_nothing_of_its_own()))
        return module


def mistake_in(path: Path) -> str | None:
    """Why a file is no feature, in one sentence; None when it is one."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8."
    try:
        document: Mapping[str, object] = Parser().parse(text)
    except CompositeParserException as error:
        line = error.errors[0].location["line"]
        said = "".join(text.splitlines()[line - 1 : line]).strip()
        return f"{path}:{line}: Gherkin expects no {said!r} there; `Feature:`, `Rule:`, `Scenario:` and steps it knows."
    return None if "feature" in document else f"{path} holds no feature; begin it with `Feature:`."


def _nothing_of_its_own() -> Callable[[], None]:
    def after_the_steps() -> None:
        """What a scenario's test function does itself."""

    return after_the_steps


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> FeatureFile | None:
    """Collect a feature file that was asked for by its name; others belong to the modules that bind them."""
    if file_path.suffix == ".feature" and parent.session.isinitpath(file_path):
        collected: FeatureFile = FeatureFile.from_parent(parent, path=file_path)
        return collected
    return None
