"""The collection of feature files that are arguments of pytest and have no test module."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType

import pytest
from gherkin.errors import CompositeParserException
from pytest_bdd import scenario
from pytest_bdd.exceptions import GherkinParseError
from pytest_bdd.feature import get_features
from pytest_bdd.parser import Feature, ScenarioTemplate

from assay_features.gherkin import document_of
from assay_steps.plugin.checks import written
from assay_steps.plugin.steps.lost_steps import lost_parts

NO_SOURCES = frozenset({"build", "dist", "node_modules", "site-packages"})
"""Names of folders that contain copies of feature files, which the kit does not collect."""


class FeatureFile(pytest.Module):
    """A pytest collector for one feature file; it acts like a test module that calls ``scenarios`` for the file."""

    def _getobj(self) -> ModuleType:
        mistake = mistake_in(self.path)
        if mistake is not None:
            raise self.CollectError(mistake)
        module = ModuleType(self.path.stem)
        try:
            features = get_features([str(self.path)])
        except GherkinParseError as error:
            raise self.CollectError(
                f"{self.path}:{error.line}: {error.message.rstrip('.')} ({error.line_content!r})."
            ) from error
        for feature in features:
            tags = {tag for template in feature.scenarios.values() for tag in written_tags(template)}
            for tag in sorted(tags):  # so that --strict-markers accepts the feature's tags
                self.config.addinivalue_line("markers", f"{tag}: a tag of {self.path.name}")
        bind_all(features, module)
        return module


def bind_all(features: Iterable[Feature], module: ModuleType) -> None:
    """Give a module a test function for each scenario of the features, as pytest-bdd's ``scenarios`` does."""
    named = [(feature, name) for feature in features for name in feature.scenarios]
    for number, (feature, name) in enumerate(named):
        bind = scenario(feature.filename, name, features_base_dir=str(Path(feature.filename).parent))
        setattr(module, f"test_{number}_{re.sub(r'[^0-9A-Za-z]+', '_', name)}", bind(_nothing_of_its_own()))


def written_tags(template: ScenarioTemplate) -> set[str]:
    """Return every tag of a scenario, its Examples, its ``Rule:`` and its feature."""
    tables = (table.tags for table in template.examples)
    return template.feature.tags.union(template.tags, template.rule.tags if template.rule else (), *tables)


def mistake_in(path: Path) -> str | None:
    """Explain in one sentence why a file is not a valid feature; None if it is valid."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8."
    if text.startswith("\ufeff"):
        return f"{path} begins with a byte order mark, which Gherkin cannot read; save it as UTF-8 without one."
    try:
        document: Mapping[str, object] = document_of(text)
    except CompositeParserException as error:
        line = error.errors[0].location["line"]
        said = "".join(text.splitlines()[line - 1 : line]).strip()
        return (
            f"{path}:{line}: Gherkin does not expect {said!r} there; write `Feature:`, `Rule:`, `Scenario:` or a step."
        )
    if "feature" not in document:
        return f"{path} holds no feature; begin it with `Feature:`."
    if written([path]):
        return None
    return next(lost_parts(text, str(path)), f"{path} holds no scenario; write one, with steps.")


def feature_files(folder: Path) -> list[Path]:
    """List the feature files in a folder and below, sorted; leave out hidden folders, copies and environments."""
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not (name.startswith(".") or name in NO_SOURCES)]
        folders[:] = [name for name in folders if not (Path(place) / name / "pyvenv.cfg").exists()]
        found += [Path(place) / name for name in names if name.endswith(".feature")]
    return sorted(found)


def _nothing_of_its_own() -> Callable[[], None]:
    def after_the_steps() -> None:
        """Do nothing: pytest-bdd has run the scenario's steps before it calls this test function."""

    return after_the_steps


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> FeatureFile | None:
    """Collect a feature file that the command line names; test modules bind all other feature files."""
    if file_path.suffix == ".feature" and parent.session.isinitpath(file_path):
        # Without this id, pytest gives all named files outside its root folder the same id.
        collected: FeatureFile = FeatureFile.from_parent(parent, path=file_path, nodeid=file_path.as_posix())
        return collected
    return None
